"""Tiny steps over several devices, which one thread runs."""

import threading

import numpy as np
import pytest

import weft as tf
from weft.core import errors

CONFIG = tf.ConfigProto(device_count={"CPU": 3})


def merged(sess):
    """The last plan's way of running on one thread, None where it has none."""
    return list(sess._runner._plans.values())[-1].merged


def there_and_back(x):
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
        a = x * v
    with tf.device("/cpu:2"):
        b = a + 1.0
    with tf.device("/cpu:1"), tf.control_dependencies([b]):
        done = v.assign(b * 0.5)
    return b, done


def test_values_and_effects():
    x = tf.placeholder(tf.float32, [2])
    b, done = there_and_back(x)
    fed, state = np.array([1.0, -1.0], np.float32), np.ones(2, np.float32)
    with tf.Session(config=CONFIG) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(8):
            wanted = fed * state + 1.0
            got, _ = sess.run([b, done], {x: fed})
            np.testing.assert_allclose(got, wanted, rtol=1e-6)
            state = wanted * np.float32(0.5)
        assert merged(sess).is_worth_it()


def test_no_thread_is_woken():
    x = tf.placeholder(tf.float32, [2])
    b, _ = there_and_back(x)
    with tf.Session(config=CONFIG) as sess:
        sess.run(tf.global_variables_initializer())
        fed = {x: np.ones(2, np.float32)}
        for _ in range(5):
            sess.run(b, fed)
        sess._runner.pool.start = None  # it would be called
        sess.run(b, fed)


def test_large_steps_go_to_threads():
    x = tf.placeholder(tf.float32, [None, None])
    with tf.device("/cpu:1"):
        a = tf.matmul(x, x)
    with tf.device("/cpu:2"):
        b = tf.matmul(a, a)
    with tf.Session(config=CONFIG) as sess:
        for _ in range(4):
            sess.run(b, {x: np.ones((2, 2), np.float32)})
        assert merged(sess).is_worth_it()
        large = np.eye(300, dtype=np.float32)
        for _ in range(3):
            np.testing.assert_array_equal(sess.run(b, {x: large}), large)
        assert not merged(sess).is_worth_it()


def test_what_waits_or_runs_python_is_left_to_threads():
    with tf.device("/cpu:1"):
        queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
        got, put = queue.dequeue(), queue.enqueue(1.0)
        python = tf.py_func(lambda: np.float32(2.0), [], tf.float32)
    with tf.device("/cpu:2"):
        a, b = got + 1.0, python + 1.0
    with tf.Session(config=CONFIG) as sess:
        sess.run(put)
        assert sess.run(a) == 2.0 and merged(sess) is None
        assert sess.run(b) == 3.0 and merged(sess) is None


def test_errors_name_their_node():
    x = tf.placeholder(tf.float32, [None])
    y = tf.placeholder(tf.float32, [None])
    with tf.device("/cpu:1"):
        a = x * 2.0
    with tf.device("/cpu:2"):
        b = tf.add(a, y, name="sum_here")
    good, bad = np.ones(2, np.float32), np.ones(3, np.float32)
    with tf.Session(config=CONFIG) as sess:
        for _ in range(5):
            sess.run(b, {x: good, y: good})
        with pytest.raises(errors.InvalidArgumentError, match="sum_here"):
            sess.run(b, {x: good, y: bad})
        assert sess.run(b, {x: good, y: good}).tolist() == [3.0, 3.0]


def test_an_emptied_store():
    x = tf.placeholder(tf.float32, [2])
    b, _ = there_and_back(x)
    fed = {x: np.ones(2, np.float32)}
    with tf.Session(config=CONFIG) as sess:
        init = tf.global_variables_initializer()
        sess.run(init)
        for _ in range(5):
            sess.run(b, fed)
        sess._runner.clear()
        with pytest.raises(errors.FailedPreconditionError):
            sess.run(b, fed)
        sess.run(init)
        assert sess.run(b, fed).tolist() == [2.0, 2.0]


def test_many_threads():
    with tf.device("/cpu:1"):
        n = tf.get_variable("n", [], tf.int32, tf.zeros_initializer(), use_resource=True)
        one = tf.random_uniform([], 1, 2, tf.int32)
    with tf.device("/cpu:2"):
        two = one + 1
    with tf.device("/cpu:1"):
        add = n.assign_add(two)
    with tf.Session(config=CONFIG) as sess:
        sess.run(n.initializer)

        def work():
            for _ in range(40):
                sess.run(add)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sess.run(n) == 4 * 40 * 2
