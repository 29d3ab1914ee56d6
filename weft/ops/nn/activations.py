"""tf.nn's activations, softmax and cross-entropy losses, biases and dropout, built from ops."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import concat, deprecated_alias, rank, shape, transpose
from weft.ops.array.one_hot_search import where
from weft.ops.kit.eager import executing_eagerly
from weft.ops.kit.operands import as_type_of, operands
from weft.ops.kit.own_gradient import with_gradient
from weft.ops.math import sequence
from weft.ops.math.casts import cast
from weft.ops.math.matmul import matmul
from weft.ops.random.random import random_uniform

Compute = Callable[..., Tensor]


# ---- activations ------------------------------------------------------------------------------


def relu(features: Any, name: str | None = None) -> Tensor:
    """The features where they are positive, 0 elsewhere.

    Args:
        features: a tensor of numbers.
        name: of the operation.

    Returns:
        A tensor of the same type and shape.

    Raises:
        TypeError: the features are not real numbers.

    Example:
        >>> session.run(tf.nn.relu([-1.0, 0.0, 2.0]))
        array([0., 0., 2.], dtype=float32)
    """
    return raw.Relu(features, name=name)


def relu6(features: Any, name: str | None = None) -> Tensor:
    """The features, cut off at 0 from below and at 6 from above.

    Args:
        features: a tensor of numbers.
        name: of the operation.

    Returns:
        A tensor of the same type and shape.

    Raises:
        TypeError: the features are not real numbers.

    Example:
        >>> session.run(tf.nn.relu6([-1.0, 3.0, 9.0]))
        array([0., 3., 6.], dtype=float32)
    """
    with operands(name, "Relu6", features=features) as (scope, features):
        return raw.Relu6(features, name=scope)


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """features where positive, alpha times them elsewhere.

    Args:
        features: a tensor of numbers; integers become float32.
        alpha: the slope below 0.
        name: of the operation.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: the features are not numbers.

    Example:
        >>> session.run(tf.nn.leaky_relu([-10.0, 0.0, 2.0], alpha=0.1))
        array([-1.,  0.,  2.], dtype=float32)
    """
    slope = alpha.item() if isinstance(alpha, np.ndarray) else alpha
    with operands(name, "LeakyRelu", alpha, features=features) as (scope, features):
        whole = features.dtype.is_integer
        x = cast(features, dtypes.float32) if whole else features
        return raw.LeakyRelu(x, slope, name=scope)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """`relu` of the features and of their negatives, side by side along `axis`."""
    with operands(name, "CRelu", features=features) as (scope, features):
        return raw.Relu(concat([features, -features], axis, name=scope))


def elu(features: Any, name: str | None = None) -> Tensor:
    """exp(features) - 1 where negative, features elsewhere.

    Args:
        features: a tensor of floating-point numbers.
        name: of the operation.

    Returns:
        A tensor of the same type and shape.

    Raises:
        TypeError: the features are integers.

    Example:
        >>> session.run(tf.nn.elu([-1.0, 0.0, 2.0]))
        array([-0.63212055,  0.        ,  2.        ], dtype=float32)
    """
    return raw.Elu(features, name=name)


def selu(features: Any, name: str | None = None) -> Tensor:
    """The scaled `elu` that keeps mean 0 and variance 1."""
    return raw.Selu(features, name=name)


def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(exp(features) + 1).

    Args:
        features: a tensor of floating-point numbers.
        name: of the operation.

    Returns:
        A tensor of the same type and shape; it is positive, a smooth form of `relu`.

    Raises:
        TypeError: the features are integers.

    Example:
        >>> session.run(tf.nn.softplus([0.0, 100.0]))
        array([  0.6931472, 100.       ], dtype=float32)
    """
    return raw.Softplus(features, name=name)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """features / (abs(features) + 1)."""
    return raw.Softsign(features, name=name)


def swish(features: Any) -> Tensor:
    """features * sigmoid(features)."""
    x = convert_to_tensor(features)

    def differentiate(op: Any, grad: Any, _: Any) -> list[Any]:
        # From the features again: what lies between need not be kept until then.
        with control_dependencies([grad]):
            sigmoid = raw.Sigmoid(x)
        return [None, grad * (sigmoid * (1.0 + x * (1.0 - sigmoid)))]

    return with_gradient([x * raw.Sigmoid(x)], [x], differentiate)[0]


