"""Batches of examples of about the same size, each size in a queue of its own."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.summary import summary
from weft.lib.train.input import batches
from weft.lib.train.input.queue_runner import QueueRunner, add_queue_runner
from weft.lib.train.input.sparse_batch import restored, stored
from weft.ops.array import one_hot_search as select
from weft.ops.control import control
from weft.ops.control.cond import cond, smart_cond
from weft.ops.math import math
from weft.ops.queues.queues import PaddingFIFOQueue


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Any = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """Puts an example into queue `which_bucket`; gives batches from whichever queue has one."""
    several = isinstance(batch_size, list | tuple)
    sizes = batch_size if several else [batch_size] * num_buckets
    if len(sizes) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets "
            f"({num_buckets}) elements."
        )
    flat = batches.as_list(tensors)
    with name_scope(name, "bucket", flat) as name:
        flat = batches.converted(flat)
        if not flat:
            raise ValueError("Expected at least one tensor in bucket().")
        keep = batches.checked_keep(keep_input, enqueue_many=False)
        sizes = [convert_to_tensor(size, dtypes.int32, "batch_size") for size in sizes]
        fixed = [constant_value(size) for size in sizes]
        flat, sparse_info = stored(flat, False, keep)
        types = batches.common_types([flat])
        known = batches.common_shapes([flat], shapes, enqueue_many=False)
        which = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        queues = [
            batches.fifo(dynamic_pad)(
                capacity=capacities[i],
                dtypes=types,
                shapes=known,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        rows = None if allow_smaller_final_batch or several else fixed[0]
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32, *types],
            shapes=[
                TensorShape([]),
                *(
                    TensorShape([None if rows is None else int(rows)]).concatenate(s)
                    for s in queues[0].shapes
                ),
            ],
            shared_name=shared_name,
            name="top_queue",
        )
        wanted = [s if f is None else int(f) for s, f in zip(sizes, fixed, strict=True)]
        _connect(queues, top, flat, which, keep, wanted, num_threads, allow_smaller_final_batch)
        _report(queues, top, capacity)
        number, *dequeued = top.dequeue(name="dequeue_top")
        results = restored(dequeued[0] if len(dequeued) == 1 else dequeued, sparse_info)
        return number, batches.as_given(tensors, results)


def _connect(
    queues: list[Any],
    top: Any,
    flat: list[Any],
    which: Tensor,
    keep: Tensor,
    sizes: list[Any],
    num_threads: int,
    smaller: bool,
) -> None:
    """Runners that fill the buckets, and that move full batches to the top."""

    def into_bucket() -> Any:
        fills = [partial(queue.enqueue, flat) for queue in queues]
        chosen = (cond(math.equal(which, i), f, control.no_op) for i, f in enumerate(fills))
        return control.group(*chosen, name="group_enqueues")

    def read(q: Any, size: Any, i: int) -> list[Any]:
        got = (q.dequeue_up_to if smaller else q.dequeue_many)(size, name=f"read_bucket_{i}")
        return list(got) if isinstance(got, (list, tuple)) else [got]

    fill = smart_cond(keep, into_bucket, control.no_op)
    moves = [
        top.enqueue([constant(i), *read(q, size, i)], name=f"enqueue_from_bucket_{i}")
        for i, (q, size) in enumerate(zip(queues, sizes, strict=True))
    ]
    ends = (errors.OutOfRangeError, errors.CancelledError)
    add_queue_runner(
        QueueRunner(
            queues[0],
            moves,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=ends,
        )
    )
    add_queue_runner(
        QueueRunner(
            top,
            [fill] * num_threads,
            close_op=control.group(*[q.close() for q in queues]),
            cancel_op=control.group(*[q.close(cancel_pending_enqueues=True) for q in queues]),
            queue_closed_exception_types=ends,
        )
    )


def _report(queues: list[Any], top: Any, capacity: int) -> None:
    def length() -> Tensor:
        return math.cast(top.size(), dtypes.float32)

    for queue in queues:
        summary.scalar(f"bucket/{queue.name}/size", length())
    share = length() * (1.0 / capacity)
    summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", share)


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Any,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Any = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """`bucket` by length: lengths and examples of a batch lie between the same boundaries."""
    _check_boundaries(bucket_boundaries)
    flat = batches.as_list(tensors)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *flat]) as name:
        length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        limits = np.iinfo(np.int32)
        inside = math.logical_and(
            math.less_equal([limits.min, *bucket_boundaries], length),
            math.less(length, [*bucket_boundaries, limits.max]),
        )
        which = math.cast(math.reduce_min(select.where(inside)), dtypes.int32)
        _, dequeued = bucket(
            tensors=[length, *flat],
            which_bucket=which,
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [TensorShape([]), *shapes],
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        return dequeued[0], batches.as_given(tensors, dequeued[1:])


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for pair in pairwise(boundaries):
        start, end = pair
        if not all(isinstance(boundary, int) for boundary in pair):
            raise TypeError(f"bucket boundaries must be integers, but saw: {start} and {end}")
        if start >= end:
            increasing = "Buckets must contain sequential increasing lengths"
            raise ValueError(f"{increasing}, but saw: {start} before {end}")
