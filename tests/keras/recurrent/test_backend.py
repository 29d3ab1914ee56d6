"""`keras.backend.rnn` with step functions of all kinds, and loops that are compiled whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.keras.recurrent.cases import MASK, values
from weft.runtime import control_flow as structured
from weft.runtime.executor import Executor

X = values([3, 4, 2], 1)


def total(x: Any, states: Any) -> Any:
    """The sum of all inputs so far, and of constants behind the state."""
    new = x + states[0] + sum(states[1:])
    return new, [new]


def rnn(*args: Any, **kwargs: Any) -> Any:
    made = tf.keras.backend.rnn(*args, **kwargs)
    return made, tf.keras.backend.get_session().run(made)


@pytest.mark.parametrize("unroll", [False, True])
def test_sums(unroll: bool) -> None:
    start, constant = tf.zeros([3, 2]), tf.ones([3, 2])
    made, (last, outputs, states) = rnn(
        total, tf.constant(X), [start], constants=[constant], unroll=unroll, input_length=4
    )
    np.testing.assert_allclose(outputs, np.cumsum(X + 1, axis=1), rtol=1e-5)
    np.testing.assert_array_equal(last, outputs[:, -1])
    np.testing.assert_array_equal(states[0], last)
    assert made[1].shape.as_list() == [3, 4, 2]


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("rank", [2, 3])
def test_masked_sums(unroll: bool, zero: bool, rank: int) -> None:
    mask = MASK if rank == 2 else MASK[..., None]
    _, (last, outputs, states) = rnn(
        total,
        tf.constant(X),
        [tf.zeros([3, 2])],
        mask=tf.constant(mask.astype(np.int32)),
        unroll=unroll,
        go_backwards=True,
        zero_output_for_mask=zero,
    )
    seen = MASK[:, ::-1, None]
    sums = np.cumsum(np.where(seen, X[:, ::-1], 0), axis=1)
    np.testing.assert_allclose(states[0], sums[:, -1], rtol=1e-5)
    # TensorFlow does not turn the mask of what was unrolled, but for the last output.
    shown = MASK[..., None] if unroll else seen
    np.testing.assert_allclose(outputs, np.where(shown, sums, 0) if zero else sums, rtol=1e-5)
    np.testing.assert_allclose(last, (np.where(seen, sums, 0) if zero else sums)[:, -1], rtol=1e-5)


def test_no_states() -> None:
    _, (_, outputs, states) = rnn(lambda x, _: (2 * x, []), tf.constant(X), [])
    np.testing.assert_allclose(outputs, 2 * X)
    assert not states
    with pytest.raises(ValueError, match="No initial states provided! When using masking"):
        rnn(lambda x, _: (x, []), tf.constant(X), [], mask=tf.constant(MASK))


def test_steps_that_are_not_known() -> None:
    x = tf.placeholder(tf.float32, [3, None, 2])
    with pytest.raises(ValueError, match="Unrolling requires a fixed number of timesteps"):
        rnn(total, x, [tf.zeros([3, 2])], unroll=True)


def test_training_on_any_batch_is_one_program(monkeypatch: Any) -> None:
    # Gradients ask for shapes inside of the loop, which only the feed tells.
    x = tf.placeholder(tf.float32, [None, 4, 2])
    outputs = tf.keras.layers.LSTM(3, return_sequences=True)(x, mask=tf.not_equal(x[:, :, 0], 0))
    loss = tf.reduce_mean(tf.square(outputs - 1.0))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], {x: X})[0] for _ in range(3)]

        def fail(self: Any, *args: Any) -> None:
            raise AssertionError("a loop is interpreted")

        monkeypatch.setattr(structured._While, "__call__", fail)
        monkeypatch.setattr(Executor, "enter", fail)
        losses += [session.run([loss, train], {x: X})[0] for _ in range(2)]
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]
