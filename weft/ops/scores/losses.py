"""tf.losses: how far predictions are from labels, weighted and reduced to a number.

Every loss is added to a collection, from which `get_total_loss` takes them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.signatures import arguments
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import add_to_collection, control_dependencies, get_collection, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.one_hot_search import where
from weft.ops.math import math as math_ops
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import cross_entropy
from weft.ops.scores.confusion_matrix import remove_squeezable_dimensions, squeeze_if
from weft.ops.scores.weights import assert_broadcastable, broadcast_weights, ratio


class Reduction:
    """How the losses of a batch become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every way there is."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError if `key` is none of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


# ---- collections ---------------------------------------------------------------------------------


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection; to none if that is None."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses of a collection whose names match `scope`."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The penalties that regularizers added to the graph, those of a scope if one is given."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Tensor:
    """The sum of the regularization losses, 0 if there are none."""
    losses = get_regularization_losses(scope)
    return math_ops.add_n(losses, name=name) if losses else convert_to_tensor(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of all losses."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope=scope)
    return math_ops.add_n(losses, name=name)


# ---- weighing and reducing -----------------------------------------------------------------------


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """`losses` times `weights`, reduced."""
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", (losses, weights)):
        get_default_graph()._last_loss_reduction = reduction  # type: ignore[attr-defined]
        with control_dependencies([assert_broadcastable(weights, losses)]):
            given = convert_to_tensor(losses)
            losses, weights = (math_ops.cast(x, dtypes.float32) for x in (given, weights))
            weighted = math_ops.multiply(losses, weights)
            whole = reduction == Reduction.NONE
            result = weighted if whole else _reduced(weighted, losses, weights, reduction)
            return _added(math_ops.cast(result, given.dtype), loss_collection)


def _added(loss: Tensor, collection: str | None) -> Tensor:
    add_loss(loss, collection)
    return loss


def _reduced(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    total = math_ops.reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = math_ops.reduce_sum(array.ones_like(losses) * weights)
    elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        count = _present_count(losses, weights)
    else:
        count = _num_elements(losses)
    return math_ops.div_no_nan(math_ops.reduce_sum(total), count, name="value")


def _num_elements(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return math_ops.cast(array.size(losses, name=scope), losses.dtype)


def _present_count(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many losses have a weight that is not 0, in all or in each example."""
    with name_scope(None, "num_present", (losses, weights)) as scope:
        floats = math_ops.cast(weights, dtypes.float32)
        is_zero = math_ops.equal(floats, 0.0)
        nothing, one = (fill(floats) for fill in (array.zeros_like, array.ones_like))
        present = broadcast_weights(where(is_zero, nothing, one), losses)
        axes = math_ops.range(1, array.rank(present)) if per_batch else None
        return math_ops.reduce_sum(present, axes, per_batch, scope)


# ---- losses --------------------------------------------------------------------------------------


_REDUCING = list(inspect.signature(compute_weighted_loss).parameters.values())[2:]


def _required(**values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _loss(default: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Makes a loss of a function that gives it for each element, from two tensors and more.

    The loss also has the parameters that `compute_weighted_loss` ends with, and is weighed by the
    argument `weights`.
    """

    def decorate(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        own = inspect.signature(function).parameters
        signature = inspect.Signature([*own.values(), *_REDUCING], return_annotation="Tensor")

        @functools.wraps(function)
        def loss(*args: Any, **kwargs: Any) -> Tensor:
            given = arguments(signature, function.__name__, args, kwargs)
            scope, collection, reduction = (given.pop(p.name) for p in _REDUCING)
            _required(**{name: given[name] for name in list(own)[:2]})
            with name_scope(scope, default, tuple(given.values())) as scope:
                losses = function(**given)
                return compute_weighted_loss(losses, given["weights"], scope, collection, reduction)

        loss.__signature__ = signature  # type: ignore[attr-defined]
        return loss

    return decorate


def _as_floats(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    """32-bit labels and predictions, of one shape."""
    predictions = math_ops.cast(predictions, dtypes.float32)
    labels = math_ops.cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


@_loss("absolute_difference")
def absolute_difference(labels: Any, predictions: Any, weights: Any = 1.0) -> Tensor:
    """The absolute difference."""
    labels, predictions = _as_floats(labels, predictions)
    return math_ops.abs(math_ops.subtract(predictions, labels))


@_loss("cosine_distance_loss")
def _cosine_distance(labels: Any, predictions: Any, weights: Any, axis: int) -> Tensor:
    labels, predictions = _as_floats(labels, predictions)
    products = math_ops.multiply(predictions, labels)
    return 1 - math_ops.reduce_sum(products, axis=(axis,), keepdims=True)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
    dim: int | None = None,
) -> Tensor:
    """1 less the product of unit vectors along `axis`."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'axis' and 'dim'")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    return _cosine_distance(labels, predictions, weights, axis, scope, loss_collection, reduction)


@_loss("hinge_loss")
def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0) -> Tensor:
    """The hinge loss of labels that are 0 or 1."""
    truth, scores = _as_floats(labels, logits)
    margin = array.ones_like(truth)
    agreement = math_ops.multiply(math_ops.subtract(2 * truth, margin), scores)
    return nn_impl.relu(math_ops.subtract(margin, agreement))


@_loss("huber_loss")
def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0) -> Tensor:
    """Half the square of errors up to `delta`, a straight line beyond."""
    truth, guess = _as_floats(labels, predictions)
    size = math_ops.abs(math_ops.subtract(guess, truth))
    near = math_ops.minimum(size, delta)
    # Not maximum(size - delta, 0), whose gradient at delta would count twice.
    far = math_ops.subtract(size, near)
    half = convert_to_tensor(0.5, near.dtype)
    bowl = math_ops.multiply(half, math_ops.multiply(near, near))
    return math_ops.add(bowl, math_ops.multiply(delta, far))


@_loss("log_loss")
def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-07) -> Tensor:
    """The negative log likelihood of labels between 0 and 1."""
    labels, predictions = _as_floats(labels, predictions)
    right = -math_ops.multiply(labels, math_ops.log(predictions + epsilon))
    return right - math_ops.multiply(1 - labels, math_ops.log(1 - predictions + epsilon))


@_loss("mean_squared_error")
def mean_squared_error(labels: Any, predictions: Any, weights: Any = 1.0) -> Tensor:
    """The mean, or another sum, of squared differences between predictions and labels.

    Args:
        labels, predictions: tensors of one shape.
        weights: how much each counts; a scalar, or of a shape that broadcasts.
        scope: the name scope of the operations.
        loss_collection: the graph collection that the loss joins.
        reduction: one of `tf.losses.Reduction`.

    Returns:
        A scalar; with `Reduction.NONE`, the loss of each element.

    Raises:
        ValueError: the shapes do not fit, or something is None.

    Example:
        >>> float(session.run(tf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])))
        2.0
    """
    labels, predictions = _as_floats(labels, predictions)
    return math_ops.squared_difference(predictions, labels)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """How the differences between the elements of an example differ from those of its label."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)):
        weights = math_ops.cast(weights, dtypes.float32)
        labels = math_ops.cast(labels, dtypes.float32)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            predictions = math_ops.cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            errors = math_ops.subtract(predictions, labels)
            within = math_ops.range(1, array.rank(errors))
            squares = math_ops.reduce_sum(math_ops.square(errors), within, keepdims=True)
            count = _present_count(errors, weights, per_batch=True)
            of_each = 2.0 * ratio(squares, count - 1, "value")
            total = math_ops.square(math_ops.reduce_sum(errors, within, keepdims=True))
            of_pairs = 2.0 * ratio(total, math_ops.multiply(count, count - 1), "value")
            loss = math_ops.reduce_sum(math_ops.multiply(of_each - of_pairs, weights))
            some = math_ops.reduce_sum(count) > 0
            mean = where(some, loss, array.zeros_like(loss), name="value")
            return _added(mean, loss_collection)


def _as_logits(labels: Any, logits: Any) -> tuple[Tensor, Tensor]:
    """Labels and logits of one type and shape."""
    logits = convert_to_tensor(logits)
    labels = math_ops.cast(labels, logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


@_loss("sigmoid_cross_entropy_loss")
def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0
) -> Tensor:
    """Cross entropy of independent classes; smoothing moves labels towards 1/2."""
    labels, logits = _as_logits(multi_class_labels, logits)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    return cross_entropy.sigmoid_cross_entropy_with_logits(
        labels=labels, logits=logits, name="xentropy"
    )


@_loss("softmax_cross_entropy_loss")
def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0
) -> Tensor:
    """Cross entropy of exclusive classes; smoothing moves labels towards 1/classes.

    Args:
        onehot_labels: a distribution over the classes for each row.
        logits: unscaled logarithms of probabilities, of the same shape.
        weights: how much each row counts.
        label_smoothing: how far labels move, from 0 to 1.
        scope: the name scope of the operations.
        loss_collection: the graph collection that the loss joins.
        reduction: one of `tf.losses.Reduction`.

    Returns:
        A scalar; with `Reduction.NONE`, the loss of each row.

    Raises:
        ValueError: the shapes do not fit, or something is None.

    Example:
        >>> loss = tf.losses.softmax_cross_entropy([[0.0, 1.0]], logits=[[0.0, 0.0]])
        >>> session.run(loss)
        np.float32(0.6931472)
    """
    labels, logits = _as_logits(onehot_labels, logits)
    if label_smoothing > 0:
        classes = math_ops.cast(array.shape(labels)[-1], logits.dtype)
        share = label_smoothing / classes
        labels = labels * (1.0 - label_smoothing) + share
    labels = array.stop_gradient(labels, name="labels_stop_gradient")
    return cross_entropy.softmax_cross_entropy_with_logits_v2(
        labels=labels, logits=logits, name="xentropy"
    )


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Cross entropy of exclusive classes that labels give by number.

    Args:
        labels: the number of the true class of each row.
        logits: unscaled logarithms of probabilities [..., classes].
        weights: how much each row counts.
        scope: the name scope of the operations.
        loss_collection: the graph collection that the loss joins.
        reduction: one of `tf.losses.Reduction`.

    Returns:
        A scalar; with `Reduction.NONE`, the loss of each row.

    Raises:
        ValueError: the shapes do not fit, or something is None.

    Example:
        >>> session.run(tf.losses.sparse_softmax_cross_entropy([1], logits=[[0.0, 0.0]]))
        np.float32(0.6931472)
    """
    _required(labels=labels, logits=logits)
    values = (logits, labels, weights)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = _squeezed_weights(weights, labels)
        losses = cross_entropy.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _squeezed_weights(weights: Any, labels: Tensor) -> Tensor:
    """Weights without a last dimension of 1 that labels do not have."""
    weights = convert_to_tensor(weights)
    if weights.dims is not None and labels.dims is not None:
        extra = len(weights.dims) - len(labels.dims)
        return array.squeeze(weights, [-1]) if extra == 1 else weights
    extra_now = array.rank(weights) - array.rank(labels)
    if weights.dims is None or (weights.dims and weights.dims[-1] in (None, 1)):
        return squeeze_if(math_ops.equal(1, extra_now), weights)
    return weights
