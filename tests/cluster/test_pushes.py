"""Values that go to another task unasked: which do, what comes of them, what if they are lost."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.cluster.server import Server
from weft.cluster.steps.partition_def import PUSH
from weft.cluster.transport.inprocess import Peers
from weft.cluster.transport.remote_rendezvous import Pushes, RemoteRendezvous
from weft.core import errors
from weft.core.deferred import Deferred

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"
Servers = Callable[..., dict[str, list[Server]]]


def key(name: str, source: str = PS) -> str:
    return f"{source}/device:CPU:0;0000000000000001;x;{name};0:0"


class Task:
    """A worker that writes down what it is asked."""

    def __init__(self) -> None:
        self.pushed: list[Any] = []
        self.pulled: dict[str, Deferred] = {}

    def push_tensors(self, step: int, keys: Any, values: Any, failed: Any) -> None:
        self.pushed.append((list(keys), list(values)))

    def recv_tensor(self, step: int, key: str) -> Deferred:
        self.pulled[key] = Deferred()
        return self.pulled[key]


def rendezvous(**pushes: Any) -> tuple[RemoteRendezvous, Task]:
    """That of a step on the worker, with a parameter server that writes down what it is asked."""
    peers, ps = Peers(WORKER, {}), Task()
    peers.add(PS, ps)  # type: ignore[arg-type]
    made = RemoteRendezvous(1, peers)
    made.begin(peers, Pushes(**pushes))
    return made, ps


def test_what_is_sent_together_goes_together() -> None:
    meeting, ps = rendezvous(out={"a": PS, "b": PS})
    meeting.send("a", 1)
    meeting.send("b", 2)
    assert not ps.pushed
    meeting.flush()
    meeting.flush()
    assert ps.pushed == [(["a", "b"], [1, 2])]


def test_what_comes_together_is_one_piece_of_news() -> None:
    keys = [key("a"), key("b"), key("c")]
    meeting, ps = rendezvous(into=frozenset(keys))
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    meeting.arrive(keys[:1], [1])
    meeting.want(keys, inbox)
    assert inbox.get_nowait() == [(keys[0], 1)]
    meeting.arrive(keys[1:], [2, 3])
    assert inbox.get_nowait() == [(keys[1], 2), (keys[2], 3)]
    assert not ps.pulled and meeting.is_empty()


def test_others_are_asked_for_what_is_not_pushed() -> None:
    meeting, ps = rendezvous()
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    meeting.want([key("a")], inbox)
    ps.pulled[key("a")].complete([5])
    assert inbox.get_nowait() == [(key("a"), 5)]


def test_what_does_not_come_is_asked_for() -> None:
    meeting, ps = rendezvous(into=frozenset([key("a")]))
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    meeting.want([key("a")], inbox)
    meeting.ask_again()
    assert not ps.pulled  # there was no time for it to come
    meeting.ask_again()
    ps.pulled[key("a")].complete([5])
    assert inbox.get_nowait() == [(key("a"), 5)]


def test_what_is_lost_ends_the_step() -> None:
    meeting, ps = rendezvous(into=frozenset([key("a")]))
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    meeting.want([key("a")], inbox)
    meeting.ask_again()
    meeting.ask_again()
    ps.pulled[key("a")].fail(errors.AbortedError(None, None, "over"))
    assert inbox.empty()  # it may be on its way
    meeting.ask_again()
    assert isinstance(inbox.get_nowait(), errors.AbortedError)


def test_who_asks_for_what_would_be_pushed_gets_it() -> None:
    meeting, ps = rendezvous(out={key("a", WORKER): PS})
    asked = meeting.recv_here(key("a", WORKER))
    meeting.send(key("a", WORKER), 3)
    meeting.flush()
    assert asked.wait() == [3] and not ps.pushed


def test_the_end_of_a_step_is_told_to_whoever_waits() -> None:
    meeting, _ = rendezvous(into=frozenset([key("a")]))
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    meeting.want([key("a")], inbox)
    error = errors.CancelledError(None, None, "enough")
    meeting.abort(error)
    assert inbox.get_nowait() is error
    meeting.arrive([key("a")], [1])
    assert meeting.is_empty()


# ---- in a cluster ----


def _pushed(server: Server) -> set[str]:
    """Names of the edges that a master has had pushed."""
    (session,) = server.master._sessions.values()
    return {
        node.attr["tensor_name"].s.decode().split("_", 2)[2]
        for step in session._steps.values()
        for share in step.shares
        for node in share.graph.graph_def.node
        if PUSH in node.attr
    }


def test_only_small_tensors_outside_of_loops_are_pushed(servers: Servers) -> None:
    found = servers(ps=1, worker=1)

    def body(i: tf.Tensor, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.device("/job:ps"):
            b = tf.multiply(a, 2.0, name="inside")
        return i + 1, b

    with tf.device("/job:ps"):
        small = tf.ones([4], name="small") + tf.placeholder(tf.float32, [4], name="x")
        large = tf.tile(small, [1 << 18], name="large")
        unknown = tf.boolean_mask(small, small > 0, name="unknown")
    with tf.device("/job:worker"):
        total = tf.reduce_sum(small * 1.0) + tf.reduce_sum(large) + tf.reduce_sum(unknown)
        _, end = tf.while_loop(lambda i, a: i < 3, body, [0, total])
    with tf.Session(found["worker"][0].target) as sess:
        assert sess.run(end, {"x:0": np.zeros(4)}) == 8.0 * (4 + (1 << 20) + 4)
        assert _pushed(found["worker"][0]) == {"add"}


def test_a_step_back_and_forth(servers: Servers) -> None:
    """A tensor that depends on one that was sent before: nobody may wait for both."""
    found = servers(ps=1, worker=2)
    with tf.device("/job:ps"):
        v = tf.Variable([1.0, 2.0])
        a = v + 1.0
    with tf.device("/job:worker/task:1"):
        b = a * 2.0
    with tf.device("/job:ps"):
        c = b + a
    with tf.device("/job:worker/task:1"):
        d = c * b
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(v.initializer)
        for _ in range(3):
            assert sess.run(d).tolist() == [24.0, 54.0]
    assert all(len(s.worker.steps) == 0 for tasks in found.values() for s in tasks)


def test_an_error_ends_a_step_that_waits_for_a_push(servers: Servers) -> None:
    found = servers(ps=1, worker=1)
    x = tf.placeholder(tf.float32, [])
    with tf.device("/job:ps"):
        checked = tf.check_numerics(x, "found")
    with tf.device("/job:worker"):
        used = checked + 1.0
    with tf.Session(found["worker"][0].target) as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="found"):
                sess.run(used, {x: np.nan})
            assert sess.run(used, {x: 1.0}) == 2.0


def test_a_session_that_is_closed_lets_go_of_a_step_that_waits(servers: Servers) -> None:
    found = servers(ps=1, worker=1)
    with tf.device("/job:ps"):
        numbers = tf.FIFOQueue(1, tf.float32, [[]])
        taken = numbers.dequeue()
    with tf.device("/job:worker"):
        used = taken + 1.0
    sess = tf.Session(found["worker"][0].target)
    outcome: list[BaseException] = []

    def run() -> None:
        try:
            sess.run(used)
        except tf.errors.OpError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(0.5)
    sess.close()
    thread.join(10.0)
    assert not thread.is_alive() and isinstance(outcome[0], tf.errors.CancelledError)


def test_a_quick_step_needs_no_thread(servers: Servers) -> None:
    found = servers(ps=1, worker=1)
    with tf.device("/job:ps"):
        v = tf.Variable(1.0)
        more = tf.assign_add(v, 1.0)
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(v.initializer)
        values = [sess.run(more) for _ in range(5)]
        assert values == [2.0, 3.0, 4.0, 5.0, 6.0]
        graphs = [g for s in found["ps"][0].worker._sessions.values() for g in s._graphs.values()]
        assert all(graph.is_quick() for graph in graphs)


def _sum_of_all(workers: int) -> tuple[tf.Variable, tf.Operation]:
    """Every worker reads what is on the parameter server; what they make of it is added there."""
    with tf.device("/job:ps"):
        v = tf.Variable([1.0, 2.0])
    parts = []
    for i in range(workers):
        with tf.device(f"/job:worker/task:{i}"):
            parts.append(tf.identity(v) * 0.0 + 1.0)
    with tf.device("/job:ps"):
        return v, tf.assign_add(v, tf.add_n(parts)).op


def test_many_steps_at_once(servers: Servers) -> None:
    found = servers(ps=1, worker=3)
    v, step = _sum_of_all(3)
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(v.initializer)
        for _ in range(3):
            sess.run(step)

        def run() -> None:
            for _ in range(20):
                sess.run(step)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert sess.run(v).tolist() == [250.0, 251.0]
    assert all(len(s.worker.steps) == 0 for tasks in found.values() for s in tasks)


def test_an_error_of_one_side_ends_the_step(servers: Servers) -> None:
    found = servers(ps=1, worker=2)
    v, step = _sum_of_all(2)
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(v.initializer)
        for _ in range(3):
            sess.run(step)
    tf.Session.reset(found["worker"][0].target)
    with tf.Session(found["worker"][0].target) as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
                sess.run(step)
        sess.run(v.initializer)
        sess.run(step)
        assert sess.run(v).tolist() == [3.0, 4.0]
