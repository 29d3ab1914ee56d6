"""Broadcasting: which shapes fit, and how gradients of a broadcast are summed back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import constant
from weft.graph.graph import Tensor, get_default_graph
from weft.graph.op_def import op, raw
from weft.graph.traits import NO_GRADIENT
from weft.ops.kit.shared import invalid

Array = Any
Gradient = Callable[..., Any]


def check_broadcast(*arrays: Array) -> None:
    """InvalidArgumentError unless the arrays can be broadcast against each other."""
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " vs. ".join(s.show(a.shape) for a in arrays)
        raise invalid(f"Incompatible shapes: {shapes}") from None


def unbroadcast(x: Tensor, y: Tensor, grad: Any = None) -> tuple[Gradient, Gradient]:
    """Two functions that sum a gradient of a broadcast result back to the shape of `x` and of `y`.

    Given `grad`, known shapes are compared here and a side that was not broadcast adds no nodes.
    """
    if grad is None:
        return unbroadcast_shapes(shape_node(x), shape_node(y))
    if isinstance(grad, Tensor) and all(s.known(t.dims) for t in (x, y, grad)):
        rx, ry = _known_axes(x.dims, y.dims)
        return _sum_to(x.dims, rx, x.dims != grad.dims), _sum_to(y.dims, ry, y.dims != grad.dims)
    return unbroadcast_shapes(raw.Shape(x), raw.Shape(y))


def unbroadcast_shapes(sx: Tensor, sy: Tensor) -> tuple[Gradient, Gradient]:
    """`unbroadcast` for two shapes that are nodes."""
    rx, ry = raw.BroadcastGradientArgs(sx, sy)
    return _sum_to(sx, rx, True), _sum_to(sy, ry, True)


def _known_axes(x: s.Dims, y: s.Dims) -> tuple[Any, Any]:
    """`broadcast_axes`; like TensorFlow, a graph has nodes for each pair that it meets."""
    axes = broadcast_axes(x, y)
    if get_default_graph().is_new(("broadcast", x, y)):
        raw.BroadcastGradientArgs(x, y)
    return axes


def shape_node(x: Tensor) -> Tensor:
    """The shape of `x`, as a constant if it is known."""
    return (
        constant(list(x.dims or ()), dtypes.int32, name="Shape")
        if s.known(x.dims)
        else raw.Shape(x)
    )


def _sum_to(shape: Any, axes: Any, needed: bool) -> Gradient:
    if isinstance(shape, tuple):
        shape, axes = np.array(shape, np.int32), np.array(axes, np.int32)
    return lambda grad: raw.Reshape(raw.Sum(grad, axes), shape) if needed else grad


def same_shape(x: Tensor, y: Tensor, grad: Any) -> bool:
    """Whether all three are known to have one shape, so that nothing was broadcast."""
    return isinstance(grad, Tensor) and s.known(x.dims) and x.dims == y.dims == grad.dims


def broadcast_axes(x: s.Dims, y: s.Dims) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of the broadcast result to sum over to get back to shape `x`, and to `y`.

    Axes of size 1 on both sides are listed for both, unless the shapes are equal.
    """
    assert x is not None and y is not None
    if x == y:
        return (), ()
    rank = max(len(x), len(y))
    x, y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    if any(a != b and a != 1 and b != 1 for a, b in zip(x, y, strict=True)):
        message = f"Incompatible shapes: {s.show(x)} vs. {s.show(y)}"
        raise invalid(message)
    return tuple(i for i in range(rank) if x[i] == 1), tuple(i for i in range(rank) if y[i] == 1)


def _as_dims(shape: np.ndarray) -> tuple[int, ...]:
    return tuple(int(d) for d in shape)


def _axes_shape(c: s.ShapeContext) -> list[s.Dims]:
    s.with_rank(c.dims(0), 1)
    s.with_rank(c.dims(1), 1)
    return [(None,), (None,)]


@op(
    "BroadcastGradientArgs",
    inputs="s0: T, s1: T",
    outputs="r0: T, r1: T",
    attrs="T: {int32, int64} = int32",
    shape=_axes_shape,
    static="s0, s1",
    traits=NO_GRADIENT,
)
def broadcast_gradient_args(xp: Any, s0: np.ndarray, s1: np.ndarray) -> list[Array]:
    for i, shape in enumerate((s0, s1)):
        if np.ndim(shape) != 1:
            raise invalid(f"In[{i}] must be a vector.{s.show(np.shape(shape))}")
    axes = broadcast_axes(_as_dims(s0), _as_dims(s1))
    return [np.array(a, s0.dtype) for a in axes]


def _broadcast_args_shape(c: s.ShapeContext) -> s.Dims:
    x, y = s.with_rank(c.dims(0), 1)[0], s.with_rank(c.dims(1), 1)[0]
    return (None if x is None or y is None else max(x, y),)


@op(
    "BroadcastArgs",
    inputs="s0: T, s1: T",
    outputs="r0: T",
    attrs="T: {int32, int64} = int32",
    shape=_broadcast_args_shape,
    static="s0, s1",
)
def broadcast_args(xp: Any, s0: np.ndarray, s1: np.ndarray) -> Array:
    try:
        result = np.broadcast_shapes(_as_dims(s0), _as_dims(s1))
    except ValueError:
        message = f"Incompatible shapes: {s.show(_as_dims(s0))} vs. {s.show(_as_dims(s1))}"
        raise invalid(message) from None
    return np.array(result, s0.dtype)
