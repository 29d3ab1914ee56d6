"""Reductions and element-wise arithmetic of sparse tensors: the operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import OpDef, op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor
from weft.graph.traits import HOST
from weft.ops.kit.shared import check_rank, check_sparse, invalid
from weft.ops.math import casts
from weft.ops.math.elementwise import truncated_quotient
from weft.ops.sparse.add import sparse_add
from weft.ops.sparse.row_groups import groups_of_rows
from weft.ops.sparse.shape_nodes import check_parts


def _check_shape(shape: Any) -> None:
    """Whether a dense tensor could have this shape."""
    check_rank(shape)
    sizes = [int(d) for d in shape]
    for i, size in enumerate(sizes):
        if size < 0:
            raise invalid(f"size {i} must be non-negative, not {size}")
    if math.prod(sizes) > np.iinfo(np.int64).max:
        raise invalid(f"Shape {s.show(tuple(sizes))} would have more than 2**63 - 1 elements")


def _axes(given: Any, rank: int) -> list[int]:
    axes = []
    for axis in np.ravel(given).tolist():
        if not -rank <= axis < rank:
            raise invalid(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
        axes.append(axis % rank)
    return sorted(set(axes)) or (list(range(rank)) if np.size(given) == 0 else [])


def _reduced(
    function: np.ufunc, indices: Any, values: Any, shape: Any, axes: Any, keep: bool
) -> tuple[Any, Any, Any]:
    """Coordinates, values and shape of a reduction; only groups that have elements."""
    _check_shape(shape)
    check_parts(indices, values, shape)
    removed = _axes(axes, len(shape))
    kept = [d for d in range(len(shape)) if d not in removed]
    keys = indices[:, kept]
    order, starts = groups_of_rows(keys)
    reduced = values[order][:0]
    if len(starts):
        reduced = function.reduceat(values[order], starts)
    keys, sizes = keys[order][starts], np.asarray(shape)[kept]
    if keep:
        full = np.zeros((len(keys), len(shape)), np.int64)
        full[:, kept] = keys
        whole = np.ones(len(shape), np.int64)
        whole[kept] = sizes
        keys, sizes = full, whole
    return keys.astype(np.int64), reduced.astype(values.dtype), sizes.astype(np.int64)


def _reduced_dims(c: ShapeContext) -> Dims:
    shape, axes = c.value(2), c.value(3)
    if shape is None or axes is None:
        return None
    dims = tuple(None if size < 0 else size for size in np.ravel(shape).tolist())
    chosen = np.ravel(axes).tolist() or list(range(len(dims)))
    if any(not -len(dims) <= axis < len(dims) for axis in chosen):
        return None  # the kernel says so
    return s.reduced_dims(dims, chosen, c.attr("keep_dims"))


def _reduction(name: str, types: str, function: np.ufunc) -> OpDef:
    """Declares the operation with a dense result, and the one with a sparse result."""
    inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
    attrs = f"keep_dims: bool = false, T: {types}"

    def dense(
        xp: Any, input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any,
        *, keep_dims: bool,
    ) -> Any:  # fmt: skip
        where, values, shape = _reduced(
            function, input_indices, input_values, input_shape, reduction_axes, keep_dims
        )
        out = np.zeros(tuple(shape), values.dtype)
        out[tuple(where.T)] = values if where.shape[1] else values[0] if len(values) else 0
        return out

    def sparse(
        xp: Any, input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any,
        *, keep_dims: bool,
    ) -> Any:  # fmt: skip
        return list(
            _reduced(function, input_indices, input_values, input_shape, reduction_axes, keep_dims)
        )

    made = op(
        name, inputs=inputs, outputs="output: T", attrs=attrs, shape=_reduced_dims, traits=HOST
    )
    outputs = "output_indices: int64, output_values: T, output_shape: int64"
    made_sparse = op(
        f"{name}Sparse", inputs=inputs, outputs=outputs, attrs=attrs,
        shape=s.unknown, traits=HOST,
    )  # fmt: skip
    made_sparse(sparse)
    return made(dense)


_sum = _reduction("SparseReduceSum", "numbertype", np.add)
_reduction("SparseReduceMax", "realnumbertype", np.maximum)


@_sum.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    from weft.ops.array import array
    from weft.ops.math.reduce import reduced_shape

    indices, _, shape, axes = op.inputs
    kept = reduced_shape(shape, axes)
    spread = array.reshape(grad, kept)
    scale = shape // casts.cast(kept, dtypes.int64)
    return [None, raw.GatherNd(spread, indices // scale), None, None]


# ---- element by element --------------------------------------------------------------------------


def _dims_of_rows(c: ShapeContext) -> Dims:
    """As many values come out as there are coordinates."""
    return (s.with_rank(c.dims(0), 2)[0],)


def _dims_of_values(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 2)
    return s.with_rank(c.dims(1), 1)


def _broadcast_at(indices: Any, shape: Any, dense: Any) -> Any:
    """The elements of `dense`, broadcast to `shape`, at `indices`."""
    sizes = tuple(int(d) for d in shape)
    if indices.shape[1] != len(sizes):
        raise invalid(
            "Number of dimensions must match second dimension of indices. Got"
            f" {len(sizes)} dimensions, indices shape: {s.show(indices.shape)}"
        )
    try:
        if dense.ndim > len(sizes):
            raise ValueError
        return np.broadcast_to(dense, sizes)[tuple(indices.T)]
    except ValueError:
        raise invalid(
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes:"
            f" [{','.join(map(str, sizes))}] vs. {s.show(dense.shape)}"
        ) from None


def _check_ranks(indices: Any, values: Any, shape: Any) -> None:
    shapes = [s.show(np.shape(x)) for x in (indices, values, shape)]
    if np.ndim(indices) != 2:
        raise invalid(f"Input sp_indices should be a matrix but received shape: {shapes[0]}")
    if np.ndim(values) != 1 or np.ndim(shape) != 1:
        raise invalid(
            "Inputs sp_values and sp_shape should be vectors but received shapes:"
            f" {shapes[1]} and {shapes[2]}"
        )
    if len(indices) != len(values):
        counts = f"indices ({len(indices)}) and values ({len(values)})"
        raise invalid(f"Number of elements in {counts} do not match")


def _element_wise(name: str, function: Callable[[Any, Any], Any]) -> OpDef:
    def kernel(xp: Any, sp_indices: Any, sp_values: Any, sp_shape: Any, dense: Any) -> Any:
        _check_ranks(sp_indices, sp_values, sp_shape)
        at = _broadcast_at(sp_indices, sp_shape, np.asarray(dense))
        return function(sp_values, at).astype(sp_values.dtype)

    return op(
        name, inputs="sp_indices: int64, sp_values: T, sp_shape: int64, dense: T",
        outputs="output: T", attrs="T: numbertype", shape=_dims_of_rows, traits=HOST,
    )(kernel)  # fmt: skip


def _divided(x: Any, y: Any) -> Any:
    if np.dtype(x.dtype).kind in "fc" or x.dtype.name == "bfloat16":
        return x / y
    return truncated_quotient(np, x, y)


_add = _element_wise("SparseDenseCwiseAdd", np.add)
_multiply = _element_wise("SparseDenseCwiseMul", np.multiply)
_divide = _element_wise("SparseDenseCwiseDiv", _divided)


@_add.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is currently not implemented yet.")


def _factor_gradient(op: Operation, grad: Any, is_product: bool) -> list[Any]:
    from weft.ops.array import array
    from weft.ops.array.slicing import slice as slice_of

    indices, values, shape, y = op.inputs
    y_shape = casts.cast(array.shape(y), dtypes.int64)
    added = array.expand_dims(array.size(shape) - array.size(y_shape), 0)
    augmented = array.concat([array.ones(added, dtypes.int64), y_shape], 0)
    at = slice_of(indices // (shape // augmented), array.concat([[0], added], 0), [-1, -1])
    there = raw.GatherNd(y, at)
    if is_product:
        dx, dy = grad * there, grad * values
    else:
        dx, dy = grad / there, grad * (-values / (there * there))
    return [None, dx, None, sparse_add(array.zeros_like(y), SparseTensor(at, dy, y_shape))]


@_multiply.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    return _factor_gradient(op, grad, True)


@_divide.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    return _factor_gradient(op, grad, False)


@op(
    "SparseSoftmax", inputs="sp_indices: int64, sp_values: T, sp_shape: int64",
    outputs="output: T", attrs="T: {float, double}", shape=_dims_of_values, traits=HOST,
)  # fmt: skip
def sparse_softmax_(xp: Any, sp_indices: Any, sp_values: Any, sp_shape: Any) -> Any:
    if len(sp_shape) < 2:
        raise invalid(f"Input should have rank >= 2, but received shape: {_listed(sp_shape)}")
    _check_shape(sp_shape)
    check_parts(sp_indices, sp_values, sp_shape)
    if not len(sp_values):
        return sp_values
    order, starts = groups_of_rows(sp_indices[:, :-1])
    counts = np.diff(np.r_[starts, len(order)])
    ordered = sp_values[order]
    powers = np.exp(ordered - np.repeat(np.maximum.reduceat(ordered, starts), counts))
    result = np.empty_like(sp_values)
    result[order] = powers / np.repeat(np.add.reduceat(powers, starts), counts)
    return result


@sparse_softmax_.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    indices, _, shape = op.inputs
    out = op.outputs[0]
    total = raw.SparseReduceSum(indices, out * grad, shape, [-1], keep_dims=True)
    return [None, raw.SparseDenseCwiseAdd(indices, grad, shape, -total) * out, None]


# ---- larger and smaller --------------------------------------------------------------------------


def _listed(shape: Any) -> str:
    return " ".join(str(int(n)) for n in shape)


def _choice_dims(c: ShapeContext) -> list[Dims]:
    for i in range(6):
        s.with_rank(c.dims(i), 1 if i % 3 else 2)
    return [(None, None), (None,)]


def _choice(name: str, types: str, function: np.ufunc) -> OpDef:
    def kernel(
        xp: Any, a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any,
        b_shape: Any,
    ) -> list[Any]:  # fmt: skip
        if len(a_shape) != len(b_shape):
            raise invalid(
                "Operands do not have the same ranks; got shapes:"
                f" {_listed(a_shape)} and {_listed(b_shape)}"
            )
        for i, (n, m) in enumerate(zip(a_shape, b_shape, strict=True)):
            if n != m:
                raise invalid(f"Operands' shapes do not match: got {n} and {m} for dimension {i}")
        check_sparse(a_indices, a_values, a_shape)
        check_sparse(b_indices, b_values, b_shape)
        return _merged(function, a_indices, a_values, b_indices, b_values)

    return op(
        name,
        inputs="a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T,"
        " b_shape: int64",
        outputs="output_indices: int64, output_values: T", attrs=f"T: {types}",
        shape=_choice_dims, traits=HOST,
    )(kernel)  # fmt: skip


def _no_gradient_yet(op: Any, *grads: Any) -> Any:
    raise NotImplementedError(f"Gradient for {op.type} is currently not implemented yet.")


def _merged(function: np.ufunc, a_indices: Any, a: Any, b_indices: Any, b: Any) -> list[Any]:
    """Every place that either has, an absent element counting as zero."""
    keys = np.concatenate([a_indices, b_indices])
    order, starts = groups_of_rows(keys)
    zero = np.zeros(1, a.dtype)
    left = np.concatenate([a, np.repeat(zero, len(b))])[order]
    right = np.concatenate([np.repeat(zero, len(a)), b])[order]
    if not len(starts):
        return [keys, a[:0]]
    # One of the two is zero in each element, so that adding up a place puts them side by side.
    left, right = (np.add.reduceat(x, starts).astype(a.dtype) for x in (left, right))
    return [keys[order][starts], function(left, right)]


_choice("SparseSparseMaximum", "realnumbertype", np.maximum).gradient(_no_gradient_yet)
_choice("SparseSparseMinimum", "numbertype", np.minimum).gradient(_no_gradient_yet)


# ---- operators -----------------------------------------------------------------------------------


def _operator(kind: str, scope: str) -> Callable[[SparseTensor, Any], SparseTensor]:
    """`sparse op dense`, the dense tensor broadcast to the sparse one."""

    def apply(sp: SparseTensor, dense: Any) -> SparseTensor:
        if scope == "truediv" and sp.dtype.is_integer:
            wide = dtypes.float64 if sp.dtype.size > 2 else dtypes.float32
            dense = casts.cast(convert_to_tensor(dense, sp.dtype.base_dtype), wide)
            sp = SparseTensor(sp.indices, casts.cast(sp.values, wide), sp.dense_shape)
        with name_scope(None, scope, [sp.indices, sp.values, sp.dense_shape, dense]) as name:
            dense = convert_to_tensor(dense, sp.values.dtype.base_dtype, name="y")
            values = getattr(raw, kind)(sp.indices, sp.values, sp.dense_shape, dense, name=name)
            return SparseTensor(sp.indices, values, sp.dense_shape)

    return apply


for _name, _kind, _scope in (
    ("__mul__", "SparseDenseCwiseMul", "mul"),
    ("__truediv__", "SparseDenseCwiseDiv", "truediv"),
    ("__div__", "SparseDenseCwiseDiv", "div"),
):
    setattr(SparseTensor, _name, _operator(_kind, _scope))
