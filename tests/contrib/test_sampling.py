"""tf.contrib.training: examples rejected, repeated and balanced by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

TRAINING = tf.contrib.training


def drawn(batch: Any, steps: int) -> list[Any]:
    """The values of `batch` over some steps, with all its queues running."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            return [session.run(batch) for _ in range(steps)]
        finally:
            coordinator.request_stop()
            coordinator.join(threads)


def test_only_what_is_accepted_is_in_batches() -> None:
    tf.set_random_seed(1)
    number = tf.random_uniform([5], 0, 10, tf.int32)
    (batch,) = TRAINING.rejection_sample(
        [number],
        lambda example: tf.cast(example[0] < 3, tf.float32),
        batch_size=4,
        enqueue_many=True,
        runtime_checks=True,
    )
    assert batch.shape.as_list() == [4]
    assert set(np.ravel(drawn(batch, 10))) == {0, 1, 2}


@pytest.mark.parametrize("known", [True, False])
def test_classes_have_the_frequencies_that_are_asked_for(known: bool) -> None:
    tf.set_random_seed(2)
    labels = tf.cast(tf.random_uniform([20]) < 0.2, tf.int32)
    values = tf.cast(labels, tf.float32) * 10
    (batch,), classes = TRAINING.stratified_sample(
        [values],
        labels,
        [0.5, 0.5],
        batch_size=50,
        init_probs=[0.8, 0.2] if known else None,
        enqueue_many=True,
    )
    found = drawn([batch, classes], 10)
    np.testing.assert_array_equal([b for b, _ in found], [c * 10.0 for _, c in found])
    assert np.mean([c for _, c in found]) == pytest.approx(0.5, abs=0.08)


def test_what_stratified_sampling_refuses() -> None:
    with pytest.raises(ValueError, match="Probability parameters must have the same length"):
        TRAINING.stratified_sample([tf.ones([2])], tf.constant(0), [0.5, 0.5], 2, [1.0])
    batch = TRAINING.stratified_sample([tf.ones([2])], tf.constant(0), [0.5, 0.5], 2, [1.0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero initial probability"):
        drawn(batch, 1)


def test_rows_are_repeated_as_often_as_their_rates_say() -> None:
    rates = tf.constant([0.0, 1.0, 3.0])
    rows = TRAINING.resample_at_rate(
        [tf.constant([0, 1, 2]), tf.constant([[5], [6], [7]])], rates, seed=3
    )
    with tf.Session() as session:
        found = [session.run(rows) for _ in range(300)]
    assert all((first + 5 == second[:, 0]).all() for first, second in found)
    counts = np.mean([np.bincount(first, minlength=3) for first, _ in found], axis=0)
    np.testing.assert_allclose(counts, [0, 1, 3], atol=0.3)


def test_rows_are_taken_in_proportion_to_their_weights() -> None:
    weights = tf.constant([1.0, 3.0])
    (rows,), rates = TRAINING.weighted_resample(
        [tf.constant([0, 1])], weights, 2.0, mean_decay=0.0, seed=4
    )
    found = drawn([rows, rates], 300)
    counts = np.mean([np.bincount(taken, minlength=2) for taken, _ in found], axis=0)
    np.testing.assert_allclose(counts, [1, 3], atol=0.3)
    assert all((rate == np.float32([1, 3])[taken]).all() for taken, rate in found)
