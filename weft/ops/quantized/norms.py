"""Normalized and resized images of quantized numbers, in TensorFlow's fixed-point arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.image.sizes import checked_size, resized
from weft.ops.kit.shared import invalid
from weft.ops.quantized.levels import QUANTIZED, ends, f32, quantized, real, with_range

Array = np.ndarray


def _cut(a: Any, b: Any) -> Any:
    """Integer quotients as C gives them, toward zero."""
    found = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -found, found)


def _image_and_range(c: ShapeContext) -> list[Dims]:
    return [s.with_rank(c.dims(0), 4), (), ()]


# ---- by given moments ----------------------------------------------------------------------------

_TOP = 1 << 20  # results lie within a million of zero, in steps of a 2048th
_FIVE = ("t", "m", "v", "beta", "gamma")


def _normalized_shape(c: ShapeContext) -> list[Dims]:
    dims = s.with_rank(c.dims(0), 4)
    depth = dims[3]
    for i in (3, 6, 9, 12):
        (depth,) = s.merge((depth,), s.with_rank(c.dims(i), 1))  # type: ignore[misc]
    return [(*dims[:3], depth), (), ()]


@op(
    "QuantizedBatchNormWithGlobalNormalization",
    inputs=", ".join(f"{n}: Tinput, {n}_min: float, {n}_max: float" for n in _FIVE),
    outputs="result: out_type, result_min: float, result_max: float",
    attrs=f"Tinput: {QUANTIZED}, out_type: {QUANTIZED}, variance_epsilon: float,"
    " scale_after_normalization: bool",
    shape=_normalized_shape, traits=HOST,
)  # fmt: skip
def quantized_batch_norm_(
    xp: Any, t: Any, t_min: Any, t_max: Any, m: Any, m_min: Any, m_max: Any, v: Any, v_min: Any,
    v_max: Any, beta: Any, beta_min: Any, beta_max: Any, gamma: Any, gamma_min: Any,
    gamma_max: Any, *, Tinput: DType, out_type: DType, variance_epsilon: float,
    scale_after_normalization: bool,
) -> list[Array]:  # fmt: skip
    if t.ndim != 4:
        raise invalid(f"input must be 4-dimensional{s.show(t.shape)}")
    _check_channels(t, means=m, variances=v, betas=beta, gammas=gamma)
    scale = f32(1) / np.sqrt(real(v, Tinput, v_min, v_max) + f32(variance_epsilon))
    if scale_after_normalization:
        scale = scale * real(gamma, Tinput, gamma_min, gamma_max)
    offset = -real(m, Tinput, m_min, m_max) * scale + real(beta, Tinput, beta_min, beta_max)

    def fixed(x: Any) -> Any:
        return quantized(x, out_type, -_TOP, _TOP).astype(np.int32)

    with np.errstate(over="ignore"):
        product = fixed(real(t, Tinput, t_min, t_max)) * fixed(scale)
        found = _cut(product, fixed(f32(1))) + fixed(offset)
    return with_range(found, out_type, (-_TOP, _TOP))


def _check_channels(image: Array, **given: Array) -> None:
    for name, value in given.items():
        if value.shape != image.shape[3:]:
            raise invalid(
                f"Must provide as many {name} as the last dimension of the input tensor:"
                f" {s.show(value.shape)} vs. {s.show(image.shape)}"
            )


# ---- by moments of its own -----------------------------------------------------------------------


@op(
    "QuantizedInstanceNorm", inputs="x: T, x_min: float, x_max: float",
    outputs="y: T, y_min: float, y_max: float",
    attrs=f"T: {QUANTIZED}, output_range_given: bool = false, given_y_min: float = 0,"
    " given_y_max: float = 0, variance_epsilon: float = 1e-05, min_separation: float = 0.001",
    shape=_image_and_range, traits=HOST,
)  # fmt: skip
def quantized_instance_norm_(
    xp: Any, x: Any, x_min: Any, x_max: Any, *, T: DType, output_range_given: bool,
    given_y_min: float, given_y_max: float, variance_epsilon: float, min_separation: float,
) -> list[Array]:  # fmt: skip
    """Each channel of each image around zero, with variance one."""
    if output_range_given and given_y_min >= given_y_max:
        raise invalid(
            f"given_y_min must be less than given_y_max : {given_y_min:g} >= {given_y_max:g}"
        )
    for name, value in (("x_min", x_min), ("x_max", x_max)):
        if np.ndim(value):
            raise invalid(f"`{name}` must be rank 0 but is rank {np.ndim(value)}")
    if x.ndim != 4:
        raise invalid(f"input must be 4-dimensional{s.show(x.shape)}")
    if not x_min < x_max:
        raise invalid(f"input_min must be less than input_max : {x_min:g} >= {x_max:g}")
    found = _normalized(x.astype(f32), f32((f32(x_max) - f32(x_min)) / f32(255)), variance_epsilon)
    if output_range_given:
        low, high = f32(given_y_min), f32(given_y_max)
    else:
        low, high = found.min(initial=np.inf), found.max(initial=-np.inf)
    high = max(high, f32(low + f32(min_separation)))
    return with_range(quantized(found, T, low, high), T, (low, high))


def _normalized(levels: Array, step: Any, epsilon: float) -> Array:
    if not levels.size:
        return levels
    apart = step * (levels - levels.mean((1, 2), keepdims=True, dtype=f32))
    variance = np.square(apart).mean((1, 2), keepdims=True, dtype=f32)
    found: Array = apart / np.sqrt(variance + f32(epsilon))
    return found


# ---- resizing ------------------------------------------------------------------------------------


def _between(count: int, size: int, aligned: bool, centers: bool) -> tuple[Array, Array, Array]:
    """Of each of `count` places, the places before and after it among `size`, and how far on."""
    last = aligned and count > 1
    scale = f32((size - 1) / (count - 1)) if last else f32(f32(size) / f32(count))
    at = np.arange(count, dtype=f32)
    at = (at + f32(0.5)) * scale - f32(0.5) if centers else at * scale
    before = np.floor(at)
    places = np.maximum(before, 0), np.minimum(np.ceil(at), size - 1)
    return places[0].astype(np.int64), places[1].astype(np.int64), at - before


def _corners(x: Array, rows: Any, columns: Any) -> tuple[Array, Array, Array, Array]:
    top, bottom = x[:, rows[0]], x[:, rows[1]]
    left, right = columns[:2]
    return top[:, :, left], top[:, :, right], bottom[:, :, left], bottom[:, :, right]


def _mixed(corners: Any, along: Array, down: Array, bits: int) -> Array:
    """Weighted by whole numbers of 2 ** -bits, as the fixed-point kernel does."""
    one = 1 << bits
    a, b, c, d = (corner.astype(np.int64) for corner in corners)
    across = (along * one).astype(np.int64)[None, None, :, None]
    below = (down * one).astype(np.int64)[None, :, None, None]
    top, bottom = a * one + (b - a) * across, c * one + (d - c) * across
    found: Array = _cut(top + _cut(bottom - top, one) * below + one // 2, one)
    return found


def _mixed_floats(corners: Any, along: Array, down: Array) -> Array:
    a, b, c, d = corners
    across, below = along[None, None, :, None], down[None, :, None, None]
    top, bottom = a + (b - a) * across, c + (d - c) * across
    found: Array = top + (bottom - top) * below
    return found


@op(
    "QuantizedResizeBilinear", inputs="images: T, size: int32, min: float, max: float",
    outputs="resized_images: T, out_min: float, out_max: float",
    attrs="T: {quint8, qint32, float}, align_corners: bool = false,"
    " half_pixel_centers: bool = false",
    shape=lambda c: [resized(c), (), ()], traits=HOST,
)  # fmt: skip
def quantized_resize_bilinear_(
    xp: Any, images: Any, size: Any, min: Any, max: Any, *, T: DType, align_corners: bool,
    half_pixel_centers: bool,
) -> list[Array]:  # fmt: skip
    wanted = checked_size(images, size, align_corners, half_pixel_centers, images.dtype)
    if wanted == images.shape[1:3]:
        return with_range(images, T, (min, max))
    rows, columns = (
        _between(n, old, align_corners, half_pixel_centers)
        for n, old in zip(wanted, images.shape[1:3], strict=True)
    )
    corners = _corners(images, rows, columns)
    if T is dtypes.float32:
        return with_range(_mixed_floats(corners, columns[2], rows[2]), T, (min, max))
    found = _mixed(corners, columns[2], rows[2], 7 if T is dtypes.quint8 else 30)
    return with_range(np.clip(found, *ends(T)), T, (min, max))
