"""Records what TensorFlow 2.15's Keras makes of the cases in `tests/keras/recurrent/cases.py`.

python -m tests.keras.record_recurrent
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

from tests.keras.recurrent.cases import CASES, play

RECORDED = Path(__file__).parent / "recorded"


def main() -> None:
    tf.disable_v2_behavior()
    arrays, facts = {}, {}
    for name, case in CASES.items():
        found, facts[name] = play(tf, tf.keras, case)
        arrays[name] = np.concatenate([array.ravel() for array in found.values()])
    np.savez_compressed(RECORDED / "recurrent.npz", **arrays)
    (RECORDED / "recurrent.json").write_text(json.dumps(facts, indent=0) + "\n")


if __name__ == "__main__":
    main()
