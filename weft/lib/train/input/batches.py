"""Shared parts of input.py's functions that make batches: from tensors to a queue and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.slices import convert_to_tensor_or_sparse_tensor
from weft.graph.tensor import Tensor
from weft.lib.summary import summary
from weft.lib.train.input.queue_runner import QueueRunner, add_queue_runner
from weft.lib.train.input.sparse_batch import merged, restored
from weft.ops.array.partition import dynamic_partition
from weft.ops.control.cond import smart_cond
from weft.ops.control.control import no_op
from weft.ops.kit.eager import refuse_when_eager
from weft.ops.math.casts import cast
from weft.ops.math.elementwise import maximum
from weft.ops.queues.queues import FIFOQueue, PaddingFIFOQueue, QueueBase

Tensors = Any  # a list of tensors, or a dictionary of them


NO_QUEUES = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use"
    " tf.data to ingest data into your model instead."
)


def fifo(dynamic_pad: bool) -> Callable[..., QueueBase]:
    return PaddingFIFOQueue if dynamic_pad else FIFOQueue


def as_list(tensors: Tensors) -> list[Any]:
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return tensors


def _as_lists(tensors_list: Sequence[Tensors]) -> list[list[Any]]:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, dict) and any(set(t) != set(first) for t in tensors_list[1:]):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [as_list(tensors) for tensors in tensors_list]


def as_given(given: Tensors, results: Any) -> Any:
    """`results` in the form that the tensors were given in."""
    if not isinstance(given, dict):
        return results
    if len(given) == 1:
        results = [results]
    return dict(zip(sorted(given, key=str), results, strict=True))


def converted(tensors: Sequence[Any]) -> list[Any]:
    if not tensors:
        raise ValueError("Expected at least one tensor in batch().")
    return [convert_to_tensor_or_sparse_tensor(t) for t in tensors]


def checked_keep(keep_input: Any, enqueue_many: bool) -> Tensor:
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank not in (0, 1):
        problem = "dimensions must be known at graph construction" if rank is None else None
        raise ValueError(f"`keep_input` {problem or 'must be 0 or 1 dimensions'}.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    return keep_input


def common_types(lists: list[list[Tensor]]) -> list[Any]:
    first, *others = ([t.dtype for t in tensors] for tensors in lists)
    for other in others:
        if other != first:
            raise TypeError(
                "Expected types to be consistent:"
                f" {', '.join(t.name for t in first)} vs. {', '.join(t.name for t in other)}."
            )
    return first


def common_shapes(lists: list[list[Tensor]], shapes: Any, enqueue_many: bool) -> Any:
    """The shape of each component: as given, or what all lists have in common."""
    if shapes is not None:
        return shapes
    for tensors in lists:
        for tensor in tensors:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    return [_common([t.shape for t in column], enqueue_many) for column in zip(*lists, strict=True)]


def _common(shapes: Sequence[Any], enqueue_many: bool) -> list[Any]:
    first, *others = (s.with_rank_at_least(1)[1:] if enqueue_many else s for s in shapes)
    for other in others:
        first.merge_with(other)  # to see that they go together; the first one counts
    return first.as_list()


def _enqueue_op(
    queue: QueueBase, tensors: list[Tensor], enqueue_many: bool, keep_input: Tensor
) -> Any:
    put: Callable[[Any], Any] = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.shape.ndims == 1:
        chosen = cast(keep_input, dtypes.int32)
        return put([dynamic_partition(t, chosen, num_partitions=2)[1] for t in tensors])
    return smart_cond(keep_input, lambda: put(tensors), no_op)


def _flat(lists: list[list[Any]]) -> list[Any]:
    return [tensor for tensors in lists for tensor in tensors]


def report_fill(name: str, used: Any, room: int) -> None:
    """A summary of how much of the room in a queue is used."""
    summary.scalar(name, cast(used, dtypes.float32) * (1.0 / room))


def _report_batches(queue: QueueBase, capacity: int, least: int | None) -> None:
    if least is None:
        report_fill(f"fraction_of_{capacity}_full", queue.size(), capacity)
    else:
        room = capacity - least
        used = maximum(0, queue.size() - least)
        report_fill(f"fraction_over_{least}_of_{room}_full", used, room)


def batches_of(
    default: str,
    given: Any,
    keep_input: Any,
    batch_size: Any,
    threads: int | None,
    make_queue: Callable[..., QueueBase],
    capacity: int,
    least: int | None,
    enqueue_many: bool,
    shapes: Any,
    allow_smaller_final_batch: bool,
    shared_name: str | None,
    name: str | None,
) -> Any:
    """Batches of a queue that is filled with `given`: one set of tensors for that many threads, or
    (`threads` None) several, each for a thread of its own. `least` are kept in the queue."""
    lists = _as_lists(given) if threads is None else [as_list(given)]
    refuse_when_eager(NO_QUEUES, ValueError)
    with name_scope(name, default, [*_flat(lists), keep_input]) as scope:
        if threads is not None and least is not None and capacity <= least:
            raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {least}.")
        lists = [converted(tensors) for tensors in lists]
        keep_input = checked_keep(keep_input, enqueue_many)
        lists, info = merged(lists, enqueue_many, keep_input)
        queue = make_queue(
            capacity=capacity, dtypes=common_types(lists),
            shapes=common_shapes(lists, shapes, enqueue_many), shared_name=shared_name,
        )  # fmt: skip
        enqueues = [_enqueue_op(queue, tensors, enqueue_many, keep_input) for tensors in lists]
        add_queue_runner(QueueRunner(queue, enqueues * (1 if threads is None else threads)))
        _report_batches(queue, capacity, least)
        take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        results = restored(take(batch_size, name=scope), info)
        return as_given(given[0] if threads is None else given, results)
