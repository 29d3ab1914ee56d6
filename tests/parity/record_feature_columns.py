"""Runs the models of `tests/feature_column/column_programs.py` in TensorFlow, keeps the results.

.venv-tf/bin/python -m tests.parity.record_feature_columns
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow.compat.v1 as tf

from tests.feature_column.column_programs import DATA, programs, run


def main() -> None:
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for kind, name in programs():
        for key, value in run(tf, kind, name).items():
            found[f"{kind}/{name}/{key}"] = value
    np.savez_compressed(DATA, **found)


if __name__ == "__main__":
    main()
