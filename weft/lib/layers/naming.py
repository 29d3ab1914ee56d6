"""Whether layers share variables by name or by object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weft.lib.keras.backend.graph_state import unique_object_name as unique_object_name
from weft.lib.keras.engine.naming import to_snake_case as to_snake_case

_keras_style = [False]


def is_keras_style() -> bool:
    return _keras_style[0]


@contextmanager
def keras_style_scope() -> Iterator[None]:
    """Layers made inside own their variables: they share by object, never by name."""
    before = _keras_style[0]
    _keras_style[0] = True
    try:
        yield
    finally:
        _keras_style[0] = before


def set_keras_style() -> None:
    """As `keras_style_scope`, for the rest of the program."""
    _keras_style[0] = True
