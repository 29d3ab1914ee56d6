"""Scatters: rows or elements put into an array, or added to it, by index.

An index out of range is an error, as on TensorFlow's CPU. In programs for an accelerator such
updates are dropped, as on TensorFlow's GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.gather import check_coordinates, coordinates, gather_nd_
from weft.ops.kit.shared import as_array, blank, check_rank, invalid, shape_argument


def _scatter_fits(target: Dims, indices: Dims, updates: Dims) -> None:
    """ValueError unless `updates` are what `indices` point at in a tensor of shape `target`."""
    if s.size(target) == 0 and ((s.size(indices) or 0) > 0 or (s.size(updates) or 0) > 0):
        raise ValueError("Indices and updates specified for empty output shape")
    if indices is None or updates is None or indices[-1] is None:
        return
    outer, depth = len(indices) - 1, indices[-1]
    try:
        s.merge(indices[:-1], updates[:outer])
    except ValueError as error:
        raise ValueError(
            f"The outer {outer} dimensions of indices.shape={s.show(indices)} must match the outer"
            f" {outer} dimensions of updates.shape={s.show(updates)}: {error}"
        ) from None
    if target is None:
        return
    try:
        s.merge(target[depth:], updates[outer:])
    except ValueError as error:
        raise ValueError(
            f"The inner {len(target) - depth} dimensions of output.shape={s.show(target)} must"
            f" match the inner {len(updates) - outer} dimensions of updates.shape="
            f"{s.show(updates)}: {error}"
        ) from None


def _scattered(c: ShapeContext) -> Dims:
    indices, updates = (s.with_rank_at_least(c.dims(i), 1) for i in (0, 1))
    out = shape_argument(c, 2)
    _scatter_fits(out, indices, updates)
    return out


def _scattered_into(c: ShapeContext) -> Dims:
    indices, updates = (s.with_rank_at_least(c.dims(i), 1) for i in (1, 2))
    s.with_rank_at_least(c.dims(0), 1)
    _scatter_fits(c.dims(0), indices, updates)
    return c.dims(0)


def _check_update(target: tuple[int, ...], indices: Any, updates: Any) -> None:
    """As `_scatter_fits`, in the words of TensorFlow's kernels."""
    sizes = s.size(indices), s.size(updates), s.size(target)
    if any(sizes[:2]) and not all(sizes):
        raise invalid("Indices and updates specified for empty output shape")
    outer, depth = len(indices) - 1, indices[-1]
    if indices[:-1] != updates[:outer]:
        raise invalid(
            "Outer dimensions of indices and update must match. Indices shape:"
            f" {s.show(indices)}, updates shape:{s.show(updates)}"
        )
    if depth > len(target) or target[depth:] != updates[outer:]:
        raise invalid(
            "Inner dimensions of output shape must match inner dimensions of updates shape."
            f" Output: {s.show(target)} updates: {s.show(updates)}"
        )


_JOINED = {"add": np.add, "max": np.maximum, "min": np.minimum}


def scatter_into(xp: Any, target: Any, indices: Any, updates: Any, kind: str) -> Any:
    """`target` with `updates` put ("set") at coordinates `indices`, or joined to what is there."""
    if indices.ndim < 1:
        raise invalid(f"Indices shape must have rank at least one. Found:{s.show(indices.shape)}")
    if updates.ndim < 1:
        raise invalid(f"Updates shape must have rank at least one. Found:{s.show(updates.shape)}")
    _check_update(target.shape, indices.shape, updates.shape)
    if 0 in indices.shape[:-1] or 0 in updates.shape:
        return target
    check_coordinates(xp, indices, target.shape, "shape")
    return _put(xp, target, coordinates(indices), updates, kind)


@by_library
def _put(xp: Any, target: Any, places: tuple[Any, ...], updates: Any, kind: str) -> Any:
    update = getattr(target.at[places], kind)
    return update(updates, mode="drop", wrap_negative_indices=False)


@_put.numpy
def _(xp: Any, target: Any, places: tuple[Any, ...], updates: Any, kind: str) -> Any:
    out = np.array(target)
    if kind == "set":
        out[places] = updates
    else:
        _JOINED[kind].at(out, places, updates)
    return out


@op(
    "ScatterNd",
    inputs="indices: Tindices, updates: T, shape: Tindices",
    outputs="output: T",
    attrs="T: type, Tindices: {int32, int64}",
    shape=_scattered,
    static="shape",
)
def scatter_nd_(xp: Any, indices: Any, updates: Any, shape: Any) -> Any:
    if np.ndim(shape) != 1:
        raise invalid("Shape must be a vector")
    check_rank(shape)
    updates = as_array(updates)
    target = xp.full(tuple(map(int, shape)), blank(updates.dtype), updates.dtype)
    return scatter_into(xp, target, indices, updates, "add")


@scatter_nd_.gradient
def _(op: Operation, grad: Any) -> Any:
    return None, gather_nd_(grad, op.inputs[0]), None


@op(
    "ScatterNdNonAliasingAdd",
    inputs="input: T, indices: Tindices, updates: T",
    outputs="output: T",
    attrs="T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
    " bfloat16, uint16, complex128, half, uint32, uint64, bool}, Tindices: {int32, int64}",
    shape=_scattered_into,
)
def scatter_nd_non_aliasing_add_(xp: Any, input: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, input, indices, updates, "add")


