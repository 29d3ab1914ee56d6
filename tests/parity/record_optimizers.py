"""Runs the programs of `tests/train/optimizer_programs.py` in TensorFlow and keeps the results.

.venv-tf/bin/python -m tests.parity.record_optimizers
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow.compat.v1 as tf

from tests.train.optimizer_programs import DATA, OPTIMIZERS, run


def main() -> None:
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for name in OPTIMIZERS:
        for kind in ("reference", "resource"):
            for key, value in run(tf, name, kind == "resource").items():
                found[f"{name}/{kind}/{key}"] = value
    DATA.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(DATA, **found)


if __name__ == "__main__":
    main()
