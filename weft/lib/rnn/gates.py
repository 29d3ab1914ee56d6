"""Formulas that cells have in common: gates and what they let through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Tensor
from weft.ops.array.split import split
from weft.ops.math.clip import clip_by_value
from weft.ops.math.math import sigmoid


def cut(x: Tensor, count: int, axis: Any = 1) -> list[Tensor]:
    """The parts of a product that was computed for several gates at once."""
    return split(value=x, num_or_size_splits=count, axis=axis)


def mixed(gate: Tensor, old: Any, new: Any) -> Tensor:
    """`old` where the gate is 1, `new` where it is 0."""
    return gate * old + (1.0 - gate) * new


def remembered(c: Any, i: Any, j: Any, f: Any, activation: Callable[..., Any]) -> Tensor:
    """The new memory of an LSTM, from the old one and the sums that come to its gates."""
    return sigmoid(f) * c + sigmoid(i) * activation(j)


def clipped(x: Tensor, limit: float | None) -> Tensor:
    return x if limit is None else clip_by_value(x, -limit, limit)
