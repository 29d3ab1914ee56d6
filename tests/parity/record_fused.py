"""Runs the calls of `tests/ops/fused_programs.py` in TensorFlow and keeps the results.

    .venv-tf/bin/python -m tests.parity.record_fused

Only oneDNN has kernels for them, which TensorFlow puts in their place when it optimizes a graph.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"

import numpy as np
import tensorflow.compat.v1 as tf

from tests.ops.fused_programs import DATA, answers


def main() -> None:
    """Asks, and keeps the answers."""
    tf.disable_v2_behavior()
    np.savez_compressed(DATA, **answers(tf))


if __name__ == "__main__":
    main()
