"""Asynchronous training: between-graph replication with parameter servers.

    weft launch --ps 2 --workers 3 examples/cluster_async.py [--steps 1000]

Every worker builds the graph of its own replica. The variables are on the parameter servers, dealt
out by `replica_device_setter`; they have the same names in all graphs, so they are the same. Each
worker reads them, computes gradients and applies them whenever it is ready, and waits for nobody.
Look at the last lines: the updates of all workers together are the steps that were asked for.
"""

from __future__ import annotations

import argparse

import cluster_task
import numpy as np

import weft as tf

FEATURES, BATCH = 10, 32


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points, and which side of a plane each is on."""
    points = rng.normal(size=[BATCH, FEATURES]).astype(np.float32)
    return points, (points @ np.arange(-4, 6) > 0).astype(np.int32)


def network(x: tf.Tensor) -> tf.Tensor:
    hidden = tf.layers.dense(x, 32, tf.nn.relu, name="hidden")
    return tf.layers.dense(hidden, 2, name="scores")


def work(server: tf.train.Server, cluster: tf.train.ClusterSpec, index: int, steps: int) -> None:
    here = f"/job:worker/task:{index}"
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, FEATURES])
        y = tf.placeholder(tf.int32, [None])
        loss = tf.losses.sparse_softmax_cross_entropy(y, network(x))
        global_step = tf.train.get_or_create_global_step()
        train = tf.train.AdagradOptimizer(0.2).minimize(loss, global_step)
    if index == 0:
        for variable in tf.trainable_variables():
            print(f"{variable.name:20} on {variable.device}")

    rng = np.random.default_rng(index)
    hooks = [tf.train.StopAtStepHook(last_step=steps)]
    # A worker has no use for the others, and need not wait until they are there.
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    losses = []
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=index == 0, hooks=hooks, config=config
    ) as session:
        while not session.should_stop():
            batch = dict(zip([x, y], draw(rng), strict=True))
            last, step, _ = session.run([loss, global_step, train], batch)
            losses.append(last)
            if len(losses) % 100 == 0:
                print(f"{len(losses)} updates of mine, {step} of all: loss {last:.3f}")
    print(f"Updates: {len(losses)}; loss {np.mean(losses[-20:]):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train without waiting for each other.")
    parser.add_argument("--steps", type=int, default=1000, help="updates by all (default 1000)")
    options = parser.parse_args()
    server, cluster, job, index = cluster_task.start()
    if job == "ps":
        server.join()
    work(server, cluster, index, options.steps)


if __name__ == "__main__":
    main()
