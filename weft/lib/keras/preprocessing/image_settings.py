"""Settings of `ImageDataGenerator`: checked, and drawn from `numpy.random`."""

from __future__ import annotations

from typing import Any

import numpy as np


def axes_of(data_format: str) -> tuple[int, int, int]:
    """The axes of rows, columns and channels in a batch."""
    if data_format == "channels_first":
        return 2, 3, 1
    if data_format == "channels_last":
        return 1, 2, 3
    raise ValueError(
        '`data_format` should be `"channels_last"` (channel after row and column) or '
        f'`"channels_first"` (channel before row and column). Received: {data_format}'
    )


def zoom_range_of(given: Any) -> list[float]:
    if np.ndim(given) == 0:
        return [1 - given, 1 + given]
    if len(given) == 2:
        return [given[0], given[1]]
    raise ValueError(
        f"`zoom_range` should be a float or a tuple or list of two floats. Received: {given}"
    )


def brightness_range_of(given: Any) -> Any:
    if given is None or (isinstance(given, (tuple, list)) and len(given) == 2):
        return given
    raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {given}")


def drawn_within(limit: float) -> float:
    return np.random.uniform(-limit, limit) if limit else 0


def drawn_shift(limit: Any, size: int) -> Any:
    """By how many pixels; a limit under 1 is a share of the size, a list has the choices."""
    if not limit:
        return 0
    if np.ndim(limit) > 0 or (isinstance(limit, int) and limit > 0):
        drawn = np.random.choice(limit) * np.random.choice([-1, 1])
    else:
        drawn = np.random.uniform(-limit, limit)
    return drawn * size if np.max(limit) < 1 else drawn
