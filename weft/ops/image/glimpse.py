"""Windows of one size cut out of images; what lies outside an image is filled with noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.image.sizes import sized
from weft.ops.kit.shared import invalid

F = np.float32
_BOTH = "The uniform_noise and noise should not be specified at the same time"


def _glimpse_shape(c: ShapeContext) -> Dims:
    batch, _, _, channels = s.with_rank(c.dims(0), 4)
    offsets, pair = s.with_rank(c.dims(2), 2)
    if pair not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {pair}")
    if c.attr("uniform_noise") and c.attr("noise") not in ("", "uniform"):
        raise ValueError(_BOTH)
    return sized(c, s.merge_dim(batch, offsets), channels, 1)


def _check(input: Any, size: Any, offsets: Any) -> tuple[int, int]:
    if input.ndim != 4:
        raise invalid(
            f"input must be 4-dimensional (batch_size, height, width, depth){s.show(input.shape)}"
        )
    if size.shape != (2,):
        raise invalid(f"input must be a vector of size 2 (height, width){s.show(size.shape)}")
    if offsets.ndim != 2:
        raise invalid(f"input must be a matrix{s.show(offsets.shape)}")
    if offsets.shape[0] != input.shape[0]:
        raise invalid(f"first dimension should be batch{s.show(offsets.shape)}")
    if offsets.shape[1] != 2:
        raise invalid(f"second dimension should be of size 2 (y,x){s.show(offsets.shape)}")
    return int(size[0]), int(size[1])


def _corner(offset: float, size: int, window: int, normalized: bool, centered: bool) -> int:
    """The begin of the window along an axis."""
    at = F(offset)
    if normalized:
        at = at * F(size)
    if centered:
        at = at / F(2) + F(size) / F(2)
    return int(at - F(window) / F(2))


def _background(image: np.ndarray, shape: tuple[int, ...], noise: str) -> np.ndarray:
    random = np.random.default_rng()
    if noise == "uniform":
        low = image.min()
        return low + random.random(shape, F) * (image.max() - low)
    if noise == "gaussian":
        channels = (0, 1)
        drawn = image.mean(channels) + random.standard_normal(shape, F) * image.std(channels)
        return np.clip(drawn, image.min(channels), image.max(channels)).astype(F)
    return np.zeros(shape, F)


def _overlap(begin: int, window: int, size: int) -> tuple[slice, slice]:
    """(part of the window, part of the image) along an axis"""
    start, stop = max(begin, 0), min(begin + window, size)
    stop = max(stop, start)
    return slice(start - begin, stop - begin), slice(start, stop)


@op(
    "ExtractGlimpse",
    inputs="input: float, size: int32, offsets: float",
    outputs="glimpse: float",
    attrs="centered: bool = true, normalized: bool = true, uniform_noise: bool = true,"
    ' noise: string = "uniform"',
    shape=_glimpse_shape,
    traits=HOST | NO_GRADIENT,  # noise that no seed governs
)
def extract_glimpse_(
    xp: Any,
    input: Any,
    size: Any,
    offsets: Any,
    *,
    centered: bool,
    normalized: bool,
    uniform_noise: bool,
    noise: str,
) -> Any:
    window = _check(input, size, offsets)
    if noise not in ("", "uniform", "gaussian", "zero"):
        raise invalid(f"The noise could only be uniform, gaussian, or zero, got{noise}")
    noise = noise or ("uniform" if uniform_noise else "gaussian")
    glimpses = np.empty((len(input), *window, input.shape[3]), F)
    for image, offset, glimpse in zip(input, offsets, glimpses, strict=True):
        parts = [
            _overlap(_corner(o, n, w, normalized, centered), w, n)
            for o, n, w in zip(offset, image.shape, window, strict=False)
        ]
        (rows, rows_in), (columns, columns_in) = parts
        glimpse[...] = _background(image, glimpse.shape, noise)
        glimpse[rows, columns] = image[rows_in, columns_in]
    return glimpses


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A window of `size` around `offsets` (y, x), one pair per image of the batch."""
    return extract_glimpse_(
        input, size, offsets, centered=centered, normalized=normalized,
        uniform_noise=uniform_noise, noise="uniform" if uniform_noise else "gaussian", name=name,
    )  # fmt: skip
