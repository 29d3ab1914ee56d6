"""Watched steps of sessions on servers: each task publishes what it has run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.cluster.conftest import servers as servers
from tests.debug.test_prompt import Terminal, home, terminal
from tests.debug.test_servers import RECEIVED
from tests.debug.test_servers import server as server
from weft.lib import debug
from weft.storage.confinement import NOWHERE, confined

assert Terminal and home and terminal  # fixtures
pytestmark = pytest.mark.timeout(240)
Servers = Callable[..., Any]


def model() -> tuple[Any, Any]:
    """A product whose one factor is on another task."""
    with tf.device("/job:ps"):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    with tf.device("/job:worker"):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.multiply(x, w + 1.0, name="y")
    return x, y


def dumps(root: Path) -> list[debug.DebugDumpDir]:
    return [debug.DebugDumpDir(str(each)) for each in sorted(root.glob("run_*"))]


def test_every_task_dumps_its_part(servers: Servers, tmp_path: Path) -> None:
    target = servers(ps=1, worker=1)["worker"][0].target
    x, y = model()
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        wrapped = debug.DumpingDebugWrapperSession(session, str(tmp_path))
        for number in (1.0, 2.0):
            np.testing.assert_array_equal(wrapped.run(y, {x: [number, 3.0]}), [number * 2, 6.0])
    first, second = dumps(tmp_path)
    assert first.devices() == [
        "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"
    ]  # fmt: skip
    assert {"w", "w/read", "add/y", "_recv_x_0", "y"} <= set(first.nodes())
    np.testing.assert_array_equal(second.get_tensors("y", 0, "DebugIdentity"), [[4.0, 6.0]])
    np.testing.assert_array_equal(second.get_tensors("w/read", 0, "DebugIdentity"), [[1.0, 1.0]])
    assert first.core_metadata.output_names == ["y:0"]
    assert first.core_metadata.input_names == ["x:0"]
    assert [d.core_metadata.session_run_index for d in (first, second)] == [0, 1]


def test_loops(servers: Servers, tmp_path: Path) -> None:
    target = servers(worker=1)["worker"][0].target
    total = tf.while_loop(lambda i: i < 4, lambda i: tf.add(i, 1, name="next"), [0])
    with tf.Session(target) as session:
        wrapped = debug.DumpingDebugWrapperSession(session, str(tmp_path))
        assert wrapped.run(total) == 4
    (dump,) = dumps(tmp_path)
    assert [int(value) for value in dump.get_tensors("while/next", 0, "DebugIdentity")] == [
        1, 2, 3, 4
    ]  # fmt: skip


def test_the_prompt(servers: Servers, terminal: Terminal) -> None:
    target = servers(ps=1, worker=1)["worker"][0].target
    x, y = model()
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        wrapped = debug.LocalCLIDebugWrapperSession(session, ui_type="readline")
        terminal.type("run", "pt y:0", "ni w", "run")
        np.testing.assert_array_equal(wrapped.run(y, {x: [1.0, 3.0]}), [2.0, 6.0])
    told = "".join(terminal.shown)
    assert "array([2., 6.], dtype=float32)" in told
    assert "Device: /job:ps/replica:0/task:0/device:CPU:0" in told


def test_tensors_are_sent_by_the_tasks(servers: Servers, server: Any) -> None:
    target = servers(ps=1, worker=1)["worker"][0].target
    x, y = model()
    hook = debug.GrpcDebugHook([f"localhost:{server.port}"])
    with tf.train.MonitoredTrainingSession(target, hooks=[hook]) as session:
        session.run(y, {x: [1.0, 2.0]})
    np.testing.assert_array_equal(RECEIVED["values"]["y:0:DebugIdentity"], [2.0, 4.0])
    np.testing.assert_array_equal(RECEIVED["values"]["w/read:0:DebugIdentity"], [1.0, 1.0])


def test_a_step_that_fails_leaves_what_it_had(servers: Servers, tmp_path: Path) -> None:
    target = servers(worker=1)["worker"][0].target
    x = tf.placeholder(tf.float32, [2], name="x")
    fine = tf.multiply(x, 2.0, name="fine")
    wrong = tf.check_numerics(tf.log(fine), "no number")
    with tf.Session(target) as session:
        wrapped = debug.DumpingDebugWrapperSession(session, str(tmp_path))
        error = wrapped.run(wrong, {x: [-1.0, 1.0]})
        assert isinstance(error, tf.errors.InvalidArgumentError)
        assert session.run(fine, {x: [1.0, 1.0]}).tolist() == [2.0, 2.0]  # the session goes on
    (dump,) = dumps(tmp_path)
    np.testing.assert_array_equal(dump.get_tensors("fine", 0, "DebugIdentity"), [[-2.0, 2.0]])


@pytest.mark.parametrize("url", ["file://{}", "grpc://localhost:1"])
def test_confined_servers_publish_nothing_outside(
    url: str, servers: Servers, tmp_path: Path
) -> None:
    target = servers(worker=1)["worker"][0].target
    y = tf.add(tf.constant(1.0), 2.0)
    options = tf.RunOptions()
    debug.watch_graph(options, tf.get_default_graph(), debug_urls=url.format(tmp_path))
    with tf.Session(target) as session, confined(NOWHERE):
        with pytest.raises(tf.errors.PermissionDeniedError):
            session.run(y, options=options)
    assert list(tmp_path.iterdir()) == []
