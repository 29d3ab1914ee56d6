"""Optimizer: what all optimizers share."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


def quadratic(use_resource: bool = False):
    v = tf.Variable([1.0, -2.0], name="v", use_resource=use_resource)
    return v, tf.reduce_sum(v * v)


@KINDS
def test_minimize(use_resource, sess):
    v, loss = quadratic(use_resource)
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.25).minimize(loss, global_step=step)
    sess.run(tf.global_variables_initializer())
    assert sess.run(train) is None
    assert sess.run(v).tolist() == [0.5, -1.0]
    assert sess.run(step) == 1 and tf.train.global_step(sess, step) == 1
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train]


def test_names():
    v, loss = quadratic()
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    named = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="named")
    assert (train.name, named.name) == ("Momentum", "named")
    graph = tf.get_default_graph()
    update = graph.get_operation_by_name("Momentum/update_v/ApplyMomentum")
    assert update.inputs[0] is v._ref() and update.inputs[1].name == "v/Momentum:0"
    assert [x.name for x in tf.global_variables()] == ["v:0", "v/Momentum:0", "v/Momentum_1:0"]


@KINDS
def test_slots(use_resource):
    v, loss = quadratic(use_resource)
    optimizer = tf.train.AdamOptimizer(0.1)
    assert optimizer.get_slot(v, "m") is None and optimizer.get_slot_names() == []
    optimizer.minimize(loss)
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(v, "m").name == "v/Adam:0"
    assert optimizer.get_slot(v, "v").op.type == v.op.type
    names = [x.name for x in optimizer.variables()]
    assert names == ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
    assert optimizer.get_slot(v, "m") not in tf.trainable_variables()
    with tf.Graph().as_default():
        assert optimizer.variables() == []


def test_slots_are_placed_with_their_variable():
    with tf.device("/cpu:0"):
        v, loss = quadratic()
    with tf.device("/cpu:1"):
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(loss)
    assert b"loc:@v" in optimizer.get_slot(v, "momentum").op.colocation_groups()


def test_slots_of_partitioned_variables():
    p = tf.get_variable("p", [4], partitioner=tf.fixed_size_partitioner(2))
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(tf.reduce_sum(p.as_tensor()))
    slot = optimizer.get_slot(list(p)[1], "momentum")
    assert slot.op.name == "p/part_1/Momentum"
    info = slot._get_save_slice_info()
    assert (info.full_name, info.spec) == ("p/Momentum", "4 2,2")


def test_compute_and_apply(sess):
    v, loss = quadratic()
    unused = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(loss)
    assert [x for _, x in pairs] == [v, unused] and pairs[1][0] is None
    clipped = [(None if g is None else tf.clip_by_norm(g, 1.0), x) for g, x in pairs]
    train = optimizer.apply_gradients(clipped)
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    np.testing.assert_allclose(sess.run(v), np.array([1, -2]) * (1 - 1 / np.sqrt(5)), rtol=1e-6)


@pytest.mark.parametrize("gate", [0, 1, 2])
def test_gates(gate, sess):
    v, loss = quadratic()
    train = tf.train.GradientDescentOptimizer(0.25).minimize(loss, gate_gradients=gate)
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    assert sess.run(v).tolist() == [0.5, -1.0]


@KINDS
def test_constraints(use_resource, sess):
    v = tf.Variable(
        [1.0, -2.0], constraint=lambda x: tf.clip_by_value(x, 0.0, 9.0), use_resource=use_resource
    )
    train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(v * v))
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    assert sess.run(v).tolist() == [0.5, 0.0]


@KINDS
def test_grad_loss_and_callable_rates(use_resource, sess):
    v, loss = quadratic(use_resource)
    train = tf.train.GradientDescentOptimizer(lambda: 0.25).minimize(
        loss, grad_loss=tf.constant(2.0)
    )
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    assert sess.run(v).tolist() == [0.0, 0.0]


def test_the_rate_may_be_a_tensor(sess):
    v, loss = quadratic()
    rate = tf.placeholder(tf.float32, [])
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
    sess.run(tf.global_variables_initializer())
    sess.run(train, {rate: 0.25})
    assert sess.run(v).tolist() == [0.5, -1.0]
    sess.run(train, {rate: 0.5})
    assert sess.run(v).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [tf.float16, tf.float64])
def test_other_types(dtype, sess):
    v = tf.Variable(tf.constant([1.0, -2.0], dtype))
    train = tf.train.AdamOptimizer(0.5).minimize(tf.reduce_sum(v * v))
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    np.testing.assert_allclose(sess.run(v), [0.5, -1.5], rtol=1e-2)
    assert tf.train.AdamOptimizer().get_name() == "Adam"


def test_wrong_uses():
    v, loss = quadratic()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="No gradients provided for any variable, check"):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="No variables to optimize"):
        optimizer.minimize(loss, var_list=[])
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        optimizer.minimize(loss, gate_gradients=7)
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v)])
    with pytest.raises(ValueError, match="Invalid type"):
        optimizer.minimize(tf.constant(1))
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        tf.train.GradientDescentOptimizer(0.1, name="")


def test_a_subclass_needs_one_method(sess):
    class Signs(tf.train.Optimizer):
        def __init__(self) -> None:
            super().__init__(False, "Signs")

        def _apply_dense(self, grad, var):
            return var.assign_sub(tf.sign(grad))

    v, loss = quadratic()
    train = Signs().minimize(loss)
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    assert sess.run(v).tolist() == [0.0, -1.0]


@KINDS
def test_repeated_rows_are_summed(use_resource, sess):
    v = tf.Variable([[1.0], [2.0], [3.0]], use_resource=use_resource)
    loss = tf.reduce_sum(tf.gather(v, [2, 0, 2]))
    train = tf.train.AdagradOptimizer(1.0, initial_accumulator_value=1.0).minimize(loss)
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    wanted = [1 - 1 / np.sqrt(2), 2, 3 - 2 / np.sqrt(5)]
    np.testing.assert_allclose(sess.run(v)[:, 0], wanted, rtol=1e-6)
