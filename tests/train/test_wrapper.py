"""Optimizers around another one: what they hand over to it."""

from __future__ import annotations

import pytest

import weft as tf

opt = tf.contrib.opt
WRAPPERS = {
    "sync": lambda inside: tf.train.SyncReplicasOptimizer(inside, 1),
    "stale": lambda inside: opt.DropStaleGradientOptimizer(inside, 1),
    "averages": lambda inside: opt.MovingAverageOptimizer(inside),
    "clipped variables": lambda inside: opt.VariableClippingOptimizer(inside, {}, 1.0),
    "clipped gradients": lambda inside: tf.contrib.estimator.clip_gradients_by_norm(inside, 1.0),
    "shards": lambda inside: tf.contrib.tpu.CrossShardOptimizer(inside),
    "loss scale": lambda inside: tf.contrib.mixed_precision.LossScaleOptimizer(
        inside, tf.contrib.mixed_precision.FixedLossScaleManager(2.0)
    ),
    "agn": lambda inside: opt.AGNOptimizer(inside, 1, opt.AGNCustomGetter("")),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_slots_are_those_of_the_optimizer_inside(name: str) -> None:
    variable = tf.Variable([1.0, 2.0])
    inside = tf.train.MomentumOptimizer(0.1, 0.9)
    wrapper = WRAPPERS[name](inside)
    inside.apply_gradients([(tf.constant([1.0, 1.0]), variable)])
    slot = inside.get_slot(variable, "momentum")
    assert slot is not None
    assert wrapper.get_slot(variable, "momentum") is slot
    assert wrapper.get_slot_names() == ["momentum"]
    assert wrapper.variables() == [slot]
    assert (wrapper._opt, wrapper._optimizer) == (inside, inside)
