"""Trains a small classifier on Fisher's iris flowers: four lengths in, one of three species out.

    python examples/iris.py [--steps 400]

The graph is built once; every step of training is one `session.run` of it.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from rich.progress import track

import weft as tf

DATA = Path(__file__).parent / "data" / "iris.csv"
SPECIES = ["setosa", "versicolor", "virginica"]
HIDDEN = 16


def load(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """120 flowers to train on and 30 to test with: lengths and species of each."""
    with DATA.open() as f:
        rows = list(csv.DictReader(f))
    lengths = np.array([list(row.values())[:4] for row in rows], np.float32)
    species = np.array([SPECIES.index(row["species"]) for row in rows], np.int32)
    order = np.random.default_rng(seed).permutation(len(rows))
    train, test = order[:120], order[120:]
    return lengths[train], species[train], lengths[test], species[test]


def layer(x: tf.Tensor, outputs: int, name: str) -> tf.Tensor:
    with tf.variable_scope(name):
        inputs = int(x.shape[1])
        weights = tf.get_variable(
            "weights", [inputs, outputs], initializer=tf.glorot_uniform_initializer()
        )
        biases = tf.get_variable("biases", [outputs], initializer=tf.zeros_initializer())
        return tf.matmul(x, weights) + biases


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a classifier on the Iris data.")
    parser.add_argument("--steps", type=int, default=400, help="training steps (default 400)")
    steps = parser.parse_args().steps
    train_x, train_y, test_x, test_y = load()

    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 4], name="lengths")
    y = tf.placeholder(tf.int32, [None], name="species")
    scaled = (x - train_x.mean(axis=0)) / train_x.std(axis=0)
    logits = layer(tf.nn.relu(layer(scaled, HIDDEN, "hidden")), len(SPECIES), "output")
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss"
    )
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    optimizer = tf.train.AdamOptimizer(learning_rate=0.02)
    train = optimizer.apply_gradients(zip(gradients, variables, strict=True))
    chosen = tf.argmax(logits, axis=1, output_type=tf.int32)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(chosen, y), tf.float32), name="accuracy")
    probabilities = tf.nn.softmax(logits)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in track(range(steps), description="Training"):
            _, last_loss = session.run([train, loss], {x: train_x, y: train_y})
        reached = session.run(accuracy, {x: test_x, y: test_y})
        guesses, shares = session.run([chosen, probabilities], {x: test_x[:3]})

    print(f"Loss after {steps} steps: {last_loss:.4f}")
    print(f"Test accuracy: {reached:.3f} on {len(test_y)} flowers it has not seen")
    for lengths, guess, share, truth in zip(test_x, guesses, shares, test_y, strict=False):
        measured = ", ".join(f"{value:.1f}" for value in lengths)
        print(f"  [{measured}] cm -> {SPECIES[guess]} ({share[guess]:.0%}; it is {SPECIES[truth]})")


if __name__ == "__main__":
    main()
