"""Clusters whose tasks are processes, some of which die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import weft as tf
from tests.cluster.conftest import ROOT, Processes
from weft.core import flags

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(90)]
Start = Callable[..., Processes]
GONE = (tf.errors.UnavailableError, tf.errors.AbortedError)


def linear(ps: str, worker: str) -> tuple[tf.Variable, tf.Tensor, tf.Tensor, tf.Operation]:
    """A model with its variables on one task, computed on another: (w, x, loss, train)."""
    with tf.device(ps):
        w = tf.Variable(np.zeros([4, 1], np.float32), name="w")
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.device(worker):
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - tf.reduce_sum(x, 1, keepdims=True)))
    return w, x, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def test_training_with_parameter_servers(processes: Start, rng: np.random.Generator) -> None:
    cluster = processes(ps=1, worker=2)
    w, x, loss, train = linear("/job:ps/task:0", "/job:worker/task:1")
    batch = rng.normal(size=(16, 4))
    with tf.Session(cluster.target("worker")) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: batch})[0] for _ in range(40)]
        assert losses[-1] < 0.05 * losses[0]
        got = sess.run(w)
    with tf.Session(cluster.target("ps")) as other:
        np.testing.assert_array_equal(other.run(w), got)


def test_workers_that_train_at_the_same_time_lose_no_update(processes: Start) -> None:
    cluster = processes(ps=1, worker=2)
    with tf.device("/job:ps"):
        total = tf.Variable(np.zeros([1000], np.float32))
    updates = []
    for task in range(2):
        with tf.device(f"/job:worker/task:{task}"):
            one = tf.ones([1000]) * 1.0
        updates.append(total.assign_add(one, use_locking=True).op)
    sessions = [tf.Session(cluster.target("worker", task)) for task in range(2)]
    sessions[0].run(total.initializer)

    def train(task: int) -> None:
        for _ in range(50):
            sessions[task].run(updates[task])

    threads = [threading.Thread(target=train, args=(task,)) for task in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sessions[1].run(total).tolist() == [100.0] * 1000
    for sess in sessions:
        sess.close()


def test_a_task_that_dies_ends_the_step(processes: Start) -> None:
    cluster = processes(ps=2, worker=1)
    with tf.device("/job:ps/task:1"):
        waits = tf.FIFOQueue(1, tf.float32).dequeue()
    with tf.device("/job:worker"):
        result = waits * 2.0
    with tf.Session(cluster.target("worker")) as sess:
        sess.run(tf.constant(1))
        threading.Timer(0.5, cluster.kill, ("ps", 1)).start()
        start = time.monotonic()
        with pytest.raises(GONE):
            sess.run(result)
        assert time.monotonic() - start < 10
        with pytest.raises(GONE):
            sess.run(result)
        assert sess.run(tf.constant(3)) == 3  # what does not need it goes on
    assert time.monotonic() - start < 15


def test_a_task_that_comes_back_is_another(processes: Start) -> None:
    cluster = processes(ps=1, worker=1)
    _, x, _, train = linear("/job:ps", "/job:worker")
    batch = np.eye(4)
    with tf.Session(cluster.target("worker")) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {x: batch})
        cluster.kill("ps")
        cluster.restart("ps")
        with pytest.raises(GONE):
            sess.run(train, {x: batch})
    with tf.Session(cluster.target("worker")) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
            sess.run(train, {x: batch})
        sess.run(tf.global_variables_initializer())
        sess.run(train, {x: batch})


def test_a_master_that_dies(processes: Start) -> None:
    cluster = processes(worker=1)
    waits = tf.FIFOQueue(1, tf.float32).dequeue()
    sess = tf.Session(cluster.target("worker"))
    sess.run(tf.constant(1))
    threading.Timer(0.5, cluster.kill, ("worker", 0)).start()
    start = time.monotonic()
    with pytest.raises(tf.errors.UnavailableError):
        sess.run(waits)
    sess.close()
    assert time.monotonic() - start < 10


def test_a_task_that_stands_still_is_given_up(processes: Start) -> None:
    os.environ["WEFT_HEALTH"] = "1"
    try:
        cluster = processes(ps=1, worker=1)
    finally:
        del os.environ["WEFT_HEALTH"]
    with tf.device("/job:ps"):
        far = tf.Variable(1.0)
    with tf.device("/job:worker"):
        near = far * 2.0
    with tf.Session(cluster.target("worker")) as sess:
        sess.run(far.initializer)
        sess.run(near)
        cluster.processes["ps", 0].send_signal(signal.SIGSTOP)
        start = time.monotonic()
        with pytest.raises(tf.errors.UnavailableError, match="does not answer"):
            sess.run(near)
        assert time.monotonic() - start < 15


def test_a_master_that_stands_still_is_given_up(processes: Start) -> None:
    cluster = processes(worker=1)
    sess = tf.Session(cluster.target("worker"))
    value = tf.constant(1) + 1
    assert sess.run(value) == 2
    cluster.processes["worker", 0].send_signal(signal.SIGSTOP)
    start = time.monotonic()
    with flags.HEALTH.override(1), pytest.raises(tf.errors.UnavailableError, match="not answer"):
        sess.run(value)
    assert time.monotonic() - start < 15
    cluster.kill("worker")
    sess.close()


CLIENT = """
import sys
import weft as tf
sess = tf.Session(sys.argv[1])
queue = tf.FIFOQueue(1, tf.int32)
sess.run(tf.constant(1))
sys.stdout.write("up\\n")
sys.stdout.flush()
sess.run(queue.dequeue())
"""


def test_a_client_that_dies_leaves_no_session(server: object) -> None:
    command = [sys.executable, "-c", CLIENT, server.target]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert client.stdout is not None and client.stdout.readline() == b"up\n"
    assert len(server.master._sessions) == 1
    client.kill()
    client.wait()
    client.stdout.close()
    until = time.monotonic() + 10
    while server.master._sessions or len(server.worker.steps) or len(server.worker._sessions) > 1:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("frames", ["1", "0"])
def test_a_tensor_of_more_than_two_gigabytes(
    processes: Start, monkeypatch: pytest.MonkeyPatch, frames: str
) -> None:
    monkeypatch.setenv(flags.FRAMES.name, frames)
    cluster = processes(ps=1, worker=1)
    rows, width = 2100, 1 << 18
    with tf.device("/job:ps/task:0"):
        table = tf.get_variable("table", [rows, width], initializer=tf.ones_initializer())
        double = tf.assign(table, table * 2.0).op
    with tf.device("/job:worker/task:0"):
        ends = tf.identity(table)[:: rows - 1, :: width - 1] + 1.0
    with (
        flags.FRAMES.override(frames == "1"),
        tf.Session(cluster.target("worker")) as sess,
    ):
        sess.run(table.initializer)
        sess.run(double)
        np.testing.assert_array_equal(sess.run(ends), np.full([2, 2], 3.0))
        fetched = sess.run(table)
        assert fetched.nbytes > 2**31 and (fetched[:: rows - 1] == 2.0).all()
