"""Overlaps work in two ways: several steps at once on one device, and stages over devices.

    python examples/pipelined_steps.py [--batches 40]

A batch is first read (which here just takes time, as a disk or a network does), then used to train.
The program does that (1) one step after the other, (2) with several threads that run the same
step function, so that one batch is read while another is used, and (3) with a stage of its own for
each: a reader on cpu:1 puts batches into a queue, the trainer on cpu:0 takes them out. Look at the
times: (2) and (3) hide the reading behind the training, and all train on every batch.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable

import numpy as np

import weft as tf

BATCH, FEATURES, THREADS = 256, 64, 4
READING = 0.01  # seconds


def read(seed: np.ndarray) -> np.ndarray:
    """A batch; slow, but not for want of a processor."""
    time.sleep(READING)
    return np.random.default_rng(int(seed)).normal(size=[BATCH, FEATURES]).astype(np.float32)


def reader() -> tf.Tensor:
    """The next batch, numbered by a counter that all steps share."""
    counter = tf.get_variable("batches_read", [], tf.int64, tf.zeros_initializer())
    number = tf.assign_add(counter, 1, use_locking=True)
    batch = tf.py_func(read, [number], tf.float32, name="read")
    batch.set_shape([BATCH, FEATURES])
    return batch


def training(batch: tf.Tensor) -> tuple[tf.Operation, tf.Variable]:
    """Fits the sum of the features; the operation that takes a step, and the step counter."""
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        guess = tf.layers.dense(tf.layers.dense(batch, 256, tf.nn.relu, name="hidden"), 1)
    loss = tf.losses.mean_squared_error(tf.reduce_sum(batch, axis=1, keepdims=True), guess)
    step = tf.train.get_or_create_global_step()
    return tf.train.GradientDescentOptimizer(1e-3).minimize(loss, step), step


def timed(name: str, count: int, steps: Callable[[], None], total: Callable[[], int]) -> None:
    before, began = total(), time.perf_counter()
    steps()
    seconds = time.perf_counter() - began
    print(f"{name}: {total() - before} steps, {seconds / count * 1e3:.1f} ms a batch")


def in_threads(count: int, step: Callable[[], object]) -> None:
    """Runs `step` `count` times, on as many as THREADS threads at once."""
    share = count // THREADS
    threads = [
        threading.Thread(target=lambda: [step() for _ in range(share)]) for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description="Overlap reading and training.")
    parser.add_argument("--batches", type=int, default=40, help="batches for each way (default 40)")
    count = parser.parse_args().batches // THREADS * THREADS

    tf.set_random_seed(1)
    with tf.device("/cpu:1"):
        batch = reader()
        queue = tf.FIFOQueue(THREADS, tf.float32, [[BATCH, FEATURES]], name="stage")
        put, staged = queue.enqueue(batch), queue.dequeue()  # where the queue is
    with tf.device("/cpu:0"):
        direct, steps_done = training(batch)
        taken, _ = training(staged)

    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        one_step = session.make_callable(direct)

        def total() -> int:
            return int(session.run(steps_done))

        def stages() -> None:
            feeder = threading.Thread(target=in_threads, args=(count, lambda: session.run(put)))
            feeder.start()
            for _ in range(count):
                session.run(taken)
            feeder.join()

        for _ in range(3):
            one_step()  # compiles
        session.run(put)
        session.run(taken)
        timed("one after the other ", count, lambda: [one_step() for _ in range(count)], total)
        timed(f"{THREADS} steps at once     ", count, lambda: in_threads(count, one_step), total)
        timed("stages and a queue  ", count, stages, total)
        print(f"Batches read: {session.run('batches_read:0')}, used: {total()}")


if __name__ == "__main__":
    main()
