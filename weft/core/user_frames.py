"""Which frames are the user's: not weft's, nor those of libraries that weft has called."""

from __future__ import annotations

import os
import sys
from types import FrameType

from weft.core.errors import PACKAGE

# What weft stands on. Other libraries may hold the user's program.
_BELOW = frozenset({"absl", "fsspec", "google", "grpc", "jax", "jaxlib", "ml_dtypes", "numpy"})
_PYTHON = os.path.dirname(os.__file__) + os.sep


def is_own(frame: FrameType) -> bool:
    """Whether a frame is of weft's code, or of code that weft has made."""
    name = frame.f_code.co_filename
    return name.startswith((PACKAGE, "<weft"))


def is_below(frame: FrameType) -> bool:
    """Whether a frame is of a library that weft calls; programs call some of them, too."""
    file = frame.f_code.co_filename
    if file.startswith("<frozen ") or (file.startswith(_PYTHON) and "site-packages" not in file):
        return True
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _BELOW


def user_line(frame: FrameType | None) -> str | None:
    """The place, as `train.py:41`, at which the user's program called what led to `frame`."""
    while frame is not None and (is_own(frame) or is_below(frame)):
        frame = frame.f_back
    return None if frame is None else f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"


def shown(file: str) -> str:
    """A file's name without its folder; the cell of a notebook by its number."""
    return _cells().get(file) or os.path.basename(file)


def _cells() -> dict[str, str]:
    """The names that IPython has for the files of its cells."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    names: dict[str, str] = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return {file: f"cell {number}" for file, number in names.items()}
