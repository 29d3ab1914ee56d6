"""tf.sparse: sparse tensors from and into dense ones; reductions and arithmetic of them."""

from __future__ import annotations

import numbers
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.kit.operands import with_values
from weft.ops.kit.shared import deprecated_alias
from weft.ops.math import casts, math
from weft.ops.math.reduce import reduction_axes_of
from weft.ops.sparse.select import as_sparse, merged, parts_of


def sparse_tensor_to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The dense tensor that has `default_value`, by default 0, where `sp_input` has nothing."""
    indices, values, shape = parts_of(as_sparse(sp_input))
    nothing = array.zeros([], values.dtype) if default_value is None else default_value
    return raw.SparseToDense(indices, shape, values, nothing, validate_indices, name=name)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A dense tensor of bools: which ids, the values of `sp_input`, each row has."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        count = array.expand_dims(array.shape(sp_input.indices)[0], 0)
        marks = with_values(sp_input, raw.Fill(count, True))
        return sparse_tensor_to_dense(merged([sp_input], [vocab_size], marks), False, False, scope)


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of `tensor` that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = constant("" if tensor.dtype == dtypes.string else 0, tensor.dtype)
        indices = where_v2(math.not_equal(tensor, zero))
        values = raw.GatherNd(tensor, indices)
        return SparseTensor(indices, values, array.shape(tensor, out_type=dtypes.int64))


def sparse_eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """A matrix with ones on its diagonal."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _as_int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _as_int64(num_columns, "num_columns")
        size = math.minimum(rows, columns)
        places = array.stack([math.range(size, dtype=dtypes.int64)] * 2, 1)
        return SparseTensor(places, array.ones(size, dtype), [rows, columns])


def _as_int64(value: Any, name: str) -> Tensor:
    if isinstance(value, numbers.Integral):
        return convert_to_tensor(value, dtypes.int64, name=name)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return value if value.dtype == dtypes.int64 else casts.cast(value, dtypes.int64)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor that every run is fed with."""

    def part(what: str) -> str | None:
        return f"{name}/{what}" if name is not None else None

    dense_shape, rank = _given_shape(shape, part("shape"))
    if dense_shape is None:
        dense_shape = array.placeholder(dtypes.int64, [rank], name=part("shape"))
    return SparseTensor(
        values=array.placeholder(dtype, [None], name=part("values")),
        indices=array.placeholder(dtypes.int64, [None, rank], name=part("indices")),
        dense_shape=dense_shape,
    )


def _given_shape(shape: Any, name: str | None) -> tuple[Any, int | None]:
    """The shape as a tensor, if all of it is known, and its rank, if that is."""
    if shape is None:
        return None, None
    if isinstance(shape, Tensor):
        known = constant_value(shape)
        return shape, None if known is None else len(known)
    from weft.core.shapes import as_shape

    static = as_shape(shape)
    if not static.is_fully_defined():
        return None, static.ndims
    return convert_to_tensor(static.as_list(), dtypes.int64, name=name), static.ndims


# ---- reductions and arithmetic -------------------------------------------------------------------


def _reduction(kind: str, sp_input: Any, axis: Any, keepdims: Any, old: tuple[Any, Any]) -> Any:
    axes, keep = old
    keepdims = deprecated_alias("keepdims", keepdims, "keep_dims", keep)
    if axis is not None and axes is not None:
        raise ValueError("Can't specify both axis' and 'reduction_indices'.")
    axis = axes if axis is None else axis
    return getattr(raw, kind)(
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        reduction_axes_of(sp_input, axis),
        keep_dims=bool(keepdims),
    )


def sparse_reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
    keep_dims: Any = None,
) -> Tensor:  # fmt: skip
    """The sum over `axis`, by default over all, as a dense tensor."""
    return _reduction("SparseReduceSum", sp_input, axis, keepdims, (reduction_axes, keep_dims))


def sparse_reduce_sum_sparse(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
    keep_dims: Any = None,
) -> SparseTensor:  # fmt: skip
    """The sum over `axis` as a sparse tensor."""
    old = reduction_axes, keep_dims
    return SparseTensor(*_reduction("SparseReduceSumSparse", sp_input, axis, keepdims, old))


def sparse_reduce_max(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
    keep_dims: Any = None,
) -> Tensor:  # fmt: skip
    """The largest element over `axis`, as a dense tensor; absent elements do not count."""
    return _reduction("SparseReduceMax", sp_input, axis, keepdims, (reduction_axes, keep_dims))


def sparse_reduce_max_sparse(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
    keep_dims: Any = None,
) -> SparseTensor:  # fmt: skip
    """The largest element over `axis` as a sparse tensor."""
    old = reduction_axes, keep_dims
    return SparseTensor(*_reduction("SparseReduceMaxSparse", sp_input, axis, keepdims, old))


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The softmax over the last axis, of the elements that are there."""
    indices, shape = sp_input.indices, sp_input.dense_shape
    with name_scope(name, "SparseSoftmax", [indices, sp_input.values]):
        return SparseTensor(indices, raw.SparseSoftmax(indices, sp_input.values, shape), shape)


def _choice(kind: str, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    parts = (*parts_of(sp_a), *parts_of(sp_b))
    with name_scope(name, kind, [*parts]) as scope:
        indices, found = getattr(raw, kind)(*parts, name=scope)
    return SparseTensor(indices, found, sp_a.dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of two sparse tensors, element by element; what is absent is 0."""
    return _choice("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of two sparse tensors, element by element; what is absent is 0."""
    return _choice("SparseSparseMinimum", sp_a, sp_b, name)
