"""Random loops around queues give the same by nodes, by bodies and as one function."""

import random
import threading

import numpy as np
import pytest

import weft as tf
from weft.core import flags

KINDS = (
    "take",
    "take two",
    "give",
    "give and take",
    "branch",
    "count",
    "loop",
    "mix",
    "swap",
    "grow",
)
DATA = np.sin(np.arange(3000)).astype(np.float32)


class Program:
    """A loop whose operations follow from one another, so that there is one right result."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.source = tf.FIFOQueue(10_000, tf.float32, shapes=[()])
        self.sink = tf.FIFOQueue(10_000, tf.float32, shapes=[()])
        self.shapeless = tf.FIFOQueue(10_000, tf.float32)
        self.counter = tf.get_variable("v", [], tf.float32, tf.zeros_initializer())
        a, b = self.loop(self.draw.randint(1, 14), 1, 1.0, 2.0)
        with tf.control_dependencies([a, b]):
            self.results = [a, b, self.sink.size()]

    def loop(self, count, depth, a, b):
        kinds = [self.draw.choice(KINDS) for _ in range(self.draw.randint(1, 5))]

        def body(i, a, b):
            for kind in kinds:
                a, b = self.step(kind, i, a, b, depth)
            return i + 1, a, b

        start = [0, a, b]
        return tf.while_loop(lambda i, *_: i < count, body, start, parallel_iterations=1)[1:]

    def step(self, kind, i, a, b, depth):
        if kind == "branch":
            return tf.cond(a > b, lambda: a - 1.0, lambda: b * 0.5), b
        if kind == "mix":
            return a, b * 0.9 + a * 0.1
        if kind == "swap":
            return b, a
        if kind == "loop":
            return self.loop(self.draw.randint(0, 3), depth - 1, a, b) if depth else (a, b)
        with tf.control_dependencies([a, b]):
            return self.act(kind, i, a, b)

    def act(self, kind, i, a, b):
        """What others can see, or wait for."""
        if kind == "take":
            return a * 0.5 + self.source.dequeue(), b
        if kind == "take two":
            return a, b + tf.reduce_sum(self.source.dequeue_many(2)) * 0.1
        if kind == "count":
            return a + 0.001 * tf.assign_add(self.counter, a * 0.01), b
        queue, given = self.sink, a * 2.0
        if kind == "grow":
            queue, given = self.shapeless, tf.fill([i % 3 + 1], a)
        with tf.control_dependencies([queue.enqueue(given)]):
            if kind == "give":
                return a, tf.identity(b)
            return a + tf.reduce_sum(queue.dequeue()) * 0.1, b


def outcome(seed, way, in_time):
    """Three runs of a program; `in_time`: what it takes is there before it starts."""
    with tf.Graph().as_default(), flags.CONTROL_FLOW.override(way), tf.Session() as sess:
        program = Program(seed)
        x = tf.placeholder(tf.float32, [None])
        fill = program.source.enqueue_many([x])
        parts = [DATA] if in_time else np.split(DATA, 1000)
        sess.run(program.counter.initializer)
        filling = threading.Thread(target=lambda: [sess.run(fill, {x: part}) for part in parts])
        filling.start()
        if in_time:
            filling.join()
        options = tf.RunOptions(timeout_in_ms=30_000)
        found = [sess.run(program.results, options=options) for _ in range(3)]
        filling.join()
        return [*found, sess.run([program.counter, program.source.size()])]


@pytest.mark.parametrize("seed", range(8))
def test_every_way_gives_the_same(seed):
    wanted = outcome(seed, "nodes", True)
    for way, in_time in (("bodies", True), ("whole", True), ("whole", False)):
        for got, want in zip(outcome(seed, way, in_time), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4, err_msg=f"{way} {in_time}")
