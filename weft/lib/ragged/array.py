"""Array functions of ragged arguments, and tf.ragged.boolean_mask."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.lib.ragged.gather import gather as ragged_gather
from weft.lib.ragged.joining import concat, stack
from weft.lib.ragged.mapping import map_flat_values
from weft.lib.ragged.math import reduce_sum
from weft.lib.ragged.rows import (
    check_rank,
    check_same_splits,
    int_tensor,
    known_rank,
    lengths_to_splits,
    positive_axis,
    ranges,
    rows_at,
)
from weft.lib.ragged.shape import expand_dims as expand_dims
from weft.lib.ragged.tensor import (
    RaggedTensor,
    convert_alike,
    convert_to_tensor_or_ragged_tensor,
    match_row_splits_dtypes,
)
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import boolean_mask as dense_mask
from weft.ops.array.one_hot_search import one_hot as dense_one_hot
from weft.ops.array.one_hot_search import where as dense_where
from weft.ops.control import check
from weft.ops.control.control import Assert, with_dependencies
from weft.ops.kit.shared import deprecated_alias
from weft.ops.math import math
from weft.ops.math.sort import argsort

# ---- masks --------------------------------------------------------------------------------------


_UNFIT_RANKS = {
    None: "mask.shape.ndims must be known statically.",
    0: "mask cannot be scalar.",
}


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The part of `data` that `mask` selects; unlike tf.boolean_mask, rows stay rows."""
    with name_scope(name, "RaggedMask", [data, mask]):
        dtype, (data, mask) = convert_alike({"mask": dtypes.bool}, data=data, mask=mask)
        check_rank(mask, _UNFIT_RANKS)
        return _masked(data, mask, dtype)


