"""How much memory is in use: tf.contrib.memory_stats."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE, NO_GRADIENT

_STATISTICS = {
    "BytesInUse": "bytes_in_use", "BytesLimit": "bytes_limit",
    "MaxBytesInUse": "peak_bytes_in_use",
}  # fmt: skip


def _of_process() -> dict[str, int]:
    """The memory of this process, whose limit is unknown: what there is without an accelerator."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pages = Path("/proc/self/statm")
    now = int(pages.read_text().split()[1]) * resource.getpagesize() if pages.exists() else peak
    return {"bytes_in_use": now, "peak_bytes_in_use": max(peak, now)}


def _of_accelerator() -> dict[str, int] | None:
    import jax

    device = jax.local_devices()[0]
    return None if device.platform == "cpu" else device.memory_stats()


def _declare(name: str, field: str) -> None:
    @op(name, outputs="out: int64", shape=s.scalar, traits=HOST_STATE | NO_GRADIENT)
    def kernel(xp: Any) -> Any:
        return np.int64((_of_accelerator() or _of_process()).get(field, -1))


for _name, _field in _STATISTICS.items():
    _declare(_name, _field)
