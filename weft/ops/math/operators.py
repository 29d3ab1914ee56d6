"""Puts arithmetic, comparison and indexing on Tensor, and teaches conversion about composites."""

from __future__ import annotations

import warnings
from typing import Any

from weft.core import dtypes
from weft.graph.convert import register_tensor_conversion_function
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.math import equality, math

_LARGE = 100_000_000


def install() -> None:
    for name, function in math.OPERATORS.items():
        setattr(Tensor, name, function)
    setattr(Tensor, "__getitem__", array_getitem)  # noqa: B010
    setattr(Tensor, "__eq__", equality.equals)  # noqa: B010
    setattr(Tensor, "__ne__", equality.not_equals)  # noqa: B010
    Tensor.OVERLOADABLE_OPERATORS = {*math.OPERATORS, "__getitem__", "__eq__", "__ne__"}
    register_tensor_conversion_function(IndexedSlices, _dense, 100)
    register_tensor_conversion_function((list, tuple), _autopack, 99)


def array_getitem(tensor: Tensor, spec: Any) -> Tensor:
    from weft.ops.array.getitem import getitem

    return getitem(tensor, spec)


def _dense(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype"
            f" {value.dtype.name}"
        )
    if value.dense_shape is None:
        raise ValueError(
            "Tensor conversion requested for IndexedSlices without dense_shape: " + str(value)
        )
    elements = value.shape.num_elements()
    if elements is not None and elements >= _LARGE:
        warnings.warn(
            f"Converting sparse IndexedSlices to a dense Tensor with {elements} elements. This may"
            " consume a large amount of memory.",
            stacklevel=2,
        )
    return raw.UnsortedSegmentSum(value.values, value.indices, value.dense_shape[0], name=name)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_tensor, value))
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _autopack(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A list with tensors in it becomes Pack nodes."""
    if as_ref or not _has_tensor(value):
        return NotImplemented
    return array.autopack(value, dtype, name or "packed")


install()
