"""Summaries in a database of TensorBoard's schema."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

summary = tf.contrib.summary


def written(path: Path, make: Any, **names: Any) -> sqlite3.Connection:
    with tf.Graph().as_default():
        chosen = {"experiment_name": "e", "run_name": "r", "user_name": "u", **names}
        writer = summary.create_db_writer(f"file:{path}", **chosen)
        step = tf.train.create_global_step()
        with writer.as_default(), summary.always_record_summaries():
            more = make()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(summary.summary_writer_initializer_op())
            for _ in range(2):
                session.run(summary.all_summary_ops())
                session.run(step.assign_add(1))
            if more is not None:
                session.run(more)
            session.run(writer.close())
    return sqlite3.connect(path)


def test_names_and_values(tmp_path: Path) -> None:
    def make() -> None:
        summary.scalar("loss", 0.5)
        summary.histogram("h", tf.constant([1.0, 2.0, 2.0]))
        summary.generic("text", tf.constant([b"a", b"bc"]))
        summary.image("i", tf.zeros([1, 2, 3, 1], tf.uint8))

    database = written(tmp_path / "a.sqlite", make)
    ask = database.execute
    assert ask("PRAGMA application_id").fetchone() == (0xFEEDABEE - 2**32,)
    assert ask("SELECT user_name, email FROM Users").fetchall() == [("u", None)]
    user, experiment = ask("SELECT user_id, experiment_id FROM Experiments").fetchone()
    assert (user,) == ask("SELECT user_id FROM Users").fetchone()
    run = ask("SELECT experiment_id, run_name, finished_time >= started_time FROM Runs").fetchall()
    assert run == [(experiment, "r", 1)]
    tags = dict(ask("SELECT tag_name, plugin_name FROM Tags").fetchall())
    assert tags == {"loss": "scalars", "h": "histograms", "text": "", "i/image/0": "images"}
    values = ask(
        "SELECT step, dtype, shape, data FROM Tensors JOIN Tags ON series = tag_id"
        " WHERE tag_name = 'loss' ORDER BY step"
    ).fetchall()
    assert [row[:3] for row in values] == [(0, 1, ""), (1, 1, "")]
    assert np.frombuffer(values[0][3], np.float32).tolist() == [0.5]
    strings = ask(
        "SELECT TensorStrings.idx, TensorStrings.data FROM TensorStrings"
        " JOIN Tensors ON tensor_rowid = Tensors.rowid JOIN Tags ON series = tag_id"
        " WHERE tag_name = 'text' AND step = 0 ORDER BY idx"
    ).fetchall()
    assert strings == [(0, b"a"), (1, b"bc")]
    shape, data = ask(
        "SELECT shape, data FROM Tensors JOIN Tags ON series = tag_id WHERE tag_name = 'h'"
    ).fetchone()
    rows = np.frombuffer(data).reshape([int(size) for size in shape.split(",")])
    assert rows.shape[1] == 3 and rows[:, 2].sum() == 3
    database.close()


def one_scalar() -> None:
    summary.scalar("x", 1)


def test_another_run_of_an_experiment(tmp_path: Path) -> None:
    for run in ("r", "s"):
        written(tmp_path / "a.sqlite", one_scalar, run_name=run).close()
    database = sqlite3.connect(tmp_path / "a.sqlite")
    counts = [
        database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for table in ("Users", "Experiments", "Runs", "Tags", "Ids")
    ]
    database.close()
    assert counts == [1, 1, 2, 2, 6]


def test_without_a_run(tmp_path: Path) -> None:
    database = written(tmp_path / "a.sqlite", one_scalar, run_name="")
    assert database.execute("SELECT run_id, tag_name FROM Tags").fetchall() == [(None, "x")]
    assert database.execute("SELECT COUNT(*) FROM Experiments").fetchone() == (0,)
    database.close()


def test_graphs(tmp_path: Path) -> None:
    definition = tf.Graph()
    with definition.as_default():
        tf.add(tf.constant(1, name="a"), 2, name="b")
    content = definition.as_graph_def().SerializeToString()
    database = written(tmp_path / "a.sqlite", lambda: summary.graph(tf.constant(content), 0))
    nodes = database.execute("SELECT DISTINCT node_name, op FROM Nodes ORDER BY node_id").fetchall()
    assert nodes == [("a", "Const"), ("b/y", "Const"), ("b", "Add")]
    inputs = database.execute("SELECT DISTINCT node_id, idx, input_node_id FROM NodeInputs")
    assert inputs.fetchall() == [(2, 0, 0), (2, 1, 1)]
    database.close()


def test_names_that_cannot_be(tmp_path: Path) -> None:
    for name in ("experiment_name", "run_name", "user_name"):
        with pytest.raises(ValueError, match=rf"{name} \(<\) must match"):
            summary.create_db_writer("file:x", **{name: "<"})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not open SQLite DB"):
        written(tmp_path / "none" / "a.sqlite", lambda: None)
