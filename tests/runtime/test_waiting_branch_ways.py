"""Random conditionals around queues, in loops or not, give the same by nodes and as functions."""

import random
import threading

import numpy as np
import pytest

import weft as tf
from weft.core import flags

KINDS = (
    "either",
    "one side",
    "one side, outside",
    "nested",
    "give",
    "pair",
    "count",
    "loop",
    "take",
    "mix",
    "vector",
    "again",
)
DATA = np.sin(np.arange(3000)).astype(np.float32)


class Program:
    """Operations that follow from one another, so that there is one right result."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.sources = [tf.FIFOQueue(10_000, tf.float32, shapes=[()]) for _ in range(2)]
        self.sink = tf.FIFOQueue(10_000, tf.float32, shapes=[()])
        self.shapeless = tf.FIFOQueue(10_000, tf.float32)
        self.counter = tf.get_variable("v", [], tf.float32, tf.zeros_initializer())
        if seed % 3:
            a, b = self.loop(self.draw.randint(3, 14), 1, 1.0, 2.0)
        else:
            a, b = self.steps(self.draw.randint(0, 1), tf.constant(1.0), tf.constant(2.0), 1)
        with tf.control_dependencies([a, b]):
            self.results = [a, b, self.sink.size()]

    def loop(self, count, depth, a, b):
        state = self.draw.getstate()

        def body(i, a, b):
            self.draw.setstate(state)
            return i + 1, *self.steps(i, a, b, depth)

        start = [0, a, b]
        return tf.while_loop(lambda i, *_: i < count, body, start, parallel_iterations=1)[1:]

    def steps(self, i, a, b, depth):
        for kind in [self.draw.choice(KINDS) for _ in range(self.draw.randint(1, 4))]:
            with tf.control_dependencies([a, b]):
                a, b = self.step(kind, i, a, b, depth)
        return a, b

    def step(self, kind, i, a, b, depth):
        odd, (first, second) = tf.equal(i % 2, 1), self.sources
        if kind == "either":
            take = lambda: a * 0.5 + first.dequeue()  # noqa: E731
            return tf.cond(a > b, take, lambda: b * 0.3 - second.dequeue()), b
        if kind == "one side":
            return b, tf.cond(odd, lambda: a * 0.4 - first.dequeue(), lambda: a * 0.9)
        if kind == "one side, outside":
            return a, b * 0.5 + tf.cond(odd, lambda: tf.constant(0.1), lambda: first.dequeue())
        if kind == "nested":
            inner = lambda: tf.cond(a > 0.3, first.dequeue, lambda: self.given(b * 0.7))  # noqa: E731
            return a, b * 0.5 + tf.cond(odd, inner, lambda: second.dequeue() * 0.1)
        if kind == "give":
            return tf.cond(a > b, lambda: self.given(a * 0.8), lambda: b * 0.6), b
        if kind == "pair":
            pair = tf.cond(a < b, lambda: (first.dequeue(), second.dequeue()), lambda: (a, b))
            return a * 0.5 + pair[0], b * 0.5 - pair[1]
        if kind == "count":
            return a, tf.cond(odd, lambda: self.counted(b), lambda: b * 0.7)
        if kind == "loop":
            return self.looped(odd, a, b, depth)
        if kind == "take":
            return a * 0.5 + first.dequeue(), b
        if kind == "vector":
            return a, b * 0.5 + tf.cond(odd, lambda: self.grown(i, a), lambda: a * 0.1)
        if kind == "again":
            x = tf.cond(odd, first.dequeue, second.dequeue)
            return a * 0.5 + tf.cond(odd, lambda: x * 0.5, lambda: second.dequeue() + x), b
        return a, b * 0.9 + a * 0.1

    def looped(self, odd, a, b, depth):
        if not depth:
            return b, a
        count = self.draw.randint(0, 3)
        return tf.cond(odd, lambda: self.loop(count, depth - 1, a, b), lambda: (b, a))

    def given(self, x):
        with tf.control_dependencies([self.sink.enqueue(x)]):
            return tf.identity(x)

    def counted(self, x):
        with tf.control_dependencies([tf.assign_add(self.counter, x * 0.01)]):
            taken = self.sources[0].dequeue()
        with tf.control_dependencies([taken]):
            return tf.identity(self.counter) + taken * 0.1

    def grown(self, i, x):
        with tf.control_dependencies([self.shapeless.enqueue(tf.fill([i % 3 + 1], x))]):
            return tf.reduce_sum(tf.tanh(self.shapeless.dequeue())) * 0.1


def outcome(seed, way, in_time, timeout=None):
    """Some runs of a program; `in_time`: what it takes is there before it starts."""
    with tf.Graph().as_default(), flags.CONTROL_FLOW.override(way), tf.Session() as sess:
        program = Program(seed)
        x = tf.placeholder(tf.float32, [None])
        fills = [q.enqueue_many([x * (k + 1)]) for k, q in enumerate(program.sources)]
        parts = [DATA] if in_time else np.split(DATA, 1000)
        sess.run(program.counter.initializer)
        filling = threading.Thread(
            target=lambda: [sess.run(fill, {x: part}) for part in parts for fill in fills]
        )
        filling.start()
        if in_time:
            filling.join()
        options = tf.RunOptions(timeout_in_ms=timeout) if timeout else None
        found = [sess.run(program.results, options=options) for _ in range(5)]
        filling.join()
        sizes = [queue.size() for queue in [*program.sources, program.shapeless]]
        return [*found, sess.run([program.counter, *sizes])]


@pytest.mark.parametrize("seed", range(12))
def test_every_way_gives_the_same(seed):
    wanted = outcome(seed, "nodes", True, 30_000)
    for way, in_time, timeout in (
        ("bodies", True, 30_000), ("whole", True, None), ("whole", False, None),
        ("whole", False, 30_000),
    ):  # fmt: skip
        for got, want in zip(outcome(seed, way, in_time, timeout), wanted, strict=True):
            message = f"{way} {in_time} {timeout}"
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4, err_msg=message)
