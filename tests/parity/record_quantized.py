"""Runs the calls of `tests/ops/quantized_programs.py` in TensorFlow and keeps the results.

.venv-tf/bin/python -m tests.parity.record_quantized
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow.compat.v1 as tf

from tests.ops.quantized_programs import DATA, answers


def main() -> None:
    tf.disable_v2_behavior()
    DATA.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(DATA, **answers(tf))


if __name__ == "__main__":
    main()
