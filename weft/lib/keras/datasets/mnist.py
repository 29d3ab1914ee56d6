"""Handwritten digits: 60,000 and 10,000 grey images of 28 x 28."""

from __future__ import annotations

import numpy as np

from weft.lib.keras.datasets.source import Arrays, stored

HASH = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"


def load_data(path: str = "mnist.npz") -> tuple[Arrays, Arrays]:
    """(images, digits) to train on, and to test on."""
    with np.load(stored(path, "mnist.npz", HASH)) as f:
        return (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])
