"""In-graph replication: one client, one graph, a replica on every worker.

    weft launch --ps 1 --workers 3 --until chief examples/cluster_in_graph.py [--steps 100]

The chief builds the whole graph: the variables on the parameter server, and for each worker the
same layers on its share of the batch. One `run` of the chief's session sets all workers to work,
and its one update uses the mean of their gradients. The other workers only serve. Look at the last
lines: which tasks took part in a step, and what was learnt.
"""

from __future__ import annotations

import argparse

import cluster_task
import numpy as np

import weft as tf

CLASSES, FEATURES, SHARE = 4, 8, 32


def draw(
    rng: np.random.Generator, centers: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Points around the centers, and which center each belongs to."""
    labels = rng.integers(CLASSES, size=count)
    return centers[labels] + rng.normal(size=[count, FEATURES]), labels


def replica(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """The loss on a share of the batch; all replicas have the variables of the first."""
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(x, 32, tf.nn.relu, name="hidden")
        scores = tf.layers.dense(hidden, CLASSES, name="scores")
    return tf.losses.sparse_softmax_cross_entropy(y, scores)


def work(server: tf.train.Server, cluster: tf.train.ClusterSpec, steps: int) -> None:
    workers = cluster.num_tasks("worker")
    with tf.device("/job:ps/task:0"):
        x = tf.placeholder(tf.float32, [workers * SHARE, FEATURES])
        y = tf.placeholder(tf.int32, [workers * SHARE])
        shares = zip(tf.split(x, workers), tf.split(y, workers), strict=True)
    losses = []
    for i, (points, labels) in enumerate(shares):
        place = tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{i}", cluster=cluster
        )
        with tf.device(place), tf.name_scope(f"replica_{i}"):
            losses.append(replica(points, labels))
    with tf.device("/job:ps/task:0"):
        loss = tf.reduce_mean(losses)
        optimizer = tf.train.GradientDescentOptimizer(0.3)
        # Each gradient is computed where its part of the loss was.
        train = optimizer.minimize(loss, colocate_gradients_with_ops=True)

    rng = np.random.default_rng(0)
    centers = rng.normal(0.0, 1.5, size=[CLASSES, FEATURES])
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, steps + 1):
            batch = dict(zip([x, y], draw(rng, centers, workers * SHARE), strict=True))
            last, _ = session.run([loss, train], batch)
            if step % 25 == 0:
                print(f"step {step}: loss {last:.3f}")
        metadata = tf.RunMetadata()
        trace = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(train, batch, options=trace, run_metadata=metadata)
    tasks = {d.device.partition("/device:")[0] for d in metadata.step_stats.dev_stats}
    print(f"A step ran on {', '.join(sorted(tasks))}")
    print(f"Loss: {last:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train replicas in one graph.")
    parser.add_argument("--steps", type=int, default=100, help="training steps (default 100)")
    options = parser.parse_args()
    server, cluster, job, index = cluster_task.start()
    if (job, index) != ("worker", 0):
        server.join()
    work(server, cluster, options.steps)


if __name__ == "__main__":
    main()
