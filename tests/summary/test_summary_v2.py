"""tf.compat.v2.summary: tensors of TensorBoard's plugins, in graphs and in eager execution."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

import weft as tf
from weft.client.eager import EagerExecution

summary = tf.compat.v2.summary


@pytest.fixture(autouse=True)
def no_step() -> Iterator[None]:
    yield
    summary.experimental.set_step(None)


def written(folder: Path) -> list[Any]:
    """(step, value) of every summary in the files of `folder`."""
    files = sorted(folder.glob("events.*"))
    events = [event for file in files for event in tf.train.summary_iterator(str(file))]
    return [(event.step, value) for event in events for value in event.summary.value]


def test_names_and_arguments_are_tensorflows() -> None:
    assert sorted(summary.__all__) == [
        "SummaryWriter", "audio", "create_file_writer", "create_noop_writer", "experimental",
        "flush", "histogram", "image", "record_if", "scalar", "text", "trace_export", "trace_off",
        "trace_on", "write",
    ]  # fmt: skip
    arguments = {
        "audio": "name data sample_rate step max_outputs encoding description",
        "create_file_writer": "logdir max_queue flush_millis filename_suffix name",
        "flush": "writer name",
        "histogram": "name data step buckets description",
        "image": "name data step max_outputs description",
        "record_if": "condition",
        "scalar": "name data step description",
        "text": "name data step description",
        "trace_export": "name step profiler_outdir",
        "trace_on": "graph profiler",
        "write": "tag tensor step metadata name",
        "experimental.get_step": "",
        "experimental.set_step": "step",
        "experimental.summary_scope": "name default_name values",
        "experimental.write_raw_pb": "tensor step name",
    }
    for path, names in arguments.items():
        function: Any = summary
        for part in path.split("."):
            function = getattr(function, part)
        assert " ".join(inspect.signature(function).parameters) == names, path


CASES: dict[str, tuple[dict[str, Any], str, Any]] = {
    "scalar": (dict(data=0.5), "scalars", np.float32(0.5)),
    "text": (dict(data=["a", "b"]), "text", [b"a", b"b"]),
    "histogram": (
        dict(data=[[0.0, 1.0, 1.0], [2.0, 4.0, 3.0]], buckets=2),
        "histograms",
        [[0.0, 2.0, 3.0], [2.0, 4.0, 3.0]],
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_values_in_a_graph(kind: str, tmp_path: Path, sess: tf.Session) -> None:
    arguments, plugin, value = CASES[kind]
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), tf.name_scope("outer"):
        made = getattr(summary, kind)("a name", step=7, description="words", **arguments)
    assert tf.summary.all_v2_summary_ops() == [made]
    sess.run(writer.init())
    assert sess.run(made)
    sess.run(writer.flush())
    ((step, found),) = written(tmp_path)
    assert (step, found.tag) == (7, "outer/a name")
    about = SummaryMetadata(summary_description="words")
    about.plugin_data.plugin_name = plugin
    assert found.metadata == about
    np.testing.assert_array_equal(tf.make_ndarray(found.tensor), value)


@pytest.mark.parametrize(
    "data, rows",
    [([], np.zeros([0, 3])), ([2.0, 2.0], [[1.5, 2.5, 2.0]])],
    ids=["nothing", "equal numbers"],
)
def test_histograms_of_few_numbers(data: Any, rows: Any, tmp_path: Path, sess: tf.Session) -> None:
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        made = summary.histogram("h", tf.constant(data, tf.float32), step=0)
    sess.run(writer.init())
    sess.run([made])
    sess.run(writer.close())
    ((_, found),) = written(tmp_path)
    np.testing.assert_array_equal(tf.make_ndarray(found.tensor), rows)


def test_images_and_sounds(tmp_path: Path, sess: tf.Session) -> None:
    writer = summary.create_file_writer(str(tmp_path))
    pixels = np.linspace(0, 1, 4 * 2 * 3 * 3).reshape(4, 2, 3, 3).astype(np.float32)
    waves = np.linspace(-1, 1, 2 * 8).reshape(2, 8, 1).astype(np.float32)
    with writer.as_default():
        made = [
            summary.image("image", pixels, step=1, max_outputs=2),
            summary.audio("audio", waves, 8000, step=1, max_outputs=1),
        ]
        with pytest.raises(ValueError, match="Unknown encoding: 'mp3'"):
            summary.audio("audio", waves, 8000, step=1, encoding="mp3")
    sess.run(writer.init())
    sess.run(made)
    sess.run(writer.close())
    values = {value.tag: value for _, value in written(tmp_path)}
    image = tf.make_ndarray(values["image"].tensor)
    assert image[:2].tolist() == [b"3", b"2"] and len(image) == 4
    shown = sess.run(tf.image.decode_png(image[2]))
    np.testing.assert_array_equal(shown, np.minimum(np.floor(pixels[0] * 255.5), 255))
    audio = tf.make_ndarray(values["audio"].tensor)
    assert audio.shape == (1, 2) and audio[0, 1] == b""
    sound, rate = sess.run(tf.audio.decode_wav(audio[0, 0]))
    assert rate == 8000
    np.testing.assert_allclose(sound, waves[0], atol=1e-4)
    assert values["audio"].metadata.plugin_data.content == b"\x10\x0b"


def test_conditions_and_steps(tmp_path: Path, sess: tf.Session) -> None:
    step = tf.Variable(0, dtype=tf.int64, use_resource=True)
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set via 'step' argument or"):
            summary.scalar("none", 1.0)
        summary.experimental.set_step(step)
        assert summary.experimental.get_step() is step
        with summary.record_if(lambda: tf.equal(step % 2, 0)):
            summary.scalar("even", 1.0)
        with summary.record_if(False):
            never = summary.scalar("never", 1.0)
        number = tf.Summary(value=[tf.Summary.Value(tag="raw", simple_value=2.0)])
        summary.experimental.write_raw_pb(number.SerializeToString())
    sess.run([step.initializer, writer.init()])
    for _ in range(3):
        sess.run(tf.summary.all_v2_summary_ops())
        sess.run(step.assign_add(1))
    assert not sess.run(never)
    sess.run(writer.flush())
    assert sorted((step, value.tag) for step, value in written(tmp_path)) == [
        (0, "even"), (0, "raw"), (1, "raw"), (2, "even"), (2, "raw"),
    ]  # fmt: skip


def test_nodes_have_tensorflows_names(tmp_path: Path) -> None:
    with summary.create_file_writer(str(tmp_path)).as_default():
        summary.write("a tag!", 1.0, step=0)
    creation = "Const", *(f"Const_{i}" for i in range(1, 5)), "add", "SummaryWriter"
    writing = (
        *("LogicalAnd/x", "LogicalAnd/y", "LogicalAnd", "Identity/input", "Identity"),
        *("step", "tag", "summary_metadata"),
    )
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        *(f"create_file_writer/{name}" for name in (*creation, "CreateSummaryFileWriter")),
        *(f"write_summary/{name}" for name in writing),
        "write_summary",
        "write_summary/Const",
        "FlushSummaryWriter",
    ]


def test_without_a_writer_nothing_is_written(sess: tf.Session) -> None:
    assert not sess.run(summary.scalar("nowhere", 1.0))
    writer = summary.create_noop_writer()
    with writer.as_default():
        assert not sess.run(summary.text("nowhere", "text"))
    assert isinstance(writer, summary.SummaryWriter)
    with pytest.raises(ValueError, match="logdir cannot be None"):
        summary.create_file_writer(None)


def test_eager_execution(tmp_path: Path) -> None:
    with EagerExecution().as_default():
        step = tf.Variable(3, dtype=tf.int64)
        writer = summary.create_file_writer(str(tmp_path), filename_suffix=".mine")

        @tf.function
        def train() -> tf.Tensor:
            with writer.as_default():
                return summary.scalar("in a function", 2.0, step=step)

        with writer.as_default():
            assert bool(summary.scalar("loss", tf.constant(1), step=step))
            assert not bool(_unrecorded(step))
        step.assign_add(1)
        assert bool(train())
        writer.close()
        writer.close()
        for use in (writer.set_as_default, writer.init):
            with pytest.raises(RuntimeError, match="SummaryWriter is already closed"):
                use()
        assert tf.summary.all_v2_summary_ops() is None
    (file,) = tmp_path.iterdir()
    assert file.name.endswith(".mine")
    found = [
        (step, value.tag, float(tf.make_ndarray(value.tensor))) for step, value in written(tmp_path)
    ]
    assert found == [(3, "loss", 1.0), (4, "in a function", 2.0)]


def _unrecorded(step: Any) -> Any:
    with summary.record_if(tf.constant(False)):
        return summary.scalar("unrecorded", 1.0, step=step)


def test_writers_of_a_folder_have_files_of_their_own(tmp_path: Path) -> None:
    with EagerExecution().as_default():
        for _ in range(2):
            summary.create_file_writer(str(tmp_path)).close()
    assert len(list(tmp_path.iterdir())) == 2
