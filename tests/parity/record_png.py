"""Writes `tests/ops/data/images/wide_filtered.png`: 16 bits a channel, as TensorFlow encodes them.

.venv-tf/bin/python -m tests.parity.record_png

TensorFlow's encoder predicts rows from others, which the files that Pillow can write do not show.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

FILE = Path(__file__).parents[1] / "ops" / "data" / "images" / "wide_filtered.png"


def main() -> None:
    y, x, c = np.mgrid[0:17, 0:9, 0:3]
    smooth = np.sin(0.5 * y + 0.3 * c) * np.cos(0.4 * x - c) * 0.5 + 0.5
    noise = np.random.RandomState(0).rand(*smooth.shape) * (y > 10)
    pixels = np.round((smooth + noise) * 30000).astype(np.uint16)
    FILE.write_bytes(tf.io.encode_png(tf.constant(pixels)).numpy())


if __name__ == "__main__":
    main()
