"""Quantized ops give TensorFlow's numbers, and say what was wrong with a range."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.quantized_programs import DATA, answers
from weft.core import errors

RECORDED = dict(np.load(DATA))
# TensorFlow adds by vector instructions, which round in between: 8 of 2^31 levels.
# Floats are compared by their bits; those near zero are differences of larger ones.
ROUNDED = {"add": 8, "resized_floats": 64}


def test_results_are_tensorflows() -> None:
    found = answers(tf)
    assert set(found) == set(RECORDED)
    for name, value in found.items():
        expected = RECORDED[name]
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape), name
        call, _, part = name.partition("/")
        if part == "values":
            apart = np.abs(value.astype(np.int64) - expected.astype(np.int64)).max()
            assert apart <= ROUNDED.get(call, 0), name
        else:
            np.testing.assert_allclose(value, expected, rtol=1e-6, err_msg=name)


def test_a_range_that_is_none() -> None:
    x = tf.quantization.quantize([[1.0]], 0.0, 1.0, tf.quint8)[0]
    product = tf.raw_ops.QuantizedMatMul(a=x, b=x, min_a=1.0, max_a=1.0, min_b=0.0, max_b=1.0)
    with tf.Session() as session:
        with pytest.raises(errors.InvalidArgumentError, match="max_a must be larger than min_a"):
            session.run(product[1])


def test_a_limit_of_ones_own() -> None:
    """TensorFlow declares this op, but has no kernel for it."""
    x = tf.quantization.quantize([-1.0, 0.5, 2.0], -1.0, 2.0, tf.quint8, mode="MIN_FIRST")
    limited = tf.nn.quantized_relu_x(x[0], 0.75, x[1], x[2])
    real = tf.quantization.dequantize(*limited, mode="MIN_FIRST")
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(real), [0.0, 0.5, 0.75], atol=0.01)


def test_static_shapes() -> None:
    image = tf.placeholder(tf.quint8, [None, 5, 4, 3])
    weights = tf.placeholder(tf.quint8, [3, 2, 3, 2])
    pooled = tf.nn.quantized_max_pool(image, 0.0, 1.0, [1, 2, 2, 1], [1, 2, 1, 1], "VALID")
    convolved = tf.nn.quantized_conv2d(
        image, weights, 0.0, 1.0, 0.0, 1.0, [1, 2, 1, 1], "SAME"
    )  # fmt: skip
    assert pooled[0].shape.as_list() == [None, 2, 3, 3]
    assert convolved[0].shape.as_list() == [None, 3, 4, 2]
    assert convolved[0].dtype == tf.qint32
