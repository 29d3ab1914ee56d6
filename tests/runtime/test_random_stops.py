"""Random programs that wait, stopped in all ways at random moments: nothing of a step stays."""

import random
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft as tf
from tests.runtime.test_control_flow_ways import chain, fed_values, programs
from tests.runtime.test_partitioned import config, quiet, spread
from weft.core import errors

TAKEN = 4  # elements that a step takes from its queue
GO_ON, FAIL, DAWDLE = range(3)


class Program:
    """A random program whose input, and more in a loop with Python in it, is from a queue."""

    def __init__(self, parts):
        self.queue = tf.FIFOQueue(100, tf.float32, [[2]])
        self.order = tf.placeholder(tf.int32, [], "order")
        self.element = tf.placeholder(tf.float32, [2], "element")
        self.fill = self.queue.enqueue(self.element)
        self.take, self.size = self.queue.dequeue(), self.queue.size()
        x = self.queue.dequeue()
        _, y = tf.while_loop(
            lambda i, _: i < TAKEN - 1,
            lambda i, y: (i + 1, self.obey(y) + self.queue.dequeue()),
            [0, self.obey(chain(parts, x, x))],
        )
        self.result = chain(parts, y, x)

    def obey(self, value):
        def python(value, order):
            if order == FAIL:
                raise ValueError("told to")
            if order == DAWDLE:
                time.sleep(0.01)
            return value

        return tf.reshape(tf.py_func(python, [value, self.order], tf.float32), [2])

    def run(self, sess, elements, order=GO_ON, milliseconds=0):
        for element in elements:
            sess.run(self.fill, {self.element: element})
        options = tf.RunOptions(timeout_in_ms=milliseconds)
        return sess.run(self.result, {self.order: order}, options=options)

    def empty(self, sess):
        """What a step that ended early has not taken is still there; whole elements of it."""
        for _ in range(sess.run(self.size)):
            assert sess.run(self.take).shape == (2,)


def check(parts, fed, count, seed):
    elements = [np.array(fed, np.float32) * (i + 1) for i in range(TAKEN)]
    with tf.Graph().as_default(), tf.Session() as sess:
        wanted = Program(parts).run(sess, elements)
    rng = random.Random(seed)
    with tf.Graph().as_default() as graph:
        program = Program(parts)
        if count > 1:
            spread(graph, count, seed)
        with tf.Session(config=config(count)) as sess:
            for _ in range(5):
                disturb(program, sess, elements, rng)
                program.empty(sess)
                found = program.run(sess, elements)
                np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=1e-5)
                assert sess.run(program.size) == 0
            waiting = Background(lambda: program.run(sess, []))
            time.sleep(rng.random() * 0.05)
        # Closed before it began, or while it waited.
        assert isinstance(waiting.error(), (errors.CancelledError, RuntimeError))


def disturb(program, sess, elements, rng):
    """A step that fails, or that waits for too long."""
    if rng.random() < 0.5:
        with pytest.raises(errors.InvalidArgumentError, match="told to"):
            program.run(sess, elements, FAIL)
    else:
        few, order = elements[: rng.randrange(TAKEN)], rng.choice([GO_ON, DAWDLE])
        with pytest.raises(errors.DeadlineExceededError):
            program.run(sess, few, order, rng.choice([1, 5, 20, 60]))


class Background:
    def __init__(self, call):
        self._call, self._error = call, None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._call()
        except Exception as error:
            self._error = error

    def error(self):
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self._error


cases = (
    st.lists(programs(), min_size=1, max_size=2), fed_values,
    st.integers(1, 4), st.integers(0, 1 << 30),
)  # fmt: skip


@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=quiet)
@given(*cases)
def test_steps_that_are_stopped(parts, fed, count, seed):
    check(parts, fed, count, seed)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=40, deadline=None, suppress_health_check=quiet)
@given(*cases)
def test_many_steps_that_are_stopped(parts, fed, count, seed):
    check(parts, fed, count, seed)
