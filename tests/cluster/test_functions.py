"""Functions on a cluster: run by one task, or by several where their bodies say so."""

from __future__ import annotations

from collections.abc import Callable

import weft as tf
from weft.cluster.server import Server
from weft.ops.functions.defun import Defun
from weft.ops.functions.function_calls import If, While, partitioned_call

Servers = Callable[..., dict[str, list[Server]]]


def _tasks(server: Server) -> list[dict[str, list[str]]]:
    """Of each step that a master has registered: the types of the nodes on each job."""
    (session,) = server.master._sessions.values()
    return [
        {
            share.graph.task.split("/")[1]: [n.op for n in share.graph.graph_def.node]
            for share in step.shares
        }
        for step in session._steps.values()
    ]


def test_a_body_that_names_no_task_stays_whole(servers: Servers) -> None:
    found = servers(ps=1, worker=1)

    @Defun(tf.float32)
    def double(x):
        return x * 2.0

    with tf.device("/job:ps"):
        y = double(3.0)
    with tf.Session(found["worker"][0].target) as sess:
        assert sess.run(y) == 6.0
        [step] = _tasks(found["worker"][0])
        assert "Mul" not in step["job:ps"] and "job:worker" not in step


def test_a_body_over_several_tasks(servers: Servers) -> None:
    found = servers(ps=1, worker=1)

    @Defun(tf.float32)
    def inner(x):
        with tf.device("/job:ps"):
            return tf.sqrt(x)

    @Defun(tf.float32)
    def outer(x):
        with tf.device("/job:worker"):
            y = x * 2.0
        return inner(y) + 1.0

    with tf.device("/job:worker"):
        called = outer(8.0)
        (by_attribute,) = partitioned_call([8.0], outer)
    with tf.Session(found["worker"][0].target) as sess:
        for result in (called, by_attribute):
            assert sess.run(result) == 5.0
        for step in _tasks(found["worker"][0]):
            assert "Sqrt" in step["job:ps"] and "Mul" in step["job:worker"]


def test_a_variable_of_another_task_in_a_body(servers: Servers) -> None:
    found = servers(ps=1, worker=1)
    with tf.device("/job:ps"):
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer(), use_resource=True)

    @Defun(tf.float32)
    def add(x):
        with tf.device("/job:worker"):
            more = x * 10.0
        with tf.device("/job:ps"):
            total.assign_add(more)

    with tf.device("/job:worker"):
        step = partitioned_call([2.0, *add.captured_inputs], add)
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(total.initializer)
        for _ in range(3):
            sess.run(step)
        assert sess.run(total) == 60.0


def test_a_conditional_over_several_tasks(servers: Servers) -> None:
    found = servers(ps=1, worker=1)
    with tf.device("/job:ps"):
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer(), use_resource=True)

    @Defun(tf.float32)
    def then(x):
        with tf.device("/job:ps"):
            total.assign_add(x)
            y = tf.sqrt(x)
        return y + 1.0

    @Defun(tf.float32)
    def otherwise(x):
        with tf.device("/job:ps"):
            total.assign_add(0.0)
        return tf.negative(x)

    x = tf.placeholder(tf.float32, [])
    with tf.device("/job:worker"):
        [y] = If(x > 0.0, [x, *then.captured_inputs], then, otherwise)
    with tf.Session(found["worker"][0].target) as sess:
        sess.run(total.initializer)
        assert [sess.run(y, {x: v}) for v in (4.0, -3.0, 9.0)] == [3.0, 3.0, 4.0]
        assert sess.run(total) == 13.0
        assert any("Sqrt" in step.get("job:ps", ()) for step in _tasks(found["worker"][0]))


def test_a_loop_over_several_tasks(servers: Servers) -> None:
    found = servers(ps=1, worker=1)

    @Defun(tf.int32, tf.float32)
    def more(i, x):
        return i < 4

    @Defun(tf.int32, tf.float32)
    def turn(i, x):
        with tf.device("/job:ps"):
            y = x * 2.0
        with tf.device("/job:worker"):
            return i + 1, y + 1.0

    with tf.device("/job:worker"):
        start = tf.placeholder(tf.float32, [])
        i, end = While([0, start], more, turn)
    with tf.Session(found["worker"][0].target) as sess:
        for value, wanted in ((1.0, 31.0), (0.0, 15.0)):
            assert sess.run([i, end], {start: value}) == [4, wanted]
        [step] = _tasks(found["worker"][0])
        assert "Mul" in step["job:ps"] and "AddV2" in step["job:worker"]
