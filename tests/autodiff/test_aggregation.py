"""How gradients that reach one tensor along several paths are added up, by method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

TREE = tf.AggregationMethod.EXPERIMENTAL_TREE
ACCUMULATE_N = tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N


def summed(x: Any, method: int | None, paths: int) -> Any:
    """The gradient by `x` of a sum of as many terms."""
    y = tf.add_n([tf.exp(x) for _ in range(paths)])
    return tf.gradients(y, x, aggregation_method=method)[0]


@pytest.mark.parametrize(
    ("method", "paths", "name", "kind"),
    [
        (None, 3, "gradients/AddN", "AddN"),
        (TREE, 2, "gradients/in/x_gradient_sum/AddN", "AddN"),
        (TREE, 3, "gradients/in/x_gradient_sum/AddN_1", "AddN"),
        (ACCUMULATE_N, 2, "gradients/in/x_gradient_sum/AddN", "AddN"),
        (ACCUMULATE_N, 3, "gradients/AccumulateNV2", "AccumulateNV2"),
    ],
)
def test_nodes_are_those_of_tensorflow(
    method: int | None, paths: int, name: str, kind: str, sess: tf.Session
) -> None:
    x = tf.constant([0.0, 1.0], name="in/x")
    found = summed(x, method, paths)
    assert (found.op.name, found.op.type) == (name, kind)
    np.testing.assert_allclose(sess.run(found), [paths, paths * np.e], rtol=1e-6)


def test_gradients_of_unknown_shape_are_summed_in_pairs() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    assert summed(x, ACCUMULATE_N, 3).op.name == "gradients/x_gradient_sum/AddN_1"


@pytest.mark.parametrize("method", [TREE, ACCUMULATE_N])
def test_rows_and_a_whole_are_added_at_once(method: int, sess: tf.Session) -> None:
    table = tf.constant([1.0, 2.0, 3.0])
    y = tf.reduce_sum(tf.gather(table, [1, 1])) + tf.reduce_sum(table) + tf.reduce_sum(table * 2.0)
    found: Any = tf.gradients(y, table, aggregation_method=method)[0]
    assert found.op.name == "gradients/AddN"
    np.testing.assert_allclose(sess.run(found), [3.0, 5.0, 3.0])


def test_zeros_for_what_is_not_connected_are_outside_of_the_scope(sess: tf.Session) -> None:
    x, other = tf.constant([2.0], name="x"), tf.constant([[1.0, 1.0]], name="other")
    zero = tf.UnconnectedGradients.ZERO
    found: list[Any] = tf.gradients(x * x, [x, other], unconnected_gradients=zero)
    assert [grad.op.name for grad in found] == ["gradients/AddN", "zeros_like"]
    np.testing.assert_array_equal(sess.run(found[1]), [[0.0, 0.0]])