@scatter_nd_non_aliasing_add_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad, None, gather_nd_(grad, op.inputs[1])


_TENSOR_SCATTER: dict[str, Any] = {
    "inputs": "tensor: T, indices: Tindices, updates: T",
    "outputs": "output: T",
    "attrs": "T: type, Tindices: {int32, int64}",
    "shape": _scattered_into,
}


@op("TensorScatterUpdate", **_TENSOR_SCATTER)
def tensor_scatter_update_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, updates, "set")


@tensor_scatter_update_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, indices, updates = op.inputs
    of_updates, rest = gather_nd_(grad, indices), array.identity(grad)
    zeros = array.zeros_like(updates, dtype=grad.dtype)
    return tensor_scatter_update_(rest, indices, zeros), None, of_updates


@op("TensorScatterAdd", **_TENSOR_SCATTER)
def tensor_scatter_add_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, updates, "add")


@tensor_scatter_add_.gradient
def _(op: Operation, grad: Any) -> Any:
    of_updates = gather_nd_(grad, op.inputs[1])
    return array.identity(grad), None, of_updates


@op("TensorScatterSub", **_TENSOR_SCATTER)
def tensor_scatter_sub_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, xp.negative(updates), "add")


@tensor_scatter_sub_.gradient
def _(op: Operation, grad: Any) -> Any:
    of_updates = gather_nd_(grad, op.inputs[1])
    return array.identity(grad), None, -of_updates


@op("TensorScatterMax", **_TENSOR_SCATTER)
def tensor_scatter_max_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, updates, "max")


@op("TensorScatterMin", **_TENSOR_SCATTER)
def tensor_scatter_min_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, updates, "min")


def _extreme_gradient(op: Operation, grad: Any) -> Any:
    """To where the result came from, in equal parts where it was in several places."""
    tensor, indices, updates = op.inputs
    found = op.outputs[0]
    kept = raw.Cast(raw.Equal(tensor, found), grad.dtype)
    put = raw.Cast(raw.Equal(updates, gather_nd_(found, indices)), grad.dtype)
    part = grad / tensor_scatter_add_(kept, indices, put)
    return part * kept, None, gather_nd_(part, indices) * put


for _extreme in (tensor_scatter_max_, tensor_scatter_min_):
    _extreme.gradient(_extreme_gradient)

_INPLACE: dict[str, Any] = {
    "inputs": "x: T, i: int32, v: T",
    "outputs": "y: T",
    "attrs": "T: type",
    "shape": s.unchanged,
}


def _write_rows(xp: Any, x: Any, i: Any, v: Any, kind: str) -> Any:
    if i.ndim != 1:
        raise invalid(f"i must be a vector. {s.show(i.shape)}")
    if x.ndim != v.ndim:
        raise invalid(
            f"x and v shape doesn't match (ranks differ): {s.show(x.shape)} vs. {s.show(v.shape)}"
        )
    for axis in range(1, x.ndim):
        if x.shape[axis] != v.shape[axis]:
            raise invalid(
                f"x and v shape doesn't match at index {axis} : {s.show(x.shape)} vs."
                f" {s.show(v.shape)}"
            )
    if i.shape[0] != v.shape[0]:
        raise invalid(
            f"i and x shape doesn't match at index 0: {s.show(i.shape)} vs. {s.show(v.shape)}"
        )
    if 0 in x.shape or 0 in v.shape:
        return x
    # Indices outside wrap around.
    return scatter_into(xp, x, (i % x.shape[0])[:, None], v, kind)


@op("InplaceUpdate", **_INPLACE)
def inplace_update_(xp: Any, x: Any, i: Any, v: Any) -> Any:
    return _write_rows(xp, x, i, v, "set")


@op("InplaceAdd", **_INPLACE)
def inplace_add_(xp: Any, x: Any, i: Any, v: Any) -> Any:
    return _write_rows(xp, x, i, v, "add")


@op("InplaceSub", **_INPLACE)
def inplace_sub_(xp: Any, x: Any, i: Any, v: Any) -> Any:
    return _write_rows(xp, x, i, xp.negative(v), "add")


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of `shape` with `updates` added at coordinates `indices`.

    Args:
        indices: integers [..., n]: each row names the first n coordinates.
        updates: what goes there; those of one place add up.
        shape: of the result.
        name: of the operation.

    Returns:
        A tensor of the type of `updates`.

    Raises:
        ValueError: the shapes do not fit.
        tf.errors.InvalidArgumentError: from the step: a coordinate is outside.

    Example:
        >>> session.run(tf.scatter_nd([[1], [3], [1]], [10, 20, 5], [5]))
        array([ 0, 15,  0, 20,  0], dtype=int32)
    """
    return scatter_nd_(indices, updates, shape, name=name)


def tensor_scatter_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` put at coordinates `indices`."""
    return tensor_scatter_update_(tensor, indices, updates, name=name)


def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` added at coordinates `indices`."""
    return tensor_scatter_add_(tensor, indices, updates, name=name)


def tensor_scatter_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` subtracted at coordinates `indices`."""
    return tensor_scatter_sub_(tensor, indices, updates, name=name)


tensor_scatter_nd_update = tensor_scatter_update
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
