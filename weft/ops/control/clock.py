"""tf.timestamp: what time it is when a step gets there."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST_STATE, NO_GRADIENT


@op(
    "Timestamp", outputs="ts: double", shape=s.scalar, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def timestamp_(xp: Any) -> Any:
    return np.float64(time.time())


def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970, read anew in every step."""
    return raw.Timestamp(name=name)
