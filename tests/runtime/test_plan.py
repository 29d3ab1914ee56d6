"""One plan for steps that run in order, that may wait, and that tokens decide about."""

from __future__ import annotations

import threading

import numpy as np

import weft as tf
from weft.runtime.xla.region import Region


def _plan(session: tf.Session):
    (plan,) = session._runner._plans.values()
    return plan


def test_every_node_of_a_body_runs_when_only_the_condition_waits() -> None:
    """A body that waits for nothing itself is planned as one that may: no node is left out."""
    seen: list[str] = []

    def note(text: str):
        def function(value):
            seen.append(f"{text} {int(value)}")
            return value

        return function

    queue = tf.FIFOQueue(10, tf.bool, [[]])
    fill = queue.enqueue_many([[True, True, False]])

    @tf.function(autograph=False)
    def loop(start):
        def body(i):
            first = tf.py_func(note("first"), [i], tf.int32)
            with tf.control_dependencies([first]):
                second = tf.py_func(note("second"), [i], tf.int32)
            with tf.control_dependencies([second]):
                return tf.reshape(i + 1, [])

        return tf.while_loop(lambda i: queue.dequeue(), body, [start])

    result = loop(tf.constant(0))
    with tf.Session() as session:
        for _ in range(6):
            session.run(fill)
            assert session.run(result) == 2
    assert seen == ["first 0", "second 0", "first 1", "second 1"] * 6


def test_a_step_fed_by_a_queue_is_compiled_around_what_cannot_be() -> None:
    """A node that cannot be traced leaves its region, also where the step takes from a queue."""
    queue = tf.FIFOQueue(10, tf.float32, [[64, 64]])
    source = tf.placeholder(tf.float32, [64, 64])
    fill = queue.enqueue(source)
    x = queue.dequeue()
    for _ in range(20):
        x = tf.tanh(tf.matmul(x, x) / 64)
    # How large a slice between two numbers is shows only when they are known.
    end = tf.cast(tf.reduce_sum(x) * 0 + 5, tf.int32)
    y = x[:end]
    for _ in range(20):
        y = tf.tanh(y * 1.5)
    total = tf.reduce_sum(y)
    value = np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64)
    with tf.Session() as session:
        results = []
        for _ in range(8):
            session.run(fill, {source: value})
            results.append(session.run(total))
        plan = next(p for p in session._runner._plans.values() if len(p.graph.nodes) > 40)
        regions = [unit for unit in plan.ready().units if isinstance(unit, Region)]
    assert sum(len(r.nodes) for r in regions if r.has_program) > 40
    assert not any(r.cannot_compile for r in regions)
    np.testing.assert_allclose(results, results[0], rtol=1e-5)


def test_concurrent_steps_while_resources_are_removed() -> None:
    """Plans find their handles anew while other threads run them."""
    v = tf.Variable(1.0, use_resource=True)
    queue = tf.FIFOQueue(100, tf.float32, [[]])
    take = queue.dequeue() + v
    put = queue.enqueue(2.0)
    with tf.Session() as session:
        session.run(v.initializer)
        failures: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(40):
                    session.run(put)
                    assert session.run(take) == 3.0
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        other = tf.Variable(0.0, use_resource=True)
        destroy = tf.raw_ops.DestroyResourceOp(resource=other.handle)
        for _ in range(20):
            session.run(other.initializer)
            session.run(destroy)
        for thread in threads:
            thread.join()
    assert not failures


def test_shapes_that_change_between_the_look_and_the_call() -> None:
    """A step in whose way a variable gets another shape computes with the new one."""
    v = tf.Variable(np.ones([3], np.float32), validate_shape=False, use_resource=False)
    x = tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(v) + tf.reduce_sum(tf.tanh(tf.exp(x * 0)) * 0)
    grow = tf.assign(v, np.ones([5], np.float32), validate_shape=False)
    value = np.ones([100000], np.float32)
    with tf.Session() as session:
        session.run(v.initializer)
        for _ in range(4):
            assert session.run(total, {x: value}) == 3.0
        plan = next(
            p for p in session._runner._plans.values() if x.op in [n.op for n in p.graph.nodes]
        )
        direct = plan.direct
        assert direct is not None
        session.run(grow)
        assert direct([value]) is None  # it was made for three elements
        assert session.run(total, {x: value}) == 5.0


def test_plans_stay_while_the_graph_grows() -> None:
    """Closing a new loop changes a node that no plan has; rewiring an old one changes a plan's."""
    x = tf.constant(2.0)
    double, triple = tf.multiply(x, 2.0), tf.multiply(x, 3.0)
    total = tf.add(double, 1.0)
    with tf.Session() as session:
        assert session.run(total) == 5.0
        (plan,) = session._runner._plans.values()
        looped = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        (slope,) = tf.gradients(tf.scan(lambda a, b: a * b, tf.stack([x, x])), [x])
        assert session.run([looped, slope]) == [3, 5.0]
        assert session.run(total) == 5.0 and plan in session._runner._plans.values()
        total.op._update_input(0, triple)
        assert session.run(total) == 7.0 and plan not in session._runner._plans.values()
