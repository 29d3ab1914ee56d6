"""Cross entropies of labels and logits, and other losses of each element."""

from __future__ import annotations

import math
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import (
    concat,
    deprecated_alias,
    ones_like,
    rank,
    reshape,
    shape,
    stop_gradient,
    transpose,
    zeros_like,
)
from weft.ops.array.one_hot_search import where
from weft.ops.array.slicing import slice
from weft.ops.control.check import assert_equal
from weft.ops.kit.operands import operands
from weft.ops.math import sequence
from weft.ops.math.casts import cast


def _check_named(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...)"
        )
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """Cross entropy of softmax(logits) and `labels`, distributions along `axis`.

    Args:
        labels: a distribution over the classes for each row; gradients flow to it.
        logits: unscaled logarithms of probabilities, of the same shape.
        axis: the dimension of the classes; None: the last.
        name: of the operation.
        dim: an older name of `axis`.

    Returns:
        The loss of each row.

    Raises:
        tf.errors.InvalidArgumentError: the shapes do not fit.

    Example:
        >>> loss = tf.nn.softmax_cross_entropy_with_logits_v2([[0.5, 0.5]], [[0.0, 0.0]])
        >>> session.run(loss)
        array([0.6931472], dtype=float32)
    """
    axis = deprecated_alias("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    given = {"logits": logits, "labels": labels}
    with operands(name, "softmax_cross_entropy_with_logits", **given) as (name, logits, labels):
        half = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        precise = cast(logits, dtypes.float32) if half else logits
        labels = cast(labels, precise.dtype)
        count = rank(precise)
        if axis != -1:
            precise, labels = (_axis_last(x, axis, count) for x in (precise, labels))
        whole = shape(precise)
        precise, labels = _as_matrix(precise), _as_matrix(labels)
        cost, _ = raw.SoftmaxCrossEntropyWithLogits(precise, labels, name=name)
        cost = reshape(cost, slice(whole, [0], [raw.Sub(count, 1)]))
        if logits.dims is not None:
            dims = list(logits.dims)
            del dims[axis]
            cost.set_shape(dims)
        return cast(cost, logits.dtype) if half else cost


def _axis_last(x: Tensor, axis: int, count: Tensor) -> Tensor:
    order = [sequence.range(axis), sequence.range(axis + 1, count), [axis]]
    return transpose(x, concat(order, 0))


def _as_matrix(x: Tensor) -> Tensor:
    """All dimensions but the last as one."""
    count, dims = rank(x), shape(x)
    last = slice(dims, [raw.Sub(count, 1)], [1])
    matrix = reshape(x, concat([[-1], last], 0))
    if x.dims is not None and x.dims and None not in x.dims[:-1]:
        matrix.set_shape([math.prod(x.dims[:-1]), x.dims[-1]])  # type: ignore[arg-type]
    return matrix


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: Any = None,
) -> Tensor:
    """The cross entropy of softmax(logits) and `labels`, which get no gradient.

    Args:
        _sentinel: keeps the others from being given by position.
        labels: a distribution over the classes for each row.
        logits: unscaled logarithms of probabilities, of the same shape.
        dim: the dimension of the classes.
        name: of the operation.
        axis: a newer name of `dim`, which must be None then.

    Returns:
        The loss of each row.

    Raises:
        ValueError: an argument is given by position, or missing.

    Example:
        >>> loss = tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[0.0, 0.0]])
        >>> session.run(loss)
        array([0.6931472], dtype=float32)
    """
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'")  # as `dim` has a default
    _check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        fixed = stop_gradient(labels, name="labels_stop_gradient")
    along = dim if axis is None else axis
    return softmax_cross_entropy_with_logits_v2(fixed, logits, along, scope)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Cross entropy of softmax(logits) and classes given by their numbers.

    Args:
        _sentinel: keeps the others from being given by position.
        labels: the number of the true class of each row, int32 or int64.
        logits: unscaled logarithms of probabilities, with one dimension more: the classes.
        name: of the operation.

    Returns:
        The loss of each row.

    Raises:
        ValueError: an argument is given by position, or missing; or the ranks do not fit.

    Example:
        >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]])
        >>> session.run(loss)
        array([0.6931472], dtype=float32)
    """
    _check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        half = logits.dtype == dtypes.float16
        precise = cast(logits, dtypes.float32) if half else logits
        cost = _cost_of_classes(labels, logits, precise, name)
        return cast(cost, dtypes.float16) if half else cost


def _cost_of_classes(labels: Tensor, logits: Tensor, precise: Tensor, name: str | None) -> Tensor:
    """The cross entropy in the shape of `labels`; `precise` are the logits to compute with."""
    compute = raw.SparseSoftmaxCrossEntropyWithLogits
    whole = shape(labels)
    all_known = _check_label_shape(labels, logits)
    if logits.dims is not None and len(logits.dims) == 2:
        return compute(precise, labels, name=name)[0]
    checks = [] if all_known else [assert_equal(shape(labels), shape(logits)[:-1])]
    with control_dependencies(checks):
        rows = reshape(precise, [-1, shape(logits)[rank(logits) - 1]])
        cost = reshape(compute(rows, reshape(labels, [-1]), name=name)[0], whole)
        cost.set_shape(labels.shape)
        return cost


def _check_label_shape(labels: Tensor, logits: Tensor) -> bool:
    """Whether all that matters is known; ValueError where it does not fit."""
    have, outer = labels.dims, logits.dims
    if outer is not None and not outer:
        raise ValueError(f"Logits cannot be scalars - received shape {logits.shape}.")
    if outer is not None and have is not None and len(have) != len(outer) - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {len(have)}) should equal rank of logits "
            f"minus 1 (received {len(outer)})."
        )
    if have is None or outer is None or None in have or None in outer[:-1]:
        return False
    if have != outer[:-1]:
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {labels.shape}) should equal the "
            f"shape of logits except for the last dimension (received {logits.shape})."
        )
    return True


def _check_same_shape(**pair: Tensor) -> None:
    (first, x), (second, z) = pair.items()
    if not z.shape.is_compatible_with(x.shape):
        raise ValueError(f"{first} and {second} must have the same shape ({x.shape} vs {z.shape})")


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Cross entropy of sigmoid(logits) and `labels`, element by element.

    Args:
        _sentinel: keeps the others from being given by position.
        labels: probabilities, of the type and shape of `logits`.
        logits: the logarithms of odds.
        name: of the operation.

    Returns:
        The loss of each element: classes need not exclude each other.

    Raises:
        ValueError: an argument is given by position, or missing; or the shapes differ.

    Example:
        >>> loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, 1.0])
        >>> session.run(loss)
        array([0.6931472, 1.3132617], dtype=float32)
    """
    _check_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with operands(name, "logistic_loss", logits=logits, labels=labels) as (scope, x, z):
        _check_same_shape(logits=x, labels=z)
        # max(x, 0) - x z + log(1 + exp(-|x|)), with gradients that are right at 0.
        zeros = zeros_like(x, dtype=x.dtype)
        positive = x >= zeros
        above = where(positive, x, zeros)
        below = where(positive, -x, x)
        return raw.Add(above - x * z, raw.Log1p(raw.Exp(below)), name=scope)


