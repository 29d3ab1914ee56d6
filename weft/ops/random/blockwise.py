"""Draws from rows of many weights in compiled code: by the sums of blocks, then within one block.

The compiler adds up a row in several passes over it; sums of blocks need one, and only the block
that a draw falls into is looked at further.
"""

from __future__ import annotations

from typing import Any

from weft.ops.kit.philox import Array

_BLOCK = 64
_MANY_CLASSES = 512
_FEW_SAMPLES = 16


def pays(classes: int, samples: int) -> bool:
    """Whether the blocks that are looked at are few beside the row."""
    return classes >= _MANY_CLASSES and samples <= _FEW_SAMPLES


def find(xp: Any, weights: Array, uniform: Array) -> Array:
    """For each value of `uniform` in [0, 1) the class whose part of its row it falls into."""
    batch, classes = weights.shape
    padding = -classes % _BLOCK
    blocks = xp.pad(weights, ((0, 0), (0, padding))).reshape(batch, -1, _BLOCK)
    ends = xp.cumsum(xp.sum(blocks, axis=2), axis=1)
    drawn = uniform * ends[:, -1:]
    block = xp.sum(ends[:, None, :] <= drawn[:, :, None], axis=2)
    starts = xp.pad(ends, ((0, 0), (1, 0)))
    inside = xp.take_along_axis(blocks, block[:, :, None], axis=1)
    reached = xp.take_along_axis(starts, block, axis=1)[:, :, None] + xp.cumsum(inside, axis=2)
    offset = xp.sum(reached <= drawn[:, :, None], axis=2)
    return block * _BLOCK + xp.minimum(offset, _last_above_zero(xp, inside))


def _last_above_zero(xp: Any, weights: Array) -> Array:
    """The last class with a weight: by rounding, a draw may seem to lie behind its block."""
    return _BLOCK - 1 - xp.argmax(weights[:, :, ::-1] > 0, axis=2)
