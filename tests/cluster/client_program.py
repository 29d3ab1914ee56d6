"""A client that opens sessions on a server, uses them in many ways, and may be killed at any time.

python client_program.py weft|tensorflow TARGET NUMBER SECONDS
"""

from __future__ import annotations

import importlib
import os
import random
import sys
import time
from typing import Any

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
MODULES = {"weft": "weft", "tensorflow": "tensorflow.compat.v1"}
SIZE = 64


def steps(tf: Any, sess: Any, rng: random.Random) -> None:
    """Training, large feeds and fetches, a queue, a step in parts, a kept tensor, an error."""
    x = tf.placeholder(tf.float32, [None, SIZE])
    w = tf.get_variable("w", [SIZE, SIZE], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    put, get = queue.enqueue(tf.reduce_sum(w)), queue.dequeue()
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    double, total = a * 2.0, a * 2.0 + b
    kept = tf.get_session_handle(w * 2.0)
    sess.run(tf.global_variables_initializer())
    for _ in range(rng.randrange(2, 12)):
        batch = np.ones([rng.choice([16, 4096]), SIZE], np.float32)
        sess.run([loss, train], {x: batch})
    assert sess.run(x * 2.0, {x: batch}).shape == batch.shape
    sess.run(put)
    sess.run(get)
    handle = sess.partial_run_setup([double, total], [a, b])
    sess.partial_run(handle, double, {a: 3.0})
    if rng.random() < 0.5:
        assert sess.partial_run(handle, total, {b: 1.0}) == 7.0
    sess.run(kept)
    try:
        sess.run(tf.reshape(x, [7 * SIZE]), {x: batch})
    except tf.errors.InvalidArgumentError:
        pass
    if rng.random() < 0.5:
        # A step that waits for ever: it ends with the session, or with the client.
        late = tf.RunOptions(timeout_in_ms=rng.choice([50, 2000]))
        try:
            sess.run(get, options=late)
        except tf.errors.DeadlineExceededError:
            pass


def main(kind: str, target: str, number: str, seconds: float) -> None:
    tf = importlib.import_module(MODULES[kind])
    if kind == "tensorflow":
        tf.disable_v2_behavior()
    rng = random.Random(os.getpid())
    until = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < until:
        with tf.Graph().as_default(), tf.container(f"client {number}"), tf.Session(target) as sess:
            steps(tf, sess, rng)
        rounds += 1
        sys.stdout.write(f"round {rounds}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:4], float(sys.argv[4]))
