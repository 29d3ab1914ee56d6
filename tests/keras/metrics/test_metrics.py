"""What is particular to 1.15's metrics, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.lib.keras import backend as K
from weft.lib.keras import metrics

TRUE = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], np.float32)
FOUND = np.array([0.1, 0.2, 0.6, 0.3, 0.7, 0.9], np.float32)


def result_of(metric, *given):
    return K.eval(metric(*given))


def test_one_of_two_where_the_other_is_closest() -> None:
    # At thresholds below 0.6 and not below 0.3, two of three negatives are right.
    assert result_of(metrics.SensitivityAtSpecificity(0.7), TRUE, FOUND) == pytest.approx(1.0)
    assert result_of(metrics.SpecificityAtSensitivity(0.7), TRUE, FOUND) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"`specificity` must be in the range \[0, 1\]"):
        metrics.SensitivityAtSpecificity(1.5)
    with pytest.raises(ValueError, match="`num_thresholds` must be > 0"):
        metrics.SpecificityAtSensitivity(0.5, num_thresholds=-1)


def test_variables_are_in_no_collection_but_initialized() -> None:
    metric = metrics.AUC(num_thresholds=5, name="area")
    assert metric.variables[0].name == "true_positives:0"
    assert not tf.global_variables() and not tf.trainable_variables()
    assert metric.trainable_weights == []
    assert K.eval(metric.result()) == 0.0


def test_updates_and_results_are_kept_for_training() -> None:
    metric = metrics.Mean()
    result = metric([1.0, 3.0])
    assert result._metric_obj is metric
    assert metric._call_result is result
    assert len(metric.updates) == 1


def test_values_are_reduced_to_the_rank_of_the_weights() -> None:
    values = [[[1.0, 3.0], [5.0, 7.0]], [[2.0, 2.0], [4.0, 4.0]]]
    assert result_of(metrics.Mean(), values, [1.0, 3.0]) == pytest.approx((4 + 3 * 3) / 4)
    assert result_of(metrics.Sum(), values, [1.0, 3.0]) == pytest.approx(16 + 3 * 12)


def test_tensors_must_keep_their_shape() -> None:
    metric = metrics.MeanTensor()
    with pytest.raises(ValueError, match="does not have any result yet"):
        metric.result()
    metric.update_state([1.0, 2.0])
    with pytest.raises(ValueError, match="must always have the same shape"):
        metric.update_state([1.0, 2.0, 3.0])


def test_predictions_must_be_probabilities() -> None:
    """Where ranks are known only when it runs; see `_of_fitting_ranks`."""
    predictions = tf.placeholder(tf.float32)
    update = metrics.Precision().update_state([1.0], predictions)
    K.get_session().run(tf.global_variables_initializer())
    with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be <= 1"):
        K.get_session().run(update, {predictions: [1.5]})
    with pytest.raises(ValueError, match=r"Threshold values must be in \[0, 1\]"):
        metrics.Recall(thresholds=[0.5, 1.5])


def test_ragged_labels() -> None:
    y_true, y_pred = (
        tf.ragged.constant([[1.0], [0.0, 1.0]]),
        tf.ragged.constant([[1.0], [0.0, 0.0]]),
    )
    assert result_of(metrics.Accuracy(), y_true, y_pred) == pytest.approx(2 / 3)
    with pytest.raises(TypeError, match="One of the inputs does not have acceptable types"):
        metrics.Accuracy().update_state(y_true, [1.0, 0.0, 0.0])


def test_areas_can_be_given_by_their_enumeration() -> None:
    made = metrics.AUC(curve=metrics.AUCCurve.PR, summation_method="Majoring")
    again = metrics.AUC.from_config(made.get_config())
    assert (again.curve, again.summation_method.value) == (metrics.AUCCurve.PR, "majoring")
    with pytest.raises(ValueError, match='Invalid AUC curve value "x"'):
        metrics.AUC(curve="x")
    with pytest.raises(ValueError, match="`num_thresholds` must be > 1"):
        metrics.AUC(num_thresholds=1)


def test_clones_have_variables_of_their_own() -> None:
    made = metrics.BinaryAccuracy(threshold=0.7, name="acc")
    (clone,) = metrics.clone_metrics([made])
    assert clone.get_config() == made.get_config()
    assert clone.variables[0] is not made.variables[0]
    assert metrics.clone_metric("acc") == "acc"
    assert metrics.clone_metrics(None) is None


def test_by_name() -> None:
    assert metrics.get("mae") is metrics.mean_absolute_error
    assert isinstance(metrics.get("AUC"), metrics.AUC)
    record = metrics.serialize(metrics.Precision(top_k=2))
    assert metrics.get(record).top_k == 2
    with pytest.raises(ValueError, match="Unknown metric function:nothing"):
        metrics.get("nothing")
    with pytest.raises(ValueError, match="Could not interpret metric function identifier: 3"):
        metrics.get(3)


def test_a_metric_must_say_how() -> None:
    class Nothing(metrics.Metric):
        pass

    with pytest.raises(NotImplementedError, match="Must be implemented in subclasses"):
        Nothing().result()


@pytest.mark.parametrize("kind", [tf.keras.metrics.Mean, tf.keras.metrics.MeanTensor])
def test_a_metric_in_a_function(kind) -> None:
    metric = kind()
    call = tf.function(lambda x: metric(x))
    first, second = call(tf.constant([2.0, 4.0])), call(tf.constant([4.0, 8.0]))
    session = tf.keras.backend.get_session()
    wanted = ([3.0, 4.5], [[2, 4], [3, 6]])[kind is tf.keras.metrics.MeanTensor]
    for tensor, value in zip((first, second), wanted, strict=True):
        np.testing.assert_allclose(session.run(tensor), value)
