"""Trains a classifier of iris flowers and exports it: a version of a model to serve.

    python examples/serving/train.py models/iris [--steps 400]

Each run adds the next version to the folder; a server that watches it takes over by itself.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import weft as tf

DATA = Path(__file__).parent.parent / "data" / "iris.csv"
SPECIES = ["setosa", "versicolor", "virginica"]


def flowers() -> tuple[np.ndarray, np.ndarray]:
    """Four lengths of each flower, and its species."""
    with DATA.open() as file:
        rows = list(csv.DictReader(file))
    lengths = np.array([list(row.values())[:4] for row in rows], np.float32)
    return lengths, np.array([SPECIES.index(row["species"]) for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description="Train and export a model to serve.")
    parser.add_argument("folder", type=Path, help="of the model; versions are folders in it")
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()
    lengths, species = flowers()
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 4], name="lengths")
    hidden = tf.layers.dense((x - lengths.mean(0)) / lengths.std(0), 16, tf.nn.relu)
    logits = tf.layers.dense(hidden, len(SPECIES))
    loss = tf.losses.sparse_softmax_cross_entropy(species, logits)
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    names = tf.gather(tf.constant(SPECIES), tf.argmax(logits, 1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(arguments.steps):
            session.run(train, {x: lengths})
        known = [int(path.name) for path in arguments.folder.glob("[0-9]*")]
        folder = arguments.folder / str(max(known, default=0) + 1)
        outputs = {"species": names, "probabilities": tf.nn.softmax(logits)}
        tf.saved_model.simple_save(session, str(folder), {"lengths": x}, outputs)
    print(f"exported {folder}")


if __name__ == "__main__":
    main()
