"""tf.contrib.periodic_resample: elements of one dimension spread over the others."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor


def periodic_resample(values: Any, shape: Any, name: str | None = None) -> Tensor:
    """`values` in a shape with one size left open, as in convolutions below the pixel."""
    sizes = [None if size is None or size < 1 else int(size) for size in shape]
    return raw.PeriodicResample(values, shape=sizes, name=name)
