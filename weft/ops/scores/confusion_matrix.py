"""tf.confusion_matrix, and bringing labels and predictions to one rank."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control import check
from weft.ops.control.cond import cond
from weft.ops.control.control import with_dependencies
from weft.ops.kit.operands import tensors
from weft.ops.math import math as math_ops


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Drops a last dimension of 1 from whichever has one too many.

    `expected_rank_diff` is what predictions should have more than labels.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        if labels.dims is not None and predictions.dims is not None:
            extra = len(predictions.dims) - len(labels.dims) - expected_rank_diff
            if extra == 1:
                predictions = array.squeeze(predictions, [-1])
            elif extra == -1:
                labels = array.squeeze(labels, [-1])
            return labels, predictions
        extra_now = array.rank(predictions) - array.rank(labels)
        if _may_end_in_one(predictions):
            too_many = math_ops.equal(expected_rank_diff + 1, extra_now)
            predictions = squeeze_if(too_many, predictions)
        if _may_end_in_one(labels):
            labels = squeeze_if(math_ops.equal(expected_rank_diff - 1, extra_now), labels)
        return labels, predictions


def _may_end_in_one(tensor: Tensor) -> bool:
    return tensor.dims is None or (bool(tensor.dims) and tensor.dims[-1] in (None, 1))


def squeeze_if(condition: Tensor, tensor: Tensor) -> Tensor:
    """Without its last dimension when `condition` holds at run time."""
    return cond(condition, lambda: array.squeeze(tensor, [-1]), lambda: tensor)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """How often (or with what weight) each label, by row, got each prediction, by column."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        labels, predictions = tensors(labels=labels, predictions=predictions)
        pair = remove_squeezable_dimensions(labels, predictions)
        labels, predictions = pair
        predictions, labels = (math_ops.cast(x, dtypes.int64) for x in (predictions, labels))
        both = {"labels": labels, "predictions": predictions}
        found = {name: _not_negative(x, f"`{name}`") for name, x in both.items()}
        if num_classes is None:
            largest = (math_ops.reduce_max(found[name]) for name in ("predictions", "labels"))
            num_classes = math_ops.maximum(*largest) + 1
        else:
            count = math_ops.cast(num_classes, dtypes.int64)
            for name, tensor in found.items():
                found[name] = _below(tensor, count, f"`{name}` out of bound")
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            found["predictions"].shape.assert_is_compatible_with(weights.shape)
            weights = math_ops.cast(weights, dtype)
        shape = array.stack([num_classes, num_classes])
        places = array.stack([*found.values()], 1)
        values = array.ones_like(found["predictions"], dtype) if weights is None else weights
        whole = math_ops.cast(shape, dtypes.int64)
        counted = SparseTensor(places, values, whole)
        zeros = array.zeros(math_ops.cast(shape, dtypes.int32), dtype)
        return raw.SparseTensorDenseAdd(counted.indices, counted.values, counted.dense_shape, zeros)


def _not_negative(tensor: Tensor, what: str) -> Tensor:
    not_negative = check.assert_non_negative(tensor, message=f"{what} contains negative values")
    return with_dependencies([not_negative], tensor)


def _below(tensor: Tensor, count: Tensor, message: str) -> Tensor:
    return with_dependencies([check.assert_less(tensor, count, message=message)], tensor)
