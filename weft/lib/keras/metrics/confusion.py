"""Counts of true and false, positives and negatives, at thresholds; and what they tell."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies
from weft.lib.keras.losses.weighting import squeeze_or_expand_dimensions, weights_of_rank
from weft.lib.keras.metrics.base import Metric
from weft.lib.keras.metrics.ragged_values import flat_values
from weft.lib.keras.utils.generic import to_list
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.control import check, control
from weft.ops.math import arg_extremes, casts, math, reduce
from weft.ops.nn import activations as nn_impl
from weft.ops.scores.weights import broadcast_weights

# What counts as low enough to be below any prediction.
NEG_INF = -1e10

# Name of the count -> (whether the label is positive, whether the prediction is).
COUNTS = {
    "true_positives": (True, True),
    "false_negatives": (True, False),
    "false_positives": (False, True),
    "true_negatives": (False, False),
}


def parse_init_thresholds(thresholds: Any, default_threshold: float = 0.5) -> list[float]:
    """One threshold or several as a list; each between 0 and 1."""
    if thresholds is None:
        return [default_threshold]
    wrong = [t for t in to_list(thresholds) if t is None or t < 0 or t > 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return to_list(thresholds)


def update_counts(
    counts: dict[str, Any],
    y_true: Any,
    y_pred: Any,
    thresholds: list[float],
    top_k: int | None = None,
    class_id: int | None = None,
    sample_weight: Any = None,
) -> Any:
    """Adds a batch to the variables `counts`, which are vectors of one count per threshold."""
    [y_pred, y_true], sample_weight = flat_values([y_pred, y_true], sample_weight)
    y_true, y_pred = casts.cast(y_true, dtypes.float32), casts.cast(y_pred, dtypes.float32)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    y_pred, y_true, sample_weight = _of_fitting_ranks(y_pred, y_true, sample_weight)
    if top_k is not None:
        y_pred = _only_top(y_pred, top_k)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
        if sample_weight is not None:  # which TensorFlow takes only if it is one number
            sample_weight = weights_of_rank(y_pred, sample_weight)
    predicted, labels, repeats = _at_thresholds(y_pred, y_true, thresholds)
    weights = None
    if sample_weight is not None:
        weights = broadcast_weights(casts.cast(sample_weight, dtypes.float32), y_pred)
        weights = array.tile(array.reshape(weights, [1, -1]), repeats)
    return _add(counts, labels, predicted, weights)


def _of_fitting_ranks(y_pred: Tensor, y_true: Tensor, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Predictions, labels and weights. Axes that come or go are preceded by checks.

    So only where there are such are predictions that are no probabilities refused, as in
    TensorFlow (and at once, where values are).
    """
    low = check.assert_greater_equal(
        y_pred, casts.cast(0.0, y_pred.dtype), message="predictions must be >= 0"
    )
    high = check.assert_less_equal(
        y_pred, casts.cast(1.0, y_pred.dtype), message="predictions must be <= 1"
    )
    with control_dependencies([low, high]):
        found = squeeze_or_expand_dimensions(y_pred, y_true, sample_weight)
    return (*found, None)[:3]


def _at_thresholds(
    y_pred: Tensor, y_true: Tensor, thresholds: list[float]
) -> tuple[Tensor, Tensor, list[int]]:
    """(whether predicted, whether true) for every threshold, and what makes a row such a table."""
    length = array.size(y_pred)
    predictions = array.reshape(y_pred, [1, -1])
    labels = array.reshape(casts.cast(y_true, dtypes.bool), [1, -1])
    limits = array.expand_dims(constant(thresholds), 1)
    limits = array.tile(limits, array.stack([1, length]))
    repeats = [len(thresholds), 1]
    predicted = math.greater(array.tile(predictions, repeats), limits)
    return predicted, array.tile(labels, repeats), repeats


def _add(counts: dict[str, Any], labels: Tensor, predicted: Tensor, weights: Tensor | None) -> Any:
    """One operation that adds to each variable how often its kind of answer came."""
    sides = [{True: labels}, {True: predicted}]
    # TensorFlow negates predictions before labels, and each only where a count needs it.
    for side in (1, 0):
        if not all(COUNTS[name][side] for name in counts):
            sides[side][False] = math.logical_not(sides[side][True])
    updates = []
    for name, (label, prediction) in COUNTS.items():
        if name in counts:
            matches = math.logical_and(sides[0][label], sides[1][prediction])
            matches = casts.cast(matches, dtypes.float32)
            matches = matches if weights is None else matches * weights
            updates.append(counts[name].assign_add(reduce.reduce_sum(matches, 1)))
    return control.group(*updates)


def _only_top(x: Tensor, k: int) -> Tensor:
    """The `k` largest of each row, and next to minus infinity elsewhere."""
    indices, width = nn_impl.top_k(x, k, sorted=False)[1], x.shape.as_list()[-1]
    chosen = reduce.reduce_sum(select.one_hot(indices, width, axis=-1), axis=-2)
    return x * chosen + NEG_INF * (1 - chosen)


