"""An honest client of a server: `python -m tests.fuzz.honest TARGET`.

It trains a small model, reads it, and now and then begins a new session. Each step is a line: the
seconds that it took, or what went wrong.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

import weft as tf

STEPS_PER_SESSION = 200
PAUSE = 0.01


def main(target: str) -> None:
    with tf.Graph().as_default() as graph:
        made = _model()
        while True:
            try:
                _train(target, graph, *made)
            except Exception as error:
                _say(f"error {type(error).__name__}: {str(error)[:300]!r}")
                time.sleep(1)


def _model() -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [None, 8])
    # Sessions of a server share the variables of one name: another client would begin anew in them.
    weights = tf.get_variable(f"w_{os.getpid()}", [8, 1], use_resource=True)
    loss = tf.reduce_mean((tf.matmul(x, weights) - tf.reduce_sum(x, 1, keepdims=True)) ** 2)
    return x, loss, tf.train.GradientDescentOptimizer(0.05).minimize(loss)


def _train(target: str, graph: tf.Graph, x: Any, loss: Any, train: Any) -> None:
    rng = np.random.default_rng(0)
    with tf.Session(target, graph=graph) as session:
        with graph.as_default():
            session.run(tf.variables_initializer(tf.global_variables()))
        first = None
        for _ in range(STEPS_PER_SESSION):
            batch = rng.normal(size=(16, 8)).astype(np.float32)
            begin = time.perf_counter()
            value, _ = session.run([loss, train], {x: batch})
            _say(f"{time.perf_counter() - begin:.6f}")
            first = value if first is None else first
            time.sleep(PAUSE)
        if not value < first:
            _say(f"error it did not learn: {first} {value}")


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
