"""Cables that are cut and say nothing, machines that stand still: every step ends in time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster import namespaces
from tests.cluster.conftest import ROOT
from tests.cluster.namespaces import Network

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]
HEALTH = 2
# Silence for so long, an answer that does not come for as long again, and a slow machine.
BOUND = 2 * HEALTH + 12.0
PORT = 2222

# A client for questions: it runs one step at a time, and says what came of it and how long it took.
CLIENT = """
import json, sys, time
import weft as tf
target = sys.argv[1]
with tf.device("/job:a/task:1"):
    far = tf.Variable([1.0, 2.0], name="far")
    x = tf.placeholder(tf.float32, [None])
    big = tf.reduce_sum(x + tf.random_uniform([]))
    waits = tf.FIFOQueue(1, tf.float32).dequeue()
with tf.device("/job:a/task:2"):
    there = tf.identity(far * 2.0 + tf.random_uniform([]))
with tf.device("/job:a/task:0"):
    total, both = tf.reduce_sum(far), tf.reduce_sum(there)
sess = tf.Session(target)

def run(what):
    if what == "close":
        return sess.close()
    if what == "new":
        with tf.Session(target) as other:
            return other.run(total)
    if what == "big":
        import numpy
        return sess.run(big, {x: numpy.ones([1 << 23], "f")})
    return sess.run({"init": far.initializer, "far": total, "both": both, "waits": waits}[what])

for line in sys.stdin:
    start = time.monotonic()
    try:
        run(line.strip())
        result = "ok"
    except tf.errors.OpError as error:
        result = type(error).__name__
    print(json.dumps([result, time.monotonic() - start]), flush=True)
"""


class Client:
    """A client on a host of its own."""

    def __init__(self, prefix: list[str], target: str, environment: dict[str, str]) -> None:
        command = [*prefix, sys.executable, "-c", CLIENT, target]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT
        )

    def ask(self, what: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(what.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, seconds: float = 60.0) -> tuple[str, float]:
        """(error or "ok", after how many seconds)."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        assert ready, "no answer"
        result, took = json.loads(self.process.stdout.readline())
        return result, took

    def run(self, what: str) -> tuple[str, float]:
        self.ask(what)
        return self.answer()


class Cluster:
    """Three tasks on hosts 1 to 3, and a client of the first one on host 4, or on host 1."""

    def __init__(self, frames: bool, client_host: int) -> None:
        self.network = Network(4)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "WEFT_CHECK": "0",
            "WEFT_HEALTH": str(HEALTH), "WEFT_FRAMES": str(int(frames)), "WEFT_SHARED_MEMORY": "0",
        }  # fmt: skip
        spec = "a=" + ",".join(f"10.77.0.{n}:{PORT}" for n in (1, 2, 3))
        try:
            for task in range(3):
                self._serve(task, spec)
            prefix = self.network.hosts[client_host - 1].prefix
            self.client = Client(prefix, f"grpc://10.77.0.1:{PORT}", self.environment)
            self.processes.append(self.client.process)
            assert self.client.run("init")[0] == "ok"
            assert self.client.run("both")[0] == self.client.run("far")[0] == "ok"
        except BaseException:
            self.close()
            raise

    def _serve(self, task: int, spec: str) -> None:
        command = [*self.network.hosts[task].prefix, sys.executable, "-m", "weft", "server"]
        command += ["--insecure"]
        command += ["--cluster", spec, "--job", "a", "--task", str(task)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=self.environment, cwd=ROOT)
        self.processes.append(process)
        assert process.stdout is not None and b" at grpc://" in process.stdout.readline()

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        self.network.close()


@pytest.fixture
def cluster() -> Iterator[Callable[..., Cluster]]:
    made: list[Cluster] = []
    if why := namespaces.why_not():
        pytest.skip(f"no network namespaces: {why}")

    def make(frames: bool = True, client_host: int = 4) -> Cluster:
        made.append(Cluster(frames, client_host))
        return made[-1]

    yield make
    for each in made:
        each.close()


Make = Callable[..., Cluster]
by_frames_and_grpc = pytest.mark.parametrize("frames", [True, False], ids=["frames", "gRPC"])


def ends_in_time(outcome: tuple[Any, float]) -> None:
    result, seconds = outcome
    assert result in ("UnavailableError", "AbortedError")
    assert seconds < BOUND


@by_frames_and_grpc
def test_a_task_that_is_cut_off(cluster: Make, frames: bool) -> None:
    found = cluster(frames)
    found.client.ask("waits")  # a step that is under way
    time.sleep(0.5)
    found.network.cut(2)
    ends_in_time(found.client.answer())
    ends_in_time(found.client.run("far"))  # one that starts now
    found.network.mend(2)
    outcome = found.client.run("new")
    if outcome[0] != "ok":  # a connection that did not know yet that it had been cut
        ends_in_time(outcome)
        outcome = found.client.run("new")
    assert outcome[0] == "ok" and outcome[1] < BOUND
    assert found.client.run("close")[1] < BOUND


@by_frames_and_grpc
def test_a_cable_between_two_workers_that_the_master_does_not_need(
    cluster: Make, frames: bool
) -> None:
    found = cluster(frames)
    found.network.cut(2, 3)
    assert found.client.run("far")[0] == "ok"
    ends_in_time(found.client.run("both"))
    found.network.mend(2, 3)
    assert found.client.run("far")[0] == "ok"


@by_frames_and_grpc
def test_a_large_tensor_for_one_that_is_cut_off(cluster: Make, frames: bool) -> None:
    found = cluster(frames)
    assert found.client.run("big")[0] == "ok"
    found.network.cut(2)
    ends_in_time(found.client.run("big"))


@by_frames_and_grpc
def test_a_client_that_is_cut_off(cluster: Make, frames: bool) -> None:
    found = cluster(frames)
    found.client.ask("waits")
    time.sleep(0.5)
    found.network.cut(4)
    ends_in_time(found.client.answer())
    assert found.client.run("close")[1] < BOUND + 10


def test_a_slow_cable_is_no_cut_cable(cluster: Make) -> None:
    found = cluster()
    found.network.delay(0.2, 2)
    for _ in range(3):
        assert found.client.run("both")[0] == "ok"
    found.network.delay(0.0, 2)
    assert found.client.run("both")[0] == "ok"


def test_a_short_cut_ends_nothing(cluster: Make) -> None:
    found = cluster()
    found.network.cut(2)
    found.client.ask("both")
    time.sleep(0.5)
    found.network.mend(2)
    assert found.client.answer()[0] == "ok"
