"""Input pipelines from queues: producers of names and slices, and batches of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import add_to_collection, control_dependencies, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.op_def import REGISTRY, raw
from weft.graph.slices import convert_to_tensor_or_sparse_tensor
from weft.graph.tensor import Tensor
from weft.ops.array_pass import identity
from weft.ops.array_shape import shape as shape_of
from weft.ops.array_shape import size
from weft.ops.casts import cast
from weft.ops.cond import smart_cond
from weft.ops.control import Assert, no_op
from weft.ops.elementwise import greater, maximum
from weft.ops.gather import gather
from weft.ops.partition import dynamic_partition
from weft.ops.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from weft.ops.random import random_shuffle
from weft.ops.readers import matching_files
from weft.ops.sequence import range as range_of
from weft.ops.variables import Variable
from weft.train.queue_runner import QueueRunner, add_queue_runner
from weft.train.sparse_batch import merged, restored

Tensors = Any  # a list of tensors, or a dictionary of them


# ---- producers -----------------------------------------------------------------------------------


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """A local variable that holds the files matching `pattern` when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            name=scope,
            initial_value=matching_files(pattern),
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """`tensor` the first `num_epochs` times, then OutOfRangeError. Counts in a local variable."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(
            constant(0, dtype=dtypes.int64),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(tensor, name=scope)


def _fullness(name: str, value: Tensor) -> None:
    """A summary of how full a queue is."""
    if "ScalarSummary" in REGISTRY:
        with name_scope(name, values=[value]) as scope:
            summary = raw.ScalarSummary(tags=scope.rstrip("/"), values=value, name=scope)
        add_to_collection(GraphKeys.SUMMARIES, summary)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> QueueBase:
    """A queue that a runner fills with the rows of `input_tensor`, shuffled in every epoch."""
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be"
                " specified"
            )
        if shuffle:
            input_tensor = random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[input_tensor.dtype.base_dtype],
            shapes=[element_shape],
            shared_name=shared_name,
            name=name,  # type: ignore[arg-type]
        )
        enqueue = queue.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            _fullness(summary_name, cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> QueueBase:
    """A queue of strings, such as the names of input files."""
    problem = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not _has_items(string_tensor):
        raise ValueError(problem)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([Assert(greater(size(string_tensor), 0), [problem])]):
            string_tensor = identity(string_tensor)
        return input_producer(
            input_tensor=string_tensor,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=scope,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def _has_items(value: Any) -> bool:
    """Whether something that is not a tensor yet holds anything; a variable counts as full."""
    return len(value) > 0 if hasattr(value, "__len__") else value is not None


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the integers from 0 to `limit` - 1."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_of(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope,
        )  # fmt: skip


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One slice of each tensor along dimension 0, another in every step."""
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            shape_of(tensors[0])[0], num_epochs=num_epochs, shuffle=shuffle, seed=seed,
            capacity=capacity, shared_name=shared_name,
        )  # fmt: skip
        index = queue.dequeue()
        return [gather(t, index) for t in tensors]


# ---- what the batching functions share -----------------------------------------------------------


def _as_list(tensors: Tensors) -> list[Any]:
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return tensors


def _as_lists(tensors_list: Sequence[Tensors]) -> list[list[Any]]:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, dict) and any(set(t) != set(first) for t in tensors_list[1:]):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [_as_list(tensors) for tensors in tensors_list]


def _as_given(given: Tensors, results: Any) -> Any:
    """`results` in the form that the tensors were given in."""
    if not isinstance(given, dict):
        return results
    if len(given) == 1:
        results = [results]
    return dict(zip(sorted(given, key=str), results, strict=True))


def _converted(tensors: Sequence[Any]) -> list[Any]:
    if not tensors:
        raise ValueError("Expected at least one tensor in batch().")
    return [convert_to_tensor_or_sparse_tensor(t) for t in tensors]


def _keep(keep_input: Any, enqueue_many: bool) -> Tensor:
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _types(lists: list[list[Tensor]]) -> list[Any]:
    first, *others = ([t.dtype for t in tensors] for tensors in lists)
    for other in others:
        if other != first:
            raise TypeError(
                "Expected types to be consistent:"
                f" {', '.join(t.name for t in first)} vs. {', '.join(t.name for t in other)}."
            )
    return first


def _shapes(lists: list[list[Tensor]], shapes: Any, enqueue_many: bool) -> Any:
    """The shape of each component: as given, or what all lists have in common."""
    if shapes is not None:
        return shapes
    for tensors in lists:
        for tensor in tensors:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    return [_common([t.shape for t in column], enqueue_many) for column in zip(*lists, strict=True)]


