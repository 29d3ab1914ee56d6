"""Ragged labels and predictions as flat ones, for metrics that have no use for rows."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import control_dependencies
from weft.lib.ragged.tensor import RaggedTensor
from weft.ops.array import array
from weft.ops.control import check


def flat_values(values: list[Any], mask: Any = None) -> tuple[list[Any], Any]:
    """(values, mask), flat if all of them are ragged; their rows must then be alike."""
    ragged = [isinstance(value, RaggedTensor) for value in values]
    if not any(ragged):
        if isinstance(mask, RaggedTensor):
            raise TypeError("Ragged mask is not allowed with non-ragged inputs.")
        return values, mask
    if not all(ragged) or not (mask is None or isinstance(mask, RaggedTensor)):
        raise TypeError("One of the inputs does not have acceptable types.")
    given = values if mask is None else [*values, mask]
    with control_dependencies(_same_rows(given)):
        flat = [array.expand_dims(array.identity(value.flat_values), -1) for value in given]
    return (flat, None) if mask is None else (flat[:-1], flat[-1])


def _same_rows(values: list[Any]) -> list[Any]:
    first = values[0].nested_row_splits
    for other in values[1:]:
        if len(other.nested_row_splits) != len(first):
            raise ValueError("Inputs must have identical ragged splits")
    return [
        check.assert_equal(a, b, message="Inputs must have identical ragged splits")
        for other in values[1:]
        for a, b in zip(first, other.nested_row_splits, strict=True)
    ]
