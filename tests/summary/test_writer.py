"""Event files: their names, their content, and when events can be read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

import weft as tf
from weft.lib.summary.plugin_asset import PluginAsset, get_plugin_asset
from weft.storage.events import EventsWriter

ROOT = Path(__file__).parent.parent.parent


def one_number(tag: str = "loss", value: float = 0.5) -> tf.Summary:
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def events(logdir: Path, number: int = 0) -> list:
    files = sorted(logdir.glob("events.*"))
    return list(tf.train.summary_iterator(str(files[number])))


def kinds(logdir: Path, number: int = 0) -> list[str]:
    return [event.WhichOneof("what") for event in events(logdir, number)]


def test_the_file_is_named_and_begun_as_tensorflows(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path / "new" / "folder"), filename_suffix=".mine") as writer:
        (file,) = Path(writer.get_logdir()).iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.mine", file.name)
    (first,) = tf.train.summary_iterator(str(file))
    assert first.file_version == "brain.Event:2" and abs(first.wall_time - time.time()) < 60


def test_no_directory_is_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with tf.summary.FileWriter("") as writer:
        writer.add_summary(one_number(), 3)
    assert [event.step for event in events(tmp_path)] == [0, 3]


def test_a_step_without_a_summary(tmp_path: Path) -> None:
    with tf.Session() as session, tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(session.run(tf.no_op()), 7)
    assert [(event.step, event.WhichOneof("what")) for event in events(tmp_path)][1:] == [(7, None)]


def test_everything_that_can_be_added(tmp_path: Path) -> None:
    x = tf.constant(1.0, name="x")
    with tf.summary.FileWriter(str(tmp_path), x.graph) as writer:
        writer.add_summary(one_number(), 1)
        writer.add_summary(one_number(value=0.25).SerializeToString(), 2)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 3)
        writer.add_run_metadata(tf.RunMetadata(), "run", 4)
        with pytest.raises(ValueError, match="The provided tag was already used"):
            writer.add_run_metadata(tf.RunMetadata(), "run", 5)
        writer.add_event(tf.Event(step=6, wall_time=7.0))
    found = events(tmp_path)
    assert [event.WhichOneof("what") for event in found] == [
        "file_version", "graph_def", "meta_graph_def", "summary", "summary", "session_log",
        "tagged_run_metadata", None,
    ]  # fmt: skip
    assert [event.step for event in found[3:]] == [1, 2, 3, 4, 6]
    assert [event.summary.value[0].simple_value for event in found[3:5]] == [0.5, 0.25]
    graph = tf.GraphDef.FromString(found[1].graph_def)
    assert [node.name for node in graph.node] == ["x"]
    assert "_output_shapes" in graph.node[0].attr


def test_tensorboard_reads_it(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in range(25):
            writer.add_summary(one_number(value=step), step)
    (file,) = tmp_path.iterdir()
    read = [e for e in EventFileLoader(str(file)).Load() if e.HasField("summary")]
    assert [event.step for event in read] == list(range(25))


def test_metadata_is_written_once_for_each_tag(tmp_path: Path, sess: tf.Session) -> None:
    nodes = [tf.summary.text(name, tf.constant("x")) for name in "ab"]
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for node in (nodes[0], nodes[0], nodes[1]):
            writer.add_summary(sess.run(node))
    values = [event.summary.value[0] for event in events(tmp_path)[1:]]
    assert [value.HasField("metadata") for value in values] == [True, False, True]


def test_events_wait_for_a_flush(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path), max_queue=3, flush_secs=1000) as writer:
        writer.add_summary(one_number(), 0)
        assert len(events(tmp_path)) == 2  # the first is there at once
        writer.add_summary(one_number(), 1)
        assert len(events(tmp_path)) == 2
        writer.flush()
        assert len(events(tmp_path)) == 3


def test_events_do_not_wait_for_others(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path), max_queue=100, flush_secs=0.2) as writer:
        writer.add_summary(one_number(), 0)
        writer.add_summary(one_number(), 1)
        until = time.monotonic() + 10
        while len(events(tmp_path)) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(events(tmp_path)) == 3


def test_a_closed_writer_warns_and_can_be_opened_again(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(one_number(), 0)
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(one_number(), 1)
    writer.reopen()
    writer.add_summary(one_number(), 2)
    writer.close()
    # Within the same second, yet no file is lost.
    assert [e.step for n in (0, 1) for e in events(tmp_path, n)[1:]] == [0, 2]


def test_no_close_is_needed(tmp_path: Path) -> None:
    """Neither when a writer is forgotten nor when the program ends."""

    def forget() -> None:
        writer = tf.summary.FileWriter(str(tmp_path / "forgotten"), max_queue=100)
        for step in range(5):
            writer.add_summary(one_number(), step)

    forget()
    program = (
        "import sys, weft as tf\n"
        "writer = tf.summary.FileWriter(sys.argv[1], max_queue=100)\n"
        "for step in range(5): writer.add_summary(tf.Summary(), step)"
    )
    logdir = tmp_path / "ended"
    subprocess.run([sys.executable, "-c", program, logdir], check=True, cwd=ROOT)
    assert len(events(logdir)) == 6
    until = time.monotonic() + 5
    while len(events(tmp_path / "forgotten")) < 6 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(events(tmp_path / "forgotten")) == 6


def test_writers_of_a_session_share_a_file(tmp_path: Path, sess: tf.Session) -> None:
    first = tf.summary.FileWriter(str(tmp_path), session=sess)
    second = tf.summary.FileWriter(str(tmp_path), session=sess)
    first.add_summary(one_number(), 1)
    second.add_summary(one_number(), 2)
    second.close()
    assert len(os.listdir(tmp_path)) == 1
    assert [event.step for event in events(tmp_path)[1:]] == [1, 2]


def test_what_a_graph_may_be(tmp_path: Path) -> None:
    x = tf.constant(1.0)
    graph_def = x.graph.as_graph_def()
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_graph(graph_def)
        writer.add_graph(None, graph_def=x.graph)
        with pytest.raises(ValueError, match="Please pass only graph, or graph_def"):
            writer.add_graph(x.graph, graph_def=graph_def)
        with pytest.raises(TypeError, match="must be an instance of `Graph`"):
            writer.add_graph("graph")
        with pytest.raises(TypeError, match="meta_graph_def must be type MetaGraphDef"):
            writer.add_meta_graph(graph_def)
    assert kinds(tmp_path) == ["file_version", "graph_def", "graph_def"]


def test_plugin_assets_lie_beside_the_events(tmp_path: Path) -> None:
    class Notes(PluginAsset):
        plugin_name = "notes"

        def assets(self) -> dict[str, str]:
            return {"a.txt": "hello"}

    assert get_plugin_asset(Notes) is get_plugin_asset(Notes)
    with tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()):
        pass
    assert (tmp_path / "plugins" / "notes" / "a.txt").read_text() == "hello"


def test_the_cache_keeps_one_writer_for_each_folder(tmp_path: Path) -> None:
    first = tf.summary.FileWriterCache.get(str(tmp_path))
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is first
    tf.summary.FileWriterCache.clear()
    second = tf.summary.FileWriterCache.get(str(tmp_path))
    assert second is not first
    tf.summary.FileWriterCache.clear()


def test_events_writer_by_itself(tmp_path: Path) -> None:
    writer = EventsWriter(str(tmp_path / "events").encode())
    writer.WriteEvent(tf.Event(step=3))
    writer.Flush()
    assert Path(writer.FileName().decode()).exists()
    with pytest.raises(TypeError, match=r"Expected an event_pb2\.Event proto"):
        writer.WriteEvent("event")
    writer.Close()
    assert [event.step for event in events(tmp_path)] == [0, 3]
