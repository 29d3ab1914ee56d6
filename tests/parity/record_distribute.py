"""Asks TensorFlow what `tests/distribute/programs.py` asks, and keeps the answers.

python -m tests.parity.record_distribute [program ...], with TensorFlow 2.15: it has `tf.layers`.
"""

from __future__ import annotations

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow.compat.v1 as tf

from tests.distribute.programs import DATA_FILE, PROGRAMS


def main() -> None:
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = json.loads(DATA_FILE.read_text()) if DATA_FILE.exists() else {}
    for name in sys.argv[1:] or PROGRAMS:
        tf.reset_default_graph()
        found[name] = PROGRAMS[name](tf)
        lines = (f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
        DATA_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
