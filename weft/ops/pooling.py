"""Max and average pooling in two and three dimensions, with the gradients of their gradients.

A window's maximum belongs to the first position that holds it, in row-major order. Averages are
over the positions inside the image. Sizes given as inputs are static.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.array import invalid, shape, zeros
from weft.ops.window_shapes import (
    arranged,
    as_format,
    channels_last,
    depth,
    spatial,
    window_dims,
)
from weft.ops.windows import Window, spread, taps, window_of

Array = Any
FLOATS = "{half, bfloat16, float, double}"
POOLED = "{half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8}"
POOLED_3D = "{half, bfloat16, float}"


def lowest(dtype: np.dtype) -> Any:
    """A value that no maximum is below."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


# ---- windows ----------------------------------------------------------------------------------


def _windows(
    dims: Sequence[int],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Window:
    rank = len(data_format)
    if data_format == "NCHW_VECT_C":
        raise errors.UnimplementedError(None, None, "Pooling of NCHW_VECT_C data is not supported")
    if len(dims) != rank:
        raise invalid(f"tensor_in must be {rank}-dimensional")
    for what, values in (("ksize", ksize), ("strides", strides)):
        if len(values) != rank:
            raise invalid(f"Sliding window {what} field must specify {rank} dimensions")
        if values[0] != 1:
            raise invalid("Pooling is not yet supported on the batch dimension.")
        if min(values) < 1:
            raise invalid(f"Sliding window {what} for dimension must be positive: {list(values)}")
    sizes = spatial(ksize, data_format)
    ones = (1,) * len(sizes)
    inner = spatial(dims, data_format)
    return window_of(inner, sizes, spatial(strides, data_format), ones, padding)


def _spatial_windows(
    dims: Sequence[int],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Window:
    window = _windows(dims, ksize, strides, padding, data_format)
    if depth(ksize, data_format) != 1 or depth(strides, data_format) != 1:
        raise errors.UnimplementedError(
            None, None, "Pooling is not yet supported on the depth dimension."
        )
    return window


def _inside(window: Window, tap: Sequence[int]) -> np.ndarray:
    """Where, [*output, 1], the tap lies on the image and not on its padding."""
    inside = np.ones(window.output, bool)
    for i in window.axes:
        at = np.arange(window.output[i]) * window.stride[i] - window.before[i]
        at = at + tap[i] * window.dilation[i]
        fits = (at >= 0) & (at < window.input[i])
        inside &= fits.reshape([-1 if j == i else 1 for j in window.axes])
    return inside[..., None]


def _counts(window: Window) -> np.ndarray:
    """Positions of the image in each window, [*output, 1]."""
    return sum(_inside(window, tap).astype(np.int64) for tap in window.taps)  # type: ignore[return-value]


def first_largest(pieces: Sequence[Array], window: Window) -> tuple[Array, Array]:
    """The maximum over the taps' pieces and the number of the first tap that attains it."""
    import jax.numpy as jnp

    best = pieces[0]
    where = jnp.where(_inside(window, next(window.taps)), jnp.int32(0), jnp.int32(-1))
    where = jnp.broadcast_to(where, best.shape)
    for number, tap in enumerate(window.taps):
        if number == 0:
            continue
        better = (pieces[number] > best) | (where < 0)
        better = better & _inside(window, tap)
        best = jnp.where(better, pieces[number], best)
        where = jnp.where(better, jnp.int32(number), where)
    return best, where


# ---- kernels on channels-last arrays ----------------------------------------------------------


def _max_pool(x: Array, window: Window) -> Array:
    import jax.numpy as jnp

    pieces = taps(x, window, lowest(x.dtype))
    best = pieces[0]
    for piece in pieces[1:]:
        best = jnp.maximum(best, piece)
    return best


def _depth_max_pool(x: Array, ksize: int, stride: int) -> Array:
    if x.shape[-1] % ksize:
        raise errors.UnimplementedError(
            None,
            None,
            "Depthwise max pooling requires the depth window to evenly divide the input depth",
        )
    if ksize != stride:
        raise errors.UnimplementedError(
            None, None, "Depthwise max pooling requires the depth window to equal the depth stride"
        )
    return x.reshape(*x.shape[:-1], -1, ksize).max(-1)


def _max_pool_gradient(x: Array, g: Array, window: Window) -> Array:
    import jax.numpy as jnp

    _, where = first_largest(taps(x, window, lowest(x.dtype)), window)
    numbers = {tap: n for n, tap in enumerate(window.taps)}

    def term(tap: tuple[int, ...], where: Array, g: Array) -> Array:
        return jnp.where(where == numbers[tap], g, g.dtype.type(0))

    return spread([where, g], window, term, fills=[-1, 0])


def _max_pool_gradient_gradient(x: Array, y: Array, g: Array, window: Window) -> Array:
    """The entries of `g` at the first position of each window that holds its maximum."""
    import jax.numpy as jnp

    found = jnp.zeros(y.shape, bool)
    result = jnp.zeros(y.shape, g.dtype)
    pairs = zip(taps(x, window, lowest(x.dtype)), taps(g, window), strict=True)
    for piece, part in pairs:
        hit = (piece == y) & ~found
        result = jnp.where(hit, part, result)
        found = found | hit
    return result


def _average_pool(x: Array, window: Window) -> Array:
    import jax.numpy as jnp

    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    total = sum(taps(wide, window))
    return (total / jnp.asarray(_counts(window), wide.dtype)).astype(x.dtype)


def _average_pool_gradient(g: Array, window: Window) -> Array:
    import jax.numpy as jnp

    wide = g.astype(np.float32) if g.dtype.itemsize == 2 else g
    shares = wide / jnp.asarray(_counts(window), wide.dtype)
    return spread([shares], window, lambda tap, piece: piece).astype(g.dtype)


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


def _pooled(name: str) -> Callable[[ShapeContext], Dims]:
    def rule(c: ShapeContext) -> Dims:
        data_format = c.attrs.get("data_format", "NHWC")
        if data_format == "NCHW_VECT_C":
            return (None,) * 5
        rank = len(data_format)
        for attr, what in (("strides", "stride"), ("ksize", "ksize")):
            if len(c.attr(attr)) != rank:
                raise ValueError(
                    f"{name} requires the {what} attribute to contain {rank} values, "
                    f"but got: {len(c.attr(attr))}"
                )
        return pooled_dims(
            c.dims(0), c.attr("ksize"), c.attr("strides"), c.attr("padding"), data_format
        )

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


def _gradient_of(rank: int) -> Callable[[ShapeContext], Dims]:
    """The gradient for the pooled tensor, which is input 0."""

    def rule(c: ShapeContext) -> Dims:
        return s.with_rank(c.dims(0), rank)

    return rule


def _gradient_gradient(name: str) -> Callable[[ShapeContext], Dims]:
    pooled = _pooled_by_inputs if name.endswith("V2") else _pooled(name)

    def rule(c: ShapeContext) -> Dims:
        dims = pooled(c)
        s.merge(c.dims(0), c.dims(2))  # the gradient's gradient has the shape of the input
        return s.merge(dims, c.dims(1))

    return rule


def _by_shape_input(rank: int) -> Callable[[ShapeContext], Dims]:
    def rule(c: ShapeContext) -> Dims:
        return s.with_rank(c.partial(0), rank)

    return rule


# ---- declarations -----------------------------------------------------------------------------


def _pool_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    window = math.prod(attrs["ksize"]) if "ksize" in attrs else 4
    return 20.0 * window * max(math.prod(d) for d in dims)


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


def _check_same(name: str, wanted: Sequence[int], x: Array) -> None:
    if x.shape != tuple(wanted):
        raise invalid(
            f"Expected {name} shape to be {s.show(tuple(wanted))}, but got {s.show(x.shape)}"
        )


def _largest(
    xp: Any,
    input: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Array:
    window = _windows(input.shape, ksize, strides, padding, data_format)
    x = channels_last(xp, input, data_format)
    deep = depth(ksize, data_format)
    if deep > 1:
        if any(k > 1 for k in window.size):
            raise errors.UnimplementedError(
                None,
                None,
                "MaxPooling supports exactly one of pooling across depth or pooling across "
                "width/height.",
            )
        y = _depth_max_pool(x, deep, depth(strides, data_format))
    elif 0 in x.shape or 0 in window.output:
        y = xp.zeros((x.shape[0], *window.output, x.shape[-1]), x.dtype)
    else:
        y = _max_pool(x, window)
    return as_format(xp, y, data_format)


def _largest_gradient(
    xp: Any,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Array:
    window = _spatial_windows(orig_input.shape, ksize, strides, padding, data_format)
    dims = orig_input.shape
    pooled = arranged(dims[0], window.output, depth(dims, data_format), data_format)
    _check_same("orig_output", pooled, orig_output)
    _check_same("grad", pooled, grad)
    if 0 in dims or 0 in pooled:
        return xp.zeros(dims, grad.dtype)
    x, g = (channels_last(xp, a, data_format) for a in (orig_input, grad))
    return as_format(xp, _max_pool_gradient(x, g, window), data_format)


def _largest_gradient_gradient(
    xp: Any,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Array:
    window = _spatial_windows(orig_input.shape, ksize, strides, padding, data_format)
    dims = orig_input.shape
    pooled = arranged(dims[0], window.output, depth(dims, data_format), data_format)
    _check_same("orig_output", pooled, orig_output)
    _check_same("grad", dims, grad)
    if 0 in dims or 0 in pooled:
        return xp.zeros(pooled, grad.dtype)
    x, y, g = (channels_last(xp, a, data_format) for a in (orig_input, orig_output, grad))
    return as_format(xp, _max_pool_gradient_gradient(x, y, g, window), data_format)


def _sizes_as_inputs(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """The same kernel for the ops that take ksize and strides as their last two inputs."""

    def with_inputs(xp: Any, *inputs: Array, padding: str, data_format: str) -> Array:
        *arrays, ksize, strides = inputs
        sizes = {"ksize": [int(k) for k in ksize], "strides": [int(k) for k in strides]}
        return kernel(xp, *arrays, padding=padding, data_format=data_format, **sizes)

    return with_inputs


def _largest_ops(suffix: str, rank: int, types: str, gradient_types: str) -> tuple[OpDef, ...]:
    """MaxPool, MaxPoolGrad and MaxPoolGradGrad of one rank, with attributes for sizes."""
    formats = '"NHWC", "NCHW", "NCHW_VECT_C"' if rank == 4 else ""
    name = f"MaxPool{suffix}"
    attrs = _attrs(rank, types, formats, "float" if rank == 4 else "")
    pool = op(
        name,
        inputs="input: T",
        outputs="output: T",
        attrs=attrs,
        shape=_pooled("MaxPool" if rank == 4 else "Pool3D"),
        xla=True,
        flops=_pool_flops,
    )(_largest)
    inner = "TInput" if rank == 5 else "T"
    more = f", TInput: {POOLED_3D} = float" if rank == 5 else ""
    gradient = op(
        f"{name}Grad",
        inputs=f"orig_input: {inner}, orig_output: {inner}, grad: T",
        outputs="output: T",
        attrs=_attrs(rank, gradient_types, default="float") + more,
        shape=_gradient_of(rank),
        xla=True,
        flops=_pool_flops,
    )(_largest_gradient)
    gradient_gradient = op(
        f"{name}GradGrad",
        inputs="orig_input: T, orig_output: T, grad: T",
        outputs="output: T",
        attrs=_attrs(rank, "realnumbertype"),
        shape=_gradient_gradient("MaxPool" if rank == 4 else "Pool3D"),
        xla=True,
        flops=_pool_flops,
    )(_largest_gradient_gradient)
    return pool, gradient, gradient_gradient


def _copied(op: Operation) -> dict[str, Any]:
    names = ("ksize", "strides", "padding", "data_format")
    return {name: op.attrs[name] for name in names}


def _zeros_of(x: Any) -> Any:
    return zeros(shape(x), x.dtype.base_dtype)


def _differentiate(ops: tuple[OpDef, ...]) -> None:
    """Each of the three is the gradient of the one before it; the last two of each other."""
    pool, gradient, gradient_gradient = ops

    @pool.gradient
    def _(op: Operation, grad: Any) -> Any:
        return gradient(op.inputs[0], op.outputs[0], grad, **_copied(op))

    @gradient.gradient
    def _(op: Operation, grad: Any) -> Any:
        x, y, _ = op.inputs
        return _zeros_of(x), _zeros_of(y), gradient_gradient(x, y, grad, **_copied(op))

    @gradient_gradient.gradient
    def _(op: Operation, grad: Any) -> Any:
        x, y, _ = op.inputs
        return _zeros_of(x), _zeros_of(y), gradient(x, y, grad, **_copied(op))


_2D = _largest_ops("", 4, POOLED, "realnumbertype")
_3D = _largest_ops("3D", 5, POOLED_3D, POOLED_3D)
_differentiate(_2D)
_differentiate(_3D)


max_pool_v2_ = op(
    "MaxPoolV2",
    inputs="input: T, ksize: int32, strides: int32",
    outputs="output: T",
    attrs=f"T: {POOLED} = float, "
    'padding: {"SAME", "VALID"}, data_format: {"NHWC", "NCHW", "NCHW_VECT_C"} = "NHWC"',
    shape=_pooled_by_inputs,
    static="ksize, strides",
    xla=True,
    flops=_pool_flops,
)(_sizes_as_inputs(_largest))

max_pool_grad_v2_ = op(
    "MaxPoolGradV2",
    inputs="orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32",
    outputs="output: T",
    attrs=_no_sizes(_attrs(4, "realnumbertype", default="float")),
    shape=_gradient_of(4),
    static="ksize, strides",
    xla=True,
    flops=_pool_flops,
)(_sizes_as_inputs(_largest_gradient))

max_pool_grad_grad_v2_ = op(
    "MaxPoolGradGradV2",
    inputs="orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32",
    outputs="output: T",
    attrs=_no_sizes(_attrs(4, "realnumbertype")),
    shape=_gradient_gradient("MaxPoolV2"),
    static="ksize, strides",
    xla=True,
    flops=_pool_flops,
)(_sizes_as_inputs(_largest_gradient_gradient))


@max_pool_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, ksize, strides = op.inputs
    attrs = {name: op.attrs[name] for name in ("padding", "data_format")}
    return raw.MaxPoolGradV2(x, op.outputs[0], grad, ksize, strides, **attrs), None, None


@max_pool_grad_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, y, _, ksize, strides = op.inputs
    attrs = {name: op.attrs[name] for name in ("padding", "data_format")}
    second = raw.MaxPoolGradGradV2(x, y, grad, ksize, strides, **attrs)
    return _zeros_of(x), _zeros_of(y), second, None, None


@max_pool_grad_grad_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, y, _, ksize, strides = op.inputs
    attrs = {name: op.attrs[name] for name in ("padding", "data_format")}
    first = raw.MaxPoolGradV2(x, y, grad, ksize, strides, **attrs)
    return _zeros_of(x), _zeros_of(y), first, None, None


# ---- with positions ---------------------------------------------------------------------------

_ARGMAX_ATTRS = (
    "ksize: list(int) >= 4, strides: list(int) >= 4, "
    'padding: {"SAME", "VALID"}, include_batch_in_index: bool = false, '
    "Targmax: {int32, int64}%s, T: realnumbertype"
)


def _with_positions(c: ShapeContext) -> list[Dims]:
    dims = _pooled("MaxPool")(c)
    return [dims, dims]


@op(
    "MaxPoolWithArgmax",
    inputs="input: T",
    outputs="output: T, argmax: Targmax",
    attrs=_ARGMAX_ATTRS % " = int64",
    shape=_with_positions,
    xla=True,
    flops=_pool_flops,
)
def max_pool_with_argmax_(
    xp: Any,
    input: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
    Targmax: DType,
) -> tuple[Array, Array]:
    window = _spatial_windows(input.shape, ksize, strides, padding, "NHWC")
    index_type = Targmax.as_numpy_dtype
    batch, _, width, channels = input.shape
    if 0 in input.shape or 0 in window.output:
        empty = (batch, *window.output, channels)
        return xp.zeros(empty, input.dtype), xp.zeros(empty, index_type)
    best, tap = first_largest(taps(input, window, lowest(input.dtype)), window)
    tap_row, tap_column = xp.divmod(tap.astype(index_type), index_type(window.size[1]))
    rows, columns = (
        np.arange(window.output[i], dtype=index_type) * window.stride[i] - window.before[i]
        for i in (0, 1)
    )
    row = tap_row + rows.reshape(-1, 1, 1)
    column = tap_column + columns.reshape(-1, 1)
    index = (row * width + column) * channels + np.arange(channels, dtype=index_type)
    if include_batch_in_index:
        size = int(np.prod(input.shape[1:]))
        index = index + np.arange(batch, dtype=index_type).reshape(-1, 1, 1, 1) * size
    return best, index.astype(index_type)


@max_pool_with_argmax_.gradient
def _(op: Operation, grad: Any, _: Any) -> Any:
    names = ("ksize", "strides", "padding", "include_batch_in_index")
    attrs = {name: op.attrs[name] for name in names}
    return raw.MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], **attrs)


def _flat_positions(xp: Any, argmax: Array, input: Array, include_batch: bool) -> Array:
    """Indices into the whole flattened input."""
    if include_batch:
        return argmax.reshape(-1)
    size = int(np.prod(input.shape[1:]))
    images = np.arange(argmax.shape[0], dtype=argmax.dtype).reshape(-1, 1, 1, 1)
    return (argmax + images * size).reshape(-1)


@op(
    "MaxPoolGradWithArgmax",
    inputs="input: T, grad: T, argmax: Targmax",
    outputs="output: T",
    attrs=_ARGMAX_ATTRS % "",
    shape=_gradient_of(4),
    flops=_pool_flops,
)
def max_pool_grad_with_argmax_(
    xp: Any, input: Array, grad: Array, argmax: Array, *, include_batch_in_index: bool
) -> Array:
    at = _flat_positions(xp, argmax, input, include_batch_in_index)
    if xp is np:
        flat = np.zeros(input.size, grad.dtype)
        np.add.at(flat, at, grad.reshape(-1))
        return flat.reshape(input.shape)
    return xp.zeros(input.size, grad.dtype).at[at].add(grad.reshape(-1)).reshape(input.shape)


def _gathered_by_argmax(c: ShapeContext) -> Dims:
    s.merge(c.dims(0), c.dims(1))
    return s.merge(_pooled("MaxPool")(c), c.dims(2))


@op(
    "MaxPoolGradGradWithArgmax",
    inputs="input: T, grad: T, argmax: Targmax",
    outputs="output: T",
    attrs=_ARGMAX_ATTRS % "",
    shape=_gathered_by_argmax,
)
def max_pool_grad_grad_with_argmax_(
    xp: Any, input: Array, grad: Array, argmax: Array, *, include_batch_in_index: bool
) -> Array:
    at = _flat_positions(xp, argmax, input, include_batch_in_index)
    return xp.take(grad.reshape(-1), at).reshape(argmax.shape)


# ---- averages ---------------------------------------------------------------------------------


def _average(
    xp: Any,
    value: Array,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Array:
    window = _spatial_windows(value.shape, ksize, strides, padding, data_format)
    x = channels_last(xp, value, data_format)
    if 0 in x.shape or 0 in window.output:
        y = xp.zeros((x.shape[0], *window.output, x.shape[-1]), x.dtype)
    else:
        y = _average_pool(x, window)
    return as_format(xp, y, data_format)


def _average_gradient(
    xp: Any,
    orig_input_shape: np.ndarray,
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Array:
    dims = tuple(int(d) for d in orig_input_shape)
    window = _spatial_windows(dims, ksize, strides, padding, data_format)
    pooled = arranged(dims[0], window.output, depth(dims, data_format), data_format)
    _check_same("grad", pooled, grad)
    if 0 in dims or 0 in pooled:
        return xp.zeros(dims, grad.dtype)
    g = channels_last(xp, grad, data_format)
    return as_format(xp, _average_pool_gradient(g, window), data_format)


@op(
    "AvgPool",
    inputs="value: T",
    outputs="output: T",
    attrs=_attrs(4, FLOATS),
    shape=_pooled("AvgPool"),
    xla=True,
    flops=_pool_flops,
)
def avg_pool_(
    xp: Any,
    value: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
) -> Array:
    return _average(xp, value, ksize, strides, padding, data_format)


@op(
    "AvgPool3D",
    inputs="input: T",
    outputs="output: T",
    attrs=_attrs(5, FLOATS),
    shape=_pooled("Pool3D"),
    xla=True,
    flops=_pool_flops,
)
def avg_pool3d_(
    xp: Any,
    input: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
) -> Array:
    return _average(xp, input, ksize, strides, padding, data_format)


avg_pool_grad_ = op(
    "AvgPoolGrad",
    inputs="orig_input_shape: int32, grad: T",
    outputs="output: T",
    attrs=_attrs(4, FLOATS),
    shape=_by_shape_input(4),
    static="orig_input_shape",
    xla=True,
    flops=_pool_flops,
)(_average_gradient)

avg_pool3d_grad_ = op(
    "AvgPool3DGrad",
    inputs="orig_input_shape: int32, grad: T",
    outputs="output: T",
    attrs=_attrs(5, FLOATS),
    shape=_by_shape_input(5),
    static="orig_input_shape",
    xla=True,
    flops=_pool_flops,
)(_average_gradient)


def _differentiate_average(pool: OpDef, gradient: OpDef) -> None:
    @pool.gradient
    def _(op: Operation, grad: Any) -> Any:
        return gradient(shape(op.inputs[0]), grad, **_copied(op))

    @gradient.gradient
    def _(op: Operation, grad: Any) -> Any:
        return None, pool(grad, **_copied(op))


_differentiate_average(avg_pool_, avg_pool_grad_)
_differentiate_average(avg_pool3d_, avg_pool3d_grad_)
