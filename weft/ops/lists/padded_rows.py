"""Rows of an array that are followed by zeros, so that programs for few sizes serve all."""

from __future__ import annotations

from typing import Any

import numpy as np


def padded(rows: Any, room: int) -> np.ndarray:
    """`rows` in an array of `room` rows."""
    found = np.zeros((room, *rows.shape[1:]), rows.dtype)
    found[: len(rows)] = rows
    return found
