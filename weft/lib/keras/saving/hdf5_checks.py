"""HDF5 files of models hold what they say they hold, and nothing of other files."""

from __future__ import annotations

import os
from typing import Any

from weft.core.expansion import check_expansion
from weft.lib.keras.utils.io_utils import import_h5py


def open_to_read(filepath: Any, purpose: str) -> Any:
    """A file whose content is its own. ValueError if some of it is in other files."""
    file = import_h5py(purpose).File(os.fspath(filepath), "r")
    try:
        check_contained(file)
    except BaseException:
        file.close()
        raise
    return file


def check_contained(group: Any) -> None:
    """ValueError if something in `group` lies elsewhere: behind a link, or in another file.

    The author of the file could name any file of its reader.
    """
    h5py = import_h5py("Reading a model")
    links: list[tuple[bytes, int]] = []
    # What is raised inside a visit gets lost in h5py.
    try:
        group.id.links.visit(lambda name, info: links.append((name, info.type)), info=True)
    except UnicodeError as error:
        raise ValueError(f"The HDF5 file has names that are not UTF-8: {error}") from None
    for name, kind in links:
        if kind == h5py.h5l.TYPE_HARD:
            _check_object(h5py, name, member(group, name))
        elif kind != h5py.h5l.TYPE_SOFT:
            raise _elsewhere(name, "is a link to another file")


def member(group: Any, name: Any) -> Any:
    """A group or dataset by name. ValueError if it is not there, or cannot be read."""
    try:
        return group[name]
    except (KeyError, UnicodeError) as error:
        shown = _text(name) if isinstance(name, bytes) else name
        raise ValueError(
            f"The HDF5 file has no {shown!r} in {group.name!r}, or it is damaged: {error}"
        ) from None


def _check_object(h5py: Any, name: bytes, found: Any) -> None:
    if not isinstance(found, h5py.Dataset):
        return
    if found.external or found.is_virtual:
        raise _elsewhere(name, "keeps its values in another file")
    check_expansion(found.nbytes, found.id.get_storage_size(), f"Dataset {_text(name)!r}")


def _elsewhere(name: bytes, what: str) -> ValueError:
    return ValueError(
        f"{_text(name)!r} of the HDF5 file {what}. A model's file must hold all of the model."
    )


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
