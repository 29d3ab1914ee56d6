"""Saves an object with TensorFlow 2, and writes down what it computes.

    .venv-tf/bin/python -m tests.parity.record_saved_objects

`tests/saved_model/test_objects.py` loads it into weft.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

from tests.saved_model.objects import (
    STORED,
    WORDS,
    derivatives,
    looping,
    results,
    signatures,
    toy,
)


def main() -> None:
    shutil.rmtree(STORED, ignore_errors=True)
    STORED.mkdir()
    os.chdir(STORED)  # so that no path of this machine is in the model
    Path("words.txt").write_text(WORDS)
    model = toy(tf, "words.txt")
    model.counts["calls"].assign(5)
    tf.saved_model.save(model, "toy", signatures(model))
    Path("words.txt").unlink()  # the copy among the assets must do
    Path("toy/fingerprint.pb").unlink()
    loaded = tf.saved_model.load("toy")
    found = [each.numpy().tolist() for each in results(tf, loaded)]
    shutil.make_archive("toy", "zip", "toy")
    shutil.rmtree("toy")
    Path("answers.json").write_text(json.dumps(found))
    record_loops()


def record_loops() -> None:
    """What TensorFlow derives from loops that it has loaded again."""
    tf.saved_model.save(looping(tf), "loops")
    Path("loops/fingerprint.pb").unlink()
    found = derivatives(tf, tf.saved_model.load("loops"))
    shutil.make_archive("loops", "zip", "loops")
    shutil.rmtree("loops")
    Path("loops.json").write_text(json.dumps([each.numpy().tolist() for each in found]))


if __name__ == "__main__":
    main()
