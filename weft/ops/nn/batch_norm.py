"""Batch normalization as single ops, their gradients, and the gradients of those.

Statistics are per channel and in single precision. In training they are those of the batch, and the
reserve outputs hold the mean and the biased variance for the gradient op; otherwise they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.graph import Tensor
from weft.graph.op_def import OpDef, op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import DEPRECATED
from weft.ops.array.array import invalid, reshape, size, stack, transpose
from weft.ops.kit import native
from weft.ops.kit.declare import cast_to, literal
from weft.ops.nn.window_shapes import channels_first

Array = Any


# ---- arrays -----------------------------------------------------------------------------------


def _single(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _axes(rank: int, data_format: str) -> tuple[int, ...]:
    """Every axis but that of the channels."""
    channel = 1 if channels_first(data_format) else rank - 1
    return tuple(i for i in range(rank) if i != channel)


def _along(vector: Array, rank: int, data_format: str) -> Array:
    """A per-channel vector in a shape that broadcasts against the images."""
    return vector.reshape(-1, *[1] * (rank - 2)) if channels_first(data_format) else vector


def _check(x: Array, data_format: str, **vectors: Array) -> int:
    """The number of channels, after checking that the vectors have as many entries."""
    if x.ndim not in (4, 5) or x.ndim != len(data_format):
        raise invalid(f"input must be {len(data_format)}-dimensional{s.show(x.shape)}")
    channels = x.shape[1 if channels_first(data_format) else -1]
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise invalid(f"{name} must be 1-dimensional{s.show(vector.shape)}")
        if vector.shape[0] != channels:
            raise invalid(
                f"{name} must have the same number of elements as the channels of x, "
                f"got {vector.shape[0]} and {channels}"
            )
    return channels


# ---- kernels ----------------------------------------------------------------------------------


@by_library
def _moments(xp: Any, x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Mean and variance over `axes`.

    Compiled, both are found in one walk over `x`: by our own kernel, or from sums of the distance
    to one of its values, in which little cancels.
    """
    if _is_native(x, axes):
        sizes = x.size // x.shape[-1], x.shape[-1]
        mean, variance = native.call("moments", (2, x.shape[-1]), x, sizes=sizes)
        return mean, variance
    some = x[tuple(slice(1) if i in axes else slice(None) for i in range(x.ndim))]
    distance = x - some
    mean = xp.mean(distance, axis=axes)
    variance = xp.mean(distance * distance, axis=axes) - mean * mean
    return mean + some.reshape(mean.shape), xp.maximum(variance, literal(variance, 0))


