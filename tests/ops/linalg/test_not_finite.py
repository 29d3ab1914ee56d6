"""Matrices that are not finite: results are those of TensorFlow, and come at all."""

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("bad", [-np.inf, np.nan])
@pytest.mark.parametrize("compute_uv", [True, False])
def test_singular_values_of_one_bad_matrix_are_nan(sess, bad, compute_uv):
    good = np.arange(6.0).reshape(3, 2)
    x = tf.placeholder(tf.float64, [2, 3, 2])
    found = tf.linalg.svd(x, compute_uv=compute_uv)
    found = list(found) if compute_uv else [found]
    for _ in range(3):  # interpreted, then compiled
        for value in sess.run(found, {x: np.stack([good, np.where(good == 3, bad, good)])}):
            assert np.isfinite(value[0]).all() and np.isnan(value[1]).all()


def test_minimum_norm_of_a_bad_matrix_is_zero(sess):
    x = tf.linalg.lstsq(tf.constant([[np.inf, 1.0], [1.0, 2.0]]), tf.ones([2, 1]), fast=False)
    assert not sess.run(x).any()
