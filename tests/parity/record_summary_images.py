"""Records what pixels TensorFlow makes of image summaries.

.venv-tf/bin/python -m tests.parity.record_summary_images
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "summary_images.npz"


def images() -> dict[str, np.ndarray]:
    """Batches of images by name; `f` with a sign, `p` positive, `n` with values not finite."""
    rng = np.random.default_rng(7)
    found: dict[str, np.ndarray] = {}
    for dtype in (np.float16, np.float32, np.float64):
        name = np.dtype(dtype).name
        for depth in (1, 3, 4):
            signed = rng.normal(size=(2, 3, 5, depth)).astype(dtype)
            broken = signed.copy()
            broken[0, 1, 2, depth - 1], broken[1, 0, 0, 0] = np.nan, -np.inf
            found[f"{name}_f{depth}"], found[f"{name}_n{depth}"] = signed, broken
            found[f"{name}_p{depth}"] = np.abs(signed) * dtype(20)
        found[f"{name}_zero"] = np.zeros((1, 2, 2, 3), dtype)
        found[f"{name}_tiny"] = np.full((1, 2, 2, 1), 5e-7, dtype)
        found[f"{name}_nan"] = np.full((1, 2, 2, 3), np.nan, dtype)
    found["float64_huge"] = np.array([[[[1e300, 1.0, -1.0]]]])
    found["uint8_1"] = rng.integers(0, 256, (2, 3, 4, 1)).astype(np.uint8)
    return found


def main() -> None:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    pixels: dict[str, Any] = {}
    with tf.Session() as session:
        for name, batch in images().items():
            serialized = session.run(tf.summary.image("image", tf.constant(batch), max_outputs=2))
            values = tf.Summary.FromString(serialized).value
            pixels[name] = np.stack(
                [session.run(tf.image.decode_png(v.image.encoded_image_string)) for v in values]
            )
    np.savez_compressed(DATA, **pixels)


if __name__ == "__main__":
    main()
