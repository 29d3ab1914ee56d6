"""Steps over several tasks. All of them are in this process here, and talk over gRPC."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.cluster.server import Server
from weft.core import flags
from weft.passes.place.cost import CostModel

pytestmark = pytest.mark.timeout(60)
Servers = Callable[..., dict[str, list[Server]]]


def test_parameters_there_training_here(servers: Servers) -> None:
    found = servers(ps=2, worker=1)
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    assert w.device == "/job:ps/task:0" and b.device == "/job:ps/task:1"
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/job:worker"):
        loss = tf.square(tf.reduce_sum(w * x) + b - 5.0)
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(30):
            sess.run(train, {x: [1.0, 2.0]})
        assert sess.run(loss, {x: [1.0, 2.0]}) < 1e-3
    with tf.Session(found["ps"][0].target) as other:
        assert other.run(tf.reduce_sum(w) + b) == pytest.approx(10 / 3, abs=0.01)


def test_a_conditional_over_two_tasks(servers: Servers) -> None:
    """Each side uses, at once or later, what the other task gives out for that side alone."""
    found = servers(ps=1, worker=1)
    with tf.device("/job:ps"):
        v = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32, [])
    with tf.device("/job:worker"):
        chosen = tf.cond(x > 0, lambda: tf.identity(v) + 1.0, lambda: v - 1.0)
        both = tf.cond(x > 0, lambda: tf.identity(v) + 1.0, lambda: tf.identity(v) - 1.0)
    with tf.device("/job:ps"):
        doubled = (chosen + both) * 2.0
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(v.initializer)
        assert sess.run(doubled, {x: 3.0}).tolist() == [8.0, 12.0]
        assert sess.run(doubled, {x: -3.0}).tolist() == [0.0, 4.0]
        assert sess.run([chosen, both], {x: 3.0})[0].tolist() == [2.0, 3.0]


def test_a_loop_over_two_tasks(servers: Servers) -> None:
    found = servers(a=2)

    def body(i: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.device("/job:a/task:1"):
            y = x * 2.0
        with tf.device("/job:a/task:0"):
            return i + 1, y + 1.0

    with tf.device("/job:a/task:0"):
        start = tf.placeholder(tf.float32, [])
        _, end = tf.while_loop(lambda i, x: i < 4, body, [0, start])
        slope = tf.gradients(end, start)[0]
    with tf.Session(found["a"][0].target) as sess:
        assert sess.run([end, slope], {start: 1.0}) == [31.0, 16.0]


def test_a_branch_that_is_not_taken_on_another_task(servers: Servers) -> None:
    found = servers(a=2)
    x = tf.placeholder(tf.float32, [])
    with tf.device("/job:a/task:0"):
        chosen = tf.cond(x > 0, lambda: on_other(x), lambda: x - 1.0)

    with tf.Session(found["a"][0].target) as sess:
        assert sess.run(chosen, {x: 2.0}) == 200.0
        assert sess.run(chosen, {x: -2.0}) == -3.0


def on_other(x: tf.Tensor) -> tf.Tensor:
    with tf.device("/job:a/task:1"):
        return x * 100.0


def test_strings_and_empty_tensors_cross_over(servers: Servers) -> None:
    found = servers(a=2)
    text = tf.placeholder(tf.string)
    with tf.device("/job:a/task:1"):
        joined = tf.string_join([text, "!"])
        nothing = tf.boolean_mask(tf.range(3), [False] * 3)
    with tf.device("/job:a/task:0"):
        again, count = tf.string_join([joined, "?"]), tf.size(nothing + 1)
    with tf.Session(found["a"][0].target) as sess:
        values = sess.run([again, count], {text: [b"\xff", b""]})
        assert values[0].tolist() == [b"\xff!?", b"!?"] and values[1] == 0


def test_a_queue_on_one_task_is_fed_by_another(servers: Servers) -> None:
    found = servers(a=2)
    with tf.device("/job:a/task:1"):
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="q")
        put, get = queue.enqueue(tf.constant(4)), queue.dequeue_many(2)
    got: list[list[int]] = []
    with tf.Session(found["a"][0].target) as one, tf.Session(found["a"][1].target) as two:
        thread = threading.Thread(target=lambda: got.append(one.run(get).tolist()))
        thread.start()
        two.run(put)
        two.run(put)
        thread.join(10)
    assert got == [[4, 4]]


def test_an_error_on_one_task_ends_the_step_on_all(servers: Servers) -> None:
    found = servers(a=2)
    x = tf.placeholder(tf.float32, [None])
    with tf.device("/job:a/task:1"):
        bad = tf.check_numerics(x, "not a number", name="bad")
        queue = tf.FIFOQueue(3, tf.float32)
    with tf.device("/job:a/task:0"):
        waits = tf.FIFOQueue(3, tf.float32).dequeue()
        both = bad * waits
    with tf.Session(found["a"][0].target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a number") as info:
            sess.run(both, {x: [np.nan]})
        assert info.value.op is bad.op
        sess.run(queue.enqueue(1.0))
        assert sess.run(queue.dequeue()) == 1.0
    for server in found["a"]:
        assert len(server.worker.steps) == 0


def test_an_error_in_sending_names_what_is_sent(servers: Servers) -> None:
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", [2], use_resource=False)
    with tf.device("/job:worker/task:0"):
        got = tf.identity(v.op.outputs[0])
    with tf.Session(servers(ps=1, worker=1)["worker"][0].target) as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"node v \(defined") as caught:
            session.run(got)
        assert caught.value.op is v.op


def test_nothing_is_left_of_steps_and_sessions(servers: Servers) -> None:
    found = servers(a=2)
    with tf.device("/job:a/task:1"):
        v = tf.Variable([1.0, 2.0])
    with tf.device("/job:a/task:0"):
        total = tf.reduce_sum(v * 2.0)
    with tf.Session(found["a"][0].target) as sess:
        sess.run(v.initializer)
        for _ in range(5):
            assert sess.run(total) == 6.0
        handle = sess._runner._handle
        assert handle in found["a"][1].worker._sessions
    for server in found["a"]:
        _soon(lambda server=server: len(server.worker.steps) == 0)
        _soon(lambda server=server: handle not in server.worker._sessions)


def _soon(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    import time

    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_partial_runs_over_two_tasks(servers: Servers) -> None:
    found = servers(a=2)
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with tf.device("/job:a/task:1"):
        double = a * 2
    with tf.device("/job:a/task:0"):
        total = double + b
    with tf.Session(found["a"][0].target) as sess:
        handle = sess.partial_run_setup([double, total], [a, b])
        assert sess.partial_run(handle, double, {a: 3.0}) == 6.0
        assert sess.partial_run(handle, total, {b: 1.0}) == 7.0


def test_filters_leave_tasks_out(servers: Servers) -> None:
    found = servers(ps=1, worker=2)
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    with tf.Session(found["worker"][0].target, config=config) as sess:
        sess.run(tf.constant(1))
        assert [d.name.split("/device")[0] for d in sess.list_devices()] == [
            "/job:worker/replica:0/task:0",
            "/job:ps/replica:0/task:0",
        ]
        with tf.device("/job:worker/task:1"), pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.constant(1) + 1)


def test_what_nothing_ties_down_is_in_the_first_task(servers: Servers) -> None:
    """The first by name, as in TensorFlow, so that all sessions of a cluster agree on it."""
    found = servers(ps=1, worker=2)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    total = tf.reduce_sum(tf.random_uniform([100, 100])) * 0.0
    for task in (*found["worker"], *found["ps"]):
        metadata = tf.RunMetadata()
        with tf.Session(task.target) as sess:
            assert sess.run(total, options=options, run_metadata=metadata) == 0.0
        assert [d.device for d in metadata.step_stats.dev_stats] == [
            "/job:ps/replica:0/task:0/device:CPU:0"
        ]


def test_a_traced_step_shows_all_tasks(servers: Servers) -> None:
    found = servers(a=2)
    with tf.device("/job:a/task:1"):
        far = tf.random_uniform([3])
    with tf.device("/job:a/task:0"):
        near = far + 1.0
    options, metadata = tf.RunOptions(trace_level=3), tf.RunMetadata()
    with tf.Session(found["a"][0].target) as sess:
        sess.run(near, options=options, run_metadata=metadata)
    assert len({d.device for d in metadata.step_stats.dev_stats}) == 2


def test_costs_are_measured_told_and_kept(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "costs"
    monkeypatch.setattr(flags.COSTS, "value", str(kept))
    with tf.device("/job:a/task:1"):
        far = tf.random_uniform([3], name="far")
    with tf.device("/job:a/task:0"):
        near = tf.add(far, 1.0, name="near")
    options, metadata = tf.RunOptions(trace_level=3), tf.RunMetadata()
    with tf.Session(servers(a=2)["a"][0].target) as sess:
        sess.run(near, options=options, run_metadata=metadata)
    assert {"near", "far/RandomUniform"} <= {node.name for node in metadata.cost_graph.node}
    assert CostModel.load(str(kept)).measured("near", "/device:CPU:0") is not None


def test_filters_that_cannot_be_read(servers: Servers) -> None:
    config = tf.ConfigProto(device_filters=["worker 1"])
    with (
        tf.Session(servers(a=2)["a"][0].target, config=config) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="device_filters"),
    ):
        sess.run(tf.constant(1))


def test_a_task_of_several_devices() -> None:
    config = tf.ConfigProto(device_count={"CPU": 2})
    server = Server.create_local_server(config)
    try:
        x = tf.placeholder(tf.float32, [])
        with tf.device("/cpu:1"):
            v = tf.Variable(3.0)
            far = v * x
        with tf.device("/cpu:0"):
            total = far + x
        with tf.Session(server.target) as sess:
            sess.run(v.initializer)
            assert sess.run([total, far], {x: 2.0}) == [8.0, 6.0]
            assert len(sess.list_devices()) == 2
    finally:
        server.stop()


def test_a_missing_task_is_named_in_time(servers: Servers, capfd: pytest.CaptureFixture) -> None:
    found = servers(worker=2)
    found["worker"][1].stop()
    config = tf.ConfigProto(operation_timeout_in_ms=500)
    with (
        tf.Session(found["worker"][0].target, config=config) as sess,
        pytest.raises(tf.errors.UnavailableError, match="worker/replica:0/task:1 at localhost"),
    ):
        sess.run(tf.constant(1))
    assert "still waiting for response from worker: /job:worker" in capfd.readouterr().err


def test_servers_that_disagree_about_the_cluster(servers: Servers) -> None:
    found = servers(worker=1)
    address = found["worker"][0].target.removeprefix("grpc://")
    other = Server({"worker": ["localhost:0", address]}, "worker", 0)
    try:
        with (
            tf.Session(other.target) as sess,
            pytest.raises(tf.errors.InvalidArgumentError, match="cluster specs"),
        ):
            sess.run(tf.constant(1))
    finally:
        other.stop()
