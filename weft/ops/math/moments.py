"""tf.nn's means, variances and normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import (
    deprecated_alias,
    identity,
    shape,
    size,
    squeeze,
    stop_gradient,
    zeros,
    zeros_like,
)
from weft.ops.array.gather import gather
from weft.ops.math.casts import cast
from weft.ops.math.reduce import reduce_mean, reduce_prod, reduce_sum


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`; `shift` is not used."""
    keep = bool(deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        half = x.dtype.base_dtype == dtypes.float16
        y = cast(x, dtypes.float32) if half else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        apart = raw.SquaredDifference(y, stop_gradient(mean))
        variance = reduce_mean(apart, axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if half:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over `axes`, every value counted as often as its weight says."""
    keep = bool(deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype.base_dtype == dtypes.float16
        if half:
            x = cast(x, dtypes.float32)
        if weights.dtype.base_dtype != x.dtype.base_dtype:
            weights = cast(weights, x.dtype)
        total = reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        everywhere = weights + zeros_like(x)
        weight = reduce_sum(everywhere, axes, name="sum_of_weights", keepdims=True)
        divisor = raw.Reciprocal(weight, name="inv_weight_sum")
        mean = raw.Mul(total, divisor)
        apart = weights * raw.SquaredDifference(x, mean)
        distance = reduce_sum(apart, axes, name="weighted_distsq", keepdims=True)
        variance = raw.Mul(distance, divisor)
        if not keep:
            mean, variance = squeeze(mean, axis=axes), squeeze(variance, axis=axes)
        if half:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def sufficient_statistics(
    x: Any,
    axes: Sequence[int],
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """What moments can be computed from: count, sum, sum of squares, and the shift of both."""
    axes = list(set(axes))
    keep = bool(deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        sizes = None if x.dims is None else [x.dims[d] for d in axes]
        if sizes is not None and None not in sizes:
            counts = constant(math.prod(sizes), dtype=x.dtype.base_dtype)  # type: ignore[arg-type]
        else:
            dims = gather(cast(shape(x), x.dtype), axes)
            counts = reduce_prod(dims, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            values, squares = raw.Sub(x, shift), raw.SquaredDifference(x, shift)
        else:
            values, squares = x, raw.Square(x)
        total = reduce_sum(values, axes, keepdims=keep, name="mean_ss")
        total_squares = reduce_sum(squares, axes, keepdims=keep, name="var_ss")
    return counts, total, total_squares, shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from sufficient statistics."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = raw.Reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = raw.Mul(mean_ss, divisor, name="shifted_mean")
            mean = raw.Add(shifted, shift, name="mean")
        else:
            shifted = mean = raw.Mul(mean_ss, divisor, name="mean")
        squares = raw.Mul(variance_ss, divisor)
        variance = raw.Sub(squares, raw.Square(shifted), name="variance")
    return mean, variance


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = convert_to_tensor(x)
        factor = raw.Rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        moved = offset - mean * factor if offset is not None else -mean * factor
        return x * cast(factor, x.dtype) + cast(moved, x.dtype)


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalization in one op: the result, and the mean and variance of the batch."""
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constant([], dtype=dtypes.float32) if mean is None else mean
    variance = constant([], dtype=dtypes.float32) if variance is None else variance
    # cuDNN refuses a smaller epsilon.
    y, batch_mean, batch_variance, *_ = raw.FusedBatchNormV3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, 1.001e-5),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return y, batch_mean, batch_variance


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: float | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """`batch_normalization` under its older name and parameters."""
    t = deprecated_alias("input", input, "t", t)
    m = deprecated_alias("mean", mean, "m", m)
    v = deprecated_alias("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)  # type: ignore[arg-type]


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """`x` divided by its Euclidean norm along `axis`, or by sqrt(epsilon) if that is larger."""
    axis = deprecated_alias("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        squares = reduce_sum(raw.Square(x), axis, keepdims=True)
        return raw.Mul(x, raw.Rsqrt(raw.Maximum(squares, epsilon)), name=name)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of zeros in `value`; NaN if it is empty."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        count = size(value, out_type=dtypes.int64)
        with name_scope("count_nonzero", values=[value]):
            zero = zeros([], dtype=value.dtype)
            nonzero = cast(raw.NotEqual(value, zero), dtypes.int64)
            others = reduce_sum(nonzero, name="nonzero_count")
        with name_scope("counts_to_fraction"):
            fraction = cast(count - others, dtypes.float32) / cast(count, dtypes.float32)
        return identity(fraction, "fraction")
