"""Arrays before they meet a model: one-hot rows, vectors of length one."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """Integers 0 .. `num_classes` - 1 as rows with a one at that place.

    A last dimension of 1 is dropped first, so that a column of classes becomes a matrix.
    """
    classes = np.array(y, dtype="int")
    shape = classes.shape
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    flat = classes.ravel()
    if not num_classes:
        num_classes = int(np.max(flat)) + 1
    rows = np.zeros((len(flat), num_classes), dtype=dtype)
    rows[np.arange(len(flat)), flat] = 1
    return rows.reshape((*shape, num_classes))


def normalize(x: Any, axis: int = -1, order: int = 2) -> np.ndarray:
    """`x` divided by its norm of `order` along `axis`; vectors of zeros stay as they are."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)
