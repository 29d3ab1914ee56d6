"""Arithmetic without NumPy's warnings, for what runs so often that `np.errstate` takes too long."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def _silence() -> Any:
    return np.seterr(all="ignore")


def _restore(before: Any) -> None:
    np.seterr(**before)


silence: Callable[[], Any] = _silence
restore: Callable[[Any], None] = _restore
"""From `token = silence()` to `restore(token)`, NumPy says nothing of what is no number."""

try:
    from numpy._core import umath

    # The settings are made once; NumPy keeps those that count in a variable of the context.
    silence = functools.partial(umath._extobj_contextvar.set, umath._make_extobj(all="ignore"))
    restore = umath._extobj_contextvar.reset
except (ImportError, AttributeError):  # in a NumPy that keeps them elsewhere
    pass


class quiet:
    """The same, as `with quiet():`."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = silence()

    def __exit__(self, *error: object) -> None:
        restore(self._token)