# ---- layers in one call -----------------------------------------------------------------------


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """`value` plus one bias per channel; channels are last, or second if `data_format` is NC...

    Args:
        value: a tensor whose last dimension holds channels.
        bias: a vector with an entry for each channel.
        data_format: "NC..." for channels in the second dimension, "N...C" or None for the last.
        name: of the operation.

    Returns:
        A tensor of the type and shape of `value`.

    Raises:
        ValueError: there are more or fewer channels than biases, or the format is unknown.

    Example:
        >>> session.run(tf.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]))
        array([[11., 22.],
               [13., 24.]], dtype=float32)
    """
    given = "NHWC" if data_format is None else data_format
    layout = "NCHW" if given.startswith("NC") else "NHWC"
    if layout == "NHWC" and not (given.startswith("N") and given.endswith("C")):
        raise ValueError("data_format must be of the form `N...C` or `NC...`")
    with operands(name, "BiasAdd", bias, input=value) as (scope, value):
        if not executing_eagerly():
            bias = as_type_of(value, "bias", bias)
        return raw.BiasAdd(value, bias, layout, name=scope)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """matmul(x, weights) + biases.

    Args:
        x: a matrix [rows, in].
        weights: a matrix [in, out].
        biases: a vector [out].
        name: of the operation.

    Returns:
        A matrix [rows, out].

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> session.run(tf.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [10.0]], [0.5]))
        array([[21.5]], dtype=float32)
    """
    given = {"x": x, "weights": weights, "biases": biases}
    with operands(name, "xw_plus_b", **given) as (scope, x, weights, biases):
        return bias_add(matmul(x, weights), biases, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(matmul(x, weights) + biases)."""
    given = {"x": x, "weights": weights, "biases": biases}
    with operands(name, "relu_layer", **given) as (scope, x, weights, biases):
        return raw.Relu(bias_add(matmul(x, weights), biases), name=scope)


# ---- softmax ----------------------------------------------------------------------------------


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """exp(logits) divided by its sum along `axis`, the last by default.

    Args:
        logits: a tensor of floating-point numbers.
        axis: the dimension whose entries sum to 1; None: the last.
        name: of the operation.
        dim: an older name of `axis`.

    Returns:
        A tensor of the same type and shape.

    Raises:
        tf.errors.InvalidArgumentError: there is no dimension `axis`.

    Example:
        >>> session.run(tf.nn.softmax([0.0, 0.0, 0.0, 0.0]))
        array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    axis = deprecated_alias("axis", axis, "dim", dim)
    return _along_axis(logits, raw.Softmax, -1 if axis is None else axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """log(softmax(logits)), computed without leaving the logarithms.

    Args:
        logits: a tensor of floating-point numbers.
        axis: the dimension whose probabilities sum to 1; None: the last.
        name: of the operation.
        dim: an older name of `axis`.

    Returns:
        A tensor of the same type and shape.

    Raises:
        tf.errors.InvalidArgumentError: there is no dimension `axis`.

    Example:
        >>> session.run(tf.nn.log_softmax([0.0, 1000.0]))
        array([-1000.,     0.], dtype=float32)
    """
    axis = deprecated_alias("axis", axis, "dim", dim)
    return _along_axis(logits, raw.LogSoftmax, -1 if axis is None else axis, name)


def _along_axis(logits: Any, compute: Compute, axis: Any, name: str | None) -> Tensor:
    """`compute`, which works on the last axis, applied along `axis`."""
    logits = convert_to_tensor(logits)
    dims = logits.dims
    if isinstance(axis, int | np.integer) and (
        axis == -1 or (dims is not None and axis == len(dims) - 1)
    ):
        return compute(logits, name=name)
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if known is not None and dims is not None and not -len(dims) <= known < len(dims):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Dimension ({int(known)}) must be in the range [{-len(dims)}, {len(dims)}) "
            f"where {len(dims)} is the number of dimensions in the input.",
        )
    count = rank(logits)
    if isinstance(axis, Tensor):
        axis = where(axis < 0, axis + count, axis)
    elif axis < 0:
        axis = axis + count
    whole = rank(logits)
    if isinstance(axis, Tensor) and dims is not None:
        axis = axis % len(dims)
    swapped = _swap(logits, axis, raw.Sub(whole, 1))
    result = _swap(compute(swapped), axis, raw.Sub(whole, 1), name=name)
    result.set_shape(logits.shape)
    return result


def _swap(x: Tensor, axis: Any, last: Tensor, name: str | None = None) -> Tensor:
    order = [sequence.range(axis), [last], sequence.range(axis + 1, last), [axis]]
    return transpose(x, concat(order, 0), name=name)


# ---- dropout ----------------------------------------------------------------------------------


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """Zeroes elements with probability `rate` and scales the others by 1 / (1 - rate).

    Dimensions of size 1 in `noise_shape` are kept or dropped as a whole.

    Args:
        x: a tensor of floating-point numbers.
        keep_prob: an older way to say it: 1 - `rate`.
        noise_shape: the shape in which it is decided what to drop; sizes of 1 share a decision.
        seed: makes the choice repeatable.
        name: of the operation.
        rate: the fraction of elements that become 0.

    Returns:
        A tensor of the type and shape of `x`, with about the same mean.

    Raises:
        ValueError: `x` is not floating point, or `rate` is not in [0, 1).

    Example:
        >>> session.run(tf.nn.dropout(tf.ones([2, 2]), rate=0.0))
        array([[1., 1.],
               [1., 1.]], dtype=float32)
        >>> dropped = session.run(tf.nn.dropout(tf.ones([1000]), rate=0.5))
        >>> sorted(set(dropped.tolist()))
        [0.0, 2.0]
    """
    try:
        drop = 1.0 - keep_prob if keep_prob is not None else None
    except TypeError:
        raise ValueError(
            f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
        ) from None
    rate = deprecated_alias("rate", rate, "keep_prob", drop)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. "
                f"Got a {x.dtype} tensor instead."
            )
        if isinstance(rate, numbers.Real):
            if not 0 <= float(rate) < 1:
                raise ValueError(
                    f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}"
                )
            if rate == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        rate.shape.assert_has_rank(0)
        known = constant_value(rate)
        if known is not None and known == 0:
            return x
        noise = random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype.base_dtype)
        keep = 1 - rate
        scale = 1 / keep
        # Uniform on [0, 1): a draw is kept with probability 1 - rate.
        mask = noise >= rate
        result = x * scale * cast(mask, x.dtype)
        result.set_shape(x.shape)
        return result


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """`noise_shape` with unknown dimensions taken from `x`."""
    if noise_shape is None:
        return shape(x)
    try:
        wanted = as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    if x.dims is None or wanted.dims is None or len(x.dims) != len(wanted.dims):
        return noise_shape
    sizes = [d.value for d in wanted.dims]
    return TensorShape([d if n is None else n for n, d in zip(sizes, x.dims, strict=True)])


