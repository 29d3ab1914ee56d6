"""One task of a training with an Estimator; TF_CONFIG says which. Alone, it does everything.

python -m tests.estimator.training_program FOLDER STEPS [SECONDS_BETWEEN_STEPS]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import weft as tf
from tests.estimator.models import inputs, linear_fn, receiver


class Slowly(tf.train.SessionRunHook):
    """Leaves the others time to take part, and whoever kills this process time to do so."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def after_run(self, run_context: Any, run_values: Any) -> None:
        time.sleep(self.seconds)


def main(folder: str, steps: int, seconds: float) -> None:
    tf.logging.set_verbosity(tf.logging.INFO)
    config = tf.estimator.RunConfig(
        model_dir=folder, save_checkpoints_steps=10, log_step_count_steps=10,
        experimental_max_worker_delay_secs=0,
    )  # fmt: skip
    estimator = tf.estimator.Estimator(linear_fn, config=config, params={"rate": 0.05})
    result = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(inputs(), max_steps=steps, hooks=[Slowly(seconds)]),
        tf.estimator.EvalSpec(
            inputs(1),
            steps=None,
            exporters=tf.estimator.FinalExporter("final", receiver),
            start_delay_secs=0,
            throttle_secs=0.2,
        ),
    )
    sys.stdout.write(f"done {result}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
