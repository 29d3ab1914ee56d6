"""Reversible blocks and recomputed functions have the gradients of plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

layers = tf.contrib.layers


def dense(x: Any, side: Any = None) -> Any:
    y = tf.layers.dense(x, 3, activation=tf.nn.tanh, kernel_initializer=tf.ones_initializer())
    return y if side is None else y * side[0]


def values(*fetches: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches))


def test_inputs_follow_from_outputs() -> None:
    x = [tf.constant([[0.1, 0.2, 0.3]]), tf.constant([[0.4, 0.5, 0.6]])]
    block = layers.RevBlock(dense, dense, num_layers=3)
    outputs = block.forward(*x)
    again = block.backward(*outputs)
    assert len(block.trainable_variables) == 12
    x1, x2, back1, back2 = values(*x, *again)
    np.testing.assert_allclose(np.stack([x1, x2]), np.stack([back1, back2]), atol=1e-6)


@pytest.mark.parametrize("side", [False, True])
def test_gradients_of_a_block(side: bool) -> None:
    found = []
    for is_training in (True, False):
        tf.reset_default_graph()
        x = [tf.constant([[0.1, 0.2, 0.3]]), tf.constant([[0.4, 0.5, 0.6]])]
        extra = [tf.constant([[2.0, 1.0, 3.0]])] if side else None
        y1, y2 = layers.rev_block(*x, dense, dense, 2, extra, is_training=is_training)
        loss = tf.reduce_sum(y1 * y2)
        wanted = x + tf.trainable_variables() + (extra or [])
        found.append(values(loss, *tf.gradients(loss, wanted)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("options", [None, {"tupleize_grads": True}])
def test_gradients_of_a_recomputed_function(options: Any) -> None:
    found = []
    for recomputed in (True, False):
        tf.reset_default_graph()
        decorate = layers.recompute_grad(**options) if options else layers.recompute_grad
        function = decorate(dense_pair) if recomputed else dense_pair
        x = tf.constant([[0.1, 0.2, 0.3]])
        with tf.variable_scope("block", use_resource=True):
            loss = tf.reduce_sum(function(x))
        wanted = [x, *tf.trainable_variables()]
        found.append(values(loss, *tf.gradients(loss, wanted)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def dense_pair(x: Any) -> Any:
    return tf.layers.dense(dense(x), 2, kernel_initializer=tf.ones_initializer())


def test_what_recomputing_refuses() -> None:
    outside = tf.constant(1.0)
    with pytest.raises(ValueError, match="closes over Tensor"):
        layers.recompute_grad(lambda x: x + outside)
    with pytest.raises(ValueError, match="All inputs to function must be Tensors"):
        layers.recompute_grad(lambda x: x)(1.0)
