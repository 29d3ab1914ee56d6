"""tf.contrib.memory_stats: the memory of the accelerator, or of the process where there is none."""

from __future__ import annotations

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor


def BytesInUse() -> Tensor:
    """The bytes that are in use now."""
    return raw.BytesInUse()


def BytesLimit() -> Tensor:
    """The bytes that there are; -1 where this is unknown."""
    return raw.BytesLimit()


def MaxBytesInUse() -> Tensor:
    """The most bytes that were in use at once."""
    return raw.MaxBytesInUse()
