"""Metrics that are means: of values, of errors, of the accuracy of each class."""

from __future__ import annotations

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
from weft.ops.scores.weights import broadcast_weights
from weft.ops.state.updates import assign_add, scatter_add
from weft.ops.state.variable_scope import variable_scope


@published
def mean(values: Any, weights: Any = None, name: str | None = None) -> Metric:
    """The weighted mean of all values so far."""
    with variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = math_ops.cast(array.size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            number = math_ops.reduce_sum(weights)
        new_total = assign_add(total, math_ops.reduce_sum(values))
        with control_dependencies([values]):
            new_count = assign_add(count, number)
        value = across_replicas(lambda a, b: _ratio(a, b, "value"), total, count)
        return value, _ratio(new_total, new_count, "update_op")


def _weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor]:
    values, _, weights = aligned(values, None, weights)
    weights = broadcast_weights(math_ops.cast(weights, dtypes.float32), values)
    return math_ops.multiply(values, weights), weights


def _mean_ratio(total: Any, count: Any) -> Tensor:
    return math_ops.reduce_mean(_ratio(total, count, None), name="mean_accuracy")


def _ratio(total: Any, count: Any, name: str | None) -> Tensor:
    return math_ops.div_no_nan(total, math_ops.maximum(count, 0), name=name)


@published
def mean_tensor(values: Any, weights: Any = None, name: str | None = None) -> Metric:
    """The weighted mean of each element of the tensors so far, which have one shape."""
    with variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        number = array.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = math_ops.multiply(number, weights)
        new_total = assign_add(total, values)
        with control_dependencies([values]):
            new_count = assign_add(count, number)
        value = across_replicas(lambda a, b: _ratio(a, b, "value"), total, count)
        return value, _ratio(new_total, new_count, "update_op")


@published
def accuracy(labels: Any, predictions: Any, weights: Any = None, name: str | None = None) -> Metric:
    """How often predictions equal labels."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
    return mean(correct, weights, name=name or "accuracy")


@published
def mean_absolute_error(
    labels: Any, predictions: Any, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean absolute difference."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = math_ops.abs(predictions - labels)
    return mean(errors, weights, name=name or "mean_absolute_error")


@published
def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean square of the difference."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = math_ops.squared_difference(labels, predictions)
    return mean(errors, weights, name=name or "mean_squared_error")


@published
def root_mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, name: str | None = None
) -> Metric:
    """The root of the mean square of the difference."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    name = name or "root_mean_squared_error"
    value, update = mean_squared_error(labels, predictions, weights, name=name)
    return across_replicas(math_ops.sqrt, value), math_ops.sqrt(update)


@published
def mean_relative_error(
    labels: Any, predictions: Any, normalizer: Any, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean absolute difference over `normalizer`; where that is 0, no error."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = where(
        math_ops.equal(normalizer, 0.0),
        array.zeros_like(labels),
        math_ops.div(math_ops.abs(labels - predictions), normalizer),
    )
    return mean(errors, weights, name=name or "mean_relative_error")


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
    """Which part of the values is less than `threshold`."""
    below = math_ops.cast(math_ops.less(values, threshold), dtypes.float32)
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
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = array.ones([array.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = math_ops.cast(predictions, labels.dtype)
        correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = math_ops.cast(_flat(weights), dtypes.float32)
            correct, ones = correct * weights, ones * weights
        new_total = scatter_add(total, labels, ones)
        new_count = scatter_add(count, labels, correct)
        value = across_replicas(_mean_ratio, count, total)
        update = _ratio(new_count, new_total, "update_op")
        return value, update


@published
def mean_iou(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean over the classes of intersection over union. The update is a confusion matrix."""
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix = metric_variable(
            [num_classes, num_classes], dtypes.float64, name="total_confusion_matrix"
        )
        current = confusion_matrix(
            _flat(math_ops.cast(labels, dtypes.int64)),
            _flat(math_ops.cast(predictions, dtypes.int64)),
            math_ops.cast(num_classes, dtypes.int64),
            weights=None if weights is None else _flat(weights),
            dtype=dtypes.float64,
        )
        update = assign_add(matrix, current)
        value = across_replicas(_intersection_over_union, matrix)
        return value, update


def _intersection_over_union(matrix: Any) -> Tensor:
    predicted = math_ops.cast(math_ops.reduce_sum(matrix, 0), dtypes.float32)
    labelled = math_ops.cast(math_ops.reduce_sum(matrix, 1), dtypes.float32)
    both = math_ops.cast(diag_part(matrix), dtypes.float32)
    union = predicted + labelled - both
    # Classes that were neither seen nor predicted do not count.
    seen = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(union, 0), dtypes.float32))
    union = where(math_ops.greater(union, 0), union, array.ones_like(union))
    total = math_ops.reduce_sum(math_ops.div(both, union), name="mean_iou")
    return where(math_ops.greater(seen, 0), total / seen, array.zeros_like(seen))
