"""tf.hessians: matrices of second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

M = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 4.0]], np.float32)


def quadratic(x: Any) -> Any:
    return 0.5 * tf.reduce_sum(x * tf.squeeze(tf.matmul(M, tf.expand_dims(x, 1)), 1))


@pytest.mark.parametrize("dims", [[3], [None], None])
def test_a_quadratic_form(dims: Any) -> None:
    x = tf.placeholder(tf.float32, dims)
    (matrix,) = tf.hessians(quadratic(tf.reshape(x, [3])), x)
    with tf.Session() as sess:
        for _ in range(3):  # interpreted, then compiled
            np.testing.assert_allclose(sess.run(matrix, {x: [1, -2, 3]}), M, rtol=1e-6)


def test_the_graph_does_not_grow_with_the_size_of_x() -> None:
    def nodes(size: int) -> int:
        with tf.Graph().as_default() as graph:
            tf.hessians(tf.reduce_sum(tf.placeholder(tf.float32, [size]) ** 3), graph_input(graph))
            return len(graph.get_operations())

    assert nodes(2) == nodes(200)


def graph_input(graph: Any) -> Any:
    return graph.get_operations()[0].outputs[0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_of_variables_and_of_several(use_resource: bool) -> None:
    v = tf.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    w = tf.get_variable("w", initializer=2.0, use_resource=use_resource)
    of_v, of_w = tf.hessians(tf.reduce_sum(v**3) * w**2, [v, w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        wanted = np.diag(6.0 * np.arange(1, 5) * 4).reshape(2, 2, 2, 2)
        np.testing.assert_allclose(sess.run(of_v), wanted, rtol=1e-6)
        np.testing.assert_allclose(sess.run(of_w), 2 * (1 + 8 + 27 + 64), rtol=1e-6)


def test_what_has_no_second_derivative() -> None:
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="None values not supported"):
        tf.hessians(tf.reduce_sum(tf.constant(1.0)), x)
    with pytest.raises(ValueError, match="None values not supported"):
        tf.hessians(tf.reduce_sum(3 * x), x)
