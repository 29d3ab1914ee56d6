"""Writes the MetaGraph of a small training program with TensorFlow, and what the program computes.

    .venv-tf/bin/python -m tests.parity.record_meta_graph

`tests/graph/test_meta_graph.py` imports it into weft and trains on.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf2

tf = tf2.compat.v1
tf.disable_v2_behavior()

DATA = Path(__file__).parent.parent / "graph" / "data"
STEPS = 3


def build() -> Any:
    """A linear model with a variable of either kind, trained by gradient descent."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    labels = tf.placeholder(tf.float32, [None, 1], name="labels")
    with tf.device("/cpu:0"), tf.name_scope("layer"):
        weights = tf.Variable([[0.5], [-1.0], [2.0]], name="weights")
        bias = tf.Variable([0.25], name="bias", use_resource=True)
        y = tf.add(tf.matmul(x, weights), bias, name="y")
    loss = tf.reduce_mean(tf.square(y - labels), name="loss")
    step = tf.train.create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step, name="train")
    count = tf.Variable(0, name="count", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    tf.add_to_collection("counters", tf.assign_add(count, 2, name="tick"))
    tf.add_to_collection("outputs", y)
    tf.add_to_collection("outputs", loss)
    tf.add_to_collection("train_op", train)
    tf.add_to_collection("sizes", 3)
    tf.add_to_collection("sizes", 4)
    tf.add_to_collection("rates", 0.5)
    tf.add_to_collection("notes", "layer")
    return loss, train, [weights, bias, step]


def main() -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    with tf.Graph().as_default():
        loss, train, variables = build()
        tf.train.export_meta_graph(str(DATA / "linear.meta"))
        feeds = {
            "x:0": np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3),
            "labels:0": np.array([[1], [0], [-1], [0.5]], np.float32),
        }
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run([loss, train], feeds)[0] for _ in range(STEPS)]
            values = session.run(variables)
    kept = {"weights": values[0], "bias": values[1], "global_step": values[2]}
    np.savez(DATA / "linear.npz", losses=np.array(losses), x=feeds["x:0"],
             labels=feeds["labels:0"], **kept)  # fmt: skip


if __name__ == "__main__":
    main()
