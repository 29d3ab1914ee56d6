"""Profiles for TensorBoard's profile plugin: what is in them, and that the plugin shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.summary import profile, traces
from weft.protos.xplane import XSpace
from weft.runtime.recording.control import CONTROL
from weft.storage.events import summary_iterator

experimental = tf.profiler.experimental


@pytest.fixture(autouse=True)
def nothing_is_left_on() -> Iterator[None]:
    yield
    traces.trace_off()
    assert not profile._State.is_on


def train(sess: tf.Session, steps: int) -> None:
    x = tf.placeholder(tf.float32, [64, 64])
    w = tf.get_variable("w", [64, 64])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w, name="product")))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(step, {x: np.ones((64, 64))})
    profile.start()
    for _ in range(steps):
        sess.run(step, {x: np.ones((64, 64))})


def planes(data: bytes) -> dict[str, Any]:
    return {plane.name: plane for plane in XSpace.FromString(data).planes}


def names(plane: Any) -> dict[str, list[str]]:
    """Line -> names of its events."""
    known = {entry.key: entry.value.name for entry in plane.event_metadata}
    return {line.name: [known[event.metadata_id] for event in line.events] for line in plane.lines}


def written(folder: Path) -> list[Path]:
    return sorted(folder.glob("plugins/profile/*/*.xplane.pb"))


def test_steps_and_operations_by_node(sess: tf.Session) -> None:
    train(sess, 4)
    host = planes(profile.stop())["/host:CPU"]
    found = names(host)
    assert found["weft MainThread"].count("Session.run GradientDescent") == 4
    operations = [name for line in found.values() for name in line]
    assert operations.count("product:MatMul") == 4
    assert "gradients/product_grad/MatMul_1:MatMul" in operations
    stats = {entry.key: entry.value.name for entry in host.stat_metadata}
    (main,) = (line for line in host.lines if line.name == "weft MainThread")
    numbers = [
        stat.int64_value
        for event in main.events
        for stat in event.stats
        if stats[stat.metadata_id] == "step_num"
    ]
    assert numbers == [1, 2, 3, 4]


def test_rows_of_weft_and_of_xla_are_on_one_axis(sess: tf.Session) -> None:
    train(sess, 2)
    host = planes(profile.stop())["/host:CPU"]
    known = {entry.key: entry.value.name for entry in host.event_metadata}

    def spans(prefix: str) -> list[tuple[int, int]]:
        return [
            (at, at + event.duration_ps // 1000)
            for line in host.lines
            for event in line.events
            if known[event.metadata_id].startswith(prefix)
            for at in [line.timestamp_ns + event.offset_ps // 1000]
        ]

    steps, calls = spans("Session.run"), spans("PjitFunction")
    assert calls
    for start, end in calls:  # within, but for the rounding of two clocks
        assert any(first - 1e6 < start and end < last + 1e6 for first, last in steps)


def test_what_a_program_names_itself(sess: tf.Session, tmp_path: Path) -> None:
    with experimental.Profile(str(tmp_path)):
        with experimental.Trace("epoch", step_num=7) as trace:
            trace.set_metadata(batch=3)
            sess.run(tf.constant(1.0) + 2.0)
    (file,) = written(tmp_path)
    assert "epoch" in names(planes(file.read_bytes())["/host:CPU"])["weft MainThread"]
    assert [each.name.endswith(".profile-empty") for each in tmp_path.glob("events*")] == [True]


def test_two_profiles_of_one_second(tmp_path: Path) -> None:
    for _ in range(2):
        experimental.start(str(tmp_path))
        experimental.stop()
    experimental.start(str(tmp_path))
    experimental.stop(save=False)
    assert len(written(tmp_path)) == 2
    assert len(list(tmp_path.glob("events*"))) == 1


def test_one_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(profile.ProfilerNotRunningError, match="No profiler is running"):
        profile.stop()
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        experimental.stop()
    profile.start()
    with pytest.raises(profile.ProfilerAlreadyRunningError, match="Another profiler is running"):
        profile.start()
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        experimental.start(str(tmp_path))
    profile.stop()


def test_a_trace_of_weft_goes_on(sess: tf.Session) -> None:
    CONTROL.start(operations=False)
    profile.start()
    sess.run(tf.constant(1.0) + 2.0)
    assert profile.stop() == b""
    assert [event[0] for event in CONTROL.stop()["events"]].count("step") == 1


def test_keras_profiles_its_second_batch(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    callback = tf.keras.callbacks.TensorBoard(str(tmp_path))
    model.fit(np.ones((8, 3)), np.ones((8, 2)), 2, 1, verbose=0, callbacks=[callback])
    tf.keras.backend.clear_session()
    (file,) = written(tmp_path)
    steps = names(planes(file.read_bytes())["/host:CPU"])["weft MainThread"]
    assert sum(name.startswith("Session.run") for name in steps) == 1


EAGER = """
import sys, weft as tf
tf.enable_eager_execution()
summary = tf.compat.v2.summary

@tf.function
def f(x):
    return tf.matmul(x, x, name="product")

writer = summary.create_file_writer(sys.argv[1])
for profiler in (False, True):
    summary.trace_on(graph=True, profiler=profiler)
    f(tf.ones([2, 2]))
    with writer.as_default():
        summary.trace_export("traced", step=3, profiler_outdir=sys.argv[1])
writer.flush()
try:
    summary.trace_export("traced", step=3)
except ValueError as error:
    print(error)
"""


def test_traces_of_functions(tmp_path: Path) -> None:
    command = [sys.executable, "-c", EAGER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Must enable trace before export."
    assert len(written(tmp_path)) == 1
    (file,) = tmp_path.glob("*.v2")
    values = [v for event in summary_iterator(str(file)) for v in event.summary.value]
    kinds = [value.metadata.plugin_data.plugin_name for value in values]
    assert kinds == ["graph_run_metadata_graph", "graph_run_metadata"]
    metadata = tf.RunMetadata.FromString(values[0].tensor.string_val[0])
    (function,) = metadata.function_graphs
    assert "product" in [node.name for node in function.pre_optimization_graph.node]


def test_in_graph_mode_there_are_warnings(caplog: Any) -> None:
    tf.compat.v2.summary.trace_on()
    tf.compat.v2.summary.trace_export("traced")
    assert [record.message for record in caplog.records] == [
        "Must enable trace in eager mode.", "Can only export trace while executing eagerly."
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_the_plugin_shows_it(sess: tf.Session, tmp_path: Path) -> None:
    convert = pytest.importorskip("xprof.convert.raw_to_tool_data", reason="xprof is not installed")
    train(sess, 4)
    profile.save(str(tmp_path), profile.stop())
    files = list(map(str, written(tmp_path)))
    tools = convert.xspace_to_tool_names(files)
    assert {"trace_viewer@", "overview_page", "framework_op_stats"} <= set(tools)
    data, _ = convert.xspace_to_tool_data(files, "framework_op_stats", {"use_saved_result": False})
    rows = [[cell["v"] for cell in row["c"]] for row in json.loads(data)[0]["rows"]]
    assert ["MatMul", "product", 4.0] in [row[2:5] for row in rows]
