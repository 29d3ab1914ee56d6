"""The windows of pools, and what is computed from them on arrays with channels last.

A window's maximum belongs to the first position that holds it, in row-major order. Averages are
over the positions inside the image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weft.core import errors
from weft.ops.array.array import invalid
from weft.ops.kit import native
from weft.ops.nn.window_shapes import depth, spatial
from weft.ops.nn.windows import Ints, Window, are_theirs, native_sizes, spread, taps, window_of

Array = Any


def lowest(dtype: np.dtype) -> Any:
    """A value that no maximum is below."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


# ---- windows ----------------------------------------------------------------------------------


def windows(
    dims: Sequence[int],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Window:
    """The windows of a pool over a tensor, after checking its sizes."""
    rank = len(data_format)
    if data_format == "NCHW_VECT_C":
        raise errors.UnimplementedError(None, None, "Pooling of NCHW_VECT_C data is not supported")
    if len(dims) != rank:
        raise invalid(f"tensor_in must be {rank}-dimensional")
    for what, values in (("ksize", ksize), ("strides", strides)):
        if len(values) != rank:
            raise invalid(f"Sliding window {what} field must specify {rank} dimensions")
        if values[0] != 1:
            raise errors.UnimplementedError(
                None, None, "Pooling is not yet supported on the batch dimension."
            )
        if min(values) < 1:
            raise invalid(f"Sliding window {what} for dimension must be positive: {list(values)}")
    sizes = spatial(ksize, data_format)
    ones = (1,) * len(sizes)
    inner = spatial(dims, data_format)
    return _trimmed(window_of(inner, sizes, spatial(strides, data_format), ones, padding))


def _trimmed(window: Window) -> Window:
    """The same windows without the taps that lie on the padding everywhere, which count nothing."""
    if 0 in window.input or 0 in window.output:
        return window
    front = [
        max(0, before - (count - 1) * stride)
        for before, count, stride in zip(window.before, window.output, window.stride, strict=True)
    ]
    ends = [min(window.size[i], window.before[i] + window.input[i]) for i in window.axes]
    return replace(
        window,
        size=tuple(end - first for end, first in zip(ends, front, strict=True)),
        before=tuple(before - first for before, first in zip(window.before, front, strict=True)),
    )


def spatial_windows(
    dims: Sequence[int],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
) -> Window:
    """As `windows`, of pools that keep the depth."""
    window = windows(dims, ksize, strides, padding, data_format)
    if depth(ksize, data_format) != 1 or depth(strides, data_format) != 1:
        raise errors.UnimplementedError(
            None, None, "Pooling is not yet supported on the depth dimension."
        )
    return window


def _inside(window: Window, tap: Sequence[int]) -> np.ndarray:
    """Whether, [*output, 1], the tap lies on the image and not on its padding."""
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


# ---- our own kernels --------------------------------------------------------------------------

TOGETHER = 16  # channels that are computed at once
LEAST = 2**15  # numbers under taps up to which a call does not pay


def _is_native(kernel: str, window: Window, **arrays: Array) -> bool:
    """Whether one of our kernels (ops/kit/native.py) is there for it, and for these arrays.

    XLA's are fast enough where windows do not overlap, and part of what is around them.
    """
    if not native.offers(kernel, *arrays.values()):
        return False
    shapes = {name: array.shape for name, array in arrays.items()}
    batch, *_, channels = next(iter(shapes.values()))
    work = batch * math.prod(window.output) * math.prod(window.size) * channels
    overlap = any(k > s for k, s in zip(window.size, window.stride, strict=True))
    return (
        len(window.size) == 2
        and channels >= TOGETHER
        and work >= LEAST
        and overlap
        and are_theirs(window, batch, channels, channels, **shapes)
    )


def _native(kernel: str, inner: Ints, window: Window, *arrays: Array) -> Array:
    """What the kernel makes of the arrays, images of `inner` size."""
    batch, channels = arrays[0].shape[0], arrays[0].shape[-1]
    sizes = native_sizes(window, batch, channels, channels)
    return native.call(kernel, (batch, *inner, channels), *arrays, sizes=sizes)


# ---- kernels on channels-last arrays ----------------------------------------------------------


def max_pool(x: Array, window: Window) -> Array:
    import jax.numpy as jnp

    if _is_native("max_pool", window, image=x):
        return _native("max_pool", window.output, window, x)
    pieces = taps(x, window, lowest(x.dtype))
    best = pieces[0]
    for piece in pieces[1:]:
        best = jnp.maximum(best, piece)
    return best


def depth_max_pool(x: Array, ksize: int, stride: int) -> Array:
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


def max_pool_gradient(x: Array, g: Array, window: Window) -> Array:
    import jax.numpy as jnp

    if _is_native("max_pool_gradient", window, image=x, result=g):
        return _native("max_pool_gradient", window.input, window, x, g)
    _, where = first_largest(taps(x, window, lowest(x.dtype)), window)
    numbers = {tap: n for n, tap in enumerate(window.taps)}

    def term(tap: tuple[int, ...], where: Array, g: Array) -> Array:
        return jnp.where(where == numbers[tap], g, g.dtype.type(0))

    return spread([where, g], window, term, fills=[-1, 0])


def max_pool_gradient_gradient(x: Array, y: Array, g: Array, window: Window) -> Array:
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


def average_pool(x: Array, window: Window) -> Array:
    import jax.numpy as jnp

    if _is_native("average_pool", window, image=x):
        return _native("average_pool", window.output, window, x)
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    total = sum(taps(wide, window))
    return (total / jnp.asarray(_counts(window), wide.dtype)).astype(x.dtype)


def average_pool_gradient(g: Array, window: Window) -> Array:
    import jax.numpy as jnp

    if _is_native("average_pool_gradient", window, result=g):
        return _native("average_pool_gradient", window.input, window, g)
    wide = g.astype(np.float32) if g.dtype.itemsize == 2 else g
    shares = wide / jnp.asarray(_counts(window), wide.dtype)
    return spread([shares], window, lambda tap, piece: piece).astype(g.dtype)
