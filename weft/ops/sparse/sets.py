"""The last dimension as a set: union, intersection, difference and size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.step_limits import long, looking_up
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import strings
from weft.ops.sparse.select import parts_of
from weft.ops.sparse.to_dense import check_coordinates

Array = np.ndarray
# The sets of a tensor, by all coordinates but the last.
Groups = dict[tuple[int, ...], set[Any]]

_TYPES = "{int8, int16, int32, int64, uint8, uint16, string}"
_ALLOWED = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16,
    dtypes.string,
)  # fmt: skip
_OPERATIONS: dict[str, Callable[[set[Any], set[Any]], set[Any]]] = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}
_RESULT: dict[str, Any] = {
    "outputs": "result_indices: int64, result_values: T, result_shape: int64",
    "attrs": f"set_operation: string, validate_indices: bool = true, T: {_TYPES}",
    "traits": HOST | NO_GRADIENT,
}


def _dense_groups(values: Array) -> Groups:
    places = looking_up(np.ndindex(values.shape[:-1]))
    return {place: set(values[place].tolist()) for place in places}


def _sparse_groups(indices: Array, values: Array, shape: Array, validate: bool) -> Groups:
    if len(shape) < 2:
        raise invalid(f"Invalid rank {len(shape)}.")
    check_coordinates(indices, shape, ordered=validate)
    found: Groups = {}
    for place, value in zip(long(indices[:, :-1].tolist()), values.tolist(), strict=True):
        found.setdefault(tuple(place), set()).add(value)
    return found


def _combined(a: Groups, b: Groups, shape: Any, set_operation: str, dtype: Any) -> list[Array]:
    """The sets of both, as a sparse tensor; `shape` is what all but the last dimension have."""
    combine = _OPERATIONS.get(set_operation.lower())
    if combine is None:
        raise invalid(f"Invalid set_operation {set_operation}.")
    places, values, longest = [], [], 0
    for group in long(sorted(a.keys() | b.keys())):
        found = sorted(combine(a.get(group, set()), b.get(group, set())))
        places += [(*group, i) for i in range(len(found))]
        values += found
        longest = max(longest, len(found))
    indices = np.array(places, np.int64).reshape(len(places), len(shape) + 1)
    flat = strings(values) if dtype.hasobject else np.array(values, dtype)
    return [indices, flat, np.array([*shape, longest], np.int64)]


def _check_groups(a: Any, b: Any) -> None:
    if list(a[:-1]) != list(b[:-1]):
        raise invalid(
            f"Mismatched shapes {s.show(tuple(map(int, a)))} vs {s.show(tuple(map(int, b)))}"
        )


def _result_dims(rank: int | None) -> list[Dims]:
    return [(None, rank), (None,), (rank,)]


def _dense_rank(c: ShapeContext, i: int) -> int | None:
    dims = s.with_rank_at_least(c.dims(i), 2)
    return None if dims is None else len(dims)


def _sparse_rank(c: ShapeContext, first: int) -> int | None:
    rows, columns = s.with_rank(c.dims(first), 2)
    s.merge_dim(rows, s.with_rank(c.dims(first + 1), 1)[0])
    (rank,) = s.with_rank(c.dims(first + 2), 1)
    s.merge_dim(columns, rank)
    return rank


def _two_dense(c: ShapeContext) -> list[Dims]:
    rank = s.merge_dim(_dense_rank(c, 0), _dense_rank(c, 1))
    a, b = c.dims(0), c.dims(1)
    if a is not None and b is not None:
        s.merge(a[:-1], b[:-1])
    return _result_dims(rank)


@op("DenseToDenseSetOperation", inputs="set1: T, set2: T", shape=_two_dense, **_RESULT)
def dense_to_dense_set_operation_(
    xp: Any, set1: Array, set2: Array, *, set_operation: str, validate_indices: bool
) -> list[Array]:
    _check_groups(set1.shape, set2.shape)
    a, b = _dense_groups(set1), _dense_groups(set2)
    return _combined(a, b, set1.shape[:-1], set_operation, set1.dtype)


@op(
    "DenseToSparseSetOperation",
    inputs="set1: T, set2_indices: int64, set2_values: T, set2_shape: int64",
    shape=lambda c: _result_dims(s.merge_dim(_dense_rank(c, 0), _sparse_rank(c, 1))),
    **_RESULT,
)
def dense_to_sparse_set_operation_(
    xp: Any, set1: Array, set2_indices: Array, set2_values: Array, set2_shape: Array, *,
    set_operation: str, validate_indices: bool,
) -> list[Array]:  # fmt: skip
    _check_groups(set1.shape, set2_shape)
    b = _sparse_groups(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(_dense_groups(set1), b, set1.shape[:-1], set_operation, set1.dtype)


@op(
    "SparseToSparseSetOperation",
    inputs="set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64,"
    " set2_values: T, set2_shape: int64",
    shape=lambda c: _result_dims(s.merge_dim(_sparse_rank(c, 0), _sparse_rank(c, 3))),
    **_RESULT,
)
def sparse_to_sparse_set_operation_(
    xp: Any, set1_indices: Array, set1_values: Array, set1_shape: Array, set2_indices: Array,
    set2_values: Array, set2_shape: Array, *, set_operation: str, validate_indices: bool,
) -> list[Array]:  # fmt: skip
    a = _sparse_groups(set1_indices, set1_values, set1_shape, validate_indices)
    b = _sparse_groups(set2_indices, set2_values, set2_shape, validate_indices)
    _check_groups(set1_shape, set2_shape)
    return _combined(a, b, set1_shape[:-1].tolist(), set_operation, set1_values.dtype)


@op(
    "SetSize",
    inputs="set_indices: int64, set_values: T, set_shape: int64",
    outputs="size: int32",
    attrs=f"validate_indices: bool = true, T: {_TYPES}",
    shape=s.unknown,
    traits=HOST | NO_GRADIENT,
)
def set_size_(
    xp: Any, set_indices: Array, set_values: Array, set_shape: Array, *, validate_indices: bool
) -> Array:
    sizes = np.zeros(set_shape[:-1], np.int32)
    groups = _sparse_groups(set_indices, set_values, set_shape, validate_indices)
    for place, members in groups.items():
        sizes[place] = len(members)
    return sizes


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different elements each set of a sparse tensor has."""
    sets = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(sets, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {sets}.")
    _check_type(sets.dtype, "Invalid")
    return set_size_(*parts_of(sets), validate_indices)


def _check_type(dtype: Any, problem: str) -> None:
    if dtype.base_dtype not in _ALLOWED:
        raise TypeError(f"{problem} dtype {dtype}.")


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements in a set of `a` and in the same set of `b`."""
    a, b, _ = _converted(a, b)
    return _set_operation(a, b, "intersection", validate_indices)


def set_difference(
    a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """Elements in a set of `a` and not in the same set of `b`; reversed if not `aminusb`."""
    a, b, flipped = _converted(a, b)
    return _set_operation(a, b, "a-b" if aminusb != flipped else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements in a set of `a` or in the same set of `b`."""
    a, b, _ = _converted(a, b)
    return _set_operation(a, b, "union", validate_indices)


def _converted(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Both as tensors, the dense one first; the last tells whether they changed places."""
    first = convert_to_tensor_or_sparse_tensor(a, name="a")
    _check_type(first.dtype, "'a' invalid")
    second = convert_to_tensor_or_sparse_tensor(b, name="b")
    if second.dtype.base_dtype != first.dtype.base_dtype:
        raise TypeError(f"Types don't match, {first.dtype} vs {second.dtype}.")
    flipped = isinstance(first, SparseTensor) and not isinstance(second, SparseTensor)
    return (second, first, True) if flipped else (first, second, False)


def _set_operation(a: Any, b: Any, operation: str, validate: bool) -> SparseTensor:
    parts = [
        part
        for x in (a, b)
        for part in ((x.indices, x.values, x.dense_shape) if isinstance(x, SparseTensor) else (x,))
    ]
    kinds = {
        2: dense_to_dense_set_operation_,
        4: dense_to_sparse_set_operation_,
        6: sparse_to_sparse_set_operation_,
    }
    found = kinds[len(parts)](*parts, set_operation=operation, validate_indices=validate)
    return SparseTensor(*found)