def _masked(data: Any, mask: Any, dtype: Any) -> Any:
    rank = mask.shape.ndims
    if isinstance(mask, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(
                data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype
            )
        return _masked_by_rows(data, mask, dtype)
    if rank == 1:
        return (
            _masked_rows(data, mask) if isinstance(data, RaggedTensor) else dense_mask(data, mask)
        )
    if not isinstance(data, RaggedTensor):
        data.shape[:rank].assert_is_compatible_with(mask.shape)
    levels = min(data.ragged_rank, rank - 1) if isinstance(data, RaggedTensor) else rank - 1
    mask = RaggedTensor.from_tensor(mask, ragged_rank=levels, row_splits_dtype=dtype)
    return _masked(data, mask, dtype)


def _masked_rows(data: RaggedTensor, mask: Tensor) -> RaggedTensor:
    """Whole rows."""
    splits = lengths_to_splits(dense_mask(data.row_lengths(), mask))
    values = _masked(data.values, gather(mask, data.value_rowids()), splits.dtype)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _masked_by_rows(data: RaggedTensor, mask: RaggedTensor, dtype: Any) -> RaggedTensor:
    both = [mask.nested_row_splits, data.nested_row_splits[: mask.ragged_rank]]
    with control_dependencies(check_same_splits(both)):
        if known_rank(mask) > 2:
            splits = mask.row_splits
        else:
            counted = map_flat_values(math.cast, mask, dtype=dtype)
            splits = lengths_to_splits(reduce_sum(counted, axis=1))
        values = _masked(data.values, mask.values, dtype)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


# ---- shapes -------------------------------------------------------------------------------------


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The number of values."""
    return array.size(input.flat_values, out_type=out_type, name=name)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions, ragged ones included."""
    with name_scope(name, "RaggedRank", [input]):
        return input.ragged_rank + array.rank(input.flat_values)


def expand_dims_v1(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """A dimension of size 1 at `axis`."""
    return expand_dims(input, deprecated_alias("axis", axis, "dim", dim), name)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Without the dimensions `axis`, in which every row must have length 1."""
    axis = deprecated_alias("axis", axis, "squeeze_dims", squeeze_dims)
    with name_scope(name, "RaggedSqueeze", [input]):
        input = convert_to_tensor_or_ragged_tensor(input)
        return _squeezed(input, {positive_axis(a, input.shape.ndims) for a in _listed(axis)})


def _listed(axis: Any) -> Any:
    """One axis or several as a list of them."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    if any(not isinstance(each, int) for each in axes):
        raise TypeError("Axis must be a list or tuple of integers.")
    return axes


def _squeezed(input: RaggedTensor, axes: set[int]) -> Any:
    ragged_rank = input.ragged_rank
    dense = [axis - ragged_rank for axis in sorted(axes) if axis > ragged_rank]
    lengths = [array.expand_dims(input.nrows(), 0), *input.nested_row_lengths()]
    checks = [
        Assert(
            math.reduce_all(math.equal(lengths[axis], 1)),
            [f"the given axis (axis = {axis}) is not squeezable!"],
        )
        for axis in sorted(axes)
        if axis <= ragged_rank
    ]
    values = with_dependencies(checks, input.flat_values)
    if dense:
        values = array.squeeze(values, dense)
    kept = [s for i, s in enumerate(input.nested_row_splits) if i + 1 not in axes]
    if 0 in axes and kept:
        del kept[0]
    elif 0 in axes:
        values = array.squeeze(values, [0])
    return RaggedTensor.from_nested_row_splits(values, kept, validate=False)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> RaggedTensor:
    """Each index as a vector, in a dimension that is not ragged."""
    with name_scope(name, "RaggedOneHot", [indices]):
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        place = None if axis is None else _inner_axis(indices, axis)
        choices = depth, on_value, off_value, place, dtype, name
        return indices.with_flat_values(dense_one_hot(indices.flat_values, *choices))


def _inner_axis(tensor: RaggedTensor, axis: int) -> int:
    place = positive_axis(axis, tensor.shape.ndims)
    if place < tensor.ragged_rank:
        raise ValueError("axis may not be less than indices.ragged_rank.")
    return place


def tile(input: Any, multiples: Any, name: str | None = None) -> RaggedTensor:
    """Everything so often in each dimension."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        dtype = input.row_splits.dtype
        multiples = int_tensor(multiples, "multiples", dtype)
        multiples.shape.assert_has_rank(1)
        rows = array.tile(math.range(input.nrows()), multiples[:1])
        nested = []
        for level, splits in enumerate(input.nested_row_splits):
            times = multiples[level + 1]
            starts, limits = rows_at(splits, rows)
            nested.append(lengths_to_splits((limits - starts) * times))
            rows = ranges(array.repeat(starts, times, axis=0), array.repeat(limits, times, axis=0))
        values = gather(input.flat_values, rows)
        one = constant([1], dtype)
        inner = array.concat([one, multiples[input.ragged_rank + 1 :]], axis=0)
        values = array.tile(values, inner)
        return RaggedTensor.from_nested_row_splits(values, nested, validate=False)


# ---- choices ------------------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Values or rows of x where `condition` holds, else of y; without these, where it holds."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere", [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            return _coordinates(condition)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        _, (condition, x, y) = match_row_splits_dtypes(condition, x, y)
        if all(isinstance(t, RaggedTensor) for t in (condition, x, y)):
            return map_flat_values(dense_where, condition, x, y)
        if isinstance(condition, RaggedTensor):
            raise ValueError("Input shapes do not match.")
        return _chosen_rows(condition, x, y)


def _chosen_rows(condition: Tensor, x: Any, y: Any) -> Any:
    condition.shape.assert_has_rank(1)
    both = concat([x, y], axis=0)
    dtype = both.row_splits.dtype
    counts = [
        t.nrows(out_type=dtype)
        if isinstance(t, RaggedTensor)
        else array.shape(t, out_type=dtype)[0]
        for t in (x, y)
    ]
    rows = dense_where(condition, math.range(counts[0]), counts[0] + math.range(counts[1]))
    return ragged_gather(both, rows)


def _coordinates(condition: Any) -> Tensor:
    if not isinstance(condition, RaggedTensor):
        return dense_where(condition)
    inner = _coordinates(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype)
    place = inner[:, 0]
    rows = gather(condition.value_rowids(), place)
    columns = place - gather(condition.row_splits, rows)
    front = array.stack([rows, columns], axis=1)
    return array.concat([front, inner[:, 1:]], axis=1)


# ---- partitions ---------------------------------------------------------------------------------


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """A ragged tensor whose row i holds what of `data` has partition i."""
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        ids, number = _numbered(partitions, num_partitions, getattr(data, "row_splits", None))
        ids.shape.assert_is_compatible_with(data.shape[: ids.shape.ndims])
        return _stacked(data, ids, number)


def _numbered(partitions: Any, count: Any, splits: Tensor | None) -> tuple[Any, Tensor]:
    """The partition of each value and how many there are, both of the type of `splits`, if any."""
    kind = None if splits is None else splits.dtype
    ids = convert_to_tensor_or_ragged_tensor(partitions, None, kind, "partitions")
    number = convert_to_tensor(count, preferred_dtype=ids.dtype, name="num_partitions")
    ids = ids if kind is None else map_flat_values(math.cast, ids, kind)
    number = math.cast(number, ids.dtype)
    number.shape.assert_has_rank(0)
    return ids, number


def _stack_one(data: Any, partition: Tensor, number: Tensor) -> RaggedTensor:
    values, rows = stack([data]), array.stack([partition])
    return RaggedTensor.from_value_rowids(values, rows, number, validate=False)


def _stack_rows(data: Any, partitions: Tensor, number: Tensor) -> RaggedTensor:
    order = argsort(partitions, stable=True)
    rows = gather(partitions, order)
    message = "partitions must be less than num_partitions"
    with control_dependencies([check.assert_less(rows[-1:], number, message=message)]):
        values = ragged_gather(data, order)
        return RaggedTensor.from_value_rowids(values, rows, number, validate=False)


def _stacked(data: Any, partitions: Any, number: Tensor) -> Any:
    rank = partitions.shape.ndims
    if rank is None:
        raise ValueError("partitions must have known rank.")
    if rank < 2:
        return (_stack_rows if rank else _stack_one)(data, partitions, number)
    data, partitions = (_as_rows(t, partitions.dtype) for t in (data, partitions))
    same = check.assert_equal(
        data.row_splits,
        partitions.row_splits,
        message="data and partitions have incompatible ragged shapes",
    )
    with control_dependencies([same]):
        return _stacked(data.values, partitions.values, number)


def _as_rows(tensor: Any, dtype: Any) -> RaggedTensor:
    if isinstance(tensor, RaggedTensor):
        return tensor
    return RaggedTensor.from_tensor(tensor, row_splits_dtype=dtype)


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """The rows of `stack_dynamic_partitions`, one by one."""
    is_count = isinstance(num_partitions, int) and num_partitions >= 0
    if not is_count:
        raise TypeError("num_partitions must be a non-negative integer")
    rows = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return list(map(rows.__getitem__, range(num_partitions)))
