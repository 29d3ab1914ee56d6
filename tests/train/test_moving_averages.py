"""Moving averages."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@KINDS
def test_averages_of_variables(use_resource, sess):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
    ema = tf.train.ExponentialMovingAverage(0.75)
    update = ema.apply([v])
    average = ema.average(v)
    assert average.op.name == "v/ExponentialMovingAverage" == ema.average_name(v)
    assert average.op.type == v.op.type
    assert tf.moving_average_variables() == [v] and average not in tf.trainable_variables()
    sess.run(tf.global_variables_initializer())
    sess.run(v.assign([5.0, 2.0]))
    sess.run(update)
    assert sess.run(average).tolist() == [2.0, 2.0]
    sess.run(update)
    assert sess.run(average).tolist() == [2.75, 2.0]


def test_the_decay_grows_with_the_number_of_updates(sess):
    v = tf.Variable(0.0)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=2)
    update = ema.apply([v])
    sess.run(tf.global_variables_initializer())
    sess.run(v.assign(4.0))
    sess.run(update)
    assert sess.run(ema.average(v)) == pytest.approx(4 * (1 - 3 / 12))


def test_averages_of_tensors(sess):
    x = tf.placeholder(tf.float32, [], name="x")
    plain = tf.train.ExponentialMovingAverage(0.5)
    debiased = tf.train.ExponentialMovingAverage(0.5, zero_debias=True, name="debiased")
    update = [plain.apply([x]), debiased.apply([x])]
    sess.run(tf.global_variables_initializer())
    sess.run(update, {x: 4.0})
    assert sess.run([plain.average(x), debiased.average(x)]) == [2.0, 4.0]
    sess.run(update, {x: 7.0})
    assert sess.run(plain.average(x)) == 4.5
    assert sess.run(debiased.average(x)) == pytest.approx(4.5 / 0.75)


def test_variables_to_restore():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9)
    assert ema.variables_to_restore() == {"v/ExponentialMovingAverage": v, "w": w}
    ema.apply([v])
    found = ema.variables_to_restore()
    assert found == {"v/ExponentialMovingAverage": v, "w": w}


def test_wrong_types():
    with pytest.raises(TypeError, match="half, float, or double"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1)])


def test_assign_moving_average(sess):
    from weft.lib.train.optimizers.moving_averages import (
        assign_moving_average,
        weighted_moving_average,
    )

    v = tf.Variable([10.0, 11.0])
    moved = assign_moving_average(v, tf.constant([1.0, 2.0]), 0.25, zero_debias=False)
    mean = weighted_moving_average(tf.constant(3.0), 0.5, tf.constant(2.0))
    sess.run(tf.global_variables_initializer())
    np.testing.assert_allclose(sess.run(moved), [3.25, 4.25])
    assert sess.run(mean) == 3.0
