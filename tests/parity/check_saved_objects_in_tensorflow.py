"""Loads objects that weft saved with TensorFlow 2, calls and differentiates them.

    .venv-tf/bin/python -m tests.parity.check_saved_objects_in_tensorflow FOLDER

FOLDER is as `tests/saved_model/test_objects_in_tensorflow.py` writes it. Exits with 1 and one line
per difference.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

from tests.saved_model.objects import ROWS, STORED, derivatives, results

RECORDED = json.loads((STORED / "answers.json").read_text())


def toys(folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """(what, found, wanted) of the object, as it was saved and saved again by TensorFlow."""
    for name in ("graphs", "eagerly"):
        loaded = tf.saved_model.load(str(folder / name))
        yield name, [each.numpy().tolist() for each in results(tf, loaded)], RECORDED
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(loaded.linear(ROWS))
        gradient = tape.gradient(y, loaded.w).numpy().tolist()
        yield f"gradient of {name}", gradient, [[0.0, 0.0], [2.5, 2.5]]
        tf.saved_model.save(loaded, str(folder / f"{name}_again"))


def keras_models(folder: Path) -> Iterator[tuple[str, Any, Any]]:
    wanted = np.load(folder / "predicted.npy").tolist()
    loaded = tf.saved_model.load(str(folder / "keras"))
    yield "model", loaded(ROWS).numpy().tolist(), wanted
    served = loaded.signatures["serving_default"](features=tf.constant(ROWS))
    yield "signature", served["score"].numpy().tolist(), wanted


def training(folder: Path) -> Iterator[tuple[str, Any, Any]]:
    loaded = tf.saved_model.load(str(folder / "trained"))
    loaded.step(tf.constant([1.0, -1.0]))
    yield "optimizer", loaded.v.numpy().tolist(), np.load(folder / "trained.npy").tolist()


def loops(folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """First and second derivatives of functions with loops."""
    wanted = json.loads((STORED / "loops.json").read_text())
    found = derivatives(tf, tf.saved_model.load(str(folder / "loops")))
    yield "derivatives of loops", [each.numpy().tolist() for each in found], wanted


def main(folder: str) -> int:
    wrong = 0
    for part in (toys, keras_models, training, loops):
        for what, found, wanted in part(Path(folder)):
            same = len(found) == len(wanted) and all(map(np.allclose, found, wanted))
            if not same:
                wrong += 1
                sys.stdout.write(f"{what}: {found} instead of {wanted}\n")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
