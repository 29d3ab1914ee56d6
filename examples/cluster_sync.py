"""Synchronous training: one update from the mean gradient of all replicas.

    weft launch --ps 1 --workers 3 examples/cluster_sync.py [--steps 60]

Each worker computes the gradient on its own batch and hands it to an accumulator beside the
variable. When all are in, the chief's queue runner applies their mean and gives out a token to each
worker, which waited for it. Look at the last lines: what the workers have learnt together is what
one process learns from the batches of all of them.
"""

from __future__ import annotations

import argparse

import cluster_task
import numpy as np

import weft as tf

FEATURES, BATCH, RATE = 6, 16, 0.1
TRUTH = np.linspace(-1.0, 1.0, FEATURES)


def batches(index: int, steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The data that worker `index` sees, step by step."""
    rng = np.random.default_rng(index)
    points = rng.normal(size=[steps, BATCH, FEATURES])
    return [(each, each @ TRUTH) for each in points]


def alone(workers: int, steps: int) -> np.ndarray:
    """The weights that one process learns from everybody's batches, in plain NumPy."""
    data, weights = [batches(i, steps) for i in range(workers)], np.zeros(FEATURES)
    for step in range(steps):
        points = np.concatenate([each[step][0] for each in data])
        targets = np.concatenate([each[step][1] for each in data])
        weights -= RATE * 2 * points.T @ (points @ weights - targets) / len(points)
    return weights


def work(server: tf.train.Server, cluster: tf.train.ClusterSpec, index: int, steps: int) -> None:
    workers, is_chief = cluster.num_tasks("worker"), index == 0
    here = f"/job:worker/task:{index}"
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, FEATURES])
        y = tf.placeholder(tf.float32, [None])
        weights = tf.get_variable("weights", [FEATURES], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * weights, axis=1) - y))
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(RATE),
            replicas_to_aggregate=workers,
            total_num_replicas=workers,
        )
        train = optimizer.minimize(loss, global_step)

    # No tokens to begin with: a worker that took two would compute two gradients of one step.
    hooks = [optimizer.make_session_run_hook(is_chief, num_tokens=0)]
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=is_chief, hooks=hooks, config=config
    ) as session:
        for i, (points, targets) in enumerate(batches(index, steps), start=1):
            last, _ = session.run([loss, train], {x: points, y: targets})
            if is_chief and i % 20 == 0:
                print(f"step {i}: loss {last:.5f}")
        learnt, step = session.run([weights, global_step])
    difference = np.abs(learnt - alone(workers, steps)).max()
    print(f"Step {step}; differs from training alone by at most {difference:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train in step with each other.")
    parser.add_argument("--steps", type=int, default=60, help="updates (default 60)")
    options = parser.parse_args()
    server, cluster, job, index = cluster_task.start()
    if job == "ps":
        server.join()
    work(server, cluster, index, options.steps)


if __name__ == "__main__":
    main()
