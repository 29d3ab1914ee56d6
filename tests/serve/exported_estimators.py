"""Exports Estimators for `record.py`: a classifier with names of classes, and a regressor."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf

X = np.linspace(-1, 1, 40, dtype=np.float32).reshape(20, 2)
LABELS = np.array([b"setosa", b"versicolor", b"virginica"], object)


def _columns() -> list[Any]:
    return [tf.feature_column.numeric_column("x", [2])]


def _inputs(labels: np.ndarray) -> Any:
    return tf.estimator.inputs.numpy_input_fn({"x": X}, labels, 10, None, shuffle=False)


def export(folder: Path) -> None:
    estimators = {
        "classifier": (
            tf.estimator.DNNClassifier(
                [4], _columns(), n_classes=3, label_vocabulary=[n.decode() for n in LABELS],
                config=tf.estimator.RunConfig(tf_random_seed=1, model_dir=tempfile.mkdtemp()),
            ),
            LABELS[np.arange(20) % 3],
        ),
        "regressor": (
            tf.estimator.LinearRegressor(
                _columns(),
                config=tf.estimator.RunConfig(tf_random_seed=1, model_dir=tempfile.mkdtemp()),
            ),
            X @ np.array([1.0, -2.0], np.float32),
        ),
    }  # fmt: skip
    spec = tf.feature_column.make_parse_example_spec(_columns())
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    for name, (estimator, labels) in estimators.items():
        estimator.train(_inputs(labels), steps=50)
        made = estimator.export_saved_model(tempfile.mkdtemp(), receiver)
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(made.decode(), folder / name / "1")


if __name__ == "__main__":
    export(Path(sys.argv[1]))
