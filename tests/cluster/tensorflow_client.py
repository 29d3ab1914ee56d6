"""A program of TensorFlow's own, run by its own Python on the server that its argument names.

It checks what comes back, and ends with exit code 0 if all was as in TensorFlow.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
TYPES = (
    "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
    " complex64 complex128"
).split()


def training(sess: tf.Session) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    r = tf.get_variable("r", [2], initializer=tf.ones_initializer(), use_resource=True)
    x = tf.placeholder(tf.float32, [None])
    loss = tf.reduce_sum(tf.square(v * x - r))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    sess.run(tf.global_variables_initializer())
    losses = [sess.run([loss, train], {x: [1.0, 2.0]})[0] for _ in range(3)]
    np.testing.assert_allclose(losses, [9.0, 7.29, 5.765942], rtol=1e-5)
    traced = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    sess.run(train, {x: [1.0, 2.0]}, options=options, run_metadata=traced)
    assert len(traced.step_stats.dev_stats[0].node_stats) > 3


def types(sess: tf.Session) -> None:
    for name in TYPES:
        fed = tf.placeholder(name)
        value = np.array([[1, 0, 1]]).astype(tf.as_dtype(name).as_numpy_dtype)
        got = sess.run(tf.identity(fed), {fed: value})
        assert got.dtype == value.dtype and (got == value).all(), name
    text = tf.placeholder(tf.string)
    joined = sess.run(tf.string_join([text, "!"]), {text: [b"a", "\u00e9"]})
    assert joined.tolist() == [b"a!", "\u00e9!".encode()]
    assert sess.run(tf.zeros([500, 500])).shape == (500, 500)


def control_flow(sess: tf.Session) -> None:
    v = tf.Variable([1.0, 2.0])
    sess.run(v.initializer)
    for enable in (tf.disable_control_flow_v2, tf.enable_control_flow_v2):
        enable()
        ones = tf.ones([2])
        _, power = tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a * v), [0, ones])
        slope = tf.gradients(power, v)[0]
        chosen = tf.cond(power[0] > 0, lambda: v + 1.0, lambda: v - 1.0)
        values = sess.run([power, slope, chosen])
        np.testing.assert_allclose(values, [[1, 1024], [10, 5120], [2, 3]])
    tf.disable_control_flow_v2()
    double = tf.function(lambda a: a * 2.0)
    assert sess.run(double(v)).tolist() == [2.0, 4.0]


def queues(sess: tf.Session) -> None:
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    sess.run(queue.enqueue_many([[1.0, 2.0]]))
    assert sess.run(queue.dequeue()) == 1.0 and sess.run(queue.size()) == 1
    late = tf.RunOptions(timeout_in_ms=300)
    fails(
        tf.errors.DeadlineExceededError, None, lambda: sess.run(queue.dequeue_many(5), options=late)
    )


def errors(sess: tf.Session) -> None:
    x = tf.placeholder(tf.float32, name="unfed")
    bad = tf.reshape(x, [3, 3], name="bad")
    fails(tf.errors.InvalidArgumentError, "bad", lambda: sess.run(bad, {x: [1.0]}))
    fails(tf.errors.InvalidArgumentError, "unfed", lambda: sess.run(bad))
    empty = tf.Variable(1.0, name="empty")
    fails(tf.errors.FailedPreconditionError, "empty", lambda: sess.run(empty))
    with tf.device("/job:nowhere"):
        lost = tf.constant(1.0) + 1.0
    fails(tf.errors.InvalidArgumentError, None, lambda: sess.run(lost))


def fails(kind: type[Exception], node: str | None, run: Callable[[], object]) -> None:
    try:
        run()
    except tf.errors.OpError as error:
        assert type(error) is kind, repr(error)
        assert node is None or error.op.name == node, repr(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


def ways_to_run(sess: tf.Session) -> None:
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    double, total = a * 2.0, a * 2.0 + b
    handle = sess.partial_run_setup([double, total], [a, b])
    assert sess.partial_run(handle, double, {a: 3.0}) == 6.0
    assert sess.partial_run(handle, total, {b: 1.0}) == 7.0
    assert sess.make_callable(total, [a, b])(np.float32(1), np.float32(2)) == 4.0
    kept = sess.run(tf.get_session_handle(tf.constant([1.0, 2.0]) * 2.0))
    assert kept.eval().tolist() == [2.0, 4.0]
    assert len(sess.list_devices()) >= 1


def sharing(target: str) -> None:
    v = tf.Variable(5.0, name="shared")
    with tf.Session(target) as one:
        one.run(v.initializer)
    with tf.Session(target) as two:
        assert two.run(v) == 5.0
    tf.Session.reset(target)
    with tf.Session(target) as three:
        fails(tf.errors.FailedPreconditionError, "shared", lambda: three.run(v))


def main(target: str) -> None:
    for part in (training, types, control_flow, queues, errors, ways_to_run):
        with tf.Graph().as_default(), tf.Session(target) as sess:
            part(sess)
            sys.stdout.write(f"{part.__name__}: as it should be\n")
    with tf.Graph().as_default():
        sharing(target)


if __name__ == "__main__":
    main(sys.argv[1])
