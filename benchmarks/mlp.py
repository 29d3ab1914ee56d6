"""The network that several benchmarks use: 784-512-512-10, batch of 128, gradient descent.

Run as a program it trains for some steps and says when it was done:
`python mlp.py IMPL STEPS` prints {"done_at": seconds since the epoch, "resident_mb": ...}.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from typing import Any

from common import load, resident_mb

SIZES = (784, 512, 512, 10)
BATCH = 128


def build(tf: Any) -> tuple[Any, Any, Any, Any]:
    """(images, labels, loss, train) in the default graph."""
    images = tf.placeholder(tf.float32, [None, SIZES[0]], name="images")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    hidden = images
    for i, (inputs, outputs) in enumerate(itertools.pairwise(SIZES)):
        with tf.variable_scope(f"layer{i}"):
            weights = tf.get_variable("weights", [inputs, outputs])
            biases = tf.get_variable("biases", [outputs], initializer=tf.zeros_initializer())
            hidden = tf.matmul(hidden, weights) + biases
            if outputs != SIZES[-1]:
                hidden = tf.nn.relu(hidden)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=hidden)
    )
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return images, labels, loss, train


def batch() -> tuple[Any, Any]:
    import numpy as np

    random = np.random.default_rng(0)
    return (
        random.random((BATCH, SIZES[0]), np.float32),
        random.integers(0, SIZES[-1], BATCH).astype(np.int32),
    )


def main() -> None:
    impl, steps = sys.argv[1], int(sys.argv[2])
    tf = load(impl)
    images, labels, loss, train = build(tf)
    image_batch, label_batch = batch()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            _, value = session.run([train, loss], {images: image_batch, labels: label_batch})
        done_at = time.time()
        memory = resident_mb()
    print(json.dumps({"done_at": done_at, "resident_mb": memory, "loss": float(value)}))


if __name__ == "__main__":
    main()
