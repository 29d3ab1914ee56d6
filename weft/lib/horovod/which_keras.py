"""Keras as a program has it: weft's own, or the package `keras` on top of weft.

Each has sessions and variables of its own, so what is asked of its backend must be asked of the
right one.
"""

from __future__ import annotations

import sys
from typing import Any

from weft.lib.keras import backend, models


def _package() -> Any:
    """The package `keras`, if the program has imported it."""
    found = sys.modules.get("keras")
    return found if hasattr(found, "backend") and hasattr(found, "models") else None


def backend_of(model: Any) -> Any:
    """The backend of the Keras that the class of a model comes from."""
    is_package = type(model).__module__.partition(".")[0] == "keras"
    return _package().backend if is_package else backend


def backend_in_use() -> Any:
    """The backend of the package, if there is one: a program that imports it works with it."""
    return backend if _package() is None else _package().backend


def models_in_use() -> Any:
    """The module with `load_model`, of the same Keras."""
    return models if _package() is None else _package().models
