"""tf.contrib.summary: summaries that operations write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf


def events(folder: Path) -> list[Any]:
    return [e for f in sorted(folder.glob("events.*")) for e in tf.train.summary_iterator(str(f))]


def run_all(folder: Path, runs: int = 1) -> list[Any]:
    """The events after the first of the file, with all summaries run so often."""
    writers = tf.contrib.summary.summary_writer_initializer_op()
    step = tf.train.get_or_create_global_step()
    count = tf.assign_add(step, 1)
    flush = tf.contrib.summary.flush()
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), writers])
        for _ in range(runs):
            sess.run(tf.contrib.summary.all_summary_ops())
            sess.run(count)
        sess.run(flush)
    return events(folder)[1:]


def test_every_kind_of_summary(tmp_path: Path) -> None:
    summary = tf.contrib.summary
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), summary.always_record_summaries(), tf.name_scope("outer"):
        summary.scalar("number", 0.5)
        summary.histogram("histogram", [1.0, 2.0, 2.0], step=7)
        summary.image("image", np.zeros([1, 2, 2, 3], np.float32), max_images=1)
        summary.audio("audio", np.zeros([1, 4], np.float32), 8.0, 1)
        summary.generic("generic", [1, 2], family="family")
        found = run_all(tmp_path)
    values = {v.tag: v for e in found for v in e.summary.value}
    assert set(values) == {
        "outer/number", "outer/histogram", "outer/image/image", "outer/audio/audio",
        "family/outer/family/generic",
    }  # fmt: skip
    assert values["outer/number"].simple_value == 0.5
    assert values["outer/histogram"].histo.num == 3
    assert values["outer/image/image"].image.width == 2
    assert values["outer/audio/audio"].audio.length_frames == 4
    assert tf.make_ndarray(values["family/outer/family/generic"].tensor).tolist() == [1, 2]
    assert sorted(e.step for e in found) == [0, 0, 0, 0, 7]


def test_every_n_steps(tmp_path: Path) -> None:
    summary = tf.contrib.summary
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        summary.scalar("number", 0.5)
        assert [e.step for e in run_all(tmp_path, runs=5)] == [0, 2, 4]


def test_nothing_is_written_unless_asked_for(tmp_path: Path) -> None:
    summary = tf.contrib.summary
    summary.scalar("nowhere", 1.0)
    assert summary.all_summary_ops() == []
    with summary.create_file_writer(None).as_default(), summary.always_record_summaries():
        summary.scalar("to nobody", 1.0)
    with summary.create_file_writer(str(tmp_path)).as_default():
        assert summary.should_record_summaries() is False
        summary.scalar("not asked for", 1.0)
        assert run_all(tmp_path) == []


def test_initialize_writes_the_graph(tmp_path: Path) -> None:
    tf.constant(1.0, name="x")
    with pytest.raises(RuntimeError, match=r"No default tf\.contrib\.summary\.SummaryWriter"):
        tf.summary.initialize()
    writer = tf.contrib.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), tf.Session() as sess:
        close = writer.close()
        tf.summary.initialize(graph=tf.get_default_graph())
        sess.run(close)
    graph = tf.GraphDef.FromString(events(tmp_path)[-1].graph_def)
    assert graph.node[0].name == "x"


def test_a_closed_writer_can_be_initialized_again(tmp_path: Path) -> None:
    summary = tf.contrib.summary
    writer = summary.create_file_writer(str(tmp_path), filename_suffix=".mine")
    with writer.as_default(), summary.always_record_summaries():
        number = summary.scalar("number", 0.5, step=1)
    init, close = writer.init(), writer.close()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.NotFoundError, match="was not initialized, or is closed"):
            sess.run(number)
        for _ in range(2):
            sess.run(init)
            sess.run(number)
            sess.run(close)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2 and all(file.name.endswith(".mine") for file in files)
    assert [e.step for e in events(tmp_path)] == [0, 1, 0, 1]


def test_serialized_summaries_and_events(tmp_path: Path, sess: tf.Session) -> None:
    writer = tf.contrib.summary.create_file_writer(str(tmp_path))
    number = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2.0)])
    sess.run(writer.init())
    sess.run(
        tf.raw_ops.WriteRawProtoSummary(
            writer=writer._resource,
            step=tf.constant(3, tf.int64),
            tensor=number.SerializeToString(),
        )
    )
    with writer.as_default():
        sess.run(tf.contrib.summary.import_event(tf.Event(step=9).SerializeToString()))
    sess.run(writer.close())
    assert [(e.step, len(e.summary.value)) for e in events(tmp_path)] == [(0, 0), (3, 1), (9, 0)]


def test_file_writers_of_a_session_share_the_file_of_the_operations(
    tmp_path: Path, sess: tf.Session
) -> None:
    summary = tf.contrib.summary
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), summary.always_record_summaries():
        number = summary.scalar("number", 0.5, step=1)
    first = tf.summary.FileWriter(str(tmp_path), session=sess)
    sess.run(number)
    first.add_summary(tf.Summary(), 2)
    first.flush()
    assert [e.step for e in events(tmp_path)] == [0, 1, 2]
    first.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        first.add_summary(tf.Summary(), 3)
    first.reopen()
    first.add_summary(tf.Summary(), 4)
    first.close()
    assert [e.step for e in events(tmp_path)] == [0, 1, 2, 0, 4]
