"""Trains one model in several replicas, by a distribution strategy.

    python examples/mirrored.py [--devices cpu:0 cpu:1 | --devices gpu:0 gpu:1] [--steps 100]

The function `step` is written for one replica. Each device has a copy of every variable and gets
its share of a batch; before the copies are updated, all by the same amount, the gradients are
summed. `towers.py` does the same by hand. Without `--devices`: every GPU, else two virtual CPUs.
"""

from __future__ import annotations

import argparse

import numpy as np

import weft as tf

CLASSES, FEATURES, BATCH = 4, 8, 64


def dataset() -> tf.data.Dataset:
    """Points around centers, and which center each belongs to, in batches for all replicas."""
    rng = np.random.default_rng(0)
    centers = 3 * rng.normal(size=[CLASSES, FEATURES])
    labels = rng.integers(CLASSES, size=20 * BATCH)
    points = (centers[labels] + rng.normal(size=[labels.size, FEATURES])).astype(np.float32)
    whole = tf.data.Dataset.from_tensor_slices((points, labels))
    return whole.shuffle(labels.size, seed=1).batch(BATCH, drop_remainder=True).repeat()


def step(points: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Operation]:
    """The loss, the accuracy so far and the update of one replica."""
    hidden = tf.layers.dense(points, 32, tf.nn.relu, name="hidden")
    scores = tf.layers.dense(hidden, CLASSES, name="scores")
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
    # Gradients are summed over the replicas: a share of the mean over the whole batch.
    loss = tf.reduce_sum(each) / BATCH
    counter = tf.train.get_or_create_global_step()
    update = tf.train.AdamOptimizer(0.01).minimize(loss, counter)
    accuracy, count = tf.metrics.accuracy(labels, tf.argmax(scores, 1))
    return loss, accuracy, tf.group(update, count)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train replicas on several devices.")
    parser.add_argument("--devices", nargs="*", help="one replica on each")
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    strategy = tf.distribute.MirroredStrategy(args.devices)
    if strategy.num_replicas_in_sync == 1 and not args.devices:
        strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    tf.set_random_seed(1)
    with strategy.scope():
        iterator = strategy.make_dataset_iterator(dataset())
        points, labels = iterator.get_next()
        losses, accuracies, updates = strategy.experimental_run_v2(step, (points, labels))
        loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        accuracy = strategy.unwrap(accuracies)[0]
        update = strategy.group(updates)
        start = [iterator.initialize(), tf.global_variables_initializer()]
    config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
    with tf.Session(config=config) as session:
        session.run([start, tf.local_variables_initializer()])
        for number in range(args.steps):
            value, _ = session.run([loss, update])
            if number % 20 == 0 or number == args.steps - 1:
                print(f"step {number:4d}  loss {value:.3f}")
        print(f"{strategy.num_replicas_in_sync} replicas, accuracy {session.run(accuracy):.3f}")
        kernel = tf.trainable_variables()[0]
        first, *others = session.run(strategy.unwrap(kernel))
        same = all(np.array_equal(first, other) for other in others)
        print(f"copies of {kernel.name} are {'equal' if same else 'different'}")


if __name__ == "__main__":
    main()
