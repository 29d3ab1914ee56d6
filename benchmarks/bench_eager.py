"""The cost of an operation in eager execution beyond that of NumPy, and of a step of `Model.fit`
there beyond that of one in a graph.

Both sides of a comparison take turns, so that a machine that is busy slows both. Of operations the
time of the processor is told: one thread does it all.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import arguments, load, report

SAMPLES, REPEAT = 41, 200
PICTURES, BATCH, EPOCHS = 3_200, 32, 7


def alternating(
    calls: list[Callable[[], Any]], samples: int, repeat: int, clock: Callable[[], float]
) -> list[float]:
    """Median seconds of each call, over samples taken in turns."""
    spans: list[list[float]] = [[] for _ in calls]
    for sample in range(samples + 1):
        for call, found in zip(calls, spans, strict=True):
            began = clock()
            for _ in range(repeat):
                call()
            if sample:
                found.append((clock() - began) / repeat)
    return [statistics.median(each) for each in spans]


def operations(tf: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Operations on small tensors, each with what NumPy does."""
    a = np.random.default_rng(0).random((8, 8), np.float32)
    x = tf.constant(a)
    return {
        "add": (lambda: tf.add(x, x), lambda: np.add(a, a)),
        "matmul": (lambda: tf.matmul(x, x), lambda: np.matmul(a, a)),
        "reduce_sum": (lambda: tf.reduce_sum(x), lambda: np.sum(a)),
        "reduce_sum_axis": (lambda: tf.reduce_sum(x, 1), lambda: np.sum(a, 1)),
        "operator": (lambda: x * 2.0, lambda: a * np.float32(2)),
        "function": (_function(tf, x), lambda: np.add(np.matmul(a, a), a)),
    }


def _function(tf: Any, x: Any) -> Callable[[], Any]:
    made = tf.function(lambda x: tf.matmul(x, x) + x)
    return lambda: made(x)


def _fit(tf: Any, x: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Dense(128, activation="relu", input_shape=(784,)),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return lambda: model.fit(x, y, BATCH, epochs=1, verbose=0)


def training(tf: Any) -> list[float]:
    """Seconds of a training step: in eager execution, in a graph."""
    x = np.random.default_rng(0).random((PICTURES, 784), np.float32)
    y = x[:, :10].argmax(1)
    graph = tf.Graph()
    eagerly = _fit(tf, x, y)
    with graph.as_default():
        session = tf.Session(graph=graph)
        tf.keras.backend.set_session(session)
        in_graph = _fit(tf, x, y)

    def fit_in_graph() -> None:
        with graph.as_default(), session.as_default():
            in_graph()

    spans = alternating([eagerly, fit_in_graph], EPOCHS, 1, time.perf_counter)
    return [seconds / (PICTURES / BATCH) for seconds in spans]


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    tf.enable_eager_execution()
    for name, calls in operations(tf).items():
        ours, numpys = alternating(list(calls), SAMPLES, REPEAT, time.thread_time)
        beyond = round((ours - numpys) * 1e6, 1)
        report(f"eager_{name}", impl, ours, beyond_numpy_us=beyond, ratio=round(ours / numpys, 1))
    eager, graph = training(tf)
    report("eager_fit", impl, eager, graph_s=graph, ratio=round(eager / graph, 2))


if __name__ == "__main__":
    main()
