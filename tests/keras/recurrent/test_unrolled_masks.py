"""Masks of unrolled recurrent layers."""

from __future__ import annotations

import pytest

import weft as tf


def _step(now, states):
    total = states[0] + now
    return total, [total]


# TensorFlow does not turn the mask that makes zeros, even if the steps go backwards.
@pytest.mark.parametrize(
    "backwards, makes_zeros, wanted, last",
    [
        (False, True, [7, 10, 0, 0], 0),
        (False, False, [7, 10, 10, 10], 10),
        (True, True, [0, 0, 0, 0], 10),
        (True, False, [0, 0, 3, 10], 10),
    ],
)
def test_outputs(backwards, makes_zeros, wanted, last) -> None:
    mask = [True, True, False, False]
    found = tf.keras.backend.rnn(
        _step, tf.constant([[[7.0], [3.0], [5.0], [4.0]]]), [tf.zeros([1, 1])], backwards,
        tf.constant([mask]), unroll=True, zero_output_for_mask=makes_zeros,
    )  # fmt: skip
    with tf.Session() as session:
        assert [each.ravel().tolist() for each in session.run(found[1::-1])] == [wanted, [last]]
