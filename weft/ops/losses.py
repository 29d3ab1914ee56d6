"""tf.losses: how far predictions are from labels, weighted and reduced to a number.

Every loss is added to a collection, from which `get_total_loss` takes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import add_to_collection, control_dependencies, get_collection, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor
from weft.ops import array, nn_impl
from weft.ops import math as math_ops
from weft.ops.confusion_matrix import remove_squeezable_dimensions, squeeze_if
from weft.ops.select import where
from weft.ops.weights import assert_broadcastable, broadcast_weights


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
        with control_dependencies((assert_broadcastable(weights, losses),)):
            losses = convert_to_tensor(losses)
            dtype = losses.dtype
            losses = math_ops.cast(losses, dtypes.float32)
            weights = math_ops.cast(weights, dtypes.float32)
            loss = math_ops.multiply(losses, weights)
            if reduction != Reduction.NONE:
                loss = _reduced(loss, losses, weights, reduction)
            loss = math_ops.cast(loss, dtype)
            add_loss(loss, loss_collection)
            return loss


def _reduced(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    total = math_ops.reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = math_ops.reduce_sum(array.ones_like(losses) * weights)
    elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        count = _num_present(losses, weights)
    else:
        count = _num_elements(losses)
    return math_ops.div_no_nan(math_ops.reduce_sum(total), count, name="value")


def _num_elements(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return math_ops.cast(array.size(losses, name=scope), losses.dtype)


def _num_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many losses have a weight that is not 0, in all or in each example."""
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = math_ops.cast(weights, dtypes.float32)
        present = where(
            math_ops.equal(weights, 0.0), array.zeros_like(weights), array.ones_like(weights)
        )
        present = broadcast_weights(present, losses)
        if not per_batch:
            return math_ops.reduce_sum(present, name=scope)
        rest = math_ops.range(1, array.rank(present))
        return math_ops.reduce_sum(present, axis=rest, keepdims=True, name=scope)


# ---- losses --------------------------------------------------------------------------------------


def _required(**values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _elementwise(
    default: str,
    function: Callable[[Tensor, Tensor], Tensor],
    labels: Any,
    predictions: Any,
    weights: Any,
    scope: str | None,
    loss_collection: str | None,
    reduction: str,
) -> Tensor:
    """A loss that is a function of 32-bit predictions and labels of one shape."""
    with name_scope(scope, default, (predictions, labels, weights)) as scope:
        predictions = math_ops.cast(predictions, dtypes.float32)
        labels = math_ops.cast(labels, dtypes.float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        losses = function(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """The absolute difference."""
    _required(labels=labels, predictions=predictions)
    return _elementwise(
        "absolute_difference", lambda p, y: math_ops.abs(math_ops.subtract(p, y)),
        labels, predictions, weights, scope, loss_collection, reduction,
    )  # fmt: skip


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
    _required(labels=labels, predictions=predictions)
    return _elementwise(
        "cosine_distance_loss",
        lambda p, y: 1 - math_ops.reduce_sum(math_ops.multiply(p, y), axis=(axis,), keepdims=True),
        labels, predictions, weights, scope, loss_collection, reduction,
    )  # fmt: skip


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """The hinge loss of labels that are 0 or 1."""
    _required(labels=labels, logits=logits)

    def hinge(scores: Tensor, zero_or_one: Tensor) -> Tensor:
        ones = array.ones_like(zero_or_one)
        signs = math_ops.subtract(2 * zero_or_one, ones)
        return nn_impl.relu(math_ops.subtract(ones, math_ops.multiply(signs, scores)))

    return _elementwise(
        "hinge_loss", hinge, labels, logits, weights, scope, loss_collection, reduction
    )


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Half the square of errors up to `delta`, a straight line beyond."""
    _required(labels=labels, predictions=predictions)

    def huber(p: Tensor, y: Tensor) -> Tensor:
        size = math_ops.abs(math_ops.subtract(p, y))
        quadratic = math_ops.minimum(size, delta)
        # Not maximum(size - delta, 0), whose gradient at delta would count twice.
        linear = math_ops.subtract(size, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        return math_ops.add(
            math_ops.multiply(half, math_ops.multiply(quadratic, quadratic)),
            math_ops.multiply(delta, linear),
        )

    return _elementwise(
        "huber_loss", huber, labels, predictions, weights, scope, loss_collection, reduction
    )


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-07,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """The negative log likelihood of labels between 0 and 1."""
    _required(labels=labels, predictions=predictions)

    def cross(p: Tensor, y: Tensor) -> Tensor:
        wrong = math_ops.multiply(1 - y, math_ops.log(1 - p + epsilon))
        return -math_ops.multiply(y, math_ops.log(p + epsilon)) - wrong

    return _elementwise(
        "log_loss", cross, labels, predictions, weights, scope, loss_collection, reduction
    )


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """The square of the difference."""
    _required(labels=labels, predictions=predictions)
    return _elementwise(
        "mean_squared_error", math_ops.squared_difference,
        labels, predictions, weights, scope, loss_collection, reduction,
    )  # fmt: skip


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
        with control_dependencies((assert_broadcastable(weights, labels),)):
            predictions = math_ops.cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            errors = math_ops.subtract(predictions, labels)
            rest = math_ops.range(1, array.rank(errors))
            count = _num_present(errors, weights, per_batch=True)
            squares = math_ops.reduce_sum(math_ops.square(errors), axis=rest, keepdims=True)
            total = math_ops.reduce_sum(errors, axis=rest, keepdims=True)
            pairs = math_ops.multiply(count, count - 1)
            first = 2.0 * math_ops.div_no_nan(squares, math_ops.maximum(count - 1, 0), name="value")
            second = 2.0 * math_ops.div_no_nan(
                math_ops.square(total), math_ops.maximum(pairs, 0), name="value"
            )
            loss = math_ops.reduce_sum(math_ops.multiply(first - second, weights))
            some = math_ops.reduce_sum(count) > 0
            mean = where(some, loss, array.zeros_like(loss), name="value")
            add_loss(mean, loss_collection)
            return mean


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Cross entropy of independent classes; smoothing moves labels towards 1/2."""
    _required(multi_class_labels=multi_class_labels, logits=logits)
    values = (logits, multi_class_labels, weights)
    with name_scope(scope, "sigmoid_cross_entropy_loss", values) as scope:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_impl.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Cross entropy of exclusive classes; smoothing moves labels towards 1/classes."""
    _required(onehot_labels=onehot_labels, logits=logits)
    values = (logits, onehot_labels, weights)
    with name_scope(scope, "softmax_cross_entropy_loss", values) as scope:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = math_ops.cast(array.shape(labels)[-1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = array.stop_gradient(labels, name="labels_stop_gradient")
        losses = nn_impl.softmax_cross_entropy_with_logits_v2(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Cross entropy of exclusive classes that labels give by number."""
    _required(labels=labels, logits=logits)
    values = (logits, labels, weights)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = _squeezed_weights(weights, labels)
        losses = nn_impl.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _squeezed_weights(weights: Any, labels: Tensor) -> Tensor:
    """Weights without a last dimension of 1 that labels do not have."""
    weights = convert_to_tensor(weights)
    if weights.dims is not None and labels.dims is not None:
        extra = len(weights.dims) - len(labels.dims)
        return array.squeeze(weights, [-1]) if extra == 1 else weights
    if weights.dims is None or (weights.dims and weights.dims[-1] in (None, 1)):
        extra_now = array.rank(weights) - array.rank(labels)
        return squeeze_if(math_ops.equal(1, extra_now), weights)
    return weights
