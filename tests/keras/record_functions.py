"""Records what TensorFlow 2.15's Keras makes of the programs of its smaller modules.

python -m tests.keras.record_functions [backend losses metrics optimizers named]
"""

from __future__ import annotations

import importlib
import sys

import tensorflow.compat.v1 as tf

from tests.keras.played import play, write

AREAS = ("backend", "losses", "metrics", "optimizers", "named")


def main() -> None:
    tf.disable_v2_behavior()
    for area in sys.argv[1:] or AREAS:
        cases = importlib.import_module(f"tests.keras.{area}.cases").CASES
        write(area, {name: play(tf, tf.keras, program) for name, program in cases.items()})


if __name__ == "__main__":
    main()