def _common(shapes: Sequence[Any], enqueue_many: bool) -> list[Any]:
    if enqueue_many:
        shapes = [shape.with_rank_at_least(1)[1:] for shape in shapes]
    for shape in shapes[1:]:
        shapes[0].merge_with(shape)  # to see that they go together; the first one counts
    return shapes[0].as_list()


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


def _report_fill(queue: QueueBase, capacity: int, least: int | None) -> None:
    if least is None:
        name, used, room = f"fraction_of_{capacity}_full", queue.size(), capacity
    else:
        room = capacity - least
        name, used = f"fraction_over_{least}_of_{room}_full", maximum(0, queue.size() - least)
    _fullness(name, cast(used, dtypes.float32) * (1.0 / room))


def _batches(
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
    """What a queue gives that is filled with `given`: one set of tensors for that many threads, or
    (`threads` None) several, each for a thread of its own. `least` are kept in the queue."""
    lists = _as_lists(given) if threads is None else [_as_list(given)]
    with name_scope(name, default, [*_flat(lists), keep_input]) as scope:
        if threads is not None and least is not None and capacity <= least:
            raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {least}.")
        lists = [_converted(tensors) for tensors in lists]
        keep_input = _keep(keep_input, enqueue_many)
        lists, info = merged(lists, enqueue_many, keep_input)
        queue = make_queue(
            capacity=capacity, dtypes=_types(lists), shapes=_shapes(lists, shapes, enqueue_many),
            shared_name=shared_name,
        )  # fmt: skip
        enqueues = [_enqueue_op(queue, tensors, enqueue_many, keep_input) for tensors in lists]
        add_queue_runner(QueueRunner(queue, enqueues * (1 if threads is None else threads)))
        _report_fill(queue, capacity, least)
        take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        results = restored(take(batch_size, name=scope), info)
        return _as_given(given[0] if threads is None else given, results)


def _of_all(maybe: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """`maybe_...` without its parameter `keep_input`: everything is kept."""

    @with_parameters_of(maybe, without=("keep_input",))
    def function(**arguments: Any) -> Any:
        return maybe(keep_input=True, **arguments)

    function.__name__ = function.__qualname__ = maybe.__name__.removeprefix("maybe_")
    function.__doc__ = doc
    return function


# ---- batches -------------------------------------------------------------------------------------


def maybe_batch(
    tensors: Tensors,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, of those tensors for which `keep_input` is true."""
    return _batches(
        "batch", tensors, keep_input, batch_size, num_threads, _fifo(dynamic_pad), capacity, None,
        enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Sequence[Tensors],
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch_join`, of those tensors for which `keep_input` is true."""
    return _batches(
        "batch_join", tensors_list, keep_input, batch_size, None, _fifo(dynamic_pad), capacity,
        None, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def _fifo(dynamic_pad: bool) -> Callable[..., QueueBase]:
    return PaddingFIFOQueue if dynamic_pad else FIFOQueue


def maybe_shuffle_batch(
    tensors: Tensors,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch`, of those tensors for which `keep_input` is true."""
    return _batches(
        "shuffle_batch", tensors, keep_input, batch_size, num_threads,
        _shuffled(min_after_dequeue, seed), capacity, min_after_dequeue, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch_join`, of those tensors for which `keep_input` is true."""
    return _batches(
        "shuffle_batch_join", tensors_list, keep_input, batch_size, None,
        _shuffled(min_after_dequeue, seed), capacity, min_after_dequeue, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def _shuffled(least: int, seed: int | None) -> Callable[..., QueueBase]:
    return partial(RandomShuffleQueue, min_after_dequeue=least, seed=seed)


batch = _of_all(
    maybe_batch,
    """Batches of `tensors`, which `num_threads` threads compute again and again.

    `enqueue_many`: `tensors` are batches already, of any size. `dynamic_pad`: elements may differ
    in size and are padded with zeros.
    """,
)
batch_join = _of_all(
    maybe_batch_join, "As `batch`, of several sets of tensors, each with a thread of its own."
)
shuffle_batch = _of_all(
    maybe_shuffle_batch,
    "As `batch`, in random order; at least `min_after_dequeue` elements are kept to mix.",
)
shuffle_batch_join = _of_all(maybe_shuffle_batch_join, "As `batch_join`, in random order.")
