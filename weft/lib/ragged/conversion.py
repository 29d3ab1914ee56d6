"""Dense and sparse tensors and variants as ragged tensors, and back.

`cls` is RaggedTensor, which uses these functions and is not imported here.
"""

from __future__ import annotations

from typing import Any

from weft.core.dtypes import DType, int64, variant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor, convert_to_tensor_or_sparse_tensor, is_sparse
from weft.graph.tensor import Tensor
from weft.lib.ragged.partition import is_ragged_tensor
from weft.lib.ragged.rows import int_tensor, lengths_to_splits
from weft.ops.array import array
from weft.ops.array.one_hot_search import boolean_mask, sequence_mask, where
from weft.ops.control.cond import cond
from weft.ops.control.control import Assert
from weft.ops.math import math


def from_tensor(
    cls: Any, tensor: Any, lengths: Any, padding: Any, ragged_rank: int, dtype: DType
) -> Any:
    tensor = convert_to_tensor(tensor, name="tensor")
    tensor.shape.with_rank_at_least(ragged_rank + 1)
    shape = array.shape(tensor, out_type=dtype)
    if ragged_rank > 1:
        merged = array.concat([convert_to_tensor([-1], dtype), shape[ragged_rank:]], axis=0)
        rows = from_tensor(cls, array.reshape(tensor, merged), lengths, padding, 1, dtype)
        sizes = math.cumprod(shape)
        outer = [math.range(0, sizes[dim - 1] + 1) * shape[dim] for dim in range(1, ragged_rank)]
        return cls.from_nested_row_splits(rows, outer, validate=False)
    if padding is not None:
        lengths = _lengths_without(tensor, padding, shape[1], dtype)
    if lengths is None:
        splits = math.range(shape[0] + 1) * shape[1]
        merged = array.concat([[shape[0] * shape[1]], shape[2:]], axis=0)
        return cls.from_row_splits(array.reshape(tensor, merged), splits, validate=False)
    if _is_nested(lengths):
        return _cut_at_all_levels(cls, tensor, lengths)
    lengths = int_tensor(lengths, "lengths", dtype)
    lengths.shape.assert_has_rank(1)
    lengths = math.maximum(math.minimum(lengths, shape[1]), 0)
    values = boolean_mask(tensor, sequence_mask(lengths, maxlen=shape[1]))
    return cls.from_row_splits(values, lengths_to_splits(lengths), validate=False)


def _is_nested(lengths: Any) -> bool:
    is_list = isinstance(lengths, (list, tuple)) and len(lengths) > 0
    return is_list and not isinstance(lengths[0], (int, float))


def _cut_at_all_levels(cls: Any, tensor: Tensor, lengths: Any) -> Any:
    def rows_of(values: Tensor) -> Any:
        return cls.from_nested_row_lengths(values, lengths, validate=False)

    tensor.shape.with_rank_at_least(len(lengths) + 1)
    total = math.reduce_sum(lengths[-1])
    within = rows_of(array.ones([total], "bool")).to_tensor(default_value=False)
    return rows_of(boolean_mask(tensor, within))


def _lengths_without(tensor: Tensor, padding: Any, columns: Tensor, dtype: DType) -> Tensor:
    """The length of each row up to its last element that is not padding."""
    empty = _is_padding(tensor, padding)
    place = array.expand_dims(math.range(1, columns + 1), 0)
    return math.reduce_max(math.cast(math.logical_not(empty), dtype) * place, axis=1)


def _is_padding(tensor: Tensor, padding: Any) -> Tensor:
    """Whether each element of each row is padding, in all its inner dimensions."""
    padding = convert_to_tensor(padding, tensor.dtype, name="padding")
    row_shape, inner_shape = tensor.shape[:2], tensor.shape[2:]
    padding.shape.assert_is_compatible_with(inner_shape)
    same, rank = math.equal(padding, tensor), array.rank(tensor)

    def in_all_dimensions() -> Tensor:
        return math.reduce_all(same, math.range(2, rank))

    whole = cond(math.greater(rank, 2), in_all_dimensions, lambda: same)
    for known in ([None, None], row_shape):
        whole.set_shape(known)
    return whole


