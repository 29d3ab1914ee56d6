"""Writes down what programs on ragged tensors compute in TensorFlow.

    .venv-tf/bin/python -m tests.parity.record_ragged

`tests/ragged/test_programs.py` compares.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf2

from tests.ragged.programs import DATA, PROGRAMS, values

tf = tf2.compat.v1
tf.disable_v2_behavior()


def main() -> None:
    recorded = {name: values(tf, program) for name, program in PROGRAMS.items()}
    DATA.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(v)}" for name, v in recorded.items())
    DATA.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
