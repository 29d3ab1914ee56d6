"""Functions of neural networks: activations, normalization, dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.variables import ndim
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.math import casts, clip, math, unary
from weft.ops.math import moments as nn_moments
from weft.ops.nn import activations as nn_impl


def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0) -> Any:
    """`x` above `threshold`, at most `max_value`; `alpha` is the slope below."""
    if alpha != 0.0 and max_value is None and threshold == 0:
        return nn_impl.leaky_relu(x, alpha=alpha)
    if alpha == 0.0:
        return _rectified(x, max_value, threshold)
    below = nn_impl.relu(-x + threshold) if threshold != 0 else nn_impl.relu(-x)
    result = _rectified(x, max_value, threshold)
    return result - constant(alpha, dtype=result.dtype.base_dtype) * below


def _rectified(x: Any, max_value: Any, threshold: Any) -> Any:
    if threshold != 0:
        result = x * casts.cast(math.greater(x, threshold), floatx())
    elif max_value == 6:
        return nn_impl.relu6(x)
    else:
        result = nn_impl.relu(x)
    if max_value is None:
        return result
    high, low = (constant(limit, dtype=result.dtype.base_dtype) for limit in (max_value, 0.0))
    return clip.clip_by_value(result, low, high)


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """`x`, and below zero `alpha` times (its exponential less one)."""
    result = nn_impl.elu(x)
    return result if alpha == 1 else select.where(x > 0, result, alpha * result)


def softmax(x: Any, axis: int = -1) -> Tensor:
    """exp(x) divided by its sum along an axis."""
    return nn_impl.softmax(x, axis=axis)


def softplus(x: Any) -> Tensor:
    """log(exp(x) + 1): a smooth form of `relu`."""
    return nn_impl.softplus(x)


def softsign(x: Any) -> Tensor:
    """x / (|x| + 1): a number between -1 and 1."""
    return nn_impl.softsign(x)


def sigmoid(x: Any) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""
    return math.sigmoid(x)


def hard_sigmoid(x: Any) -> Tensor:
    """A sigmoid of three straight pieces."""
    slope, middle = (constant(value, dtype=x.dtype.base_dtype) for value in (0.2, 0.5))
    return clip.clip_by_value(math.add(math.multiply(x, slope), middle), 0.0, 1.0)


def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent of `x`: a number between -1 and 1."""
    return unary.tanh(x)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Tensor:
    """`x` with a part `level` of its elements zero and the rest scaled up."""
    seed = int(np.random.randint(10**7)) if seed is None else seed
    return nn_impl.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def l2_normalize(x: Any, axis: Any = None) -> Tensor:
    """A tensor divided by its Euclidean norm along an axis."""
    return nn_moments.l2_normalize(x, axis=axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Tensor:
    """Whether each target is among the `k` classes predicted strongest."""
    return nn_impl.in_top_k(predictions, targets, k)


# ---- batch normalization ----


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Any, epsilon: float = 1e-3
) -> Any:
    """(`x` normalized by its own mean and variance, these two)."""
    axes = list(reduction_axes)
    if ndim(x) == 4 and axes in ([0, 1, 2], [0, 2, 3]):
        return _fused(x, gamma, beta, axes == [0, 2, 3], epsilon)
    mean, variance = nn_moments.moments(x, axes, None, None, False)
    by, var, offset, scale = mean, variance, beta, gamma
    if sorted(axes) != list(range(ndim(x)))[:-1]:
        sizes = array.shape(x)
        target = array.stack([1 if a in axes else sizes[a] for a in range(ndim(x))])
        by, var = array.reshape(mean, target), array.reshape(variance, target)
        offset = None if beta is None else array.reshape(beta, target)
        scale = None if gamma is None else array.reshape(gamma, target)
    return nn_moments.batch_normalization(x, by, var, offset, scale, epsilon), mean, variance


def _fused(x: Any, gamma: Any, beta: Any, channels_first: bool, epsilon: float) -> Any:
    size = [x.shape[1 if channels_first else 3]]
    gamma = constant(1.0, dtype=x.dtype, shape=size) if gamma is None else gamma
    beta = constant(0.0, dtype=x.dtype, shape=size) if beta is None else beta
    data_format = "NCHW" if channels_first else "NHWC"
    return nn_moments.fused_batch_norm(x, gamma, beta, epsilon=epsilon, data_format=data_format)


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Tensor:
    """`x` normalized by a given mean and variance."""
    formats = {1: "NCHW", -3: "NCHW", 3: "NHWC", -1: "NHWC"}
    if ndim(x) != 4 or axis not in formats:
        return nn_moments.batch_normalization(x, mean, var, beta, gamma, epsilon)
    mean, var = _flat(mean), _flat(var)
    offset = array.zeros_like(mean) if beta is None else _flat(beta)
    result, _, _ = nn_moments.fused_batch_norm(
        x,
        array.ones_like(mean) if gamma is None else _flat(gamma),
        offset,
        epsilon=epsilon,
        mean=mean,
        variance=var,
        data_format=formats[axis],
        is_training=False,
    )
    return result


def _flat(x: Any) -> Any:
    return array.reshape(x, [-1]) if ndim(x) > 1 else x