def to_tensor(ragged: Any, default: Any) -> Tensor:
    if default is not None:
        default = convert_to_tensor(default, name="default_value", dtype=ragged.dtype)
    values = ragged.values
    if is_ragged_tensor(values):
        values = values.to_tensor(default)
    default = _default_row(values, default)
    whole = convert_to_tensor(-1, int64)  # no shape that would cut something off
    return raw.RaggedTensorToTensor(
        whole, values, default, [ragged.row_splits], row_partition_types=["ROW_SPLITS"]
    )


def _default_row(values: Tensor, default: Tensor | None) -> Tensor:
    """The default with the shape of one value."""
    if default is None:
        default = array.zeros(array.shape(values)[1:], values.dtype)
    else:
        rank = values.shape.ndims
        if rank is not None:
            default.shape.with_rank_at_most(rank - 1)
        if rank is None or default.shape.ndims != rank - 1:
            default = array.broadcast_to(default, array.shape(values)[1:])
    default.shape.assert_is_compatible_with(values.shape[1:])
    default.set_shape(values.shape[1:])
    return default


# ---- sparse -------------------------------------------------------------------------------------


def from_sparse(cls: Any, value: Any, name: str | None, dtype: DType) -> Any:
    if not is_sparse(value):
        raise TypeError(f"Expected SparseTensor, got {type(value).__name__}")
    with name_scope(name, "RaggedFromSparse", [value]):
        sparse = convert_to_tensor_or_sparse_tensor(value, name="st_input")
        indices, sizes = sparse.indices, sparse.dense_shape
        ranks = [t.shape.as_list()[-1] for t in (sizes, indices) if t.shape.ndims is not None]
        if 2 not in ranks:
            raise ValueError("rank(st_input) must be 2")
        with control_dependencies([_assert_no_gaps(indices)]):
            rowids, count = (math.cast(part, dtype) for part in (indices[:, 0], sizes[0]))
            return cls.from_value_rowids(sparse.values, rowids, count, validate=False)


def _assert_no_gaps(indices: Tensor) -> Any:
    """Asserts that each index begins a row or is the next one in the row of the index before it."""
    rows, place = indices[:, :-1], indices[:, -1]
    is_new = math.reduce_any(math.not_equal(*_neighbours(rows)), 1)
    begins = math.equal(place[1:], 0)
    after, before = _neighbours(place)
    in_order = where(is_new, begins, math.equal(after, before + 1))
    facts = [math.reduce_all(fact) for fact in (math.equal(place[:1], 0), in_order)]
    told = ["SparseTensor is not right-ragged", "SparseTensor.indices =", indices]
    return Assert(math.logical_and(*facts), told)


def _neighbours(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """(all but the first, all but the last)"""
    return tensor[1:], tensor[:-1]


def to_sparse(ragged: Any) -> SparseTensor:
    return SparseTensor(*raw.RaggedTensorToSparse(ragged.nested_row_splits, ragged.flat_values))


# ---- variants -----------------------------------------------------------------------------------


def to_variant(ragged: Any, batched: bool) -> Tensor:
    return raw.RaggedTensorToVariant(
        ragged.nested_row_splits, ragged.flat_values, batched_input=batched
    )


def from_variant(
    cls: Any, value: Any, dtype: DType, output_rank: int, input_rank: int | None, name: Any
) -> Any:
    value = convert_to_tensor(value, name="variant", dtype=variant)
    dims = value.shape.ndims
    if dims is not None and input_rank is not None and output_rank != input_rank + dims:
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank +variant.shape.ndims, found "
            f"variant.shape.ndims: {dims}, input_ragged_rank: {input_rank}, output_ragged_rank: "
            f"{output_rank}"
        )
    with name_scope(name, "RaggedFromVariant", [value]):
        result = raw.RaggedTensorFromVariant(
            value,
            input_ragged_rank=-1 if input_rank is None else input_rank,
            output_ragged_rank=output_rank,
            Tvalues=dtype,
            Tsplits="int64",
        )
        splits, values = result
        return cls.from_nested_row_splits(values, splits, validate=False)
