"""Learning-rate schedules against their formulas."""

from __future__ import annotations

import math

import pytest

import weft as tf
from weft.client.eager import EagerExecution

STEPS = (0, 3, 7, 10, 25)


def check(sess, schedule, formula):
    step = tf.placeholder(tf.int64, [])
    rate = schedule(step)
    assert rate.dtype == tf.float32
    for s in STEPS:
        assert sess.run(rate, {step: s}) == pytest.approx(formula(s), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("staircase", [False, True])
def test_exponential(staircase, sess):
    def progress(s):
        return math.floor(s / 5) if staircase else s / 5

    kw = dict(staircase=staircase)
    check(
        sess,
        lambda s: tf.train.exponential_decay(0.1, s, 5, 0.9, **kw),
        lambda s: 0.1 * 0.9 ** progress(s),
    )
    check(
        sess,
        lambda s: tf.train.natural_exp_decay(0.1, s, 5, 0.5, **kw),
        lambda s: 0.1 * math.exp(-0.5 * progress(s)),
    )
    check(
        sess,
        lambda s: tf.train.inverse_time_decay(0.1, s, 5, 0.5, **kw),
        lambda s: 0.1 / (1 + 0.5 * progress(s)),
    )


def test_piecewise_constant(sess):
    values = [1.0, 0.5, 0.1]
    check(
        sess,
        lambda s: tf.train.piecewise_constant(s, [3, 10], values),
        lambda s: values[(s > 3) + (s > 10)],
    )
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="same dtype as x"):
        tf.train.piecewise_constant(x, [1], [0.1, 0.2])
    with pytest.raises(ValueError, match="elements all with the same dtype"):
        tf.train.piecewise_constant(x, [1.0], [0.1, 2])


@pytest.mark.parametrize("cycle", [False, True])
def test_polynomial(cycle, sess):
    def formula(s):
        steps = 10 * max(1, math.ceil(s / 10)) if cycle else 10
        return 0.09 * (1 - min(s, steps) / steps) ** 2 + 0.01

    check(
        sess,
        lambda s: tf.train.polynomial_decay(0.1, s, 10, 0.01, power=2.0, cycle=cycle),
        formula,
    )


def test_cosine(sess):
    def wave(s):
        return 0.5 * (1 + math.cos(math.pi * min(s, 10) / 10))

    check(
        sess,
        lambda s: tf.train.cosine_decay(0.1, s, 10, alpha=0.2),
        lambda s: 0.1 * (0.8 * wave(s) + 0.2),
    )
    check(
        sess,
        lambda s: tf.train.linear_cosine_decay(0.1, s, 10, alpha=0.1),
        lambda s: 0.1 * ((0.1 + 1 - min(s, 10) / 10) * wave(s) + 0.001),
    )


@pytest.mark.parametrize("t_mul", [1.0, 2.0])
def test_restarts(t_mul, sess):
    def formula(s):
        length, height = 10.0, 1.0
        while s >= length:
            s -= length
            length *= t_mul
            height *= 0.5
        return 0.1 * height * 0.5 * (1 + math.cos(math.pi * s / length))

    check(
        sess,
        lambda s: tf.train.cosine_decay_restarts(0.1, s, 10, t_mul=t_mul, m_mul=0.5),
        formula,
    )


def test_noise(sess):
    step = tf.constant(5)
    rate = tf.train.noisy_linear_cosine_decay(0.1, step, 10, initial_variance=1.0)
    first, second = sess.run(rate), sess.run(rate)
    assert first != second


@pytest.mark.parametrize(
    "schedule",
    [
        lambda s: tf.train.exponential_decay(0.1, s, 5, 0.9),
        lambda s: tf.train.natural_exp_decay(0.1, s, 5, 0.5),
        lambda s: tf.train.inverse_time_decay(0.1, s, 5, 0.5),
        lambda s: tf.train.piecewise_constant(s, [0, 2], [0.1, 0.2, 0.3]),
        lambda s: tf.train.polynomial_decay(0.1, s, 5),
        lambda s: tf.train.cosine_decay(0.1, s, 5),
        lambda s: tf.train.cosine_decay_restarts(0.1, s, 5),
        lambda s: tf.train.linear_cosine_decay(0.1, s, 5),
    ],
)
def test_a_rate_follows_the_step_in_eager_execution(schedule, sess):
    wanted = [float(sess.run(schedule(tf.constant(s, tf.int64)))) for s in (0, 1, 2)]
    assert len(set(wanted)) > 1
    with EagerExecution().as_default():
        step, weight = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0)
        rate = schedule(step)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        taken = []
        for _ in wanted:
            assert float(rate()) == pytest.approx(wanted[len(taken)])
            before = float(weight)
            optimizer.minimize(lambda: -1.0 * weight, global_step=step, var_list=[weight])
            taken.append(float(weight) - before)
    assert taken == pytest.approx(wanted)
