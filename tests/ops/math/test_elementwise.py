"""Quotients and comparisons, element by element."""

from __future__ import annotations

import numpy as np

import weft as tf


def test_quotients_of_floats_are_not_truncated() -> None:
    with tf.Session() as session:
        found = session.run(tf.truncatediv([7.0, -5.0], [2.0, 4.0]))
        np.testing.assert_allclose(found, [3.5, -1.25])
        np.testing.assert_array_equal(session.run(tf.truncatediv([7, -5], [2, 4])), [3, -1])


def test_shapes_that_do_not_fit_may_be_unequal() -> None:
    x, y = tf.ones([2]), tf.ones([3])
    equal = tf.equal(tf.ones([2]), 1.0)
    assert equal.op.get_attr("incompatible_shape_error") is True
    with tf.Session() as session:
        raw = tf.raw_ops
        assert not session.run(raw.Equal(x=x, y=y, incompatible_shape_error=False))
        assert session.run(raw.NotEqual(x=x, y=y, incompatible_shape_error=False))
