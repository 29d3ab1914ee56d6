"""Sparse gradients that name rows twice: summed in a form that is compiled once."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.ops.array.unique_sums import sum_repeated
from weft.passes.pipeline import prepare

OPTIMIZERS = {
    "adagrad": lambda: tf.train.AdagradOptimizer(0.5),
    "momentum": lambda: tf.train.MomentumOptimizer(0.5, 0.9),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1),
}


def kinds(*targets, fetches=()):
    (part,) = prepare([], list(fetches), [t.op if hasattr(t, "op") else t for t in targets])
    return {node.type for node in part.graph.nodes}


def training(name, use_resource, rows=7):
    table = tf.get_variable(
        "table", initializer=np.ones([rows, 2], np.float32), use_resource=use_resource
    )
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.square(tf.gather(table, ids)))
    return OPTIMIZERS[name]().minimize(loss), table, ids


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_same_values_however_it_runs(name, use_resource, monkeypatch) -> None:
    train, table, ids = training(name, use_resource)
    # As many ids each time, but now 1, now 4 different rows.
    batches = [[3, 3, 3, 3], [0, 1, 2, 3], [6, 0, 6, 0], [5, 5, 1, 5], [3, 3, 3, 3]]

    def after(xla: bool):
        monkeypatch.setattr("weft.core.flags.XLA.value", xla, raising=False)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for batch in batches:
                session.run(train, {ids: batch})
            return session.run(table)

    np.testing.assert_allclose(after(True), after(False), rtol=1e-5)


@pytest.mark.parametrize("compile_all", [True, False])
def test_an_update_that_waits_for_the_host_gets_no_row_too_many(compile_all, monkeypatch) -> None:
    if compile_all:
        monkeypatch.setattr("weft.runtime.xla.region.CALL_COST", -1e9)
    table = tf.get_variable("table", initializer=np.ones([5, 2], np.float32), use_resource=True)
    loss = tf.reduce_sum(tf.square(tf.gather(table, tf.placeholder(tf.int32, [4], "ids"))))
    rate = tf.reshape(tf.py_func(lambda _: np.float32(0.25), [loss], tf.float32), [])
    train = tf.train.ProximalGradientDescentOptimizer(rate).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(train, {"ids:0": [1, 1, 3, 1]})
        np.testing.assert_array_equal(session.run(table)[:, 0], [1, 0.0625, 1, 0.0625, 1])


def test_what_is_rewritten() -> None:
    train, *_ = training("adagrad", True)
    (part,) = prepare([], [], [train])
    names = {node.type for node in part.graph.nodes}
    assert "_SumRepeated" in names and "Unique" not in names


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_two_tables_of_the_same_ids(name) -> None:
    ids = tf.placeholder(tf.int32, [None])
    tables = [tf.Variable(tf.ones([7, width])) for width in (2, 1)]
    loss = tf.add_n([tf.reduce_sum(tf.square(tf.gather(table, ids))) for table in tables])
    (part,) = prepare([], [], [OPTIMIZERS[name]().minimize(loss)])
    names = [node.type for node in part.graph.nodes]
    assert names.count("_SumRepeated") == 2 and "Unique" not in names


def test_not_where_the_rows_are_seen() -> None:
    ids = tf.placeholder_with_default(tf.constant([1, 1, 2]), [None])
    rows, places = tf.unique(ids)
    sums = tf.unsorted_segment_sum(tf.ones([3, 2]), places, tf.shape(rows)[0])
    assert "Unique" in kinds(fetches=[sums, rows])
    # The mean over rows would count those left over.
    assert "Unique" in kinds(fetches=[tf.reduce_mean(sums)])


def test_kernels() -> None:
    import jax.numpy as jnp

    values = np.arange(8, dtype=np.float32).reshape(4, 2)
    indices = np.array([5, 2, 5, 9], np.int64)
    sums, rows = sum_repeated.kernel(np, values, indices)
    np.testing.assert_array_equal(rows, [2, 5, 9])
    np.testing.assert_array_equal(sums, [[2, 3], [4, 6], [6, 7]])
    padded, with_rest = sum_repeated.kernel(jnp, jnp.asarray(values), jnp.asarray(indices))
    np.testing.assert_array_equal(with_rest, [2, 5, 9, -1])
    np.testing.assert_array_equal(padded[:3], sums)


@pytest.mark.parametrize("rows", [[2, -1, 2, 0], [3, 1, 0, 2], [-1, 2, 2, 2], [0, 1, 2, -1]])
def test_every_mention_counts_however_rows_are_ordered(rows) -> None:
    import jax
    import jax.numpy as jnp

    from weft.ops.kit.row_updates import update_rows

    def updated(table, indices, amounts):
        return update_rows(jnp, [table], indices, [amounts], lambda old, add: [old[0] * 2 + add])

    amounts = np.arange(1.0, 5.0, dtype=np.float32)[:, None]
    found = jax.jit(updated)(np.ones((4, 1), np.float32), np.array(rows), amounts)[0]
    expected = np.ones((4, 1), np.float32)
    for row, amount in zip(rows, amounts, strict=True):
        if row >= 0:
            expected[row] = expected[row] * 2 + amount
    np.testing.assert_array_equal(found, expected)
