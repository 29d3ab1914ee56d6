"""Metrics as functions of labels and predictions: one number for each example."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.keras import backend as K
from weft.lib.keras.metrics.ragged_values import flat_values
from weft.ops.array import array
from weft.ops.math import arg_extremes, casts, math
from weft.ops.nn import activations as nn_impl


def accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """1 where the two are equal, else 0."""
    [y_pred, y_true], _ = flat_values([y_pred, y_true])
    y_pred, y_true = convert_to_tensor(y_pred), convert_to_tensor(y_true)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    return _equal(y_true, casts.cast(y_pred, y_true.dtype))


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Tensor:
    """The part of predictions on the right side of `threshold`."""
    y_pred = convert_to_tensor(y_pred)
    above = casts.cast(y_pred > casts.cast(threshold, y_pred.dtype), y_pred.dtype)
    return K.mean(math.equal(casts.cast(y_true, y_pred.dtype), above), axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """1 where the strongest class is that of the labels."""
    return _equal(arg_extremes.argmax(y_true, axis=-1), arg_extremes.argmax(y_pred, axis=-1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """As `categorical_accuracy`, of classes given by number."""
    y_true, y_pred = _numbers(y_true, y_pred)
    predicted = casts.cast(arg_extremes.argmax(y_pred, axis=-1), y_true.dtype.base_dtype)
    return _equal(y_true, predicted)


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Tensor:
    """1 where the class of the labels is among the `k` strongest."""
    wanted = arg_extremes.argmax(y_true, axis=-1)
    return casts.cast(nn_impl.in_top_k(y_pred, wanted, k), K.floatx())


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Tensor:
    """As `top_k_categorical_accuracy`, of classes given by number."""
    y_true, y_pred = _numbers(y_true, y_pred)
    return casts.cast(nn_impl.in_top_k(y_pred, casts.cast(y_true, "int32"), k), K.floatx())


def _equal(a: Tensor, b: Tensor) -> Tensor:
    return casts.cast(math.equal(a, b), K.floatx())


def _numbers(y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor]:
    """Labels with one axis less than predictions: a last one of 1 is dropped."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if y_true.shape.ndims is not None and y_true.shape.ndims == y_pred.shape.ndims:
        y_true = array.squeeze(y_true, [-1])
    return y_true, y_pred
