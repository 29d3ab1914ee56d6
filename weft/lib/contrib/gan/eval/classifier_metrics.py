"""Scores of generated images, and their distances from real ones, by what a classifier sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.tensor import Tensor
from weft.lib.contrib.gan.eval.classifiers import INCEPTION_DEFAULT_IMAGE_SIZE as _SIZE
from weft.lib.contrib.gan.eval.classifiers import (
    INCEPTION_FINAL_POOL,
    INCEPTION_OUTPUT,
    get_graph_def_from_disk,
    get_graph_def_from_resource,
    get_graph_def_from_url_tarball,
    in_batches,
    preprocess_image,
    run_image_classifier,
    run_inception,
)
from weft.ops.array import array
from weft.ops.array.diag import diag
from weft.ops.array.fill import fill
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.cond import cond
from weft.ops.functions.functional import map_fn
from weft.ops.linalg.linalg import svd
from weft.ops.math import math
from weft.ops.math.moments import moments
from weft.ops.math.reduce import trace
from weft.ops.nn.activations import log_softmax, softmax

__all__ = (
    "INCEPTION_DEFAULT_IMAGE_SIZE",
    "classifier_score",
    "classifier_score_from_logits",
    "diagonal_only_frechet_classifier_distance_from_activations",
    "frechet_classifier_distance",
    "frechet_classifier_distance_from_activations",
    "frechet_inception_distance",
    "get_graph_def_from_disk",
    "get_graph_def_from_resource",
    "get_graph_def_from_url_tarball",
    "inception_score",
    "kernel_classifier_distance",
    "kernel_classifier_distance_and_std",
    "kernel_classifier_distance_and_std_from_activations",
    "kernel_classifier_distance_from_activations",
    "kernel_inception_distance",
    "kernel_inception_distance_and_std",
    "mean_only_frechet_classifier_distance_from_activations",
    "preprocess_image",
    "run_image_classifier",
    "run_inception",
)
INCEPTION_DEFAULT_IMAGE_SIZE = _SIZE

Classifier = Callable[..., Any]
_logits_of_inception = partial(run_inception, output_tensor=INCEPTION_OUTPUT)
_pool_of_inception = partial(run_inception, output_tensor=INCEPTION_FINAL_POOL)


def _precisely(measure: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """A measure of matrices, computed in double precision; in the type of the first."""
    for each in tensors:
        each.shape.assert_has_rank(2)
    dtype = tensors[0].dtype
    return math.cast(measure(*(math.cast(each, dtypes.float64) for each in tensors)), dtype)


# ---- the score ---------------------------------------------------------------------------------


def classifier_score(images: Any, classifier_fn: Classifier, num_batches: int = 1) -> Tensor:
    """The score of images by the logits that a classifier gives them."""
    return classifier_score_from_logits(in_batches(classifier_fn, images, num_batches))


inception_score = partial(classifier_score, classifier_fn=_logits_of_inception)


def classifier_score_from_logits(logits: Tensor) -> Tensor:
    """The exponential of how much, on average, an image tells of its class.

    It is large where each image has one class, and all images together have many.
    """
    return _precisely(_score, logits)


def _score(logits: Tensor) -> Tensor:
    p = softmax(logits)
    q = math.reduce_mean(p, axis=0)
    divergence = math.reduce_sum(p * (log_softmax(logits) - math.log(q)), axis=1)
    return math.exp(math.reduce_mean(divergence))


# ---- Fréchet's distance ------------------------------------------------------------------------


def frechet_classifier_distance(
    real_images: Any, generated_images: Any, classifier_fn: Classifier, num_batches: int = 1
) -> Tensor:
    """The distance of generated images from real ones, by the activations of a classifier."""
    both = (
        in_batches(classifier_fn, each, num_batches) for each in (real_images, generated_images)
    )
    return frechet_classifier_distance_from_activations(*both)


frechet_inception_distance = partial(frechet_classifier_distance, classifier_fn=_pool_of_inception)


def frechet_classifier_distance_from_activations(
    real_activations: Tensor, generated_activations: Tensor
) -> Tensor:
    """The distance between the Gaussians that fit both sets of activations."""
    return _precisely(_frechet, real_activations, generated_activations)


def mean_only_frechet_classifier_distance_from_activations(
    real_activations: Tensor, generated_activations: Tensor
) -> Tensor:
    """The squared distance between the means of both sets of activations."""
    return _precisely(_between_means, real_activations, generated_activations)


def diagonal_only_frechet_classifier_distance_from_activations(
    real_activations: Tensor, generated_activations: Tensor
) -> Tensor:
    """Fréchet's distance, as if activations were independent of each other."""
    return _precisely(_diagonal_frechet, real_activations, generated_activations)


def _between_means(real: Tensor, generated: Tensor) -> Tensor:
    means = (math.reduce_mean(each, 0) for each in (real, generated))
    return math.reduce_sum(math.squared_difference(*means))


def _diagonal_frechet(real: Tensor, generated: Tensor) -> Tensor:
    (mean, variance), (other_mean, other) = (moments(x, axes=[0]) for x in (real, generated))
    spread = variance + other - 2.0 * math.sqrt(math.multiply(variance, other))
    return math.reduce_sum(spread) + math.reduce_sum(math.squared_difference(mean, other_mean))


