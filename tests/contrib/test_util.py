"""tf.contrib.util: what it re-exports."""

import numpy as np

import weft as tf


def test_values_and_messages_of_tensors():
    util = tf.contrib.util
    assert util.constant_value(tf.placeholder(tf.int32, [2])) is None
    np.testing.assert_array_equal(util.constant_value(tf.constant([1, 2])), [1, 2])
    message = util.make_tensor_proto([1.5, 2.5], shape=[2, 1])
    np.testing.assert_array_equal(util.make_ndarray(message), [[1.5], [2.5]])
