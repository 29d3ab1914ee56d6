"""Records what TensorFlow 2.15's Keras, in graph mode, makes of the programs with models.

python -m tests.keras.record_engine [program ...]
"""

from __future__ import annotations

import json
import sys

import tensorflow.compat.v1 as tf

from tests.keras.engine.programs import PROGRAMS
from tests.keras.played import RECORDED


def main() -> None:
    tf.disable_v2_behavior()
    file = RECORDED / "engine.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    for program in PROGRAMS:
        if len(sys.argv) < 2 or program.__name__ in sys.argv:
            tf.keras.backend.clear_session()
            found[program.__name__] = program(tf, tf.keras)
    file.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
