"""What shape rules see of the values of tensors, as in TensorFlow 1.15."""

from __future__ import annotations

import weft as tf


def test_a_shape_that_only_its_tensor_s_value_tells() -> None:
    """It is known where something is computed of it, and not where it is used as it is."""
    rows = tf.where(tf.constant([True, False, True]))
    assert rows.shape.as_list() == [None, 1]
    assert tf.fill(tf.shape(rows), 1).shape.as_list() == [None, 1]
    assert tf.zeros([tf.size(rows)]).shape.as_list() == [2]
    head = tf.concat([tf.shape(rows)[:1], [-1]], 0)
    assert tf.reshape(tf.range(4), head).shape.as_list() == [None, None]
    assert tf.contrib.util.constant_value(tf.shape(rows)) is None
    assert tf.contrib.util.constant_value(tf.rank(rows)) == 2


def test_the_second_gradient_of_a_maximum_has_its_shape() -> None:
    x, w = tf.placeholder(tf.float32, [4, 3]), tf.get_variable("w", [3, 3])
    z = tf.matmul(x, w)
    (slope,) = tf.gradients(tf.square(tf.maximum(z, 0.2 * z)), x)
    tf.gradients(tf.reduce_sum(tf.square(slope)), w)
    made = tf.get_default_graph().get_operation_by_name(
        "gradients_1/gradients/Maximum_grad/Sum_grad/Reshape"
    )
    assert made.outputs[0].shape.as_list() == [4, 3]
