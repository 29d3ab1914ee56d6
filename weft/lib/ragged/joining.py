"""tf.concat of ragged arguments, and tf.ragged.stack."""

from __future__ import annotations

import itertools
from typing import Any

from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.lib.ragged.gather import gather
from weft.lib.ragged.rows import check_same_splits, lengths_to_splits, positive_axis
from weft.lib.ragged.shape import expand_dims
from weft.lib.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    match_row_splits_dtypes,
)
from weft.ops.array import array
from weft.ops.control import check
from weft.ops.math import math


def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """Ragged tensors one after the other in dimension `axis`."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, stacked=False)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Ragged tensors side by side in a new dimension `axis`."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, stacked=True)


def _joined(values: list[Any], axis: Any, stacked: bool) -> Any:
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    converted = [convert_to_tensor_or_ragged_tensor(v, name="rt_input") for v in values]
    dtype, inputs = match_row_splits_dtypes(*converted)
    if len(inputs) == 1:
        return expand_dims(inputs[0], axis=axis) if stacked else inputs[0]
    rank = next((t.shape.ndims for t in inputs if t.shape.ndims is not None), None)
    for tensor in inputs:
        if rank is not None:
            tensor.shape.assert_has_rank(rank)
    out_rank = rank + 1 if stacked and rank is not None else rank
    axis = positive_axis(axis, out_rank)
    if not any(isinstance(t, RaggedTensor) for t in inputs):
        if rank is not None and out_rank is not None and axis in (out_rank - 1, rank - 1):
            return array.stack(inputs, axis) if stacked else array.concat(inputs, axis)
    levels = max((t.ragged_rank for t in inputs if isinstance(t, RaggedTensor)), default=1)
    inputs = [_at_levels(t, levels, dtype) for t in inputs]
    if axis == 0:
        return _rows_joined(inputs, stacked)
    if axis == 1:
        return _columns_joined(inputs, stacked)
    with control_dependencies(check_same_splits([[t.row_splits] for t in inputs])):
        inner = _joined([t.values for t in inputs], axis - 1, stacked)
        return RaggedTensor.from_row_splits(inner, inputs[0].row_splits, validate=False)


def _at_levels(tensor: Any, levels: int, dtype: Any) -> Any:
    """The same with so many ragged dimensions."""
    if not isinstance(tensor, RaggedTensor):
        return RaggedTensor.from_tensor(tensor, ragged_rank=levels, row_splits_dtype=dtype)
    if tensor.ragged_rank == levels:
        return tensor
    return tensor.with_values(_at_levels(tensor.values, levels - 1, dtype))


def _rows_joined(inputs: list[RaggedTensor], stacked: bool) -> Any:
    values = array.concat([t.flat_values for t in inputs], axis=0)
    nested = [list(splits) for splits in zip(*(t.nested_row_splits for t in inputs), strict=True)]
    joined = [_splits_joined(splits) for splits in nested]
    if stacked:
        joined.insert(0, lengths_to_splits(array.stack([t.nrows() for t in inputs])))
    return RaggedTensor.from_nested_row_splits(values, joined, validate=False)


def _splits_joined(splits: list[Tensor]) -> Tensor:
    first, *rest = splits
    # Counted one further than used, as TensorFlow does, which shows in the graph.
    offsets = itertools.accumulate(rest, lambda end, each: end + each[-1], initial=first[-1])
    moved = [each[1:] + offset for offset, each in zip(offsets, rest, strict=False)]
    return array.concat([first, *moved], axis=0)


def _columns_joined(inputs: list[RaggedTensor], stacked: bool) -> RaggedTensor:
    """Row i of all inputs, then row i + 1: with rows of the result every n of these."""
    count, rows = len(inputs), inputs[0].nrows()
    checks = [
        check.assert_equal(t.nrows(), rows, message="Input tensors have incompatible shapes.")
        for t in inputs[1:]
    ]
    with control_dependencies(checks):
        joined = _rows_joined(inputs, stacked=False)
        order = array.reshape(math.range(rows * count), [count, -1])
        mixed = gather(joined, array.reshape(array.transpose(order), [-1]))
        if stacked:
            splits, values = math.range(0, rows * count + 1, count), mixed
        else:
            splits, values = mixed.row_splits[::count], mixed.values
        for tensor in inputs:
            splits.set_shape(tensor.row_splits.shape)
        return RaggedTensor.from_row_splits(values, splits, validate=False)
