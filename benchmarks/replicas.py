"""One program over several hosts against a partition for each: the same values, which is faster?

`replicas.py [DEVICES]` trains a perceptron by towers, each on a host of its own, in both ways.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import numpy as np

import weft as tf
from weft.core import flags

WIDTH, BATCH, STEPS = 512, 64, 30


def towers(count: int) -> tuple[Any, Any, Any]:
    """A placeholder, the loss, and an operation that trains."""
    x = tf.placeholder(tf.float32, [None, WIDTH])
    losses, grads, variables = [], [], []
    for i, part in enumerate(tf.split(x, count)):
        with tf.device(f"/cpu:{i}"), tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            with tf.device("/cpu:0"):
                variables = [tf.get_variable(f"w{n}", [WIDTH, WIDTH]) for n in range(3)]
            hidden = part
            for weights in variables:
                hidden = tf.tanh(tf.matmul(hidden, weights))
            losses.append(tf.reduce_mean(tf.square(hidden - 0.1)))
            grads.append(tf.gradients(losses[-1], variables))
    means = [tf.add_n(list(each)) / count for each in zip(*grads, strict=True)]
    train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients(zip(means, variables, strict=True))
    return x, tf.add_n(losses) / count, train


def measure(count: int, spmd: bool) -> tuple[float, float, list[float]]:
    """Seconds until the third step is over, seconds of a step, and losses."""
    batch = np.random.RandomState(0).randn(BATCH * count, WIDTH).astype(np.float32)
    with tf.Graph().as_default(), flags.SPMD.override(spmd):
        tf.set_random_seed(1)
        x, loss, train = towers(count)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": count})) as session:
            session.run(tf.global_variables_initializer())
            times, losses = [], []
            for _ in range(STEPS):
                began = time.perf_counter()
                losses.append(float(session.run([loss, train], {x: batch})[0]))
                times.append(time.perf_counter() - began)
    return sum(times[:3]), statistics.median(times[3:]), losses


def main(count: int) -> None:
    first, step, losses = measure(count, spmd=True)
    first_apart, step_apart, losses_apart = measure(count, spmd=False)
    result = {
        "devices": count,
        "one_program_ms": round(step * 1e3, 2),
        "partitions_ms": round(step_apart * 1e3, 2),
        "ratio": round(step_apart / step, 2),
        "first_steps_s": [round(first, 1), round(first_apart, 1)],
        "largest_difference": float(np.abs(np.subtract(losses, losses_apart)).max()),
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
