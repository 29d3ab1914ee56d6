"""Batches of examples from files: queues of names, readers, and queues of what they read."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Tensor, name_scope
from weft.graph.slices import SparseTensor
from weft.lib.summary import summary
from weft.lib.train.input.queue_runner import QueueRunner, add_queue_runner
from weft.lib.train.input.queues import batch_join, shuffle_batch_join, string_input_producer
from weft.ops.math import casts
from weft.ops.parsing.features import parse_example
from weft.ops.queues.queues import FIFOQueue
from weft.ops.queues.readers import TFRecordReader
from weft.storage import file_io

# The name that keys have among examples that are dicts.
_KEY = "__key__"


def _file_names(file_pattern: Any, shuffled: bool) -> list[str]:
    """The files of a pattern, or of a list of patterns."""
    if not file_pattern:
        raise ValueError(f"No files match {file_pattern}.")
    patterns = list(file_pattern) if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    names = [name for pattern in patterns for name in file_io.glob(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    if shuffled:
        random.shuffle(names)
    return names


def _check(
    batch_size: Any, queue_capacity: Any, num_threads: Any, read_batch_size: Any, num_epochs: Any
) -> None:
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if not batch_size or not 0 < batch_size <= queue_capacity:
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    for name, value in (("read_batch_size", read_batch_size), ("num_threads", num_threads)):
        if not value or value <= 0:
            raise ValueError(f"Invalid {name} {value}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Any]:
    """Keys and examples, as the files have them or as `parse_fn` makes them.

    Args:
        file_pattern: of the files, or a list of such patterns.
        batch_size: how many examples come at once.
        reader: a function that makes a reader.
        randomize_input: whether files and examples come in any order.
        num_epochs: how often all are read; the last batch may then be smaller. None: for ever.
        queue_capacity: how many examples may wait.
        num_threads: how many readers there are.
        read_batch_size: how many records a reader reads at once.
        parse_fn: what is made of each example.
        name: of the batches.
        seed: makes the order of the names repeatable.

    Returns:
        A vector of keys, and the examples.

    Raises:
        ValueError: no file matches, or a number is not positive.
    """
    names = _file_names(file_pattern, randomize_input)
    _check(batch_size, queue_capacity, num_threads, read_batch_size, num_epochs)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with name_scope("file_name_queue") as own:
            queue = string_input_producer(
                constant(names, name="input"), num_epochs, randomize_input, seed, name=own
            )
        with name_scope("read"):
            read = []
            for _ in range(num_threads):
                if read_batch_size > 1:
                    key, value = reader().read_up_to(queue, read_batch_size)
                else:
                    key, value = reader().read(queue)
                made = value if parse_fn is None else parse_fn(value)
                read.append({**made, _KEY: key} if isinstance(made, dict) else (key, made))
        settings: dict[str, Any] = {
            "capacity": queue_capacity,
            "enqueue_many": read_batch_size > 1,
            "allow_smaller_final_batch": num_epochs is not None,
            "name": scope,
        }
        if randomize_input:
            waiting = max(queue_capacity - 3 * batch_size, batch_size)
            settings |= {"min_after_dequeue": waiting, "seed": seed}
        batch = (shuffle_batch_join if randomize_input else batch_join)(
            read, batch_size, **settings
        )
        return (batch.pop(_KEY), batch) if isinstance(batch, dict) else tuple(batch)


def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """`read_keyed_batch_examples` without the keys."""
    return read_keyed_batch_examples(**locals())[1]


def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[Tensor, dict[str, Any]]:
    """Keys, and what `features` tells to parse from the examples, which wait in one more queue."""
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size,
            parse_fn,
            name=scope,
        )
        parsed = parse_example(examples, features)
        return _through_queue(parsed, keys, feature_queue_capacity, num_enqueue_threads)


def _through_queue(
    parsed: dict[str, Any], keys: Tensor, capacity: int, threads: int
) -> tuple[Tensor, dict[str, Any]]:
    """Keys and features of batches that some threads have parsed ahead."""
    flat: list[Any] = []
    for name in sorted(parsed):
        value = parsed[name]
        is_sparse = isinstance(value, SparseTensor)
        flat += [value.indices, value.values, value.dense_shape] if is_sparse else [value]
    flat.append(keys)
    queue = FIFOQueue(capacity, [part.dtype for part in flat])
    filled = casts.cast(queue.size(), dtypes.float32)
    summary.scalar(
        f"queue/parsed_features/{queue.name}/fraction_of_{capacity}_full", filled * (1.0 / capacity)
    )
    add_queue_runner(QueueRunner(queue, [queue.enqueue(flat) for _ in range(threads)]))
    *parts, key = queue.dequeue()
    for part, like in zip([*parts, key], flat, strict=True):
        part.set_shape(like.shape)
    waiting = iter(parts)
    found: dict[str, Any] = {}
    for name in sorted(parsed):
        if isinstance(parsed[name], SparseTensor):
            found[name] = SparseTensor(next(waiting), next(waiting), next(waiting))
        else:
            found[name] = next(waiting)
    return key, found


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> dict[str, Any]:
    """`read_keyed_batch_features` without the keys."""
    return read_keyed_batch_features(**locals())[1]


def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:
    """`read_batch_features` of TFRecord files."""
    return read_batch_features(reader=TFRecordReader, **locals())
