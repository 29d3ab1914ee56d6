"""Runs the seeded estimators in TensorFlow 1.15 and keeps what they say and find.

python3.7 -m tests.estimator.record_seeded    (where `tensorflow` is 1.15)
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import tensorflow as tf

from tests.estimator import seeded_programs

# What is said of names, of functions that are not converted and of older forms is about Python.
_NOT_OURS = (
    "is deprecated",
    "Entity <",
    "WARNING:",
    "Instructions",
    "Call initializer",
    "module will",
)


def main() -> None:
    tf.logging.set_verbosity(tf.logging.INFO)
    found = {}
    for name in seeded_programs.ESTIMATORS:
        tf.reset_default_graph()
        with tempfile.TemporaryDirectory() as folder:
            found[name] = seeded_programs.run(tf, name, folder)
        lines = found[name]["lines"]
        found[name]["lines"] = [
            line for line in lines if line.strip() and not any(part in line for part in _NOT_OURS)
        ]
    text = json.dumps(found, indent=1, sort_keys=True)
    (Path(__file__).parent / "seeded.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