def _frechet(real: Tensor, generated: Tensor) -> Tensor:
    one, other = _covariance(real), _covariance(generated)
    spread = trace(one + other) - 2.0 * trace_sqrt_product(one, other)
    return spread + _between_means(real, generated)


def _covariance(x: Tensor) -> Tensor:
    away = x - math.reduce_mean(x, 0)
    count = math.cast(array.shape(x)[0], dtypes.float64)
    return math.matmul(away, away, transpose_a=True) / (count - 1)


def trace_sqrt_product(sigma: Tensor, sigma_v: Tensor) -> Tensor:
    """The trace of the root of the product of two covariances.

    With `A` the root of `sigma`, `A sigma_v A` has the same eigenvalues, and is symmetric.
    """
    root = _symmetric_root(sigma)
    return trace(_symmetric_root(math.matmul(root, math.matmul(sigma_v, root))))


def _symmetric_root(matrix: Tensor, eps: float = 1e-10) -> Tensor:
    values, u, v = svd(matrix)
    # The slope of the root is infinite at 0.
    roots = where_v2(math.less(values, eps), values, math.sqrt(values))
    return math.matmul(math.matmul(u, diag(roots)), v, transpose_b=True)


# ---- the kernel's distance ---------------------------------------------------------------------


def kernel_classifier_distance(
    real_images: Any,
    generated_images: Any,
    classifier_fn: Classifier,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> Tensor:
    """The distance alone of `kernel_classifier_distance_and_std`."""
    return kernel_classifier_distance_and_std(
        real_images, generated_images, classifier_fn, num_classifier_batches, max_block_size, dtype
    )[0]


def kernel_classifier_distance_and_std(
    real_images: Any,
    generated_images: Any,
    classifier_fn: Classifier,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> tuple[Tensor, Tensor]:
    """The kernel's distance by the activations of a classifier, and its standard error."""
    real, generated = (
        in_batches(classifier_fn, each, num_classifier_batches)
        for each in (real_images, generated_images)
    )
    return kernel_classifier_distance_and_std_from_activations(
        real, generated, max_block_size, dtype
    )


kernel_inception_distance = partial(kernel_classifier_distance, classifier_fn=_pool_of_inception)
kernel_inception_distance_and_std = partial(
    kernel_classifier_distance_and_std, classifier_fn=_pool_of_inception
)


def kernel_classifier_distance_from_activations(
    real_activations: Tensor,
    generated_activations: Tensor,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> Tensor:
    """The distance alone of `kernel_classifier_distance_and_std_from_activations`."""
    return kernel_classifier_distance_and_std_from_activations(
        real_activations, generated_activations, max_block_size, dtype
    )[0]


def kernel_classifier_distance_and_std_from_activations(
    real_activations: Tensor,
    generated_activations: Tensor,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> tuple[Tensor, Tensor]:
    """The mean over blocks of an unbiased distance by a cubic kernel, and its standard error.

    Args:
        real_activations, generated_activations: matrices with an image in each row.
        max_block_size: the size of blocks, which bounds memory.
        dtype: to compute in; None: that of the activations.
    """
    given = real_activations, generated_activations
    for each in given:
        each.shape.assert_has_rank(2)
    given[0].shape[1].assert_is_compatible_with(given[1].shape[1])
    if dtype is None:
        dtype = given[0].dtype
        assert given[1].dtype == dtype
    real, generated = (math.cast(each, dtype) for each in given)
    counts = [array.shape(each)[0] for each in (real, generated)]
    blocks = math.cast(math.ceil(math.maximum(*counts) / max_block_size), dtypes.int32)
    bounds = [_bounds(count, blocks) for count in counts]

    def estimate(i: Tensor) -> Tensor:
        parts = zip((real, generated), bounds, strict=True)
        return _kernel_distance(*(each[ends[i] : ends[i + 1]] for each, ends in parts))

    found = map_fn(estimate, math.range(blocks), dtype=dtype, back_prop=False)
    mean, count = math.reduce_mean(found), math.cast(blocks, dtype)
    variance = cond(
        math.less_equal(blocks, 1),
        lambda: constant(float("nan"), dtype=dtype),
        lambda: math.reduce_sum(math.square(found - mean)) / (count - 1),
    )
    return mean, math.sqrt(variance / count)


def _bounds(count: Tensor, blocks: Tensor) -> Tensor:
    """Where blocks begin and end: all of one size, or the last ones larger by one."""
    size = count // blocks
    larger = count - size * blocks
    sizes = array.concat([fill([blocks - larger], size), fill([larger], size + 1)], 0)
    return array.concat([array.zeros([1], dtype=dtypes.int32), math.cumsum(sizes)], 0)


def _kernel_distance(real: Tensor, generated: Tensor) -> Tensor:
    dtype = real.dtype
    width = math.cast(real.shape[1], dtype)

    def kernel(a: Tensor, b: Tensor) -> Tensor:
        return (math.matmul(a, b, transpose_b=True) / width + 1) ** 3

    def within(x: Tensor) -> Tensor:
        """The mean over pairs of different rows."""
        products, count = kernel(x, x), math.cast(array.shape(x)[0], dtype)
        return (math.reduce_sum(products) - trace(products)) / (count * (count - 1))

    return within(real) + within(generated) - 2 * math.reduce_mean(kernel(real, generated))
