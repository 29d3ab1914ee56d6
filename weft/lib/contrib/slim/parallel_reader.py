"""Several readers that fill one queue with records."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes as core_dtypes
from weft.graph.graph import name_scope
from weft.lib.contrib.slim.prefetch_queue import summarize_fullness
from weft.lib.train.input.queue_runner import QueueRunner, add_queue_runner
from weft.lib.train.input.queues import string_input_producer
from weft.ops.math import math
from weft.ops.queues.queues import FIFOQueue, RandomShuffleQueue
from weft.ops.queues.readers import ReaderBase
from weft.storage import file_io


class ParallelReader(ReaderBase):
    """`num_readers` readers of one class, each with files of its own, and what they read."""

    def __init__(
        self,
        reader_class: Any,
        common_queue: Any,
        num_readers: int = 4,
        reader_kwargs: dict[str, Any] | None = None,
    ) -> None:
        if [dtype.base_dtype for dtype in common_queue.dtypes] != [core_dtypes.string] * 2:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next (key, value), of a file that `queue` names; adds the runner that reads."""
        self._read_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """As `read`, of up to so many records at once."""
        self._read_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _read_from(self, queue: Any) -> None:
        enqueue = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueue))

    def num_records_produced(self, name: str | None = None) -> Any:
        return math.add_n([r.num_records_produced() for r in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        return math.add_n([r.num_work_units_completed() for r in self._readers], name=name)


def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: dict[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """The (key, value) of records of all files, by default in a random order."""
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        made: dict[str, Any] = {
            "capacity": capacity,
            "dtypes": dtypes or [core_dtypes.string] * 2,
            "name": "common_queue",
        }
        queue: Any
        if shuffle:
            queue = RandomShuffleQueue(min_after_dequeue=min_after_dequeue, seed=seed, **made)
        else:
            queue = FIFOQueue(**made)
        summarize_fullness(queue, capacity)
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


def single_pass_read(
    data_sources: Any,
    reader_class: Any,
    reader_kwargs: dict[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """The (key, value) of every record once, in order."""
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        once: dict[str, Any] = {"num_epochs": 1, "shuffle": False, "capacity": 1}
        names = string_input_producer(files, name="filenames", **once)
        reader = reader_class(**(reader_kwargs or {}))
        return reader.read(names)


def get_data_files(data_sources: Any) -> list[str]:
    """The files that a path, a pattern or a list of these stands for."""
    if isinstance(data_sources, (list, tuple)):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif any(char in data_sources for char in "*?["):
        files = file_io.glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files
