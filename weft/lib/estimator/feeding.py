"""Arrays and data frames as input: threads that put them, batch by batch, into a queue."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.graph.graph import name_scope
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import summary
from weft.lib.train.input.queue_runner import QueueRunner, add_queue_runner
from weft.ops.array.placeholders import placeholder
from weft.ops.math.casts import cast
from weft.ops.math.elementwise import maximum
from weft.ops.queues.queues import FIFOQueue, RandomShuffleQueue


class Rows:
    """Numbers of rows, a batch at a time, over and over or for `num_epochs`."""

    def __init__(
        self, length: int, batch_size: int, random_start: bool, num_epochs: int | None
    ) -> None:
        self._length, self._batch_size, self._num_epochs = length, batch_size, num_epochs
        self._next = random.randrange(length) if random_start else 0
        self._last = (self._next - 1) % length  # the row that ends an epoch
        self._epoch = 0

    def __call__(self) -> list[int]:
        if self._num_epochs is not None and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
        rows: list[int] = []
        while len(rows) < self._batch_size:
            row = self._next
            rows.append(row)
            self._next = (row + 1) % self._length
            if row == self._last:
                self._epoch += 1
                if self._num_epochs is not None and self._epoch >= self._num_epochs:
                    break
        return rows


class FeedingQueueRunner(QueueRunner):
    """A queue runner whose threads feed what a function of theirs returns."""

    def __init__(
        self,
        queue: Any,
        enqueue_ops: list[Any],
        placeholders: list[list[Any]],
        batches: list[Callable[[], list[Any]]],
    ) -> None:
        closed = (errors.OutOfRangeError, errors.CancelledError)
        super().__init__(queue, enqueue_ops, queue_closed_exception_types=closed)
        self._feeds = dict(zip(enqueue_ops, zip(placeholders, batches, strict=True), strict=True))

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        placeholders, next_batch = self._feeds[enqueue_op]
        enqueue = sess.make_callable(enqueue_op, feed_list=placeholders)
        return lambda: enqueue(*next_batch())

    def to_proto(self, export_scope: str | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")


def _warn_of_threads(num_threads: int, shuffle: bool, num_epochs: int | None) -> None:
    if num_threads <= 1:
        return
    if num_epochs is not None:
        logging.warning(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied "
            "per thread, so this will produce more epochs than you probably intend. If you want "
            "to limit epochs, use one thread."
        )
    if shuffle and num_epochs is not None:
        logging.warning(
            "enqueue_data was called with shuffle=True, num_threads > 1, and num_epochs. This "
            "will create multiple threads, all reading the array/dataframe in order adding to the "
            "same shuffling queue; the results will likely not be sufficiently shuffled."
        )
    if not shuffle:
        logging.warning(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will create "
            "multiple threads, all reading the array/dataframe in order. If you want examples "
            "read in order, use one thread; if you want multiple threads, enable shuffling."
        )


def enqueue_columns(
    columns: Sequence[Any],
    index: Any,
    capacity: int,
    shuffle: bool = False,
    min_after_dequeue: float | None = None,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_size: int = 1,
    num_epochs: int | None = None,
) -> Any:
    """A queue of rows: (the row's entry in `index`, its value in each column)."""
    with name_scope("enqueue_input"):
        arrays = [np.asarray(index), *columns]
        types = [dtypes.as_dtype(each.dtype) for each in arrays]
        shapes = [each.shape[1:] for each in arrays]
        _warn_of_threads(num_threads, shuffle, num_epochs)
        least = 0
        queue: Any
        if shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue = RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes, seed=seed)
        else:
            queue = FIFOQueue(capacity, dtypes=types, shapes=shapes)
        placeholders = [[placeholder(each) for each in types] for _ in range(num_threads)]
        enqueue_ops = [queue.enqueue_many(each) for each in placeholders]
        readers = [
            _reader(arrays, enqueue_size, shuffle, seed and (number + 1) * seed, num_epochs)
            for number in range(num_threads)
        ]
        add_queue_runner(FeedingQueueRunner(queue, enqueue_ops, placeholders, readers))
        _add_summary(queue, least, capacity)
        return queue


def _reader(
    arrays: list[Any], batch_size: int, random_start: bool, seed: Any, num_epochs: int | None
) -> Callable[[], list[Any]]:
    random.seed(seed)
    rows = Rows(len(arrays[0]), batch_size, random_start, num_epochs)

    def read() -> list[Any]:
        chosen = rows()
        return [each[chosen] for each in arrays]

    return read


def _add_summary(queue: Any, least: int, capacity: int) -> None:
    """How full the queue is, between what stays in it and what fits."""
    room = capacity - least
    full = cast(maximum(0, queue.size() - least), dtypes.float32) * (1.0 / room)
    summary.scalar(f"queue/{queue.name}fraction_over_{least}_of_{room}_full", full)
