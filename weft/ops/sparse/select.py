"""tf.sparse: sparse tensors put into another order or shape, cut, joined and filtered."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value, constant_value_as_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor, SparseTensorValue
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where_v2
from weft.ops.array.slicing import slice as slice_of
from weft.ops.control import check
from weft.ops.kit.shared import deprecated_alias
from weft.ops.math import casts, math


def as_sparse(value: Any) -> SparseTensor:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def parts_of(value: SparseTensor) -> tuple[Tensor, Tensor, Tensor]:
    """The three tensors that ops take for a sparse tensor."""
    return value.indices, value.values, value.dense_shape


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """`sp_input` with its elements in row-major order."""
    sp_input = as_sparse(sp_input)
    indices, values = raw.SparseReorder(*parts_of(sp_input), name=name)
    known = sp_input.shape.is_fully_defined()
    shape = sp_input.shape.as_list() if known else array.identity(sp_input.dense_shape)
    return SparseTensor(indices, values, shape)


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """`sp_input` in another shape of as many elements; one size may be -1."""
    whole, target = as_sparse(sp_input), casts.cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [whole]) as scope:
        moved, dims = raw.SparseReshape(whole.indices, whole.dense_shape, target, name=scope)
        if (known := _known_target(whole, target)) is not None:
            dims = constant(known, dtypes.int64)
        return SparseTensor(moved, array.identity(whole.values), dims)


def _known_target(sp_input: SparseTensor, shape: Tensor) -> list[int] | None:
    """The new shape, where the old one and the wish are known."""
    wanted, given = constant_value_as_shape(shape), constant_value(shape)
    if wanted.ndims is None or not sp_input.shape.is_fully_defined():
        return None
    if given is not None and list(given).count(-1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    sizes: list[Any] = wanted.as_list()
    size: Any = sp_input.shape.num_elements()
    if sizes.count(None) > 1:
        return None
    if None in sizes:
        rest = int(np.prod([d for d in sizes if d is not None], dtype=np.int64))
        sizes[sizes.index(None)] = size // rest if rest else 0
    count = int(np.prod(sizes, dtype=np.int64))
    if count != size:
        raise ValueError(
            f"Cannot reshape a tensor with {size} elements to shape {wanted.as_list()}"
            f" ({count} elements)."
        )
    return sizes


def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: Any = None,
) -> SparseTensor:
    """Joins sparse tensors along `axis`; others axes may be made as large as the largest."""
    axis = deprecated_alias("axis", axis, "concat_dim", concat_dim)
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    inputs = [as_sparse(each) for each in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [each.dense_shape for each in inputs]
    if expand_nonconcat_dims or expand_nonconcat_dim:
        shapes = _largest(shapes, axis)
    indices, values, shape = raw.SparseConcat(
        [each.indices for each in inputs], [each.values for each in inputs], shapes,
        concat_dim=axis, name=name,
    )  # fmt: skip
    known = [constant_value(each) for each in shapes]
    if all(each is not None for each in known):
        sizes = np.array(known[0])
        sizes[axis] = sum(each[axis] for each in known if each is not None)
        shape = convert_to_tensor(sizes)
    return SparseTensor(indices, values, shape)


def _largest(shapes: list[Tensor], axis: int) -> list[Tensor]:
    """Each shape with the sizes other than along `axis` those of the largest."""
    rows = [array.reshape(shape, [1, -1]) for shape in shapes]
    most, after = math.reduce_max(array.concat(rows, 0), 0), axis + 1

    def enlarged(shape: Tensor) -> Tensor:
        if axis == -1:
            parts = [most[:axis], shape[-1:], constant([], dtypes.int64)]
        else:
            parts = [most[:axis], shape[axis:after], most[after:]]
        return array.concat(parts, 0)

    return [enlarged(shape) for shape in shapes]


class KeywordRequired:
    """Stands where a function takes keyword arguments only."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


def sparse_split(
    keyword_required: Any = KeywordRequired(),  # noqa: B008
    sp_input: Any = None,
    num_split: Any = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """Cuts `sp_input` into `num_split` parts along `axis`; the first may be longer by one."""
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    axis = deprecated_alias("axis", axis, "split_dim", split_dim)
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{what} is required")
    made = raw.SparseSplit(axis, *parts_of(as_sparse(sp_input)), num_split=num_split, name=name)
    return [SparseTensor(*parts) for parts in zip(*made, strict=True)]


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part of `sp_input` of `size` that begins at `start`."""
    sp_input = as_sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input]) as scope:
        return SparseTensor(*raw.SparseSlice(*parts_of(sp_input), start, size, name=scope))


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements of `sp_input` for which the vector `to_retain` is true."""
    sp_input = as_sparse(sp_input)
    chosen = convert_to_tensor(to_retain)
    chosen.shape.assert_has_rank(1)
    sp_input.values.shape[0].merge_with(chosen.shape[0])
    kept = array.reshape(where_v2(chosen), [-1])
    indices, values = (gather(part, kept) for part in (sp_input.indices, sp_input.values))
    return SparseTensor(indices, values, array.identity(sp_input.dense_shape))


def sparse_fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """`sp_input` with `default_value` first in each empty row, and which rows were empty."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = convert_to_tensor(default_value, sp_input.values.dtype)
        indices, values, empty, _ = raw.SparseFillEmptyRows(*parts_of(sp_input), default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a larger shape; by default in the smallest that has them all."""
    sp_input = as_sparse(sp_input)
    indices, values, shape = (array.identity(part) for part in parts_of(sp_input))
    if new_shape is None:
        last, zero = math.reduce_max(indices, axis=0), constant(0, dtypes.int64)
        bound = math.add(last, array.ones_like(shape))
        return SparseTensor(indices, values, math.maximum(zero, bound))
    target = casts.cast(convert_to_tensor(new_shape), dtypes.int64)
    target.shape.assert_has_rank(1)
    target.shape[0].merge_with(shape.shape[0])
    known = constant_value(target)
    if known is None or not sp_input.shape.is_fully_defined():
        return SparseTensor(indices, values, _checked_shape(shape, target))
    old = np.array(sp_input.shape.as_list())
    if not np.all(old <= known):
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape"
            f" ({old}), sp_input.shape ({known})."
        )
    return SparseTensor(indices, values, known)


