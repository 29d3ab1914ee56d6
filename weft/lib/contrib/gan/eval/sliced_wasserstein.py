"""The sliced Wasserstein distance between images, at several resolutions.

Patches of the levels of Laplacian pyramids are points; the distance between two sets of points is
the mean over directions of how far they are apart, once sorted along them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.blocks import batch_to_space
from weft.ops.array.pad import pad
from weft.ops.functions.py_func import py_func
from weft.ops.linalg.linalg import svd
from weft.ops.math import math
from weft.ops.math.moments import moments
from weft.ops.nn.activations import top_k
from weft.ops.nn.conv import conv2d
from weft.ops.random.random import random_normal

_BINOMIAL = np.array([1, 4, 6, 4, 1], np.float32) / 16
_BLUR = np.outer(_BINOMIAL, _BINOMIAL).reshape([5, 5, 1, 1])


def sliced_wasserstein_distance(
    real_images: Tensor,
    fake_images: Tensor,
    resolution_min: int = 16,
    patches_per_image: int = 64,
    patch_size: int = 7,
    random_sampling_count: int = 1,
    random_projection_dim: int = 7 * 7 * 3,
    use_svd: bool = False,
) -> list[tuple[Tensor, Tensor]]:
    """(distance of real images from themselves, from fake ones) for each level of detail.

    Args:
        real_images, fake_images: [batch, size, size, 3].
        resolution_min: the size of the last level.
        patches_per_image: how many are drawn at each level.
        patch_size: their size.
        random_sampling_count: how often directions are drawn.
        random_projection_dim: how many directions there are.
        use_svd: whether directions are the principal ones instead.
    """
    size = real_images.shape[1]
    real_images.shape.assert_is_compatible_with([None, None, size, 3])
    fake_images.shape.assert_is_compatible_with(real_images.shape)
    full = int(size)
    levels = int(np.log2(full)) - int(np.log2(min(resolution_min, full))) + 1

    def distance(a: Tensor, b: Tensor) -> Tensor:
        if use_svd:
            return _along_principal(a, b)
        return _along_random(a, b, random_sampling_count, random_projection_dim)

    def points(level: Tensor) -> Tensor:
        return _normalized(_random_patches(level, patches_per_image, patch_size))

    pyramids = [_laplacian_pyramid(each, levels) for each in (real_images, fake_images)]
    found = []
    for real, fake in zip(*pyramids, strict=True):
        one, other, generated = points(real), points(real), points(fake)
        found.append((distance(one, other), distance(one, generated)))
    return found


# ---- pyramids ----------------------------------------------------------------------------------


def _laplacian_pyramid(images: Tensor, levels: int) -> list[Tensor]:
    """Each level less what the next one, half as large, tells of it; the last as it is."""
    pyramid = [math.cast(images, dtypes.float32)]
    for _ in range(1, levels):
        pyramid.append(_blurred(pyramid[-1], 1)[:, ::2, ::2])
        pyramid[-2] -= _blurred(_spread(pyramid[-1]), 4)
    return pyramid


def _blurred(images: Tensor, gain: int) -> Tensor:
    """Images under a Gaussian filter, each channel by itself."""
    batch, height, width, channels = (array.shape(images)[i] for i in range(4))
    padded = pad(images, [[0, 0], [2, 2], [2, 2], [0, 0]], "REFLECT")
    apart = array.transpose(padded, [0, 3, 1, 2])
    apart = array.reshape(apart, [batch * channels, height + 4, width + 4, 1])
    blurred = conv2d(apart, constant(_BLUR) * gain, [1] * 4, "VALID")
    together = array.reshape(blurred, [batch, channels, height, width])
    return array.transpose(together, [0, 2, 3, 1])


def _spread(images: Tensor) -> Tensor:
    """Images of twice the size, with zeros between the pixels."""
    sizes = [array.shape(images)[i] for i in range(4)]
    zeros = array.zeros([3 * sizes[0], *sizes[1:]])
    both = array.concat([images, zeros], 0)
    return batch_to_space(both, crops=[[0, 0], [0, 0]], block_size=2)


# ---- patches -----------------------------------------------------------------------------------


def _random_patches(images: Tensor, per_image: int, size: int) -> Tensor:
    half = size // 2

    def draw(batch: Any) -> Any:
        count, height, width, channels = batch.shape
        total = per_image * count
        number, y, x, channel = np.ogrid[0:total, -half : half + 1, -half : half + 1, 0:3]
        y = y + np.random.randint(half, height - half, size=(total, 1, 1, 1))
        x = x + np.random.randint(half, width - half, size=(total, 1, 1, 1))
        pixel = (number // per_image * height + y) * width + x
        return batch.flat[pixel * channels + channel]

    return py_func(draw, [images], images.dtype, stateful=False)


def _normalized(patches: Tensor) -> Tensor:
    """Patches as rows of mean 0 and variance 1."""
    mean, variance = moments(patches, [1, 2, 3], keep_dims=True)
    scaled = (patches - mean) / math.sqrt(variance)
    return array.reshape(scaled, [array.shape(scaled)[0], -1])


# ---- distances ---------------------------------------------------------------------------------


def _apart(a: Tensor, b: Tensor) -> Tensor:
    """The mean distance of two matrices whose columns are sorted."""
    return math.reduce_mean(math.abs(_sorted_columns(a) - _sorted_columns(b)))


def _sorted_columns(matrix: Tensor) -> Tensor:
    found, _ = top_k(array.transpose(matrix, [1, 0]), array.shape(matrix)[0])
    return array.transpose(found, [1, 0])


def _along_random(a: Tensor, b: Tensor, times: int, directions: int) -> Tensor:
    found = []
    for _ in range(times):
        drawn = random_normal([array.shape(a)[1], directions])
        drawn *= math.rsqrt(math.reduce_sum(math.square(drawn), 0, keepdims=True))
        found.append(_apart(math.matmul(a, drawn), math.matmul(b, drawn)))
    return math.reduce_mean(found)


def _along_principal(a: Tensor, b: Tensor) -> Tensor:
    values, u, _ = svd(array.concat([a, b], 0))
    first, second = array.split(u * values, 2, axis=0)
    return _apart(first[:, ::-1], second[:, ::-1])
