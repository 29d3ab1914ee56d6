"""Metrics that are means: of values, of errors, of the accuracy of each class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.diag import diag_part
from weft.ops.array.one_hot_search import where
from weft.ops.kit.replicas import across_replicas
from weft.ops.math import math as math_ops
from weft.ops.scores.confusion_matrix import confusion_matrix, remove_squeezable_dimensions
from weft.ops.scores.metrics_base import Metric, aligned, metric_variable, published
from weft.ops.scores.weights import broadcast_weights, ratio
from weft.ops.state.updates import assign_add, scatter_add
from weft.ops.state.variable_scope import variable_scope


@published
def mean(values: Any, weights: Any = None, name: str | None = None) -> Metric:
    """The weighted mean of all values so far.

    Args:
        values: a tensor.
        weights: how much each counts; None: 1.
        metrics_collections, updates_collections: graph collections that the two results join.
        name: the scope of the variables.

    Returns:
        Two tensors: the mean so far, and the one that counts this batch in and gives it.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: eager execution is on.

    Example:
        >>> x = tf.placeholder(tf.float32, [None])
        >>> mean, update = tf.metrics.mean(x)
        >>> session.run(tf.local_variables_initializer())
        >>> _ = session.run(update, {x: [1, 2, 3]}), session.run(update, {x: [10]})
        >>> float(session.run(mean))
        4.0
    """
    with variable_scope(name, "mean", (values, weights)):
        values = _floats(values)
        sums = _sums([], "total", "count")
        if weights is None:
            number = _floats(array.size(values))
        else:
            values, weights = _weighted(values, weights)
            number = math_ops.reduce_sum(weights)
        return _running(sums, values, math_ops.reduce_sum(values), number)


def _floats(x: Any) -> Tensor:
    floats: Tensor = math_ops.cast(x, dtypes.float32)
    return floats


def _sums(shape: Any, *names: str) -> list[Any]:
    return [metric_variable(shape, dtypes.float32, name=name) for name in names]


def _weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor]:
    values, _, weights = aligned(values, None, weights)
    weights = broadcast_weights(_floats(weights), values)
    return math_ops.multiply(values, weights), weights


def _running(sums: list[Any], values: Tensor, amount: Tensor, number: Tensor) -> Metric:
    """The quotient of two sums, and of both once `amount` and `number` are added to them."""
    total = assign_add(sums[0], amount)
    with control_dependencies([values]):
        count = assign_add(sums[1], number)
    value = across_replicas(lambda total, count: ratio(total, count, "value"), *sums)
    return value, ratio(total, count, "update_op")


def _mean_ratio(total: Any, count: Any) -> Tensor:
    return math_ops.reduce_mean(ratio(total, count), name="mean_accuracy")


@published
def mean_tensor(values: Any, weights: Any = None, name: str | None = None) -> Metric:
    """The weighted mean of each element of the tensors so far, which have one shape."""
    with variable_scope(name, "mean", (values, weights)):
        values = _floats(values)
        sums = _sums(values.shape, "total_tensor", "count_tensor")
        number = array.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = math_ops.multiply(number, weights)
        return _running(sums, values, values, number)


def _mean_of(function: Callable[..., Tensor]) -> Callable[..., Metric]:
    """The metric that is the mean of what `function` gives for labels and predictions."""

    @functools.wraps(function)
    def metric(
        labels: Any, predictions: Any, weights: Any = None, name: str | None = None, **more: Any
    ) -> Metric:
        predictions, labels, weights = aligned(predictions, labels, weights)
        each = function(labels, predictions, **more)
        return mean(each, weights, name=name or function.__name__)

    return published(metric)


@_mean_of
def accuracy(labels: Any, predictions: Any, weights: Any = None, name: str | None = None) -> Tensor:
    """How often predictions equal labels.

    Args:
        labels, predictions: tensors of one shape.
        weights: how much each counts; None: 1.
        metrics_collections, updates_collections: graph collections that the two results join.
        name: the scope of the variables.

    Returns:
        Two tensors: the accuracy so far, and the one that counts this batch in and gives it.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: eager execution is on.

    Example:
        >>> accuracy, update = tf.metrics.accuracy(labels=[1, 2, 3, 4], predictions=[1, 2, 3, 0])
        >>> session.run(tf.local_variables_initializer())
        >>> float(session.run(update))
        0.75
    """
    return _correct(labels, predictions)


def _correct(labels: Tensor, predictions: Tensor) -> Tensor:
    """1 where predictions equal labels, else 0."""
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    return _floats(math_ops.equal(predictions, labels))


@_mean_of
def mean_absolute_error(
    labels: Any, predictions: Any, weights: Any = None, name: str | None = None
) -> Tensor:
    """The mean absolute difference."""
    return math_ops.abs(predictions - labels)


@_mean_of
def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, name: str | None = None
) -> Tensor:
    """The mean square of the difference."""
    return math_ops.squared_difference(labels, predictions)


@published
def root_mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, name: str | None = None
) -> Metric:
    """The root of the mean square of the difference."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    name = name or "root_mean_squared_error"
    value, update = mean_squared_error(labels, predictions, weights, name=name)
    return across_replicas(math_ops.sqrt, value), math_ops.sqrt(update)


