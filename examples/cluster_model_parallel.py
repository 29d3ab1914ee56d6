"""Model parallelism over tasks: every layer of a deep network on a worker of its own.

    weft launch --ps 0 --workers 3 --until chief examples/cluster_model_parallel.py [--steps 150]

Each layer's variables and computations are on one worker; what travels between them is the output
of a layer on the way there, and its gradient on the way back. The weights stay where they are. Look
at the last lines: what crosses from task to task in a step, and what the network has learnt.
"""

from __future__ import annotations

import argparse
import collections

import cluster_task
import numpy as np

import weft as tf

FEATURES, WIDTH, BATCH = 8, 64, 64


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points, and whether the product of two coordinates is positive."""
    points = rng.normal(size=[BATCH, FEATURES])
    return points, (points[:, 0] * points[:, 1] > 0).astype(np.int32)


def network(x: tf.Tensor, tasks: int) -> tf.Tensor:
    for i in range(tasks - 1):
        with tf.device(f"/job:worker/task:{i}"):
            x = tf.layers.dense(x, WIDTH, tf.nn.relu, name=f"layer_{i}")
    with tf.device(f"/job:worker/task:{tasks - 1}"):
        return tf.layers.dense(x, 2, name="scores")


def transfers(metadata: tf.RunMetadata) -> collections.Counter[tuple[str, str]]:
    """How many tensors go from task to task in a step."""
    count: collections.Counter[tuple[str, str]] = collections.Counter()
    for graph in metadata.partition_graphs:
        for node in graph.node:
            if node.op == "_Send" and not node.attr["client_terminated"].b:
                ends = (node.attr[f"{end}_device"].s.decode() for end in ("send", "recv"))
                source, target = (end.partition("/device:")[0][-6:] for end in ends)
                count[source, target] += 1
    return count


def work(server: tf.train.Server, tasks: int, steps: int) -> None:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, FEATURES])
    y = tf.placeholder(tf.int32, [None])
    scores = network(x, tasks)
    with tf.device(scores.device):
        loss = tf.losses.sparse_softmax_cross_entropy(y, scores)
        right = tf.equal(tf.argmax(scores, axis=1, output_type=tf.int32), y)
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    optimizer = tf.train.AdamOptimizer(0.01)
    train = optimizer.minimize(loss, colocate_gradients_with_ops=True)
    for variable in tf.trainable_variables():
        print(f"{variable.name:20} on {variable.device}")

    rng = np.random.default_rng(0)
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, steps + 1):
            batch = dict(zip([x, y], draw(rng), strict=True))
            last, reached, _ = session.run([loss, accuracy, train], batch)
            if step % 50 == 0:
                print(f"step {step}: loss {last:.3f}, accuracy {reached:.2f}")
        metadata = tf.RunMetadata()
        look = tf.RunOptions(output_partition_graphs=True)
        session.run(train, batch, options=look, run_metadata=metadata)
        fresh = [dict(zip([x, y], draw(rng), strict=True)) for _ in range(5)]
        checked = np.mean([session.run(accuracy, each) for each in fresh])
    for (source, target), count in sorted(transfers(metadata).items()):
        print(f"{source} -> {target}: {count} tensors a step")
    print(f"Accuracy on new points: {checked:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a network spread over tasks.")
    parser.add_argument("--steps", type=int, default=150, help="training steps (default 150)")
    options = parser.parse_args()
    server, cluster, _, index = cluster_task.start()
    if index != 0:
        server.join()
    work(server, cluster.num_tasks("worker"), options.steps)


if __name__ == "__main__":
    main()
