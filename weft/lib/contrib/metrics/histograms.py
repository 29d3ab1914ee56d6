"""The area under the ROC curve from two histograms of scores, which take no more room over time."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.keys import GraphKeys
from weft.ops.array import array
from weft.ops.array.one_hot_search import boolean_mask
from weft.ops.array.reverse import reverse
from weft.ops.control.check import Assert
from weft.ops.control.control import group
from weft.ops.math import math
from weft.ops.math.histogram import histogram_fixed_width
from weft.ops.scores.confusion_matrix import remove_squeezable_dimensions
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import zeros_initializer


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """The area under the ROC curve of all scores so far, as far as `nbins` bins can tell it."""
    values = [boolean_labels, scores, score_range]
    with vs.variable_scope(name, "auc_using_histogram", values):
        scores, labels = remove_squeezable_dimensions(scores, boolean_labels)
        score_range = convert_to_tensor(score_range, name="score_range")
        labels, scores = _checked(labels, scores, check_shape)
        with vs.variable_scope(None, "make_auc_histograms", [labels, scores, nbins]):
            new = {
                key: histogram_fixed_width(
                    boolean_mask(scores, mask), score_range, nbins, dtypes.int64, f"hist_{key}"
                )
                for key, mask in (("true", labels), ("false", math.logical_not(labels)))
            }
        with vs.variable_scope(None, "hist_accumulate", list(new.values())):
            kept = {key: _histogram(f"hist_{key}_acc", nbins, collections) for key in new}
            update = group(*(kept[key].assign_add(new[key]) for key in new), name="update_op")
        return _area(kept["true"], kept["false"]), update


def _checked(labels: Any, scores: Any, check_shape: bool) -> tuple[Tensor, Tensor]:
    with name_scope("_check_labels_and_scores", values=[labels, scores]):
        labels = convert_to_tensor(labels, name="boolean_labels")
        scores = convert_to_tensor(scores, name="scores")
        if labels.dtype != dtypes.bool:
            raise ValueError(
                "Argument boolean_labels should have dtype bool.  Found: %s", labels.dtype
            )
        if not check_shape:
            return labels, scores
        checks = [
            Assert(
                math.equal(1, array.rank(tensor)),
                [f"Argument {what} should have rank 1.  Found: ", tensor.name, array.shape(tensor)],
            )
            for what, tensor in (("boolean_labels", labels), ("scores", scores))
        ]
        with control_dependencies(checks):
            return array.identity(labels), array.identity(scores)


def _histogram(name: str, nbins: int, collections: Any) -> Any:
    return vs.get_variable(
        name,
        shape=[nbins],
        dtype=dtypes.int64,
        initializer=zeros_initializer(),
        collections=[GraphKeys.LOCAL_VARIABLES] if collections is None else collections,
        trainable=False,
    )


def _area(true: Any, false: Any) -> Tensor:
    """Trapezoids over the false positive rate, from the highest scores down."""
    steps = [
        math.cast(reverse(math.truediv(counts, math.reduce_sum(counts)), [0]), dtypes.float32)
        for counts in (true, false)
    ]
    rate = math.cumsum(steps[0])
    before = rate - steps[0]
    return math.reduce_sum(steps[1] * (rate + before) / 2.0, name="auc")
