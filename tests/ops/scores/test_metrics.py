"""tf.metrics over two batches: the value is that of both together."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

LABELS = np.array([[1, 0, 1, 1], [0, 0, 1, 0]])
SCORES = np.array([[0.9, 0.6, 0.4, 0.7], [0.2, 0.8, 0.6, 0.1]], np.float32)
GUESSES = (SCORES > 0.5).astype(np.int64)
TP, FP, FN, TN = 3, 2, 1, 2


def after_two_batches(sess, metric, *fed: np.ndarray, **options) -> tuple:
    """Runs a metric on the two rows of each of `fed`; gives the value and the last update."""
    places = [tf.placeholder(each.dtype, each.shape[1:]) for each in fed]
    value, update = metric(*places, **options)
    sess.run(tf.local_variables_initializer())
    for i in range(2):
        last = sess.run(update, dict(zip(places, [each[i] for each in fed], strict=True)))
    return sess.run(value), last


ERRORS = SCORES - LABELS
MEANS = {
    "mean_absolute_error": (abs(ERRORS).mean(), {}),
    "mean_squared_error": ((ERRORS**2).mean(), {}),
    "root_mean_squared_error": (np.sqrt((ERRORS**2).mean()), {}),
    "mean_relative_error": (abs(ERRORS).mean() / 2, {"normalizer": np.full(4, 2, np.float32)}),
}


@pytest.mark.parametrize("name", MEANS)
def test_mean_errors(sess, name) -> None:
    wanted, options = MEANS[name]
    labels = LABELS.astype(np.float32)
    found, last = after_two_batches(sess, getattr(tf.metrics, name), labels, SCORES, **options)
    assert found == pytest.approx(wanted, rel=1e-5)
    assert last == pytest.approx(wanted, rel=1e-5)


def test_mean_and_accuracy(sess) -> None:
    found, _ = after_two_batches(sess, tf.metrics.mean, SCORES)
    assert found == pytest.approx(SCORES.mean())
    weights = np.array([1.0, 0.0, 2.0, 1.0], np.float32)
    found, _ = after_two_batches(sess, tf.metrics.mean, SCORES, weights=weights)
    assert found == pytest.approx((SCORES * weights).sum() / 8)
    found, _ = after_two_batches(sess, tf.metrics.mean_tensor, SCORES)
    np.testing.assert_allclose(found, SCORES.mean(0))
    found, last = after_two_batches(sess, tf.metrics.accuracy, LABELS, GUESSES)
    assert found == last == (TP + TN) / 8
    found, _ = after_two_batches(sess, tf.metrics.percentage_below, SCORES, threshold=0.5)
    assert found == 3 / 8


def test_counts(sess) -> None:
    wanted = {
        "true_positives": TP,
        "false_positives": FP,
        "false_negatives": FN,
        "true_negatives": TN,
        "precision": TP / (TP + FP),
        "recall": TP / (TP + FN),
    }
    for name, number in wanted.items():
        found, last = after_two_batches(sess, getattr(tf.metrics, name), LABELS, GUESSES)
        assert found == last == pytest.approx(number)


def test_thresholds(sess) -> None:
    wanted = {
        "true_positives": [4, TP],
        "false_positives": [4, FP],
        "false_negatives": [0, FN],
        "true_negatives": [0, TN],
        "precision": [4 / 8, TP / (TP + FP)],
        "recall": [1, TP / (TP + FN)],
    }
    for name, numbers in wanted.items():
        metric = getattr(tf.metrics, f"{name}_at_thresholds")
        found, _ = after_two_batches(sess, metric, LABELS, SCORES, thresholds=[0.0, 0.5])
        np.testing.assert_allclose(found, numbers, rtol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be in"):
        after_two_batches(sess, tf.metrics.auc, LABELS, SCORES * 2)


def test_areas(sess) -> None:
    positive, negative = SCORES[LABELS == 1], SCORES[LABELS == 0]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    found, _ = after_two_batches(sess, tf.metrics.auc, LABELS, SCORES)
    assert found == pytest.approx(wins.mean(), abs=0.01)
    for curve, method in (("PR", "careful_interpolation"), ("PR", "minoring"), ("ROC", "majoring")):
        area, _ = after_two_batches(
            sess, tf.metrics.auc, LABELS, SCORES, curve=curve, summation_method=method
        )
        assert 0 < area < 1
    rate, _ = after_two_batches(
        sess, tf.metrics.sensitivity_at_specificity, LABELS, SCORES, specificity=0.5
    )
    assert rate == pytest.approx(1.0, abs=1e-3)  # of equals, the lowest threshold
    rate, _ = after_two_batches(
        sess, tf.metrics.specificity_at_sensitivity, LABELS, SCORES, sensitivity=0.75
    )
    assert rate == pytest.approx(0.5, abs=1e-3)  # of equals, the highest


def test_classes(sess) -> None:
    labels, guesses = np.array([[0, 0, 1], [2, 1, 1]]), np.array([[0, 1, 1], [0, 1, 1]])
    found, _ = after_two_batches(
        sess, tf.metrics.mean_per_class_accuracy, labels, guesses, num_classes=3
    )
    assert found == pytest.approx((1 / 2 + 1 + 0) / 3)
    found, matrix = after_two_batches(sess, tf.metrics.mean_iou, labels, guesses, num_classes=4)
    assert found == pytest.approx((1 / 3 + 3 / 4 + 0) / 3)
    np.testing.assert_array_equal(matrix[:3, :3], [[1, 1, 0], [0, 3, 0], [1, 0, 0]])
    unit = np.array([[[1.0, 0.0]], [[0.0, 1.0]]], np.float32)
    found, _ = after_two_batches(sess, tf.metrics.mean_cosine_distance, unit, unit[::-1], dim=1)
    assert found == 1.0


def test_the_best_k(sess) -> None:
    scores = np.array([[[0.1, 0.7, 0.2]], [[0.5, 0.3, 0.2]]], np.float32)
    labels = np.array([[[1, 2]], [[2, 2]]])  # best two: classes 1, 2 and 0, 1
    precision, _ = after_two_batches(sess, tf.metrics.precision_at_k, labels, scores, k=2)
    assert precision == pytest.approx(2 / 4)
    recall, _ = after_two_batches(sess, tf.metrics.recall_at_k, labels, scores, k=2)
    assert recall == pytest.approx(2 / 3)
    one, _ = after_two_batches(sess, tf.metrics.recall_at_k, labels, scores, k=2, class_id=2)
    assert one == pytest.approx(1 / 2)
    average, _ = after_two_batches(sess, tf.metrics.average_precision_at_k, labels, scores, k=2)
    assert average == pytest.approx((1.0 + 0.0) / 2)


def test_names_and_collections(sess) -> None:
    value, update = tf.metrics.accuracy(
        [1], [1], metrics_collections=["m"], updates_collections="u"
    )
    assert (value.name, update.name) == ("accuracy/value:0", "accuracy/update_op:0")
    assert tf.get_collection("m") == [value]
    assert tf.get_collection("u") == [update]
    names = [v.name for v in tf.local_variables()]
    assert names == ["accuracy/total:0", "accuracy/count:0"]
    assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == tf.local_variables()
    again = tf.metrics.accuracy([1], [0])[0]
    assert again.name == "accuracy_1/value:0"
    sess.run(tf.local_variables_initializer())
    assert sess.run(value) == 0.0  # nothing yet


@pytest.mark.parametrize("metric", [tf.metrics.precision_at_top_k, tf.metrics.recall_at_top_k])
def test_predictions_of_no_examples_are_refused(metric) -> None:
    with pytest.raises(ValueError, match="Shape must be at least rank 2 but is rank 1"):
        metric(np.array([2, 7], np.int64), np.array([9, 4], np.int64))
