"""Trains a network whose layers are on different devices: model parallelism.

    python examples/model_parallel.py [--devices 3] [--steps 200]

Two recurrent layers and a classifier read walks on the line and tell whether the highest point
comes after the lowest. Every layer is built under a `tf.device`, so its variables and its gradients
are there too, and what passes from layer to layer is sent. Look at the printed placement: one line
per variable; and at the transfers, which are the arrows between layers, forwards and back.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

import weft as tf

LENGTH, UNITS, BATCH = 12, 16, 64


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random walks [BATCH, LENGTH, 1], and 1 for those that are highest after they are lowest."""
    walks = np.cumsum(rng.normal(size=[BATCH, LENGTH]), axis=1)
    labels = walks.argmax(axis=1) > walks.argmin(axis=1)
    return walks[:, :, None].astype(np.float32), labels.astype(np.int32)


def network(x: tf.Tensor, devices: list[str]) -> tf.Tensor:
    """Scores [BATCH, 2]: layer i is on device i, from the start again where there are fewer."""
    outputs = x
    for i in range(2):
        with tf.device(devices[i % len(devices)]), tf.variable_scope(f"layer_{i}"):
            cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
            outputs, _ = tf.nn.dynamic_rnn(cell, outputs, dtype=tf.float32)
    with tf.device(devices[2 % len(devices)]):
        return tf.layers.dense(outputs[:, -1], 2, name="scores")


def transfers(metadata: tf.RunMetadata) -> Counter[tuple[str, str]]:
    """How many tensors a step sent, by (from, to)."""
    sent: Counter[tuple[str, str]] = Counter()
    for graph in metadata.partition_graphs:
        for node in graph.node:
            if node.op == "_Send":
                ends = node.attr["send_device"].s.decode(), node.attr["recv_device"].s.decode()
                sent[tuple(end.rpartition("device:")[2] for end in ends)] += 1
    return sent


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a network with a layer per device.")
    parser.add_argument("--devices", type=int, default=3, help="CPU devices (default 3)")
    parser.add_argument("--steps", type=int, default=200, help="training steps (default 200)")
    options = parser.parse_args()
    rng = np.random.default_rng(0)

    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [BATCH, LENGTH, 1], name="walks")
    y = tf.placeholder(tf.int32, [BATCH], name="labels")
    scores = network(x, [f"/cpu:{i}" for i in range(options.devices)])
    loss = tf.losses.sparse_softmax_cross_entropy(y, scores)
    # Each gradient is computed on the device of the operation it belongs to.
    optimizer = tf.train.AdamOptimizer(0.02)
    gradients = optimizer.compute_gradients(loss, colocate_gradients_with_ops=True)
    train = optimizer.apply_gradients(gradients)
    right = tf.equal(tf.argmax(scores, axis=1, output_type=tf.int32), y)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))

    for variable in tf.trainable_variables():
        print(f"{variable.name:40} {variable.shape!s:10} on {variable.device}")
    config = tf.ConfigProto(device_count={"CPU": options.devices})
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, options.steps + 1):
            batch = dict(zip([x, y], draw(rng), strict=True))
            last, reached, _ = session.run([loss, accuracy, train], batch)
            if step % 50 == 0:
                print(f"step {step}: loss {last:.3f}, accuracy {reached:.2f}")
        metadata = tf.RunMetadata()
        look = tf.RunOptions(output_partition_graphs=True)
        session.run(train, batch, options=look, run_metadata=metadata)
        checked = np.mean(
            [session.run(accuracy, dict(zip([x, y], draw(rng), strict=True))) for _ in range(5)]
        )
    for (source, destination), count in sorted(transfers(metadata).items()):
        print(f"{source} -> {destination}: {count} tensors a step")
    print(f"Accuracy on new walks: {checked:.3f}")


if __name__ == "__main__":
    main()
