"""Records what TensorFlow gives for the programs of `image_programs.py`.

.venv-tf/bin/python -m tests.parity.record_images
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow.compat.v1 as tf

from tests.parity.image_programs import PROGRAMS

FILE = Path(__file__).parents[1] / "ops" / "data" / "images.npz"


def main() -> None:
    tf.disable_v2_behavior()
    kept = {}
    for name, build in PROGRAMS.items():
        with tf.Graph().as_default(), tf.Session() as session:
            outputs = build(tf)
            for step in range(2):
                for i, value in enumerate(session.run(outputs)):
                    kept[f"{name}/{step}/{i}"] = value
                    kept[f"{name}/shape/{i}"] = _shape(outputs[i])
    np.savez_compressed(FILE, **kept)


def _shape(tensor: tf.Tensor) -> np.ndarray:
    return np.array([-1 if d is None else d for d in tensor.shape.as_list()], np.int64)


if __name__ == "__main__":
    main()
