"""Metrics that keep every value they have seen: what no sum over batches can tell."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies
from weft.ops.array import array
from weft.ops.array.distinct import unique, unique_with_counts
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where
from weft.ops.array.pad import pad
from weft.ops.control import check
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import math
from weft.ops.nn.activations import top_k
from weft.ops.scores.metrics_base import aligned, metric_variable, publish, published
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import assign

_EPSILON = 1e-7
_GROWTH = 1.5


@published
def streaming_concat(
    values: Any, axis: int = 0, max_size: int | None = None, name: str | None = None
) -> Any:
    """All values so far, joined along an axis, and an operation that adds those of this step."""
    with vs.variable_scope(name, "streaming_concat", (values,)):
        values = convert_to_tensor(values)
        if values.dims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = len(values.dims)
        axis = axis + rank if axis < 0 else axis
        if not 0 <= axis < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        fixed = [size for place, size in enumerate(values.dims) if place != axis]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must "
                "have statically known size"
            )
        kept = metric_variable([max_size or 0, *fixed], values.dtype, False, "array")
        size = metric_variable([], dtypes.int32, name="size")
        first = [axis, *(place for place in range(rank) if place != axis)]
        back = [first.index(place) for place in range(rank)]
        valid = kept[:size]
        valid.set_shape([None, *fixed])
        value = array.transpose(valid, back, name="concat")
        return value, _appended(kept, size, array.transpose(values, first), max_size)


def _appended(kept: Any, size: Any, rows: Tensor, max_size: int | None) -> Any:
    count = array.shape(rows)[0]
    if max_size is not None:
        count = math.minimum(count, max_size - size)
    needed = size + count

    def reallocate() -> Any:
        """Grows by a factor, so that not every batch has to copy all that came before it."""
        power = math.ceil(math.log(math.cast(needed, dtypes.float32)) / math.log(_GROWTH))
        room = math.cast(math.ceil(_GROWTH**power), dtypes.int32) - size
        empty = array.zeros(array.concat([[room], array.shape(rows)[1:]], 0), rows.dtype)
        grown = assign(kept, array.concat([kept.value()[:size], empty], 0), validate_shape=False)
        return group(grown)

    capacity = array.shape(kept)[0]
    with control_dependencies([cond(needed > capacity, reallocate, no_op)]):
        filled = kept[size:needed].assign(rows[:count])
    with control_dependencies([filled]):
        return size.assign(needed)


# ---- areas under curves of all values ----


def _checked_labels(labels: Any) -> tuple[Tensor, list[Any]]:
    labels = array.reshape(math.cast(labels, dtypes.int64), [-1])
    message = "labels must be 0 or 1, at least one is "
    checks = [
        check.assert_greater_equal(labels, array.zeros_like(labels), message=message + "<0"),
        check.assert_less_equal(labels, array.ones_like(labels), message=message + ">1"),
    ]
    return labels, checks


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """The exact area under the ROC or PR curve: every prediction is a threshold.

    Returns:
        The area, 0 while all labels are the same, and an operation that adds this step's values.

    Raises:
        ValueError: the curve is another one.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with vs.variable_scope(name, "dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        predictions = array.reshape(math.cast(predictions, dtypes.float64), [-1])
        labels, checks = _checked_labels(labels)
        with control_dependencies(checks):
            joined = [
                streaming_concat(array.identity(predictions), name="concat_preds"),
                streaming_concat(array.identity(labels), name="concat_labels"),
            ]
            if weights is not None:
                flat = array.reshape(math.cast(weights, dtypes.float64), [-1])
                joined.append(streaming_concat(flat, name="concat_weights"))
            values, updates = zip(*joined, strict=True)
            metric: Any = _dynamic_area(*values, curve=curve), group(*updates)
            return publish(metric, metrics_collections, updates_collections)


def _dynamic_area(
    predictions: Tensor, labels: Tensor, weights: Tensor | None = None, *, curve: str
) -> Tensor:
    if weights is None:
        weights = array.ones_like(labels, dtypes.float64)
    true = where(math.greater(labels, 0), weights, array.zeros_like(weights))
    total, positive = math.reduce_sum(weights), math.reduce_sum(true)

    def area() -> Tensor:
        order = top_k(predictions, array.size(predictions))
        ends = math.cumsum(unique_with_counts(order[0])[2])

        def up_to_each_threshold(amounts: Tensor) -> Tensor:
            sums = pad(math.cumsum(gather(amounts, order[1])), [[1, 0]])
            return gather(sums, pad(ends, [[1, 0]]))

        hits, taken = up_to_each_threshold(true), up_to_each_threshold(weights)
        recall = math.truediv(hits, positive)
        if curve == "ROC":
            x, y = math.truediv(taken - hits, total - positive), recall
        else:
            x, y = recall, where(taken > 0, math.truediv(hits, taken), array.ones_like(hits))
        return math.reduce_sum((y[1:] + y[:-1]) / 2.0 * math.abs(x[1:] - x[:-1]))

    alike = math.logical_or(math.equal(positive, 0), math.equal(positive, total))
    return cond(alike, lambda: constant(0.0, dtypes.float64), area)


class AucData(NamedTuple):
    """The area under a ROC curve, and the interval that it is in."""

    auc: Tensor
    lower: Tensor
    upper: Tensor


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> Any:
    """The area under the ROC curve with an interval of confidence `alpha` (DeLong, unpaired).

    Returns:
        An `AucData` of the area and both ends of the interval, zeros while the labels of the step
        are all the same; and an operation that adds this step's values.

    Raises:
        ValueError: `alpha` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.2f}")
    weights = array.ones_like(predictions) if weights is None else weights
    scope = "auc_with_confidence_intervals"
    with vs.variable_scope(name, scope, [labels, predictions, weights]):
        predictions, labels, weights = aligned(predictions, labels, weights)
        labels, checks = _checked_labels(labels)
        weight = math.reduce_sum(weights)
        inputs = {
            "preds": array.reshape(math.cast(predictions, dtypes.float64), [-1]),
            "labels": labels,
            "weights": array.reshape(weights, [-1]),
        }
        with control_dependencies(checks):
            joined = [
                streaming_concat(array.identity(value), name=f"concat_{key}")
                for key, value in inputs.items()
            ]
            enough = math.greater_equal(weight, 1.0)
            both = math.logical_and(
                math.equal(math.reduce_min(labels), 0), math.equal(math.reduce_max(labels), 1)
            )
            values, updates = zip(*joined, strict=True)
            added = group(*updates)
            update = cond(enough, lambda: added, no_op)
            found = _interval(values, alpha, logit_transformation)
            usable = cond(
                math.logical_and(both, enough), lambda: found, lambda: [constant(0.0)] * 3
            )
            metric: Any = AucData(*usable), update
            return publish(metric, metrics_collections, updates_collections)


def _interval(kept: tuple[Tensor, ...], alpha: float, as_logit: bool) -> list[Tensor]:
    from weft.lib.distributions.normal import Normal

    placed, sides = _placements(*kept)
    totals = [math.reduce_sum(side) for side in sides]
    means = [
        math.reduce_sum(side * values) / (total + _EPSILON)
        for side, values, total in zip(sides, placed, totals, strict=True)
    ]
    area = where(math.less(*totals), means[1], means[0])
    variances = [
        math.reduce_sum(side * math.square(values - mean)) / (total - 1.0 + _EPSILON)
        for side, values, mean, total in zip(sides, placed, means, totals, strict=True)
    ]
    shares = [v / (total + _EPSILON) for v, total in zip(variances, totals, strict=True)]
    error = math.sqrt(shares[0] + shares[1])
    quantile = Normal(0.0, 1.0).quantile((1.0 - alpha) / 2.0)
    if as_logit:
        rest = 1.0 - area + _EPSILON
        middle, width = math.log(area / rest), quantile * error / (area * rest)
        ends = [1.0 / (1.0 + math.exp(-end) + _EPSILON) for end in (middle + width, middle - width)]
    else:
        ends = [area + quantile * error, area - quantile * error]
    certain = math.logical_or(math.equal(area, 1.0), math.equal(area, 0.0))
    return [area, *(where(certain, area, end) for end in ends)]


def _placements(
    predictions: Tensor, labels: Tensor, weights: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """For each example, the part of the other side that it is on the right side of.

    By side, false and true: the parts, and the weights of the examples, zero on the other side.
    """
    order = top_k(-predictions, array.size(predictions))
    level = unique(order[0])[1]
    true = math.cast(gather(labels, order[1]), dtypes.float32)
    weights = gather(weights, order[1])
    sides = [weights * (1.0 - true), weights * true]
    # The part of each side at lower predictions; equal ones count half.
    at = [math.segment_sum(side, level) for side in sides]
    totals = [math.reduce_sum(amounts) + _EPSILON for amounts in at]
    shares = [
        (math.cumsum(amounts, exclusive=True) + amounts / 2.0) / total
        for amounts, total in zip(at, totals, strict=True)
    ]
    false_below, true_below = (gather(share, level) for share in shares)
    return [1.0 - true_below, false_below], sides
