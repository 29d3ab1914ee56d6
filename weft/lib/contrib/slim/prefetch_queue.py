"""A queue of what is computed ahead of its use."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.lib.summary import summary
from weft.lib.train.input.queue_runner import QueueRunner, add_queue_runner
from weft.ops.math import math
from weft.ops.queues.queues import FIFOQueue, PaddingFIFOQueue


def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """A queue that a runner keeps filled with `tensors`, a list or a dictionary of them."""
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed = tensors if names is None else [tensors[key] for key in names]
    with name_scope(name, "prefetch_queue", listed):
        queue = (PaddingFIFOQueue if dynamic_pad else FIFOQueue)(
            capacity=capacity,
            dtypes=[tensor.dtype for tensor in listed],
            shapes=[tensor.shape for tensor in listed],
            names=names,
            shared_name=shared_name,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        summarize_fullness(queue, capacity)
        return queue


def summarize_fullness(queue: Any, capacity: int) -> None:
    """A summary of how full a queue is, which tells whether reading keeps up."""
    fraction = math.cast(queue.size(), dtypes.float32) * (1.0 / capacity)
    summary.scalar(f"fraction_of_{capacity}_full", fraction)
