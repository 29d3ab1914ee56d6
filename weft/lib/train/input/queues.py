"""Input pipelines from queues: producers of names and slices, and batches of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.lib.train.input.batches import NO_QUEUES, Tensors, batches_of, fifo, report_fill
from weft.lib.train.input.queue_runner import QueueRunner, add_queue_runner
from weft.ops.array.gather import gather
from weft.ops.array.placeholders import identity
from weft.ops.array.shape import shape as shape_of
from weft.ops.array.shape import size
from weft.ops.control.control import Assert
from weft.ops.kit.eager import refuse_when_eager
from weft.ops.math.elementwise import greater
from weft.ops.math.sequence import range as range_of
from weft.ops.queues.queues import FIFOQueue, QueueBase, RandomShuffleQueue
from weft.ops.queues.readers import matching_files
from weft.ops.random.random import random_shuffle
from weft.ops.state.variables import Variable

# ---- producers -----------------------------------------------------------------------------------


def _local(initial_value: Any, **options: Any) -> Variable:
    """A variable of this process, which training leaves alone."""
    return Variable(
        initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], **options
    )


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """A local variable that holds the files matching `pattern` when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return _local(matching_files(pattern), name=scope, validate_shape=False)


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """`tensor` the first `num_epochs` times, then OutOfRangeError. Counts in a local variable."""
    if num_epochs is None:
        return tensor
    if num_epochs > 0:
        with name_scope(name, "limit_epochs", [tensor]) as scope, _counted_epoch(num_epochs):
            return identity(tensor, name=scope)
    raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")


def _counted_epoch(limit: int) -> AbstractContextManager[Any]:
    """A context whose operations wait for one more epoch to be counted, of at most `limit`."""
    epochs = _local(constant(0, dtype=dtypes.int64), name="epochs")
    return control_dependencies([epochs.count_up_to(limit)])


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
    refuse_when_eager(NO_QUEUES)
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.shape[1:].merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be"
                " specified"
            )
        rows = limit_epochs(random_shuffle(rows, seed=seed) if shuffle else rows, num_epochs)
        kinds, named = [rows.dtype.base_dtype], {"shared_name": shared_name, "name": name}
        queue = FIFOQueue(capacity, kinds, [shape], **named)  # type: ignore[arg-type]
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            report_fill(summary_name, queue.size(), capacity)
        return queue


def _scalar_producer(values: Any, scope: str, capacity: int, **options: Any) -> QueueBase:
    """A queue of scalars that reports how full it is."""
    full = f"fraction_of_{capacity}_full"
    return input_producer(values, [], capacity=capacity, summary_name=full, name=scope, **options)


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
    """A queue of strings, such as the names of input files.

    Args:
        string_tensor: a vector of strings.
        num_epochs: how often each is given; None: for ever.
        shuffle: whether the order is random in every round.
        seed: makes that order repeatable.
        capacity: how many wait in the queue.
        shared_name: under which sessions share the queue.
        name: of the operations.
        cancel_op: an operation that frees threads that wait.

    Returns:
        A queue; a queue runner that fills it is added to the graph.

    Raises:
        ValueError: the list is empty.

    Example:
        >>> names = tf.train.string_input_producer(["a.csv", "b.csv"], shuffle=False)
        >>> coordinator = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(session, coordinator)
        >>> session.run(names.dequeue())
        b'a.csv'
        >>> coordinator.request_stop()
        >>> coordinator.join(threads)
    """
    if not isinstance(string_tensor, Tensor) and not _has_items(string_tensor):
        raise ValueError(_NO_STRINGS)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        checked = _some_strings(string_tensor)
        return _scalar_producer(
            checked, scope, capacity, num_epochs=num_epochs, shuffle=shuffle, seed=seed,
            shared_name=shared_name, cancel_op=cancel_op,
        )  # fmt: skip


_NO_STRINGS = "string_input_producer requires a non-null input tensor"


