"""`h5py.File` as it was before h5py 3: without a mode, a file is there to be read and written."""

from __future__ import annotations

import os
from typing import Any

import h5py

from weft.legacy.old import notices


class _AsBefore(type(h5py.File)):  # type: ignore[misc]
    """The files that others opened are files, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, h5py.File)


class File(h5py.File, metaclass=_AsBefore):  # type: ignore[misc]
    """A file of data sets, made where there is none."""

    def __init__(self, name: Any, mode: str | None = None, *args: Any, **options: Any) -> None:
        if mode is None:
            mode = _mode_of(name)
            notices.tell_of("h5py.File", "without a mode", f"{mode!r}")
        super().__init__(name, mode, *args, **options)


def _mode_of(name: Any) -> str:
    """Files that cannot be written are only read."""
    is_path = isinstance(name, str | bytes | os.PathLike)
    return "r" if is_path and os.path.exists(name) and not os.access(name, os.W_OK) else "a"
