"""What layers are called, and whether they share variables by name or by object."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weft.graph.graph import get_default_graph

# Counts the layers of each class in a graph; not exported with it.
_NAMES_KEY: Any = ("__layer_names",)
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


def to_snake_case(name: str) -> str:
    """`BasicLSTMCell` as `basic_lstm_cell`."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    # A scope name may not start with an underscore.
    return "private" + snake if snake.startswith("_") else snake


def unique_object_name(base: str, zero_based: bool = False) -> str:
    """`base` with a number that no other layer of this graph has: dense_1, dense_2, ..."""
    kept = get_default_graph().get_collection_ref(_NAMES_KEY)
    if not kept:
        kept.append(collections.Counter())
    number = kept[0][base] if zero_based else kept[0][base] + 1
    kept[0][base] += 1
    return f"{base}_{number}" if number or not zero_based else base
