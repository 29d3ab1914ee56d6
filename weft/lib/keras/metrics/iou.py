"""How well the regions of classes lie on each other."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.keras.metrics.base import Metric
from weft.ops.array import array, diag
from weft.ops.math import casts, math, reduce
from weft.ops.scores import confusion_matrix


class MeanIoU(Metric):
    """The mean over classes of intersection over union, of labels and predictions."""

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix",
            shape=(num_classes, num_classes),
            initializer="zeros",
            dtype=dtypes.float64,
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        y_true, y_pred = casts.cast(y_true, self._dtype), casts.cast(y_pred, self._dtype)
        weights = None if sample_weight is None else _flat(convert_to_tensor(sample_weight))
        counted = confusion_matrix.confusion_matrix(
            _flat(y_true), _flat(y_pred), self.num_classes, weights=weights, dtype=dtypes.float64
        )
        return self.total_cm.assign_add(counted)

    def result(self) -> Tensor:
        def in_type(x: Any) -> Tensor:
            return casts.cast(x, self._dtype)

        # Of every class: where it was predicted, where it is, and where both agree.
        sizes = [in_type(reduce.reduce_sum(self.total_cm, axis=axis)) for axis in (0, 1)]
        both = in_type(diag.diag_part(self.total_cm))
        union = sizes[0] + sizes[1] - both
        present = reduce.reduce_sum(in_type(math.not_equal(union, 0)))
        shares = reduce.reduce_sum(math.div_no_nan(both, union), name="mean_iou")
        return math.div_no_nan(shares, present)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_classes": self.num_classes}


def _flat(x: Tensor) -> Tensor:
    return x if x.shape.ndims in (0, 1) else array.reshape(x, [-1])
