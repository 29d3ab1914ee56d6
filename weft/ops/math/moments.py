"""tf.nn's means, variances and normalizations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import (
    deprecated_alias,
    shape,
    squeeze,
    stop_gradient,
    zeros_like,
)
from weft.ops.array.gather import gather
from weft.ops.kit.operands import operands, tensors
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
    """Mean and variance of `x` over `axes`; `shift` is not used.

    Args:
        x: a tensor of numbers.
        axes: the dimensions to take them over.
        shift: not used.
        name: of the operations.
        keep_dims, keepdims: whether those dimensions stay, with size 1.

    Returns:
        Two tensors: the mean and the variance.

    Raises:
        ValueError: there is no such dimension.

    Example:
        >>> session.run(tf.nn.moments(tf.constant([1.0, 2.0, 3.0]), axes=[0]))
        (np.float32(2.0), np.float32(0.6666667))
    """
    keep = bool(deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        y = _in_single(x)
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        apart = raw.SquaredDifference(y, stop_gradient(mean))
        variance = reduce_mean(apart, axes, keepdims=True, name="variance")
        return _finished(mean, variance, axes, keep, x)


def _in_single(x: Tensor) -> Tensor:
    """`x`, but float32 where float16 would lose too much of a sum."""
    return cast(x, dtypes.float32) if x.dtype.base_dtype == dtypes.float16 else x


def _finished(
    mean: Tensor, variance: Tensor, axes: Any, keep: bool, x: Tensor
) -> tuple[Tensor, Tensor]:
    """Both in the type of `x`, and without the axes unless they are kept."""
    if not keep:
        mean, variance = (squeeze(part, axes) for part in (mean, variance))
    if mean.dtype != x.dtype.base_dtype:
        mean, variance = (cast(part, dtypes.float16) for part in (mean, variance))
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
    given = {"x": x, "frequency_weights": frequency_weights}
    with operands(name, "weighted_moments", axes, **given) as (_, x, weights):
        y = _in_single(x)
        if weights.dtype.base_dtype != y.dtype.base_dtype:
            weights = cast(weights, y.dtype)

        def total(values: Tensor, name: str) -> Tensor:
            return reduce_sum(values, axes, keepdims=True, name=name)

        weighted = total(weights * y, "weighted_input_sum")
        weight = total(weights + zeros_like(y), "sum_of_weights")
        divisor = raw.Reciprocal(weight, name="inv_weight_sum")
        mean = raw.Mul(weighted, divisor)
        distance = total(weights * raw.SquaredDifference(y, mean), "weighted_distsq")
        return _finished(mean, raw.Mul(distance, divisor), axes, keep, x)


def sufficient_statistics(
    x: Any,
    axes: Sequence[int],
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The statistics behind moments: count, sum, sum of squares, and the shift of both."""
    axes = list(set(axes))
    keep = bool(deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims))
    with operands(name, "sufficient_statistics", shift, x=x) as (_, x):
        counts = _count_along(x, axes)
        if shift is None:
            powers = x, raw.Square(x)
        else:
            shift = convert_to_tensor(shift, name="shift")
            powers = raw.Sub(x, shift), raw.SquaredDifference(x, shift)
        total, squares = (
            reduce_sum(values, axes, keepdims=keep, name=total_name)
            for values, total_name in zip(powers, ("mean_ss", "var_ss"), strict=True)
        )
    return counts, total, squares, shift


def _count_along(x: Tensor, axes: list[int]) -> Tensor:
    """How many elements each sum over `axes` has, in the type of `x`."""
    count = None if x.dims is None else s.size(tuple(x.dims[axis] for axis in axes))
    if count is not None:
        return constant(count, x.dtype.base_dtype)
    return reduce_prod(gather(cast(shape(x), x.dtype), axes), name="count")


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from sufficient statistics."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = raw.Reciprocal(counts, name="divisor")
        around = raw.Mul(mean_ss, divisor, name="mean" if shift is None else "shifted_mean")
        mean = around if shift is None else raw.Add(around, shift, name="mean")
        squares = raw.Mul(variance_ss, divisor)
        return mean, raw.Sub(squares, raw.Square(around), name="variance")


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset.

    Args:
        x: a tensor.
        mean, variance: those to take out; they broadcast to `x`.
        offset, scale: those to put in; None: 0 and 1.
        variance_epsilon: a small number, so that the root is not zero.
        name: of the operations.

    Returns:
        A tensor like `x`.

    Raises:
        ValueError: the shapes do not broadcast.

    Example:
        >>> session.run(tf.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0))
        array([-1.,  1.], dtype=float32)
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = convert_to_tensor(x)
        factor = raw.Rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        scaled = x * cast(factor, x.dtype)  # first, since programs know the nodes by their names
        moved = offset - mean * factor if offset is not None else -mean * factor
        return scaled + cast(moved, x.dtype)


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
    given = tensors(input=x, scale=scale, offset=offset)
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    known = (constant([], dtypes.float32) if x is None else x for x in (mean, variance))
    how = {"data_format": data_format, "is_training": is_training, "name": name}
    # cuDNN refuses a smaller epsilon.
    found = raw.FusedBatchNormV3(*given, *known, epsilon=max(epsilon, 1.001e-5), **how)
    return found[0], found[1], found[2]


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
    renamed = (("input", input, "t", t), ("mean", mean, "m", m), ("variance", variance, "v", v))
    x, centre, spread = (deprecated_alias(*both) for both in renamed)
    scale, epsilon = gamma if scale_after_normalization else None, variance_epsilon
    return batch_normalization(x, centre, spread, beta, scale, epsilon, name)  # type: ignore[arg-type]


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """`x` divided by its Euclidean norm along `axis`, or by sqrt(epsilon) if that is larger.

    Args:
        x: a tensor of floating-point numbers.
        axis: a dimension or a list of them; None: all.
        epsilon: the least square of a norm to divide by.
        name: of the operation.
        dim: an older name of `axis`.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: `axis` goes by both its names.

    Example:
        >>> session.run(tf.nn.l2_normalize([3.0, 4.0], axis=0))
        array([0.6, 0.8], dtype=float32)
    """
    axis = deprecated_alias("axis", axis, "dim", dim)
    with operands(name, "l2_normalize", x=x) as (scope, x):
        squares = reduce_sum(raw.Square(x), axis, keepdims=True)
        return raw.Mul(x, raw.Rsqrt(raw.Maximum(squares, epsilon)), name=scope)