# ---- the largest entries, norms ---------------------------------------------------------------


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """The `k` largest entries of every row and their indices.

    Args:
        input: a tensor of numbers with at least one dimension.
        k: how many; a number or a scalar tensor.
        sorted: whether they come in descending order.
        name: of the operation.

    Returns:
        A named tuple of `values` and `indices`; of equal entries the first comes first.

    Raises:
        ValueError: rows are known to have fewer than `k` entries.

    Example:
        >>> session.run(tf.nn.top_k([5, 9, 1, 7], k=2))
        TopKV2(values=array([9, 7], dtype=int32), indices=array([1, 3], dtype=int32))
    """
    return raw.TopKV2(input, k, sorted=sorted, name=name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether each target is among the `k` largest predictions of its row.

    Args:
        predictions: scores [batch, classes], float32.
        targets: the true class of every row.
        k: how many of the best scores count.
        name: of the operation.

    Returns:
        A vector of booleans; a tie with the last of them counts.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> session.run(tf.nn.in_top_k([[0.1, 0.9], [0.8, 0.2]], [1, 1], k=1))
        array([ True, False])
    """
    with name_scope(name, "in_top_k"):
        return raw.InTopKV2(predictions, targets, k, name=name)


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:
    """The n-th smallest entry of every row, or the n-th largest."""
    return raw.NthElement(input, n, reverse=reverse, name=name)


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """sum(t ** 2) / 2.

    Args:
        t: a tensor of floating-point numbers, of any shape.
        name: of the operation.

    Returns:
        A scalar of the same type.

    Raises:
        TypeError: `t` holds integers.

    Example:
        >>> float(session.run(tf.nn.l2_loss([3.0, 4.0])))
        12.5
    """
    return raw.L2Loss(t, name=name)


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Every value divided by (bias + alpha * squares of its channel's neighbours) ** beta.

    Args:
        input: images [batch, height, width, channels].
        depth_radius: how many channels on either side count as neighbours.
        bias, alpha, beta: the constants of the formula.
        name: of the operation.

    Returns:
        A tensor of the same type and shape.

    Raises:
        ValueError: the input does not have four dimensions.

    Example:
        >>> session.run(tf.nn.lrn([[[[1.0, 1.0]]]], depth_radius=1, bias=1.0, alpha=1.0, beta=1.0))
        array([[[[0.33333334, 0.33333334]]]], dtype=float32)
    """
    return raw.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


lrn = local_response_normalization
