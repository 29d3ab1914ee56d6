"""Errors of a step name what caused them, and none causes itself."""

import numpy as np
import pytest

import weft as tf


def _chain(error):
    """The error and its causes, as logging and debuggers walk them."""
    found = []
    while error is not None and len(found) < 50:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _in_loop():
    return tf.while_loop(
        lambda i: i < 3, lambda i: tf.Print(i, [tf.gather([1, 2], i + 5)]) + 1, [tf.constant(0)]
    )


def _in_function():
    return tf.py_func(lambda: np.zeros(2)[5], [], tf.float64)


def _failing(x):
    return tf.reshape(x, [tf.size(x) + 1])


CASES = {
    "alone": lambda x: _failing(x),
    "with others": lambda x: [tf.negative(_failing(x)), tf.square(x)],
    "loop": lambda x: _in_loop(),
    "conditional": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: _failing(x), lambda: x),
    "python function": lambda x: _in_function(),
    "queue": lambda x: tf.FIFOQueue(1, tf.float32).enqueue(_failing(x)),
    "assertion": lambda x: tf.Assert(tf.reduce_all(x < 0), [x]),
    "variable": lambda x: tf.get_variable("v", [2]) + x,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("devices", [1, 2])
def test_no_error_causes_itself(name, devices):
    x = tf.placeholder(tf.float32, [None])
    with tf.device(f"/cpu:{devices - 1}"):
        fetches = CASES[name](x)
    config = tf.ConfigProto(device_count={"CPU": devices})
    with tf.Session(config=config) as session:
        for _ in range(3):
            with pytest.raises(tf.errors.OpError) as caught:
                session.run(fetches, {x: [1.0, 2.0]})
            errors = _chain(caught.value)
            assert len({id(error) for error in errors}) == len(errors) < 50
