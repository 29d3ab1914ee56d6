"""The area under a curve of counts at many thresholds."""

from __future__ import annotations

from enum import Enum
from typing import Any

from weft.graph.graph import Tensor
from weft.lib.keras import backend as K
from weft.lib.keras.metrics.confusion import Counts
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.math import math, reduce, unary


class AUCCurve(Enum):
    """The kind of curve: recall over the false positive rate, or precision over recall."""

    ROC = "ROC"
    PR = "PR"

    @staticmethod
    def from_str(key: str) -> AUCCurve:
        if key not in ("pr", "PR", "roc", "ROC"):
            raise ValueError(f'Invalid AUC curve value "{key}".')
        return AUCCurve(key.upper())


class AUCSummationMethod(Enum):
    """How high the rectangles under the curve are: in the middle, above it or below it."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"

    @staticmethod
    def from_str(key: str) -> AUCSummationMethod:
        known = {m.value for m in AUCSummationMethod}
        if key not in known | {name.capitalize() for name in known}:
            raise ValueError(f'Invalid AUC summation method value "{key}".')
        return AUCSummationMethod(key.lower())


class AUC(Counts):
    """The area under the ROC or precision-recall curve, approximated by rectangles."""

    _COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives")
    true_positives: Any
    true_negatives: Any
    false_positives: Any
    false_negatives: Any

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: Any = "ROC",
        summation_method: Any = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError("`num_thresholds` must be > 1.")
            thresholds = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        self.num_thresholds = len(thresholds) + 2
        # The ends are beyond all predictions, however they are rounded.
        ends = (0.0 - K.epsilon(), 1.0 + K.epsilon())
        self.thresholds = [ends[0], *sorted(thresholds), ends[1]]
        self.curve = curve if isinstance(curve, AUCCurve) else AUCCurve.from_str(curve)
        if not isinstance(summation_method, AUCSummationMethod):
            summation_method = AUCSummationMethod.from_str(summation_method)
        self.summation_method = summation_method
        self._add_counts()

    def result(self) -> Tensor:
        interpolated = self.summation_method == AUCSummationMethod.INTERPOLATION
        if self.curve == AUCCurve.PR and interpolated:
            return self.interpolate_pr_auc()
        x, y = self._points()
        left, right = y[:-1], y[1:]
        heights = {
            AUCSummationMethod.INTERPOLATION: lambda: (left + right) / 2.0,
            AUCSummationMethod.MINORING: lambda: math.minimum(left, right),
            AUCSummationMethod.MAJORING: lambda: math.maximum(left, right),
        }[self.summation_method]()
        return reduce.reduce_sum(math.multiply(x[:-1] - x[1:], heights), name=self.name)

    def _points(self) -> tuple[Tensor, Tensor]:
        """The x and the y coordinates of the curve."""
        tp, fp = self.true_positives, self.false_positives
        recall = math.div_no_nan(tp, tp + self.false_negatives)
        if self.curve == AUCCurve.ROC:
            return math.div_no_nan(fp, fp + self.true_negatives), recall
        return recall, math.div_no_nan(tp, tp + fp)

    def interpolate_pr_auc(self) -> Tensor:
        """The area under precision over recall, with true positives linear in positives.

        Between two thresholds precision is then (slope * p + intercept) / p, whose integral has
        a logarithm in it.
        """
        hits = self.true_positives
        gained = _falls(hits)
        found = hits + self.false_positives
        slope = _share(gained, _falls(found), "prec_slope")
        intercept = hits[1:] - math.multiply(slope, found[1:])
        are_found = math.logical_and(found[:-1] > 0, found[1:] > 0)
        grown = _share(found[:-1], found[1:], "recall_relative_ratio")
        factor = select.where(are_found, grown, array.ones_like(found[1:]))
        area = slope * (gained + intercept * unary.log(factor))
        area = _share(area, hits[1:] + self.false_negatives[1:], "pr_auc_increment")
        return reduce.reduce_sum(area, name="interpolate_pr_auc")

    def get_config(self) -> dict[str, Any]:
        kinds = {key: getattr(self, key).value for key in ("curve", "summation_method")}
        # The first and last threshold are there in any case.
        points = {"thresholds": self.thresholds[1:-1]}
        return super().get_config() | {"num_thresholds": self.num_thresholds} | kinds | points


def _falls(values: Tensor) -> Tensor:
    """How much less each value is than the one before."""
    return values[:-1] - values[1:]


def _share(part: Tensor, whole: Tensor, name: str) -> Tensor:
    return math.div_no_nan(part, math.maximum(whole, 0), name=name)
