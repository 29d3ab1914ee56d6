"""Rows that the host chooses are gathered there, unless a program needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.passes.pipeline import prepare
from weft.passes.regions.host_gathers import host_gathers


def gathered(*fetches: Any, feeds: Any = ()) -> set[str]:
    """The types of the nodes that go to the host."""
    (part,) = prepare(list(feeds), list(fetches), [])
    return {node.type for node in host_gathers(part.graph)}


def _table(resource: bool = False) -> Any:
    value = np.arange(12, dtype=np.float32).reshape(6, 2)
    return tf.Variable(value, use_resource=resource)


@pytest.mark.parametrize("resource", [False, True])
def test_rows_that_are_fetched(resource: bool) -> None:
    x = _table(resource)
    mask = x[:, 0] > 4
    rows = tf.boolean_mask(x, mask)
    reads = {"ReadVariableOp"} if resource else set()
    assert gathered(rows) >= {"GatherV2"} and gathered(rows) <= {"GatherV2", "Reshape"} | reads
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            np.testing.assert_array_equal(session.run(rows), [[6, 7], [8, 9], [10, 11]])
        session.run(tf.assign(x, x - 4))
        for _ in range(4):
            np.testing.assert_array_equal(session.run(rows), [[6, 7]])


def test_rows_that_go_to_the_host() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    rows = tf.gather(tf.exp(x), tf.where(x[:, 0] > 0)[:, 0])
    assert "GatherV2" in gathered(tf.py_func(lambda y: y, [rows], tf.float32), feeds=[x])


def test_rows_that_a_program_needs() -> None:
    x = _table()
    rows = tf.boolean_mask(x, x[:, 0] > 4)
    assert not gathered(tf.reduce_sum(rows)) and not gathered(rows, tf.reduce_sum(rows))


def test_rows_that_somebody_else_chooses() -> None:
    x, ids = _table(), tf.placeholder(tf.int32, [None])
    assert not gathered(tf.gather(x, ids), feeds=[ids])


def test_rows_of_a_variable_that_changes_in_the_step() -> None:
    x = _table()
    ids = tf.where(x[:, 0] > 4)[:, 0]
    rows = tf.gather(x, ids)
    with tf.control_dependencies([rows]):
        update = tf.scatter_add(x, ids, tf.ones_like(rows))
    assert not gathered(rows, update)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(4):
            found, new = session.run([rows, update])
            np.testing.assert_array_equal(found, np.arange(6, 12).reshape(3, 2) + i)
            assert new[5, 1] == 12 + i
