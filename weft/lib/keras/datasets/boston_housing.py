"""House prices of the 1970s: 13 numbers about a place, and what houses cost there."""

from __future__ import annotations

import numpy as np

from weft.lib.keras.datasets.source import Arrays, shuffled, split, stored

HASH = "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"


def load_data(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> tuple[Arrays, Arrays]:
    """(places, prices) to train on, and `test_split` of all of them to test on."""
    assert 0 <= test_split < 1
    with np.load(stored(path, "boston_housing.npz", HASH)) as f:
        x, y = f["x"], f["y"]
    np.random.seed(seed)
    x, y = shuffled(x, y, np.random)
    return split(x, y, int(len(x) * (1 - test_split)))
