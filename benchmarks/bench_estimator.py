"""How long does a training step of an Estimator take: input pipeline, session, hooks and all?

A network of one hidden layer on pictures of 28 x 28, 64 a step, shuffled and repeated. TensorFlow
needs a version with Estimators (2.15 or before).
"""

import statistics
import tempfile
import time
from typing import Any

import numpy as np
from common import arguments, load, report

PICTURES, BATCH, WARM, STEPS, SAMPLES = 4_096, 64, 150, 100, 9


def model_fn(tf: Any) -> Any:
    def model(features: Any, labels: Any, mode: str) -> Any:
        weights = tf.get_variable("hidden", [784, 32])
        hidden = tf.nn.relu(tf.matmul(features["x"], weights))
        logits = tf.matmul(hidden, tf.get_variable("out", [32, 10]))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(losses)
        step = tf.train.get_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    return model


def input_fn(tf: Any) -> Any:
    random = np.random.default_rng(0)
    pictures = random.random((PICTURES, 784), np.float32)
    labels = random.integers(0, 10, PICTURES, np.int32)

    def make() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(({"x": pictures}, labels))
        return dataset.shuffle(1_000, seed=1).repeat().batch(BATCH)

    return make


def timer(tf: Any) -> Any:
    class Timer(tf.train.SessionRunHook):
        """Notes when every `STEPS` steps are over."""

        def __init__(self) -> None:
            self.steps, self.marks = 0, []

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.steps += 1
            if self.steps >= WARM and (self.steps - WARM) % STEPS == 0:
                self.marks.append(time.perf_counter())

    return Timer()


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    hook = timer(tf)
    with tempfile.TemporaryDirectory() as folder:
        estimator = tf.estimator.Estimator(model_fn(tf), folder)
        estimator.train(input_fn(tf), [hook], steps=WARM + STEPS * SAMPLES)
    spans = np.diff(hook.marks) / STEPS
    report("estimator", impl, statistics.median(spans))


if __name__ == "__main__":
    main()