class Counts(Metric):
    """Keeps the counts that `_COUNTS` names, at all thresholds."""

    _COUNTS: tuple[str, ...] = tuple(COUNTS)
    thresholds: list[float]

    def _add_counts(self) -> None:
        self._add_zeros(*self._COUNTS, shape=(len(self.thresholds),))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        return update_counts(
            {name: getattr(self, name) for name in self._COUNTS},
            y_true,
            y_pred,
            thresholds=self.thresholds,
            top_k=getattr(self, "top_k", None),
            class_id=getattr(self, "class_id", None),
            sample_weight=sample_weight,
        )

    def _first_if_one(self, result: Tensor) -> Tensor:
        return result[0] if len(self.thresholds) == 1 else result


class _OneCount(Counts):
    accumulator: Any

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = parse_init_thresholds(thresholds)
        self._add_zeros("accumulator", shape=(len(self.thresholds),))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        counts = {self._COUNTS[0]: self.accumulator}
        return update_counts(counts, y_true, y_pred, self.thresholds, sample_weight=sample_weight)

    def result(self) -> Tensor:
        return self._first_if_one(convert_to_tensor(self.accumulator))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "thresholds": self.init_thresholds}


class FalsePositives(_OneCount):
    """How many were predicted, but are not."""

    _COUNTS = ("false_positives",)


class FalseNegatives(_OneCount):
    """How many are, but were not predicted."""

    _COUNTS = ("false_negatives",)


class TrueNegatives(_OneCount):
    """How many are not, and were not predicted."""

    _COUNTS = ("true_negatives",)


class TruePositives(_OneCount):
    """How many are, and were predicted."""

    _COUNTS = ("true_positives",)


class _Ratio(Counts):
    """The first count over the sum of both."""

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k, self.class_id = top_k, class_id
        self.thresholds = parse_init_thresholds(thresholds, 0.5 if top_k is None else NEG_INF)
        self._add_counts()

    def result(self) -> Tensor:
        first, second = (getattr(self, name) for name in self._COUNTS)
        return self._first_if_one(math.div_no_nan(first, first + second))

    def get_config(self) -> dict[str, Any]:
        own = {
            "thresholds": self.init_thresholds,
            "top_k": self.top_k,
            "class_id": self.class_id,
        }
        return {**super().get_config(), **own}


class Precision(_Ratio):
    """The part of what was predicted that is."""

    _COUNTS = ("true_positives", "false_positives")


class Recall(_Ratio):
    """The part of what is that was predicted."""

    _COUNTS = ("true_positives", "false_negatives")


class SensitivitySpecificityBase(Counts):
    """One of the two where the other is closest to `value`."""

    _COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives")
    true_positives: Any
    true_negatives: Any
    false_positives: Any
    false_negatives: Any

    def __init__(
        self, value: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value, self.num_thresholds = value, num_thresholds
        between = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        self.thresholds = [0.5] if num_thresholds == 1 else [0.0, *between, 1.0]
        self._add_counts()

    def _ratio_at_value(self, shown: tuple[Any, Any], held: tuple[Any, Any]) -> Tensor:
        """The first of `shown` as a part of both, where that of `held` is nearest to the value."""
        index = math.abs(math.div_no_nan(held[0], held[0] + held[1]) - self.value)
        index = casts.cast(arg_extremes.argmin(index, axis=0), dtypes.int32)
        return math.div_no_nan(shown[0][index], shown[0][index] + shown[1][index])

    def _sensitive(self) -> tuple[Any, Any]:
        return self.true_positives, self.false_negatives

    def _specific(self) -> tuple[Any, Any]:
        return self.true_negatives, self.false_positives


class SensitivityAtSpecificity(SensitivitySpecificityBase):
    """The sensitivity at the threshold where the specificity is the given one."""

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        if specificity < 0 or specificity > 1:
            raise ValueError("`specificity` must be in the range [0, 1].")
        super().__init__(specificity, num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Tensor:
        return self._ratio_at_value(self._sensitive(), self._specific())

    def get_config(self) -> dict[str, Any]:
        own = {"num_thresholds": self.num_thresholds, "specificity": self.specificity}
        return {**super().get_config(), **own}


class SpecificityAtSensitivity(SensitivitySpecificityBase):
    """The specificity at the threshold where the sensitivity is the given one."""

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        if sensitivity < 0 or sensitivity > 1:
            raise ValueError("`sensitivity` must be in the range [0, 1].")
        super().__init__(sensitivity, num_thresholds, name, dtype)
        self.sensitivity = sensitivity

    def result(self) -> Tensor:
        return self._ratio_at_value(self._specific(), self._sensitive())

    def get_config(self) -> dict[str, Any]:
        own = {"num_thresholds": self.num_thresholds, "sensitivity": self.sensitivity}
        return {**super().get_config(), **own}
