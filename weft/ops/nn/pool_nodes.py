"""Max and average pooling in two and three dimensions, with the gradients of their gradients.

Kernels put channels last and leave the work to pool_windows.py. Sizes given as inputs are static.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import XLA, costs
from weft.ops.array.array import invalid, shape, zeros
from weft.ops.kit.shared import taking_attrs
from weft.ops.nn.pool_windows import (
    average_pool,
    average_pool_gradient,
    depth_max_pool,
    max_pool,
    max_pool_gradient,
    max_pool_gradient_gradient,
    spatial_windows,
    windows,
)
from weft.ops.nn.window_shapes import (
    arranged,
    as_format,
    channels_last,
    depth,
    spatial,
    window_attr,
    window_dims,
)
from weft.ops.nn.windows import Window

Array = Any
FLOATS = "{half, bfloat16, float, double}"
POOLED = "{half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8}"
POOLED_3D = "{half, bfloat16, float}"


# ---- shape rules ------------------------------------------------------------------------------


def pooled_dims(
    dims: Dims, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str
) -> Dims:
    """Every dimension but the batch may be pooled."""
    rank = len(data_format)
    dims = s.with_rank(dims, rank)
    inner = spatial(dims, data_format)
    sizes, steps = spatial(ksize, data_format), spatial(strides, data_format)
    inner = window_dims(inner, sizes, steps, (1,) * len(sizes), padding)
    (channels,) = window_dims(
        (depth(dims, data_format),),
        (depth(ksize, data_format),),
        (depth(strides, data_format),),
        (1,),
        padding,
    )
    return arranged(dims[0], inner, channels, data_format)


def pooled(name: str) -> Callable[[ShapeContext], Dims]:
    """The shape rule of a pool; `name` is for its complaints."""

    def rule(c: ShapeContext) -> Dims:
        data_format = c.attrs.get("data_format", "NHWC")
        if data_format == "NCHW_VECT_C":
            return (None,) * 5
        rank = len(data_format)
        strides, ksize = (window_attr(c, attr, name, rank) for attr in ("strides", "ksize"))
        return pooled_dims(c.dims(0), ksize, strides, c.attr("padding"), data_format)

    return rule


def _pooled_by_inputs(c: ShapeContext) -> Dims:
    last = c.num_inputs - 1
    for i in (last - 1, last):
        s.merge(c.dims(i), (4,))
    ksize, strides = c.value(last - 1), c.value(last)
    if ksize is None or strides is None:
        return None
    sizes, steps = [int(k) for k in ksize], [int(k) for k in strides]
    return pooled_dims(c.dims(0), sizes, steps, c.attr("padding"), c.attr("data_format"))


def gradient_of(rank: int) -> Callable[[ShapeContext], Dims]:
    """The gradient for the pooled tensor, which is input 0."""

    def rule(c: ShapeContext) -> Dims:
        return s.with_rank(c.dims(0), rank)

    return rule


def _gradient_gradient(name: str) -> Callable[[ShapeContext], Dims]:
    rule_of_pool = _pooled_by_inputs if name.endswith("V2") else pooled(name)

    def rule(c: ShapeContext) -> Dims:
        dims = rule_of_pool(c)
        s.merge(c.dims(0), c.dims(2))  # the gradient's gradient has the shape of the input
        s.merge(dims, c.dims(1))
        return dims

    return rule


def _by_shape_input(rank: int) -> Callable[[ShapeContext], Dims]:
    def rule(c: ShapeContext) -> Dims:
        return s.with_rank(c.partial(0), rank)

    return rule


def pool_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    """How much work a pool or a gradient of one is, roughly."""
    window = math.prod(attrs["ksize"]) if "ksize" in attrs else 4
    return 20.0 * window * max(math.prod(d) for d in dims)


# ---- kernels ----------------------------------------------------------------------------------


def _check_same(name: str, wanted: Sequence[int], x: Array) -> None:
    if x.shape != tuple(wanted):
        raise invalid(
            f"Expected {name} shape to be {s.show(tuple(wanted))}, but got {s.show(x.shape)}"
        )


def _pooled_as(dims: Sequence[int], **how: Any) -> tuple[Window, tuple[int, ...]]:
    """The windows over a tensor of these dimensions, and the dimensions of what comes out."""
    window, data_format = spatial_windows(dims, **how), how["data_format"]
    return window, arranged(dims[0], window.output, depth(dims, data_format), data_format)


def _largest(xp: Any, input: Array, *, data_format: str, **how: Any) -> Array:
    window = windows(input.shape, data_format=data_format, **how)
    x = channels_last(xp, input, data_format)
    deep = depth(how["ksize"], data_format)
    if deep > 1:
        if any(k > 1 for k in spatial(how["ksize"], data_format)):
            raise errors.UnimplementedError(
                None,
                None,
                "MaxPooling supports exactly one of pooling across depth or pooling across "
                "width/height.",
            )
        y = depth_max_pool(x, deep, depth(how["strides"], data_format))
    elif 0 in x.shape or 0 in window.output:
        y = xp.zeros((x.shape[0], *window.output, x.shape[-1]), x.dtype)
    else:
        y = max_pool(x, window)
    return as_format(xp, y, data_format)


def _largest_gradient(
    xp: Any, orig_input: Array, orig_output: Array, grad: Array, *, data_format: str, **how: Any
) -> Array:
    dims = orig_input.shape
    window, out = _pooled_as(dims, data_format=data_format, **how)
    _check_same("orig_output", out, orig_output)
    _check_same("grad", out, grad)
    if 0 in dims or 0 in out:
        return xp.zeros(dims, grad.dtype)
    x, g = (channels_last(xp, a, data_format) for a in (orig_input, grad))
    return as_format(xp, max_pool_gradient(x, g, window), data_format)


def _largest_gradient_gradient(
    xp: Any, orig_input: Array, orig_output: Array, grad: Array, *, data_format: str, **how: Any
) -> Array:
    dims = orig_input.shape
    window, out = _pooled_as(dims, data_format=data_format, **how)
    _check_same("orig_output", out, orig_output)
    _check_same("grad", dims, grad)
    if 0 in dims or 0 in out:
        return xp.zeros(out, grad.dtype)
    x, y, g = (channels_last(xp, a, data_format) for a in (orig_input, orig_output, grad))
    return as_format(xp, max_pool_gradient_gradient(x, y, g, window), data_format)


def _average(xp: Any, value: Array, *, data_format: str, **how: Any) -> Array:
    window = spatial_windows(value.shape, data_format=data_format, **how)
    x = channels_last(xp, value, data_format)
    if 0 in x.shape or 0 in window.output:
        y = xp.zeros((x.shape[0], *window.output, x.shape[-1]), x.dtype)
    else:
        y = average_pool(x, window)
    return as_format(xp, y, data_format)


def _average_gradient(
    xp: Any, orig_input_shape: np.ndarray, grad: Array, *, data_format: str, **how: Any
) -> Array:
    dims = tuple(int(d) for d in orig_input_shape)
    window, out = _pooled_as(dims, data_format=data_format, **how)
    _check_same("grad", out, grad)
    if 0 in dims or 0 in out:
        return xp.zeros(dims, grad.dtype)
    g = channels_last(xp, grad, data_format)
    return as_format(xp, average_pool_gradient(g, window), data_format)


def _sizes_as_inputs(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """The same kernel for the ops that take ksize and strides as their last two inputs."""

    def with_inputs(xp: Any, *inputs: Array, padding: str, data_format: str) -> Array:
        *arrays, ksize, strides = inputs
        sizes = {"ksize": [int(k) for k in ksize], "strides": [int(k) for k in strides]}
        return kernel(xp, *arrays, padding=padding, data_format=data_format, **sizes)

    return with_inputs


# ---- declarations -----------------------------------------------------------------------------


_SIZES = ("ksize", "strides", "padding", "data_format")


def _attrs(rank: int, types: str, formats: str = "", default: str = "") -> str:
    formats = formats or ('"NHWC", "NCHW"' if rank == 4 else '"NDHWC", "NCDHW"')
    first = "NHWC" if rank == 4 else "NDHWC"
    return (
        f"ksize: list(int) >= {rank}, strides: list(int) >= {rank},"
        f' padding: {{"SAME", "VALID"}}, data_format: {{{formats}}} = "{first}",'
        f" T: {types}{' = ' + default if default else ''}"
    )


def _no_sizes(attrs: str) -> str:
    return attrs[attrs.index("padding") :]


def _declare(
    name: str,
    kernel: Callable[..., Array],
    inputs: str,
    attrs: str,
    shape: Callable[[ShapeContext], Dims],
    static: str = "",
) -> OpDef:
    """An op whose sizes are attributes or, in a name with V2, its last two inputs."""
    if name.endswith("V2"):
        inputs += ", ksize: int32, strides: int32"
        kernel, static = _sizes_as_inputs(kernel), "ksize, strides"
    else:
        kernel = taking_attrs(kernel, _SIZES)
    declare = op(
        name, inputs=inputs, outputs="output: T", attrs=attrs, shape=shape, static=static,
        traits=XLA | costs(pool_flops),
    )  # fmt: skip
    return declare(kernel)


def _copied(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in _SIZES if name in op.attrs}


def _zeros_of(x: Any) -> Any:
    return zeros(shape(x), x.dtype.base_dtype)


def _differentiate(pool: OpDef, gradient: OpDef, gradient_gradient: OpDef) -> None:
    """Each of the three is the gradient of the one before it; the last two of each other."""

    @pool.gradient
    def _(op: Operation, grad: Any) -> Any:
        x, *sizes = op.inputs
        dx = gradient(x, op.outputs[0], grad, *sizes, **_copied(op))
        return [dx, *[None for _ in sizes]]

    def by(other: OpDef) -> Callable[..., Any]:
        def differentiated(op: Operation, grad: Any) -> Any:
            x, y, _, *sizes = op.inputs
            dx, dy = _zeros_of(x), _zeros_of(y)
            return [dx, dy, other(x, y, grad, *sizes, **_copied(op)), *[None for _ in sizes]]

        return differentiated

    gradient.gradient(by(gradient_gradient))
    gradient_gradient.gradient(by(gradient))


_VECTORS = '"NHWC", "NCHW", "NCHW_VECT_C"'
_PAIR = "orig_input: T, orig_output: T, grad: T"
_SECOND = _attrs(4, "realnumbertype")

_differentiate(
    _declare(
        "MaxPool", _largest, "input: T", _attrs(4, POOLED, _VECTORS, "float"), pooled("MaxPool")
    ),
    _declare(
        "MaxPoolGrad",
        _largest_gradient,
        _PAIR,
        _attrs(4, "realnumbertype", default="float"),
        gradient_of(4),
    ),
    _declare(
        "MaxPoolGradGrad", _largest_gradient_gradient, _PAIR, _SECOND, _gradient_gradient("MaxPool")
    ),
)
_differentiate(
    _declare("MaxPool3D", _largest, "input: T", _attrs(5, POOLED_3D), pooled("Pool3D")),
    _declare(
        "MaxPool3DGrad",
        _largest_gradient,
        "orig_input: TInput, orig_output: TInput, grad: T",
        _attrs(5, POOLED_3D, default="float") + f", TInput: {POOLED_3D} = float",
        gradient_of(5),
    ),
    _declare(
        "MaxPool3DGradGrad",
        _largest_gradient_gradient,
        _PAIR,
        _attrs(5, "realnumbertype"),
        _gradient_gradient("Pool3D"),
    ),
)
_differentiate(
    _declare(
        "MaxPoolV2",
        _largest,
        "input: T",
        f'T: {POOLED} = float, padding: {{"SAME", "VALID"}}, data_format: {{{_VECTORS}}} = "NHWC"',
        _pooled_by_inputs,
    ),
    _declare(
        "MaxPoolGradV2",
        _largest_gradient,
        _PAIR,
        _no_sizes(_attrs(4, "realnumbertype", default="float")),
        gradient_of(4),
    ),
    _declare(
        "MaxPoolGradGradV2",
        _largest_gradient_gradient,
        _PAIR,
        _no_sizes(_SECOND),
        _gradient_gradient("MaxPoolV2"),
    ),
)


def _declare_average(name: str, rank: int, input: str, shown: str) -> None:
    attrs = _attrs(rank, FLOATS)
    pool = _declare(name, _average, f"{input}: T", attrs, pooled(shown))
    gradient = _declare(
        f"{name}Grad", _average_gradient, "orig_input_shape: int32, grad: T", attrs,
        _by_shape_input(rank), static="orig_input_shape",
    )  # fmt: skip

    @pool.gradient
    def _(op: Operation, grad: Any) -> Any:
        return gradient(shape(op.inputs[0]), grad, **_copied(op))

    @gradient.gradient
    def _(op: Operation, grad: Any) -> Any:
        return None, pool(grad, **_copied(op))


_declare_average("AvgPool", 4, "value", "AvgPool")
_declare_average("AvgPool3D", 5, "input", "Pool3D")
