"""Binomial numbers: their distribution, the corner cases, and how far the state moves."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.ops.random.binomial import binomial

N = 20000


@pytest.mark.parametrize("prob", [0.02, 0.4, 0.5, 0.9])
@pytest.mark.parametrize("count", [1, 12, 200])
def test_how_often_each_number_comes(count: int, prob: float) -> None:
    from scipy import stats

    rng = np.arange(6, dtype=np.uint32)
    drawn = binomial(rng, np.full(N, float(count)), np.full(N, prob))
    assert np.all((drawn == np.floor(drawn)) & (drawn >= 0) & (drawn <= count))
    expected = stats.binom(count, prob)
    for at in (expected.ppf(0.2), expected.ppf(0.5), expected.ppf(0.9)):
        share = expected.cdf(at)
        assert abs(np.mean(drawn <= at) - share) < 5 * np.sqrt(share * (1 - share) / N) + 1e-12


def test_a_generator_draws_what_it_drew_from_the_same_state() -> None:
    made = tf.random.experimental.Generator.from_seed(12)
    drawn = made.binomial([2, 500], counts=[5.0, 1000.0], probs=0.25, dtype=tf.float32)
    assert drawn.shape.as_list() == [2, 500] and drawn.op.name == "binomial"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(drawn)
        assert session.run(made.state).tolist() == [12 + 2 * 2 * 100 * 503 // 4, 0, 0]
        assert session.run(drawn).tolist() != first.tolist()
        session.run(made.reset_from_seed(12))
        assert session.run(drawn).tolist() == first.tolist()
    np.testing.assert_allclose(first.mean(axis=1), [1.25, 250], rtol=0.1)


def test_corner_cases() -> None:
    made = tf.random.experimental.Generator.from_seed(1)
    counts = np.array([5, 5, 5, 0, 0, 0], np.float32)
    probs = np.array([0, 1, np.nan, -10, 10, np.nan], np.float32)
    drawn = made.binomial([6], counts, probs, dtype=tf.float32)
    wrong = made.binomial([6], np.ones(2, np.float32), np.float32(0.5))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(drawn), [0, 5, np.nan, 0, 0, 0])
        with pytest.raises(errors.InvalidArgumentError, match=r"length 1 or shape\[0\]"):
            session.run(wrong)
    assert made.binomial([0], [], []).shape.as_list() == [0]


def test_draws_of_a_seed() -> None:
    counts, probs = np.array([5.0, 1000.0]), np.array([[0.25], [0.5]])
    drawn = tf.raw_ops.StatelessRandomBinomial(
        shape=[400, 2, 2], seed=[3, 4], counts=counts, probs=probs, dtype=tf.float32
    )
    other = tf.raw_ops.StatelessRandomBinomial(
        shape=[3], seed=[3, 4], counts=counts, probs=probs[0], dtype=tf.int64
    )
    with tf.Session() as session:
        first = session.run(drawn)
        assert first.shape == (400, 2, 2) and first.dtype == np.float32
        assert session.run(drawn).tolist() == first.tolist()
        with pytest.raises(errors.InvalidArgumentError, match="must end with broadcasted shape"):
            session.run(other)
    np.testing.assert_allclose(first.mean(axis=0), counts * probs, rtol=0.1)
