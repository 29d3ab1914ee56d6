"""Synchronous training with backup workers: one slow machine slows nobody else.

    weft launch --ps 1 --workers 4 examples/cluster_backup_workers.py [--backups 1] [--delay 0.2]

The last worker is slow: it waits `--delay` seconds in every step. Without backups the others wait
for it, step by step. With `--backups 1` an update is made as soon as all but one have handed in
their gradients; what comes later belongs to a step that is over, and is dropped. Look at the last
lines, with `--backups 0` and with `--backups 1`: the time of a step, and what became of the slow
worker's gradients.
"""

from __future__ import annotations

import argparse
import time

import cluster_task
import numpy as np

import weft as tf

FEATURES, BATCH = 6, 16


def work(
    server: tf.train.Server, cluster: tf.train.ClusterSpec, index: int, options: argparse.Namespace
) -> None:
    workers, is_chief = cluster.num_tasks("worker"), index == 0
    is_slow, here = index == workers - 1, f"/job:worker/task:{index}"
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, FEATURES])
        weights = tf.get_variable("weights", [FEATURES], initializer=tf.zeros_initializer())
        sums = tf.reduce_sum(x, axis=1)
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * weights, axis=1) - sums))
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.1),
            replicas_to_aggregate=workers - options.backups,
            total_num_replicas=workers,
        )
        train = optimizer.minimize(loss, global_step)

    rng = np.random.default_rng(index)
    # No tokens to begin with: with some to spare, a fast worker does a slow one's part as well.
    hooks = [
        optimizer.make_session_run_hook(is_chief, num_tokens=0),
        tf.train.StopAtStepHook(last_step=options.steps),
    ]
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    seen: list[tuple[float, int]] = []  # when a step was over, and which
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=is_chief, hooks=hooks, config=config
    ) as session:
        while not session.should_stop():
            if is_slow:
                time.sleep(options.delay)
            points = rng.normal(size=[BATCH, FEATURES])
            last, step, _ = session.run([loss, global_step, train], {x: points})
            seen.append((time.perf_counter(), step))
    print(f"{len(seen)} gradients of mine, loss {last:.5f}")
    if is_chief:
        # The first steps compile, and wait for workers that are only starting.
        (began, first), (ended, final) = seen[len(seen) // 4], seen[-1]
        print(f"{1000 * (ended - began) / (final - first):.0f} ms a step")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train with backup workers.")
    parser.add_argument("--steps", type=int, default=40, help="updates (default 40)")
    parser.add_argument("--backups", type=int, default=1, help="backup workers (default 1)")
    parser.add_argument("--delay", type=float, default=0.2, help="of the slow worker, in seconds")
    options = parser.parse_args()
    server, cluster, job, index = cluster_task.start()
    if job == "ps":
        server.join()
    work(server, cluster, index, options)


if __name__ == "__main__":
    main()
