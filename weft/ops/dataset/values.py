"""Components of elements: between iterators, operations and batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.ops.kit.shared import invalid


def cell(value: bytes) -> np.ndarray:
    """A string as operations know it."""
    out = np.empty((), object)
    out[()] = value
    return out


def for_kernels(element: Sequence[Any]) -> list[Any]:
    """An element as arguments of operations."""
    return [cell(v) if type(v) is bytes else v for v in element]


def from_kernels(values: Sequence[Any]) -> tuple[Any, ...]:
    """Results of operations as an element."""
    return tuple(
        [
            v.item()
            if type(v) is np.ndarray and not v.ndim and v.dtype.char == "O" and _holds_bytes(v)
            else v
            for v in values
        ]
    )


def _holds_bytes(value: np.ndarray) -> bool:
    return type(value.item()) is bytes


def shape_of(value: Any) -> tuple[int, ...]:
    return value.shape if isinstance(value, (np.ndarray, np.generic)) else ()


def batch(elements: Sequence[tuple[Any, ...]]) -> tuple[np.ndarray, ...]:
    """Elements of equal shapes along a new first axis."""
    return tuple([column(values, i) for i, values in enumerate(zip(*elements, strict=True))])


def column(values: Sequence[Any], component: int) -> np.ndarray:
    first = values[0]
    if not isinstance(first, np.ndarray) or not first.ndim:
        return _scalars(values, component)
    _check_shapes(values, component)
    out = np.empty((len(values), *first.shape), first.dtype)
    for i, value in enumerate(values):
        out[i] = value
    return out


def _scalars(values: Sequence[Any], component: int) -> np.ndarray:
    first = values[0]
    if isinstance(first, (np.generic, np.ndarray)):
        _check_shapes(values, component)
        return np.array(values, first.dtype)
    out = np.empty(len(values), object)
    _check_shapes(values, component)
    out[:] = values
    return out


def _check_shapes(values: Sequence[Any], component: int) -> None:
    first = shape_of(values[0])
    for i, value in enumerate(values):
        if shape_of(value) != first:
            raise invalid(
                f"Cannot batch tensors with different shapes in component {component}. First"
                f" element had shape {s.show(first)} and element {i} had shape"
                f" {s.show(shape_of(value))}."
            )


def rows_of(values: np.ndarray) -> list[Any]:
    """The components along the first axis of an array."""
    return list(values)