@_mean_of
def mean_relative_error(
    labels: Any, predictions: Any, normalizer: Any, weights: Any = None, name: str | None = None
) -> Tensor:
    """The mean absolute difference over `normalizer`; where that is 0, no error."""
    guess, unit = remove_squeezable_dimensions(predictions, normalizer)
    guess.shape.assert_is_compatible_with(unit.shape)
    no_unit, no_error = math_ops.equal(unit, 0.0), array.zeros_like(labels)
    distance = math_ops.abs(labels - guess)
    return where(no_unit, no_error, math_ops.div(distance, unit))


@published
def mean_cosine_distance(
    labels: Any, predictions: Any, dim: int, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean of 1 less the product of unit vectors along `dim`."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    products = math_ops.multiply(predictions, labels)
    products = math_ops.reduce_sum(products, axis=[dim], keepdims=True)
    value, update = mean(products, weights, name=name or "mean_cosine_distance")
    value = across_replicas(lambda mean: math_ops.subtract(1.0, mean), value)
    return value, math_ops.subtract(1.0, update)


@published
def percentage_below(
    values: Any, threshold: Any, weights: Any = None, name: str | None = None
) -> Metric:
    """The share of the values that are less than `threshold`."""
    below = _floats(math_ops.less(values, threshold))
    return mean(below, weights, name=name or "percentage_below_threshold")


# ---- by class ------------------------------------------------------------------------------------


def _flat(tensor: Any) -> Tensor:
    tensor = convert_to_tensor(tensor)
    return array.reshape(tensor, [-1]) if tensor.shape.ndims > 1 else tensor


@published
def mean_per_class_accuracy(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean over the classes of the accuracy of each. The update is the list of these."""
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(math_ops.cast(labels, dtypes.int64))
        predictions = _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        sums = _sums([num_classes], "total", "count")
        every = array.ones([array.size(labels)], dtypes.float32)
        correct = _correct(labels, predictions)
        if weights is not None:
            weights = _floats(_flat(weights))
            correct, every = correct * weights, every * weights
        amounts = zip(sums, (every, correct), strict=True)
        total, right = [scatter_add(variable, labels, amount) for variable, amount in amounts]
        return across_replicas(_mean_ratio, *sums[::-1]), ratio(right, total, "update_op")


def streaming_confusion_matrix(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None
) -> tuple[Any, Tensor]:
    """The counts of pairs of classes so far, a variable, and the operation that adds to them."""
    square = [num_classes, num_classes]
    matrix = metric_variable(square, dtypes.float64, name="total_confusion_matrix")
    labels, predictions = (math_ops.cast(x, dtypes.int64) for x in (labels, predictions))
    count = math_ops.cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    amounts = None if weights is None else _flat(weights)
    current = confusion_matrix(labels, predictions, count, dtypes.float64, weights=amounts)
    return matrix, assign_add(matrix, current)


@published
def mean_iou(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean over the classes of intersection over union. The update is a confusion matrix."""
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix, update = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        return across_replicas(_intersection_over_union, matrix), update


def _intersection_over_union(matrix: Any) -> Tensor:
    predicted, labelled = (_floats(math_ops.reduce_sum(matrix, axis)) for axis in (0, 1))
    both = _floats(diag_part(matrix))
    union = predicted + labelled - both
    # Classes that were neither seen nor predicted do not count.
    seen = math_ops.reduce_sum(_floats(math_ops.not_equal(union, 0)))
    divisor = where(math_ops.greater(union, 0), union, array.ones_like(union))
    parts, some = math_ops.div(both, divisor), math_ops.greater(seen, 0)
    return where(some, math_ops.reduce_sum(parts, name="mean_iou") / seen, 0)
