"""A large embedding in parts, each on a parameter server; rows are looked up where they live.

    weft launch --ps 3 --workers 2 examples/cluster_embeddings.py [--rows 30000] [--steps 200]

`tf.nn.embedding_lookup` deals the ids of a batch out to the parts (`dynamic_partition`), gathers on
each parameter server the rows that it has (`gather`), and puts them together again in the order of
the batch (`dynamic_stitch`). Only those rows travel, and only their gradients come back. Look at
the last lines: where each operation is, and how much of the table crosses over in a step.
"""

from __future__ import annotations

import argparse

import cluster_task
import numpy as np

import weft as tf

DEPTH, BATCH = 16, 64


def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids, small ones most often as words are, and a property of each."""
    ids = np.minimum(rng.zipf(1.3, size=BATCH) - 1, rows - 1)
    return ids, (ids % 2).astype(np.int32)


def where(op: tf.Operation) -> str:
    return op.device.removeprefix("/job:").replace("/task:", "/")


def show_lookup(rows: tf.Tensor, parts: list[tf.Variable]) -> None:
    """Which operations look rows up, and on which task."""
    names = ("DynamicPartition", "GatherV2", "ResourceGather", "ParallelDynamicStitch")
    for op in rows.graph.get_operations():
        if op.type in names and "lookup" in op.name and "gradients" not in op.name:
            print(f"{op.type:22} on {where(op)}")
    for part in parts:
        print(f"{part.op.name:22} {part.shape} on {where(part.op)}")


def work(
    server: tf.train.Server, cluster: tf.train.ClusterSpec, index: int, options: argparse.Namespace
) -> None:
    here, rows = f"/job:worker/task:{index}", options.rows
    parts = cluster.num_tasks("ps")
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        tf.set_random_seed(1)
        ids = tf.placeholder(tf.int64, [None])
        y = tf.placeholder(tf.int32, [None])
        table = tf.get_variable(
            "table", [rows, DEPTH], initializer=tf.random_normal_initializer(stddev=0.1),
            partitioner=tf.fixed_size_partitioner(parts),
        )  # fmt: skip
        found = tf.nn.embedding_lookup(table, ids, partition_strategy="div", name="lookup")
        loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(found, 2))
        global_step = tf.train.get_or_create_global_step()
        train = tf.train.AdagradOptimizer(0.5).minimize(loss, global_step)
    if index == 0:
        show_lookup(found, list(table))

    rng = np.random.default_rng(index)
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    losses = []
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=index == 0, config=config,
        hooks=[tf.train.StopAtStepHook(last_step=options.steps)],
    ) as session:  # fmt: skip
        while not session.should_stop():
            batch = dict(zip([ids, y], draw(rng, rows), strict=True))
            losses.append(session.run([loss, train], batch)[0])
    print(f"Loss {np.mean(losses[:5]):.3f} at first, {np.mean(losses[-20:]):.3f} at last")
    print(f"{BATCH * DEPTH * 4:,} bytes of rows a step, of {rows * DEPTH * 4:,} in the table")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a partitioned embedding.")
    parser.add_argument("--rows", type=int, default=30000, help="of the table (default 30000)")
    parser.add_argument("--steps", type=int, default=200, help="updates by all (default 200)")
    options = parser.parse_args()
    server, cluster, job, index = cluster_task.start()
    if job == "ps":
        server.join()
    work(server, cluster, index, options)


if __name__ == "__main__":
    main()
