"""Clothes: as many and as large images as MNIST has, of ten kinds."""

from __future__ import annotations

import gzip
import os

import numpy as np

from weft.lib.keras.datasets.source import Arrays, stored


def load_data() -> tuple[Arrays, Arrays]:
    """(images, kinds) to train on, and to test on."""
    return _part("train"), _part("t10k")


def _part(which: str) -> Arrays:
    labels = _content(f"{which}-labels-idx1-ubyte.gz", 8)
    return _content(f"{which}-images-idx3-ubyte.gz", 16).reshape(len(labels), 28, 28), labels


def _content(name: str, header: int) -> np.ndarray:
    folder = os.path.join("datasets", "fashion-mnist")
    with gzip.open(stored(name, name, cache_subdir=folder)) as file:
        content = file.read()
    return np.frombuffer(content, np.uint8, offset=header)
