"""Exports models with TensorFlow, and writes down what they compute.

    .venv-tf/bin/python -m tests.parity.record_saved_models

`tests/saved_model/test_from_tensorflow.py` loads them into weft.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf2

from tests.saved_model.models import CASES, DATA, ROWS, answers

tf = tf2.compat.v1


def functional(folder: Path) -> list[list[float]]:
    """A model as TensorFlow 2 writes it: an object whose signature is a function."""

    class Model(tf2.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf2.Variable([[0.5], [-1.0], [2.0]])
            self.b = tf2.Variable([0.25])

        @tf2.function(input_signature=[tf2.TensorSpec([None, 3], tf2.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            y = tf2.matmul(x, self.w) + self.b
            for _ in tf2.range(3):
                y = tf2.where(y > 1.0, y * 0.5, y + 1.0)
            return {"y": y}

    model = Model()
    tf2.saved_model.save(model, str(folder))
    return model(ROWS)["y"].numpy().tolist()


def main() -> None:
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    os.chdir(DATA)  # so that no path of this machine is in a model
    here = Path()
    recorded: dict[str, Any] = {"functional": functional(here / "functional")}
    tf.disable_v2_behavior()
    for name, (export, asks) in CASES.items():
        with tf.Graph().as_default():
            export(tf, here / name)
        recorded[name] = answers(tf, here / name, asks)
    (DATA / "words.txt").unlink()  # the copy among the assets must do
    (DATA / "answers.json").write_text(json.dumps(recorded, default=_text, indent=1))


def _text(value: bytes) -> str:
    return value.decode()


if __name__ == "__main__":
    main()
