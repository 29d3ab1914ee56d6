"""Builds the programs of `programs.py` with TensorFlow and keeps their GraphDefs and results.

.venv-tf/bin/python -m tests.parity.record_graphdefs
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow.compat.v1 as tf

from tests.parity import graphdefs
from tests.parity.programs import PROGRAMS
from tests.parity.store import DATA

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


def main() -> None:
    cases = [graphdefs.build_case(tf, name) for name in PROGRAMS]
    graphdefs.save(DATA / "graphdefs", cases)


if __name__ == "__main__":
    main()
