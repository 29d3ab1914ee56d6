"""Labels, weights and logits of a head, checked against each other and brought into shape.

All are [D0, ..., DN, k] with the same leading dimensions, which mostly is [batch, k]. What cannot
be told when the graph is made is asserted when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.slices import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.graph.tensor import Tensor
from weft.lib.estimator.functions import fn_args
from weft.lib.feature_column.numeric import NumericColumn, numeric_column
from weft.lib.feature_column.transformation import FeatureTransformationCache
from weft.ops.array.join import concat
from weft.ops.array.placeholders import identity
from weft.ops.array.shape import expand_dims, shape
from weft.ops.control.check import assert_equal, assert_less_equal, assert_non_negative
from weft.ops.control.check_shapes import assert_rank_at_least
from weft.ops.control.control import Assert
from weft.ops.math.casts import cast
from weft.ops.math.elementwise import equal
from weft.ops.math.reduce import reduce_all, reduce_any


def check_labels(labels: Any, logits: Tensor, dimension: int) -> Tensor:
    """Labels of shape [D0, ..., DN, dimension]; the last dimension is added where it is missing."""
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check "
            "that your data contain your label feature. Check that your input_fn properly parses "
            "and returns labels."
        )
    with name_scope(None, "labels", (labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(
                "SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, "
                f"..., DN, {dimension}], e.g. [batch_size, {dimension}]. Suggested Fix (1): Check "
                f"the label feature in your data. Each example must contain {dimension} value(s). "
                "If not, your choice of label was probably incorrect. Suggested Fix (2): In your "
                "input_fn, use tf.sparse_tensor_to_dense() to turn labels into a Tensor."
            )
        labels = _same_rank(labels, logits)
        message = (
            f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check your "
            "n_classes argument to the estimator and/or the shape of your label."
        )
        with control_dependencies([assert_rank_at_least(labels, 2, message=message)]):
            _check_last(labels, dimension)
            wanted, given = concat([shape(logits)[:-1], [dimension]], axis=0), shape(labels)
            data = ["expected_labels_shape: ", wanted, "labels_shape: ", given]
            fits = assert_equal(wanted, given, message=message, data=data)
            with control_dependencies([fits]):
                return identity(labels, name=scope)


def _same_rank(tensor: Tensor, logits: Tensor) -> Tensor:
    ours, theirs = tensor.shape.ndims, logits.shape.ndims
    flat = ours is not None and theirs is not None and ours == theirs - 1
    return expand_dims(tensor, -1) if flat else tensor


def _check_last(labels: Tensor, dimension: int) -> None:
    last = labels.dims[-1] if labels.dims else None
    if last is not None and last != dimension:
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={dimension}.  Received {last}. "
            "Suggested Fix:If your classifier expects one-hot encoding label,check your n_classes "
            "argument to the estimator and/or the shape of your label. Otherwise, check the shape "
            "of your label."
        )


def check_logits(logits: Any, dimension: int) -> Tensor:
    """Logits as floats of shape [D0, ..., DN, dimension]."""
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with name_scope(None, "logits", (logits,)) as scope:
        logits = cast(logits, dtypes.float32)
        given = shape(logits)
        with control_dependencies([assert_rank_at_least(logits, 2, data=[given], message=message)]):
            last = logits.dims[-1] if logits.dims else None
            if last is not None:
                if last != dimension:
                    raise ValueError(f"{message}, got {logits.shape}.")
                return logits
            fits = assert_equal(dimension, given[-1], data=[given], message=message)
            with control_dependencies([fits]):
                return identity(logits, name=scope)


def weights_of(features: Any, weight_column: Any, logits: Tensor, per_logit: bool = False) -> Any:
    """The weight of each example, [D0, ..., DN, 1]; 1.0 where no column says otherwise."""
    message = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if per_logit:
        message = (
            "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, "
            "logits_dimension]"
        )
    if weight_column is None:
        return 1.0
    with name_scope(None, "weights", [*features.values(), logits]) as scope:
        weights = _weight_tensor(features, weight_column)
        given, theirs = shape(weights, name="weights_shape"), shape(logits, name="logits_shape")
        data = ["logits_shape: ", theirs, "weights_shape: ", given]
        reshaped = _same_rank(weights, logits)
        if reshaped is not weights:
            fits: Any = assert_equal(theirs[:-1], given, message=message, data=data)
            with control_dependencies([fits]):
                return identity(reshaped, name=scope)
        one = concat([theirs[:-1], [1]], axis=0)
        if per_logit:
            either = [reduce_all(equal(theirs, given)), reduce_all(equal(one, given))]
            fits = Assert(reduce_any(either), [message, *data])
        else:
            fits = assert_equal(one, given, message=message, data=data)
        with control_dependencies([fits]):
            return identity(weights, name=scope)


def _weight_tensor(features: Any, weight_column: Any) -> Tensor:
    by_name = isinstance(weight_column, str)
    column = numeric_column(weight_column, shape=(1,)) if by_name else weight_column
    if not isinstance(column, NumericColumn):
        raise TypeError(
            f"Weight column must be either a string or _NumericColumn. Given type: {type(column)}."
        )
    weights = column.get_dense_tensor(FeatureTransformationCache(features), None)
    dtype = weights.dtype
    if not (dtype.is_floating or dtype.is_integer):
        raise ValueError(f"Weight column should be castable to float. Given dtype: {dtype}")
    return cast(weights, dtypes.float32, name="weights")


def check_range(labels: Tensor, n_classes: int, message: str | None = None) -> Tensor:
    """Labels that are asserted to be numbers of classes."""
    with name_scope(None, "assert_range", (labels,)):
        limit = convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        too_large = message or "Labels must <= n_classes - 1"
        within = [
            assert_less_equal(labels, limit, message=too_large),
            assert_non_negative(labels, message=message or "Labels must >= 0"),
        ]
        with control_dependencies(within):
            return identity(labels)


# ---- loss functions of programs ------------------------------------------------------------------


def check_loss_fn(loss_fn: Callable[..., Any], also: tuple[str, ...] = ()) -> None:
    """ValueError unless the function takes labels and logits, and nothing unknown."""
    names = fn_args(loss_fn)
    missing = [name for name in ("labels", "logits") if name not in names]
    if missing:
        raise ValueError(f"loss_fn must contain argument: {missing[0]}. Given arguments: {names}")
    unknown = list(set(names) - {"labels", "logits", "features", *also})
    if unknown:
        raise ValueError(f"loss_fn has unexpected args: {unknown}")


def call_loss_fn(
    loss_fn: Callable[..., Any], labels: Tensor, logits: Tensor, features: Any, dimension: int = 1
) -> Tensor:
    """The loss of each example, [D0, ..., DN, dimension], by a program's own function."""
    extra = {"features": features} if "features" in fn_args(loss_fn) else {}
    with name_scope(None, "call_loss_fn", [labels, logits]):
        loss = loss_fn(labels=labels, logits=logits, **extra)
        theirs = shape(logits, name="logits_shape")
        wanted = concat([theirs[:-1], [dimension]], axis=0, name="expected_loss_shape")
        given = shape(loss, name="loss_shape")
        rule = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. "
        shapes = ["logits_shape: ", theirs, "loss_shape: ", given]
        fits = reduce_all(equal(given, wanted))
        with control_dependencies([Assert(fits, [rule, *shapes], name="check_loss_shape")]):
            return identity(loss)
