"""Losses as functions of labels and predictions: one number for each example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.tensor_util import is_tensor
from weft.lib.keras import backend as K
from weft.ops.array import array
from weft.ops.math import casts, math, reduce, unary
from weft.ops.math import moments as nn_moments
from weft.ops.nn import activations as nn_impl


def _alike(y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor]:
    """Both as tensors of the type of the predictions."""
    y_pred = convert_to_tensor(y_pred)
    return casts.cast(y_true, y_pred.dtype), y_pred


# ---- differences ----


def mean_squared_error(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of the squares of differences along the last axis."""
    y_true, y_pred = _alike(y_true, y_pred)
    return K.mean(math.squared_difference(y_pred, y_true), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of the magnitudes of differences along the last axis."""
    y_true, y_pred = _alike(y_true, y_pred)
    return K.mean(math.abs(y_pred - y_true), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Tensor:
    """The error relative to the label, in percent."""
    y_true, y_pred = _alike(y_true, y_pred)
    error = y_true - y_pred
    relative = error / K.clip(math.abs(y_true), K.epsilon(), None)
    return 100.0 * K.mean(math.abs(relative), axis=-1)


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of the squares of differences between logarithms along the last axis."""
    y_true, y_pred = _alike(y_true, y_pred)
    logs = [unary.log(K.clip(y, K.epsilon(), None) + 1.0) for y in (y_pred, y_true)]
    return K.mean(math.squared_difference(*logs), axis=-1)


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Tensor:
    """Squares of errors up to `delta`, linear beyond; for each element."""
    y_pred, y_true = casts.cast(y_pred, K.floatx()), casts.cast(y_true, K.floatx())
    error = math.abs(math.subtract(y_pred, y_true))
    quadratic = math.minimum(error, delta)
    linear = math.subtract(error, quadratic)
    half = convert_to_tensor(0.5, dtype=quadratic.dtype)
    squared = math.multiply(half, math.multiply(quadratic, quadratic))
    return math.add(squared, math.multiply(delta, linear))


def logcosh(y_true: Any, y_pred: Any) -> Tensor:
    """The logarithm of the hyperbolic cosine of the error."""
    y_true, y_pred = _alike(y_true, y_pred)
    error = y_pred - y_true
    return K.mean(error + nn_impl.softplus(-2.0 * error) - unary.log(2.0), axis=-1)


# ---- margins ----


def _signs(y_true: Tensor) -> Tensor:
    """Labels of 0 and 1 as -1 and 1; others are left alone."""
    binary = math.logical_or(math.equal(y_true, 0), math.equal(y_true, 1))
    return K.switch(reduce.reduce_all(binary), lambda: 2.0 * y_true - 1.0, lambda: y_true)


def hinge(y_true: Any, y_pred: Any) -> Tensor:
    """How far predictions are from being beyond 1 on the side of their labels, -1 or 1."""
    y_true, y_pred = _alike(y_true, y_pred)
    return K.mean(math.maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


def squared_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """The squares of `hinge`."""
    y_true, y_pred = _alike(y_true, y_pred)
    return K.mean(unary.square(math.maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


def categorical_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """How far the right class is from being ahead of the others by 1."""
    truth, guess = _alike(y_true, y_pred)
    right = reduce.reduce_sum(truth * guess, -1)
    lead = reduce.reduce_max((1.0 - truth) * guess, -1) - right
    return math.maximum(0.0, lead + 1.0)


# ---- probabilities ----


def _smoothed(
    y_true: Tensor, smoothing: Any, even: Callable[[Tensor], Callable[[], Tensor]]
) -> Any:
    """Labels moved by `smoothing` towards `even`, its part of the probability of not knowing."""
    part = convert_to_tensor(smoothing, dtype=K.floatx())
    if not is_tensor(smoothing) and not smoothing:
        return y_true
    share = even(part)
    moved = y_true * (1.0 - part)
    return moved + share()


def _of_classes(y_true: Tensor, y_pred: Tensor) -> Any:
    """An equal part for each class."""

    def even(part: Tensor) -> Callable[[], Tensor]:
        count = casts.cast(array.shape(y_true)[1], y_pred.dtype)
        return lambda: part / count

    return even


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0
) -> Tensor:
    """The cross entropy of predictions and labels that are distributions over classes."""
    y_true, y_pred = _alike(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, _of_classes(y_true, y_pred))
    return K.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """As `categorical_crossentropy`, of classes given by number."""
    y_pred = convert_to_tensor(y_pred)
    return K.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0
) -> Tensor:
    """The cross entropy of probabilities and labels that are 0 or 1."""
    y_true, y_pred = _alike(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda part: lambda: 0.5 * part)
    return K.mean(K.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=-1)


def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Tensor:
    """How much `y_true` differs from `y_pred`, both distributions."""
    y_true, y_pred = (K.clip(y, K.epsilon(), 1) for y in _alike(y_true, y_pred))
    return reduce.reduce_sum(y_true * unary.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Tensor:
    """The loss of predicted rates when labels are counts."""
    y_true, y_pred = _alike(y_true, y_pred)
    return K.mean(y_pred - y_true * unary.log(y_pred + K.epsilon()), axis=-1)


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Tensor:
    """The cosine of the angle between the two."""
    y_true, y_pred = (nn_moments.l2_normalize(y, axis=axis) for y in (y_true, y_pred))
    return reduce.reduce_sum(y_true * y_pred, axis=axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity
