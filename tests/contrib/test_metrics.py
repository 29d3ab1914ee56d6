"""tf.contrib.metrics beyond tf.metrics: values over several steps, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

METRICS = tf.contrib.metrics
RANDOM = np.random.RandomState(7)
# Two batches; predictions in steps of 1/8, so that some are equal and none is at a threshold.
LABELS = RANDOM.randint(0, 2, (2, 40)).astype(bool)
SCORES = ((RANDOM.randint(0, 8, (2, 40)) + LABELS * 2) / 11.0 + 0.03).astype(np.float32)
WEIGHTS = RANDOM.rand(2, 40).astype(np.float32)


def streamed(metric: Any, *batches: Any) -> Any:
    """The value of a metric of placeholders, after an update for each batch."""
    feeds = [tf.placeholder(each.dtype, each.shape[1:]) for each in batches]
    value, update = metric(*feeds)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for step in range(len(batches[0])):
            session.run(update, dict(zip(feeds, [b[step] for b in batches], strict=True)))
        nothing = {feed: b[0] for feed, b in zip(feeds, batches, strict=True)}
        return session.run(value, nothing)


def counts(limits: Any, weights: np.ndarray = WEIGHTS) -> list[np.ndarray]:
    """True and false positives, false and true negatives above each limit."""
    taken = SCORES.ravel() > np.asarray(limits)[:, None]
    label, weight = LABELS.ravel(), weights.ravel()
    kinds = [taken & label, taken & ~label, ~taken & label, ~taken & ~label]
    return [(kind * weight).sum(1) for kind in kinds]


def thresholds(number: int) -> list[float]:
    return [-1e-7, *np.arange(1, number - 1) / (number - 1), 1 + 1e-7]


TP, FP, FN, TN = counts([0.5])
MANY = counts(thresholds(20))
RECALL, PRECISION = MANY[0] / (MANY[0] + MANY[2]), MANY[0] / np.maximum(1e-7, MANY[0] + MANY[1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("streaming_false_positive_rate_at_thresholds", FP / (FP + TN)),
        ("streaming_false_negative_rate_at_thresholds", FN / (FN + TP)),
        ("streaming_true_positives_at_thresholds", TP),
        ("streaming_false_positives_at_thresholds", FP),
        ("streaming_true_negatives_at_thresholds", TN),
        ("streaming_false_negatives_at_thresholds", FN),
    ],
)
def test_counts_and_rates_at_a_threshold(name: str, expected: np.ndarray) -> None:
    metric = getattr(METRICS, name)
    found = streamed(lambda p, x, w: metric(p, x, [0.5], w), SCORES, LABELS, WEIGHTS)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "expected"), [("positive", FP / (FP + TN)), ("negative", FN / (FN + TP))]
)
def test_rates_of_decisions(kind: str, expected: np.ndarray) -> None:
    metric = getattr(METRICS, f"streaming_false_{kind}_rate")
    found = streamed(metric, SCORES > 0.5, LABELS, WEIGHTS)
    np.testing.assert_allclose(found, expected[0], rtol=1e-5)
    assert streamed(metric, np.zeros([2, 3], bool), np.zeros([2, 3], bool)) == 0


def test_predictions_outside_of_0_and_1_have_counts_too() -> None:
    count = METRICS.streaming_true_positives_at_thresholds
    found = streamed(
        lambda p, x: count(p, x, [3.0]), np.float32([[5, 2]]), np.array([[True, True]])
    )
    assert found.tolist() == [1]
    assert [v.name for v in tf.local_variables()] == ["true_positives:0"]


@pytest.mark.parametrize("curve", ["ROC", "PR"])
def test_the_points_of_curves(curve: str) -> None:
    def points(labels: Any, scores: Any, weights: Any) -> Any:
        return METRICS.streaming_curve_points(labels, scores, weights, 20, curve=curve)

    found = streamed(points, LABELS, SCORES, WEIGHTS)
    false_rate = MANY[1] / (MANY[1] + MANY[3])
    expected = [false_rate, RECALL] if curve == "ROC" else [RECALL, PRECISION]
    some = MANY[0] > 0  # where nothing is taken, precision and recall are conventions
    np.testing.assert_allclose(found[some], np.stack(expected, 1)[some], rtol=1e-4, atol=1e-5)


def test_one_rate_where_the_other_has_a_value() -> None:
    target = 0.55

    def recall(labels: Any, scores: Any, weights: Any, strict: bool = False) -> Any:
        return METRICS.recall_at_precision(labels, scores, target, weights, 20, strict_mode=strict)

    batches = LABELS, SCORES, WEIGHTS
    nearest = np.argmin(np.abs(PRECISION - target))
    np.testing.assert_allclose(streamed(recall, *batches), RECALL[nearest], rtol=1e-5)
    above = np.argmin(np.where(PRECISION >= target, PRECISION, 2))
    found = streamed(lambda *given: recall(*given, strict=True), *batches)
    np.testing.assert_allclose(found, RECALL[above], rtol=1e-5)

    found = streamed(
        lambda x, p, w: METRICS.precision_at_recall(x, p, target, w, 20), LABELS, SCORES, WEIGHTS
    )
    np.testing.assert_allclose(found, PRECISION[np.sum(RECALL >= target) - 1], rtol=1e-5)


def test_counts_by_buckets() -> None:
    def buckets(labels: Any, scores: Any, weights: Any) -> Any:
        return METRICS.precision_recall_at_equal_thresholds(labels, scores, weights, 5)

    found = streamed(buckets, LABELS, SCORES, WEIGHTS)
    tp, fp, fn, tn = counts(np.linspace(0, 1, 5))
    for name, expected in {"tp": tp, "fp": fp, "fn": fn, "tn": tn}.items():
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.recall, tp / (tp + fn), rtol=1e-5)
    np.testing.assert_allclose(found.thresholds, np.linspace(0, 1, 5))


# ---- every value is kept -------------------------------------------------------------------------


@pytest.mark.parametrize(("axis", "most"), [(0, None), (1, None), (-1, 5), (0, 3)])
def test_values_are_joined(axis: int, most: int | None) -> None:
    batches = np.arange(24).reshape(4, 2, 3)
    found = streamed(lambda v: METRICS.streaming_concat(v, axis, most), batches)
    expected = np.concatenate(list(batches), axis)
    if most is not None:
        expected = expected.take(range(most), axis)
    np.testing.assert_array_equal(found, expected)


def _ranked(weights: np.ndarray) -> float:
    """The probability that a true example is above a false one; half if they are equal."""
    true, false = (SCORES[side].ravel() for side in (LABELS, ~LABELS))
    wt, wf = weights[LABELS], weights[~LABELS]
    pairs = (true[:, None] > false) + 0.5 * (true[:, None] == false)
    return float((pairs * wt[:, None] * wf).sum() / (wt.sum() * wf.sum()))


def test_the_exact_area_under_the_roc_curve() -> None:
    def area(labels: Any, scores: Any, weights: Any) -> Any:
        return METRICS.streaming_dynamic_auc(labels, scores, weights=weights)

    found = streamed(area, LABELS, SCORES, WEIGHTS)
    assert found == pytest.approx(_ranked(WEIGHTS), rel=1e-6)
    assert streamed(METRICS.streaming_dynamic_auc, np.ones([1, 3]), SCORES[:1, :3]) == 0
    with pytest.raises(ValueError, match="curve must be either ROC or PR, XY unknown"):
        METRICS.streaming_dynamic_auc(tf.constant([0]), tf.constant([0.0]), curve="XY")


def test_the_exact_area_under_the_pr_curve() -> None:
    scores = np.float32([[0.1, 0.4, 0.35, 0.8]])
    labels = np.array([[0, 0, 1, 1]])
    found = streamed(lambda x, p: METRICS.streaming_dynamic_auc(x, p, "PR"), labels, scores)
    # Taken one by one: precision 1, 1, 1/2, 2/3, 1/2 at recall 0, 1/2, 1/2, 1, 1.
    assert found == pytest.approx(0.5 * 1 + 0.5 * (1 / 2 + 2 / 3) / 2)


@pytest.mark.parametrize("as_logit", [True, False])
def test_the_interval_of_an_area(as_logit: bool) -> None:
    def area(labels: Any, scores: Any) -> Any:
        return METRICS.auc_with_confidence_intervals(labels, scores, None, 0.9, as_logit)

    found = streamed(area, LABELS, SCORES)
    true, false = (SCORES[side].ravel() for side in (LABELS, ~LABELS))
    pairs = (true[:, None] > false) + 0.5 * (true[:, None] == false)
    by_true, by_false = pairs.mean(1), pairs.mean(0)
    error = np.sqrt(by_true.var(ddof=1) / len(true) + by_false.var(ddof=1) / len(false))
    auc, quantile = pairs.mean(), 1.6448536
    if as_logit:
        middle, width = np.log(auc / (1 - auc)), quantile * error / (auc * (1 - auc))
        ends = [1 / (1 + np.exp(-(middle + sign * width))) for sign in (-1, 1)]
    else:
        ends = [auc - quantile * error, auc + quantile * error]
    np.testing.assert_allclose(found, [auc, *ends], rtol=1e-5)


def test_the_area_from_histograms() -> None:
    def area(labels: Any, scores: Any) -> Any:
        return METRICS.auc_using_histogram(labels, scores, [0.0, 1.0], nbins=44)

    assert streamed(area, LABELS, SCORES) == pytest.approx(_ranked(np.ones_like(WEIGHTS)), rel=1e-5)


# ---- others --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_kappa_is_agreement_beyond_chance(weights: np.ndarray | None) -> None:
    labels, guesses = RANDOM.randint(0, 3, (2, 2, 40))
    given = [labels, guesses] + ([] if weights is None else [weights])
    found = streamed(lambda x, p, w=None: METRICS.cohen_kappa(x, p, 3, w), *given)
    table = np.zeros([3, 3])
    np.add.at(table, (labels, guesses), 1.0 if weights is None else weights)
    table /= table.sum()
    chance = table.sum(0) @ table.sum(1)
    assert found == pytest.approx((np.trace(table) - chance) / (1 - chance), rel=1e-5)


def test_count_is_the_sum_of_weights() -> None:
    assert streamed(METRICS.count, SCORES) == 80
    assert streamed(METRICS.count, SCORES, WEIGHTS) == pytest.approx(WEIGHTS.sum())


def test_the_best_f1_keeps_one_variable_of_each_count() -> None:
    found = streamed(METRICS.f1_score, LABELS, SCORES, WEIGHTS)
    tp, fp, fn, _ = counts(thresholds(200))
    assert found == pytest.approx(np.max(2 * tp / (2 * tp + fp + fn)), rel=1e-5)
    names = {"true_positives", "false_positives", "false_negatives"}
    assert {v.name for v in tf.local_variables()} == {f"f1/{name}:0" for name in names}


def test_metrics_of_classes_that_are_ranked_already() -> None:
    labels, ranked = np.array([[[0], [2]]]), np.array([[[0, 1], [1, 2]]])
    average = METRICS.streaming_sparse_average_precision_at_top_k
    precision = METRICS.streaming_sparse_precision_at_top_k
    assert streamed(precision, ranked, labels) == 0.5
    assert streamed(METRICS.sparse_recall_at_top_k, labels, ranked) == 1.0
    assert streamed(average, ranked, labels) == 0.75


def test_sets() -> None:
    found = METRICS.set_intersection(tf.constant([[1, 2]]), tf.constant([[2, 3]]))
    with tf.Session() as session:
        assert session.run(found).values.tolist() == [2]