def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` whose positive terms count `pos_weight` times."""
    labels = deprecated_alias("labels", labels, "targets", targets)
    with operands(name, "logistic_loss", logits=logits, labels=labels) as (scope, x, z):
        _check_same_shape(logits=x, labels=z)
        weight = 1 + (pos_weight - 1) * z
        negative = (1 - z) * x
        softplus_negative = raw.Log1p(raw.Exp(-raw.Abs(x))) + raw.Relu(-x)
        return raw.Add(negative, weight * softplus_negative, name=scope)


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Negative log likelihood of counts under a Poisson rate given by its logarithm.

    The full loss adds Stirling's approximation of log(targets!) where targets exceed 1.
    """
    given = {"log_input": log_input, "targets": targets}
    with operands(name, "log_poisson_loss", **given) as (_, x, counts):
        _check_same_shape(log_input=x, targets=counts)
        result = raw.Exp(x) - x * counts
        return result + _log_factorial(counts) if compute_full_loss else result


def _log_factorial(n: Tensor) -> Tensor:
    """Stirling's approximation above 1, and 0 up to there."""
    half, two_pi = constant(0.5, n.dtype), constant(2 * math.pi, n.dtype)
    stirling = n * raw.Log(n) - n + half * raw.Log(two_pi * n)
    zeros, ones = zeros_like(n, dtype=n.dtype), ones_like(n, dtype=n.dtype)
    return where(raw.LogicalAnd(n >= zeros, n <= ones), zeros, stirling)
