"""TensorFlow's client on our servers, our client on TensorFlow's, and clusters of both."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.cluster.conftest import ROOT, cluster_of
from weft.cluster.server import Server

HERE = Path(__file__).parent
TENSORFLOW = ROOT / ".venv-tf" / "bin" / "python"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.skipif(not TENSORFLOW.exists(), reason="no .venv-tf: there is no TensorFlow"),
]


@pytest.fixture
def tensorflow_server() -> Iterator[Callable[..., None]]:
    """Starts a task of a cluster as a server of TensorFlow's."""
    started: list[subprocess.Popen[bytes]] = []

    def start(spec: dict[str, list[str]], job: str, task: int = 0) -> None:
        command = [str(TENSORFLOW), str(HERE / "tensorflow_server.py"), json.dumps(spec)]
        process = subprocess.Popen([*command, job, str(task)], stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None and process.stdout.readline().startswith(b"grpc://")

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_tensorflow_client_on_a_weft_server(server: Server) -> None:
    command = [str(TENSORFLOW), str(HERE / "tensorflow_client.py"), server.target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert not server.master._sessions and len(server.worker.steps) == 0


def test_a_weft_client_on_a_tensorflow_server(tensorflow_server: Callable[..., None]) -> None:
    spec = cluster_of(local=1)
    tensorflow_server(spec, "local")
    v, x = tf.Variable([1.0, 2.0]), tf.placeholder(tf.float32, [None])
    loss = tf.reduce_sum(tf.square(v * x - 1.0))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    _, power = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, tf.ones([2])])
    slope = tf.gradients(power, x)[0]
    bad, text = tf.reshape(x, [3, 3], name="bad"), tf.placeholder(tf.string)
    joined, small = tf.string_join([text, "!"]), tf.placeholder(tf.quint8)
    with tf.Session(f"grpc://{spec['local'][0]}") as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: [1.0, 2.0]})[0] for _ in range(3)]
        np.testing.assert_allclose(losses, [9.0, 7.84, 6.762489], rtol=1e-5)
        assert sess.run(slope, {x: [1.0, 2.0]}).tolist() == [3.0, 12.0]
        assert sess.run(joined, {text: ["a", "é"]}).tolist() == [b"a!", "é!".encode()]
        assert sess.run(tf.identity(small), {small: [1, 2]}).tolist() == [1, 2]
        both = sess.run([text, joined], {text: ["a"]})  # a feed that is fetched
        assert [v.tolist() for v in both] == [[b"a"], [b"a!"]]
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            sess.run(bad, {x: [1.0]})
        assert info.value.op is bad.op
        handle = sess.partial_run_setup([loss], [x])
        assert sess.partial_run(handle, loss, {x: [0.0, 0.0]}) == 2.0
        assert [d.name for d in sess.list_devices()] == ["/job:local/replica:0/task:0/device:CPU:0"]


@pytest.mark.parametrize("master", ["worker", "ps"])
def test_a_cluster_of_both(tensorflow_server: Callable[..., None], master: str) -> None:
    """Variables on TensorFlow's server, computing on ours; either of them is the master."""
    spec = cluster_of(ps=1, worker=1)
    tensorflow_server(spec, "ps")
    worker = Server(spec, "worker", 0)
    try:
        with tf.device("/job:ps"):
            v = tf.Variable([1.0, 2.0])
            r = tf.get_variable("r", [2], initializer=tf.ones_initializer(), use_resource=True)
        x = tf.placeholder(tf.float32, [None])
        with tf.device("/job:worker"):
            loss = tf.reduce_sum(tf.square(v * x - r))
            _, power = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * r), [0, v])
            slope = tf.gradients(power, v)[0]
            chosen = tf.cond(loss > 0, lambda: tf.identity(v) + 1.0, lambda: v - 1.0)
        with tf.device("/job:ps"):
            doubled = chosen * 2.0
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.Session(f"grpc://{spec[master][0]}") as sess:
            sess.run(tf.global_variables_initializer())
            assert sess.run(slope).tolist() == [1.0, 1.0]
            assert sess.run(doubled, {x: [3.0, 3.0]}).tolist() == [4.0, 6.0]
            losses = [sess.run([loss, train], {x: [1.0, 2.0]})[0] for _ in range(3)]
        np.testing.assert_allclose(losses, [9.0, 7.29, 5.765942], rtol=1e-5)
    finally:
        worker.stop()


def test_a_loop_over_servers_of_both(tensorflow_server: Callable[..., None]) -> None:
    spec = cluster_of(ps=1, worker=1)
    tensorflow_server(spec, "ps")
    worker = Server(spec, "worker", 0)

    def body(i: tf.Tensor, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.device("/job:ps"):
            b = a * 2.0
        with tf.device("/job:worker"):
            return i + 1, b + 1.0

    try:
        with tf.device("/job:worker"):
            start = tf.placeholder(tf.float32, [])
            _, end = tf.while_loop(lambda i, a: i < 4, body, [0, start])
        with tf.Session(worker.target) as sess:
            assert sess.run(end, {start: 1.0}) == 31.0
    finally:
        worker.stop()


@pytest.mark.parametrize("theirs", ["ps", "worker"])
def test_the_gradient_of_a_loop_over_servers_of_both(
    tensorflow_server: Callable[..., None], theirs: str
) -> None:
    """What the iterations keep for the way back is on both; neither may take more than there is."""
    spec = cluster_of(ps=1, worker=1)
    tensorflow_server(spec, theirs)
    ours = Server(spec, "worker" if theirs == "ps" else "ps", 0)

    def body(i: tf.Tensor, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.device("/job:ps"):
            b = a * w
        with tf.device("/job:worker"):
            return i + 1, b * a

    try:
        with tf.device("/job:worker"):
            start, w = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
            _, end = tf.while_loop(lambda i, a: i < 3, body, [0, start])
            slopes = tf.gradients(end, [start, w])
        with tf.Session(ours.target) as sess:
            found = sess.run([end, *slopes], {start: 1.5, w: 0.5})
        np.testing.assert_allclose(found, [0.20022583, 1.0678711, 2.8031616], rtol=1e-6)
    finally:
        ours.stop()