@_moments.numpy
def _(xp: Any, x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    # NumPy adds along leading axes one by one, which loses digits in single precision.
    mean = np.mean(x, axis=axes, keepdims=True, dtype=np.float64).astype(x.dtype)
    return mean.squeeze(axes), np.mean(np.square(x - mean), axis=axes)


_FEW, _TOGETHER = 2**15, 16  # numbers that are too few, and channels that the kernel needs


def _is_native(x: Array, axes: tuple[int, ...]) -> bool:
    """Whether our own kernel is there for the moments of these channels, which must be last."""
    if not native.offers("moments", x) or axes != tuple(range(x.ndim - 1)):
        return False
    return x.size >= _FEW and x.shape[-1] % _TOGETHER == 0


def _normalize(
    xp: Any,
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    """y, the mean and variance to report, the mean and variance used."""
    given = {} if is_training else {"mean": mean, "variance": variance}
    _check(x, data_format, scale=scale, offset=offset, **given)
    values = _single(x)
    if is_training:
        for name, array in (("mean", mean), ("variance", variance)):
            if array.size:
                raise invalid(f"estimated_{name} must be empty for training{s.show(array.shape)}")
        axes = _axes(x.ndim, data_format)
        count = int(np.prod([x.shape[i] for i in axes]))
        if count == 0:
            nothing = xp.full(scale.shape, literal(values, np.nan))
            zero = xp.zeros(scale.shape, values.dtype)
            return [x, nothing, nothing, zero, zero]
        mean, variance = _moments(xp, values, axes)
        centered = values - _along(mean, x.ndim, data_format)
        unbiased = variance * literal(variance, count / max(count - 1, 1))
    else:
        centered = values - _along(mean, x.ndim, data_format)
        unbiased = variance
    factor = scale / xp.sqrt(variance + literal(variance, epsilon))
    y = centered * _along(factor, x.ndim, data_format) + _along(offset, x.ndim, data_format)
    return [y.astype(x.dtype), mean, unbiased, mean, variance]


def _normalize_gradient(
    xp: Any,
    y_backprop: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> list[Array]:
    if y_backprop.shape != x.shape:
        raise invalid(
            f"x and y_backprop must have same shape, but x has shape {s.show(x.shape)} "
            f"and y_backprop has shape {s.show(y_backprop.shape)}"
        )
    _check(x, data_format, scale=scale, reserve_space_1=mean, reserve_space_2=variance)
    rank, axes = x.ndim, _axes(x.ndim, data_format)
    g, values = _single(y_backprop), _single(x)
    count = int(np.prod([x.shape[i] for i in axes]))
    root = literal(scale, 1) / xp.sqrt(variance + literal(variance, epsilon))
    centered = values - _along(mean, rank, data_format)
    offset_backprop = xp.sum(g, axis=axes)
    product = xp.sum(g * centered, axis=axes)
    if is_training and count:
        pulled = _along(offset_backprop / literal(g, count), rank, data_format)
        slope = _along(product / literal(g, count) * root * root, rank, data_format)
        g = g - pulled - centered * slope
    x_backprop = g * _along(scale * root, rank, data_format)
    nothing = xp.zeros((0,) if is_training else scale.shape, scale.dtype)
    return [x_backprop.astype(x.dtype), product * root, offset_backprop, nothing, nothing]


# ---- shape rules ------------------------------------------------------------------------------


def _with_channels(dims: tuple[int | None, ...], channels: int | None, data_format: str) -> Dims:
    axis = 1 if channels_first(data_format) else len(dims) - 1
    return (*dims[:axis], channels, *dims[axis + 1 :])


def _channels(c: ShapeContext, first: int, vectors: Sequence[int]) -> tuple[Any, int | None]:
    data_format = c.attr("data_format")
    dims = s.with_rank(c.dims(first), len(data_format))
    channels = dims[1 if channels_first(data_format) else -1]
    for i in vectors:
        channels = s.merge_dim(channels, s.with_rank(c.dims(i), 1)[0])
    return dims, channels


def _normalized(c: ShapeContext) -> list[Dims]:
    vectors = range(1, 3 if c.attr("is_training") else 5)
    dims, channels = _channels(c, 0, vectors)
    outputs = [_with_channels(dims, channels, c.attr("data_format")), *[(channels,)] * 4]
    return outputs if c.num_outputs == 5 else [*outputs, None]


def _normalized_gradient(c: ShapeContext) -> list[Dims]:
    dims, channels = _channels(c, 0, range(2, 5))
    channels = s.merge_dim(channels, _channels(c, 1, ())[1])
    images = _with_channels(dims, channels, c.attr("data_format"))
    unused = 0 if c.attr("is_training") else channels
    return [images, (channels,), (channels,), (unused,), (unused,)]


# ---- declarations -----------------------------------------------------------------------------

_FORMATS_2D = '"NHWC", "NCHW"'
_FORMATS_3D = '"NHWC", "NCHW", "NDHWC", "NCDHW"'
_MIXED = "T: {half, bfloat16, float}, U: {float}"


def _attrs(types: str, formats: str) -> str:
    return (
        f"{types}, epsilon: float = 0.0001,"
        f' data_format: {{{formats}}} = "NHWC", is_training: bool = true'
    )


def _declare(version: str, types: str, formats: str, gradient_formats: str) -> tuple[OpDef, OpDef]:
    """FusedBatchNorm and FusedBatchNormGrad of one version."""
    u = "U" if version else "T"
    scale = "float" if version else "T"
    last = version == "V3"

    def kernel(
        xp: Any,
        x: Array,
        scale: Array,
        offset: Array,
        mean: Array,
        variance: Array,
        *,
        epsilon: float,
        data_format: str,
        is_training: bool,
    ) -> list[Array]:
        vectors = (scale, offset, mean, variance)
        found = _normalize(xp, x, *vectors, epsilon, data_format, is_training)
        return [*found, xp.zeros((), np.float32)] if last else found

    forward = op(
        f"FusedBatchNorm{version}",
        inputs=f"x: T, scale: {u}, offset: {u}, mean: {u}, variance: {u}",
        outputs=f"y: T, batch_mean: {u}, batch_variance: {u},"
        f" reserve_space_1: {u}, reserve_space_2: {u}"
        + (f", reserve_space_3: {u}" if last else ""),
        attrs=_attrs(types, formats),
        shape=_normalized,
    )(kernel)

    def gradient_kernel(
        xp: Any, *inputs: Array, epsilon: float, data_format: str, is_training: bool
    ) -> list[Array]:
        g, x, scale, mean, variance = inputs[:5]
        settings = (epsilon, data_format, is_training)
        return _normalize_gradient(xp, g, x, scale, mean, variance, *settings)

    names = ("4", "5") if last else ("3", "4")
    backward = op(
        f"FusedBatchNormGrad{version}",
        inputs=f"y_backprop: T, x: T, scale: {scale}, reserve_space_1: {u}, reserve_space_2: {u}"
        + (f", reserve_space_3: {u}" if last else ""),
        outputs=f"x_backprop: T, scale_backprop: {u}, offset_backprop: {u},"
        f" reserve_space_{names[0]}: {u}, reserve_space_{names[1]}: {u}",
        attrs=_attrs(types, gradient_formats),
        shape=_normalized_gradient,
    )(gradient_kernel)
    return forward, backward


def _gradient(backward: OpDef) -> Callable[..., Any]:
    """The gradient of a FusedBatchNorm op, computed by `backward`."""

    def gradient(op: Operation, grad: Any, *_: Any) -> Any:
        x, scale = op.inputs[:2]
        data_format, training = op.attrs["data_format"], op.attrs["is_training"]
        attrs = {"epsilon": op.attrs["epsilon"], "is_training": training}
        rest = op.outputs[5:]
        if training:
            saved = op.outputs[3:5]
            return backward(grad, x, scale, *saved, *rest, data_format=data_format, **attrs)
        inner = list(range(2, len(data_format)))
        if channels_first(data_format):
            x, grad = (transpose(t, [0, *inner, 1]) for t in (x, grad))
        last = "NHWC" if len(data_format) == 4 else "NDHWC"
        given = op.inputs[3:5]
        dx, dscale, doffset, _, _ = backward(
            grad, x, scale, *given, *rest, data_format=last, **attrs
        )
        if channels_first(data_format):
            dx = transpose(dx, [0, len(data_format) - 1, *range(1, len(data_format) - 1)])
        return dx, dscale, doffset, None, None

    return gradient


def _second_gradient(op: Operation, *grads: Any) -> Any:
    """Gradients of a FusedBatchNormGrad op for its y_backprop, x and scale."""
    data_format, training = op.attrs["data_format"], op.attrs["is_training"]
    g, x, scale, mean, variance = op.inputs[:5]
    dtype = x.dtype.base_dtype

    def along(vector: Tensor) -> Tensor:
        ones = [1] * (len(data_format) - 2)
        order = (
            [1, size(vector), *ones] if channels_first(data_format) else [*ones, 1, size(vector)]
        )
        return reshape(vector, stack(order))

    def total(t: Tensor) -> Tensor:
        return raw.Sum(t, list(_axes(len(data_format), data_format)), keep_dims=True)

    a, g, x = (cast_to(t, dtypes.float32) for t in (grads[0], g, x))
    b, c, wide_scale = (along(t) for t in (grads[1], grads[2], scale))
    epsilon = op.attrs["epsilon"]
    if training:
        n = cast_to(size(x), dtypes.float32) / cast_to(size(scale), dtypes.float32)
        found = _second_in_training(a, b, c, g, x, wide_scale, n, epsilon, total)
    else:
        r = raw.Rsqrt(along(variance) + epsilon)
        x = x - along(mean)
        found = (a * wide_scale * r + b * x * r + c, b * g * r, total(a * g) * r)
    dg, dx, dscale = found
    dg, dx = cast_to(dg, dtype), cast_to(dx, dtype)
    return dg, dx, reshape(dscale, [-1]), *[None] * (len(op.inputs) - 3)


def _second_in_training(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    g: Tensor,
    x: Tensor,
    scale: Tensor,
    n: Tensor,
    epsilon: float,
    total: Callable[[Tensor], Tensor],
) -> tuple[Tensor, Tensor, Tensor]:
    """With a, b, c the gradients of the three results, r = (variance + epsilon) ** -0.5 and x
    centered, the results weighted by them add up to

        scale r sum((a - mean(a)) g) - scale r^3 sum(g x) sum(a x) / n + b r sum(g x) + c sum(g).

    These are its derivatives for g, x and scale; r depends on x, too.
    """
    x = x - total(x) / n
    r = raw.Rsqrt(total(x * x) / n + epsilon)
    a = a - total(a) / n
    flat = g - total(g) / n
    gx, ax, ag = total(g * x), total(a * x), total(a * g)
    cubed = r * r * r
    dg = scale * r * a - scale * cubed * ax / n * x + b * r * x + c
    dr = scale * ag - 3.0 * scale * r * r * gx * ax / n + b * gx
    dx = -dr * cubed / n * x - scale * cubed / n * (ax * flat + gx * a) + b * r * flat
    return dg, dx, r * ag - cubed / n * gx * ax


for _version, _types, _formats, _gradient_formats in (
    ("", "T: {float}", _FORMATS_2D, _FORMATS_2D),
    ("V2", _MIXED, _FORMATS_2D, _FORMATS_2D),
    ("V3", _MIXED, _FORMATS_3D, _FORMATS_3D),
):
    _forward, _backward = _declare(_version, _types, _formats, _gradient_formats)
    _forward.gradient(_gradient(_backward))
    _backward.gradient(_second_gradient)


# ---- the older op -----------------------------------------------------------------------------

_GLOBAL_ATTRS = "T: numbertype, variance_epsilon: float, scale_after_normalization: bool"


def _global(c: ShapeContext) -> Dims:
    dims = s.with_rank(c.dims(0), 4)
    channels = dims[3]
    for i in range(1, 5):
        channels = s.merge_dim(channels, s.with_rank(c.dims(i), 1)[0])
    return (*dims[:3], channels)


def _global_gradient(c: ShapeContext) -> list[Dims]:
    dims = s.merge(s.with_rank(c.dims(0), 4), c.dims(4))
    assert dims is not None
    channels = dims[3]
    for i in range(1, 4):
        channels = s.merge_dim(channels, s.with_rank(c.dims(i), 1)[0])
    return [(*dims[:3], channels), *[(channels,)] * 4]


@op(
    "BatchNormWithGlobalNormalization",
    inputs="t: T, m: T, v: T, beta: T, gamma: T",
    outputs="result: T",
    attrs=_GLOBAL_ATTRS,
    shape=_global,
    traits=DEPRECATED,
)
def batch_norm_with_global_normalization_(
    xp: Any,
    t: Array,
    m: Array,
    v: Array,
    beta: Array,
    gamma: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Array:
    _check(t, "NHWC", mean=m, var=v, beta=beta, gamma=gamma)
    root = literal(v, 1) / xp.sqrt(v + literal(v, variance_epsilon))
    factor = root * gamma if scale_after_normalization else root
    return ((t - m) * factor + beta).astype(t.dtype)


@batch_norm_with_global_normalization_.gradient
def _(op: Operation, grad: Any) -> Any:
    t, m, v, _, gamma = op.inputs
    names = ("variance_epsilon", "scale_after_normalization")
    attrs = {name: op.attrs[name] for name in names}
    return raw.BatchNormWithGlobalNormalizationGrad(t, m, v, gamma, grad, **attrs)


@op(
    "BatchNormWithGlobalNormalizationGrad",
    inputs="t: T, m: T, v: T, gamma: T, backprop: T",
    outputs="dx: T, dm: T, dv: T, db: T, dg: T",
    attrs=_GLOBAL_ATTRS,
    shape=_global_gradient,
    traits=DEPRECATED,
)
def batch_norm_with_global_normalization_grad_(
    xp: Any,
    t: Array,
    m: Array,
    v: Array,
    gamma: Array,
    backprop: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> list[Array]:
    _check(t, "NHWC", mean=m, var=v, gamma=gamma)
    axes = (0, 1, 2)
    root = literal(v, 1) / xp.sqrt(v + literal(v, variance_epsilon))
    factor = root * gamma if scale_after_normalization else root
    centered = t - m
    db = xp.sum(backprop, axis=axes)
    product = xp.sum(backprop * centered, axis=axes)
    dg = product * root if scale_after_normalization else xp.zeros_like(product)
    dv = literal(v, -0.5) * product * factor * root * root
    outputs = (backprop * factor, -db * factor, dv, db, dg)
    return [a.astype(t.dtype) for a in outputs]