def _some_strings(given: Any) -> Tensor:
    """The strings, of which there has to be one when they are read."""
    strings = convert_to_tensor(given, dtype=dtypes.string)
    with control_dependencies([Assert(greater(size(strings), 0), [_NO_STRINGS])]):
        return identity(strings)


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
        return _scalar_producer(
            range_of(limit), scope, capacity, num_epochs=num_epochs, shuffle=shuffle, seed=seed,
            shared_name=shared_name,
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
    """One slice of each tensor along dimension 0, another in every step.

    Args:
        tensor_list: tensors with one first dimension.
        num_epochs: how often each slice is given; None: for ever.
        shuffle: whether the order is random in every round.
        seed: makes that order repeatable.
        capacity: how many wait in the queue.
        shared_name: under which sessions share the queue.
        name: of the operations.

    Returns:
        A list with a slice of each tensor.

    Raises:
        ValueError: the list is empty.

    Example:
        >>> image, label = tf.train.slice_input_producer([[1.0, 2.0], ["a", "b"]], shuffle=False)
        >>> coordinator = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(session, coordinator)
        >>> session.run([image, label])
        [np.float32(1.0), b'a']
        >>> coordinator.request_stop()
        >>> coordinator.join(threads)
    """
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        count = shape_of(tensors[0])[0]
        index = range_input_producer(
            count, num_epochs, shuffle, seed, capacity, shared_name
        ).dequeue()
        return [gather(t, index) for t in tensors]


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
    return batches_of(
        "batch", tensors, keep_input, batch_size, num_threads, fifo(dynamic_pad), capacity, None,
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
    return batches_of(
        "batch_join", tensors_list, keep_input, batch_size, None, fifo(dynamic_pad), capacity,
        None, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


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
    return batches_of(
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
    return batches_of(
        "shuffle_batch_join", tensors_list, keep_input, batch_size, None,
        _shuffled(min_after_dequeue, seed), capacity, min_after_dequeue, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def _shuffled(least: int, seed: int | None) -> Callable[..., QueueBase]:
    return partial(RandomShuffleQueue, min_after_dequeue=least, seed=seed)


batch = _of_all(
    maybe_batch,
    """Batches of `tensors`, which `num_threads` threads compute again and again.

    Args:
        tensors: a list or dict of tensors: one element.
        batch_size: how many elements a batch has.
        num_threads: more than one may mix the order.
        capacity: how many elements wait.
        enqueue_many: whether `tensors` are batches already, of any size.
        shapes: of an element; None: what is known.
        dynamic_pad: whether elements may differ in size and are padded with zeros.
        allow_smaller_final_batch: whether the last batch may be smaller.
        shared_name: under which sessions share the queue.
        name: of the operations.

    Returns:
        A list or dict of tensors; a queue runner that fills the queue is added to the graph.

    Raises:
        ValueError: the shapes are not known, or there are no tensors.

    Example:
        >>> numbers = tf.train.range_input_producer(10, shuffle=False).dequeue()
        >>> batch = tf.train.batch([numbers], batch_size=3)
        >>> coordinator = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(session, coordinator)
        >>> session.run(batch)
        array([0, 1, 2], dtype=int32)
        >>> coordinator.request_stop()
        >>> coordinator.join(threads)
    """,
)
batch_join = _of_all(
    maybe_batch_join, "As `batch`, of several sets of tensors, each with a thread of its own."
)
shuffle_batch = _of_all(
    maybe_shuffle_batch,
    """As `batch`, in random order; at least `min_after_dequeue` elements are kept to mix.

    Args:
        tensors: a list or dict of tensors: one element.
        batch_size: how many elements a batch has.
        capacity: how many elements wait; more than `min_after_dequeue`.
        min_after_dequeue: see above; more mixes better and takes more memory.
        num_threads: that compute elements.
        seed: makes the order repeatable.
        enqueue_many: whether `tensors` are batches already, of any size.
        shapes: of an element; None: what is known.
        allow_smaller_final_batch: whether the last batch may be smaller.
        shared_name: under which sessions share the queue.
        name: of the operations.

    Returns:
        A list or dict of tensors; a queue runner that fills the queue is added to the graph.

    Raises:
        ValueError: the shapes are not known, or there are no tensors.

    Example:
        >>> numbers = tf.train.range_input_producer(10, shuffle=False).dequeue()
        >>> batch = tf.train.shuffle_batch([numbers], 3, capacity=20, min_after_dequeue=5)
        >>> batch.shape.as_list()
        [3]
    """,
)
shuffle_batch_join = _of_all(maybe_shuffle_batch_join, "As `batch_join`, in random order.")