def _checked_shape(old: Tensor, new: Tensor) -> Tensor:
    with control_dependencies([check.assert_equal(array.shape(old), array.shape(new))]):
        new = array.identity(new)
    with control_dependencies([check.assert_less_equal(old, new)]):
        return array.identity(new)


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """`sp_input` with its axes in the order `perm`, by default reversed."""
    with name_scope(name, "SparseTranspose", [sp_input]):
        if perm is None:
            rank = array.rank(sp_input)
            perm = rank - 1 - math.range(0, rank, 1)
        moved = array.transpose(gather(array.transpose(sp_input.indices), perm))
        known = constant_value(convert_to_tensor(perm))
        shape: Any
        if known is not None and sp_input.shape.is_fully_defined():
            old = sp_input.shape.as_list()
            # A permutation that is too short leaves sizes over, which the indices do not fit.
            shape = [*(old[axis] for axis in known), *old[len(known) :]]
        else:
            shape = gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(moved, sp_input.values, shape))


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """`sp_input` with an axis of size 1 put in at `axis`, by default last."""
    rank = sp_input.dense_shape.shape[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        if isinstance(axis, numbers.Integral):
            axis = convert_to_tensor(axis, dtypes.int32, name="axis")
        elif not isinstance(axis, Tensor):
            raise TypeError(
                "axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]"
            )
        place = where_v2(axis >= 0, axis, axis + rank + 1)
        places, sizes = sp_input.indices, sp_input.dense_shape
        column = array.zeros([array.shape(places)[0], 1], dtypes.int64)
        before = slice_of(places, [0, 0], [-1, place])
        indices = array.concat([before, column, slice_of(places, [0, place], [-1, -1])], 1)
        parts = slice_of(sizes, [0], [place]), slice_of(sizes, [place], [-1])
        one = constant([1], dtypes.int64, name="new_shape")
        shape = array.concat([parts[0], one, parts[1]], 0)
        return SparseTensor(indices, sp_input.values, shape)


# ---- ids and values ------------------------------------------------------------------------------


def _id_lists(sp_ids: Any, vocab_size: Any) -> tuple[list[Any], list[Any]]:
    if isinstance(sp_ids, (SparseTensor, SparseTensorValue)):
        if not isinstance(vocab_size, (Tensor, numbers.Integral)):
            raise TypeError(
                f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}"
            )
        return [sp_ids], [vocab_size]
    if not isinstance(sp_ids, Iterable):
        raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
    given = list(vocab_size) if isinstance(vocab_size, Iterable) else [vocab_size]
    wrong = [each for each in given if not isinstance(each, (Tensor, numbers.Integral))]
    if wrong or not isinstance(vocab_size, Iterable):
        raise TypeError(
            "vocab_size has to be a list of Tensors or Python ints. Found"
            f" {type(wrong[0] if wrong else vocab_size)}"
        )
    return list(sp_ids), given


def sparse_merge(
    sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:  # fmt: skip
    """Values at the positions that ids give: the ids take the place of the last coordinate."""
    id_tensors, sizes = _id_lists(sp_ids, vocab_size)
    if len(id_tensors) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge", [sp_ids, sp_values]):
        return merged(id_tensors, sizes, sp_values, already_sorted)


def merged(
    id_tensors: list[Any], sizes: list[Any], sp_values: Any, already_sorted: bool = False
) -> SparseTensor:
    """As `sparse_merge`, in the scope that is open."""
    found = [as_sparse(each) for each in id_tensors]
    values = as_sparse(sp_values).values
    ids = [array.expand_dims(casts.cast(each.values, dtypes.int64), axis=1) for each in found]
    last = [casts.cast(size, dtypes.int64) for size in sizes]
    indices = array.concat([found[0].indices[:, :-1], *ids], 1)
    shape = array.concat([found[0].dense_shape[:-1], last], 0)
    result = SparseTensor(indices, values, shape)
    if already_sorted:
        return result
    ordered = sparse_reorder(result)
    return SparseTensor(ordered.indices, ordered.values, shape)
