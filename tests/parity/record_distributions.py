"""Asks TensorFlow what `tests/distributions/programs.py` asks, and keeps the answers.

.venv-tf/bin/python -m tests.parity.record_distributions
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow.compat.v1 as tf

from tests.distributions.programs import CASES, DATA, answers


def main() -> None:
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for name in CASES:
        for key, value in answers(tf, name).items():
            found[f"{name}/{key}"] = value.astype("S") if value.dtype == object else value
    DATA.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(DATA, **found)


if __name__ == "__main__":
    main()
