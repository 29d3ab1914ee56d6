"""How layers are called that were given no name."""

from __future__ import annotations

import re


def to_snake_case(name: str) -> str:
    """`BasicLSTMCell` as `basic_lstm_cell`."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    # A scope name may not start with an underscore.
    return "private" + snake if snake.startswith("_") else snake
