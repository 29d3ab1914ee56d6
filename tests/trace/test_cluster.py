"""Recording a cluster by calls to its servers, and programs by their environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.cluster.guard.security import Credentials, Identity
from weft.cluster.server import Server
from weft.core import errors
from weft.traces import files
from weft.traces.cluster import TracedCluster, TracedTask, address_of, distinct

pytestmark = pytest.mark.timeout(240)
ROOT = Path(__file__).parent.parent.parent
Servers = Callable[..., dict[str, list[Server]]]


@pytest.fixture
def steps(servers: Servers) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A target, and a step of training on two tasks."""
    found = servers(ps=1, worker=1)
    with tf.device("/job:ps"):
        w = tf.get_variable("w", [100, 100])
    with tf.device("/job:worker"):
        x = tf.placeholder(tf.float32, [100, 100])
        loss = tf.reduce_sum(tf.matmul(x, w))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    target = found["worker"][0].target
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        feed = {x: np.ones((100, 100), np.float32)}
        yield target, lambda: session.run(train, feed)


def test_steps_of_a_cluster(steps: Any) -> None:
    target, step = steps
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            step()

    working = threading.Thread(target=work)
    working.start()
    cluster = TracedCluster(target)
    try:
        trace = cluster.record(steps=10, seconds=60.0)
    finally:
        over.set()
        working.join()
        cluster.close()
    kinds = {event.get("cat") for event in trace["traceEvents"]}
    assert {"step", "master", "worker", "send", "receive", "program", "flow"} <= kinds
    names = {event["name"] for event in trace["traceEvents"]}
    assert "waits for /job:ps/task:0 w/read:0" in names
    assert trace["weft"]["lines"]["w/read"][0] == __file__
    assert trace["weft"]["about"]["silent"] == {}


def test_clocks_of_one_machine_are_close(servers: Servers) -> None:
    task = TracedTask("", address_of(servers(a=1)["a"][0].target))
    try:
        assert abs(task.shift()) < 1.0
    finally:
        task.close()


def test_a_task_that_is_not_there_is_told_of(servers: Servers) -> None:
    found = servers(a=1, b=1)
    found["b"][0].stop()
    cluster = TracedCluster(found["a"][0].target)
    try:
        trace = cluster.record(seconds=0.1)
    finally:
        cluster.close()
    assert list(trace["weft"]["about"]["silent"]) == ["/job:b/replica:0/task:0"]


def test_only_those_with_a_token_may_record(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("secret\n")
    tokens.chmod(0o600)
    own = Credentials(token_file=str(tokens))
    server = Server({"a": ["localhost:0"]}, "a", 0, credentials=own)
    try:
        with pytest.raises(errors.UnauthenticatedError):
            TracedCluster(server.target)
        TracedCluster(server.target, Identity(own)).close()
    finally:
        server.stop()


@pytest.mark.parametrize("target", ["localhost:1", "grpc://localhost", "ftp://a:1"])
def test_targets(target: str) -> None:
    with pytest.raises(ValueError, match="is not of the form"):
        address_of(target)


def test_a_process_of_several_tasks_counts_once() -> None:
    one, more = ({"host": "h", "pid": 1, "events": events} for events in ([], [1]))
    assert distinct([one, more, {"host": "h", "pid": 2, "events": []}])[0] is more


# ---- the command ---------------------------------------------------------------------------------

PROGRAM = """
import sys, tensorflow as tf
x = tf.reduce_sum(tf.random_uniform([10, 10]), name="total")
with tf.Session() as session:
    for _ in range(int(sys.argv[1])):
        session.run(x)
sys.exit(int(sys.argv[2]))
"""


def weft(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "weft", *args], capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, **environment}, timeout=200,
    )  # fmt: skip


def test_a_program_is_traced_and_its_exit_code_kept(tmp_path: Path) -> None:
    program, output = tmp_path / "program.py", tmp_path / "trace.json.gz"
    program.write_text(PROGRAM)
    done = weft("trace", "--output", str(output), str(program), "5", "3")
    assert done.returncode == 3, done.stderr
    trace = files.read(str(output))
    found = [e for e in trace["traceEvents"] if e.get("cat") == "step"]
    assert [e["name"] for e in found] == ["Session.run total:0"] * 5
    assert trace["weft"]["lines"]["total"][:2] == [str(program), 3]
    assert trace["weft"]["about"]["title"].endswith("program.py 5 3")
    again = weft("trace", "--output", str(tmp_path / "again.json"), str(output))
    assert again.returncode == 0, again.stderr
    assert json.loads((tmp_path / "again.json").read_text())["traceEvents"] == trace["traceEvents"]


@pytest.mark.parametrize(("arguments", "some"), [((), True), (("--no-ops",), False)])
def test_operations_inside_of_programs(
    arguments: tuple[str, ...], some: bool, tmp_path: Path
) -> None:
    program, output = tmp_path / "program.py", tmp_path / "trace.json"
    program.write_text(PROGRAM.replace("[10, 10]", "[300, 300]"))
    done = weft("trace", *arguments, "--output", str(output), str(program), "400", "0")
    assert done.returncode == 0, done.stderr
    kinds = {event.get("cat") for event in files.read(str(output))["traceEvents"]}
    assert ("op" in kinds) is some


def test_processes_leave_recordings_also_when_they_are_ended(tmp_path: Path) -> None:
    program = (
        "import os, signal, weft as tf\n"
        "with tf.Session() as session:\n"
        "    session.run(tf.constant(1.0) + tf.random_uniform([]))\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    folder = tmp_path / "left"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, timeout=200,
        env={**os.environ, "WEFT_TRACE": str(folder)},
    )  # fmt: skip
    assert done.returncode == -15
    assert any(e.get("cat") == "step" for e in files.read(str(folder))["traceEvents"])


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such.json", "No such file"),
        ("grpc://localhost:1", "localhost:1"),
        ("http://localhost:1", "http://localhost:1"),
    ],
)
def test_what_cannot_be_traced(target: str, message: str, capsys: Any) -> None:
    from weft.cli.main import main

    assert main(["trace", "--output", os.devnull, "--seconds", "1", target]) == 2
    assert message in capsys.readouterr().err
