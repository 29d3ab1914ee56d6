"""The sources of an epoch's batches: arrays, tensors of the program, Python generators.

A source yields steps. A step says how many samples it stands for and runs the model on them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from weft.core import errors, nest
from weft.lib.keras.engine.training_data import sliced
from weft.lib.keras.utils.data_utils import (
    GeneratorEnqueuer,
    OrderedEnqueuer,
    Sequence,
    iter_sequence_infinite,
)


class Step(NamedTuple):
    run: Callable[[], Any]
    # What callbacks are told.
    size: int
    # The first sample and the number of them; steps count as one each.
    start: int
    weight: int


class OutOfData(Exception):
    """There is no further batch."""


class ArraySource:
    """Batches cut from arrays, in a new order every epoch if they are shuffled."""

    counts = "samples"
    # How many there are is told by programs that run eagerly alone.
    steps: int | None = None

    def __init__(
        self, function: Callable[[list[Any]], Any], arrays: list[Any], batch_size: int, shuffle: Any
    ) -> None:
        self._function, self._arrays = function, arrays
        self._batch_size, self._shuffle = batch_size, shuffle
        self.samples = int(arrays[0].shape[0])

    @property
    def total(self) -> int | None:
        return self.samples

    def epoch(self) -> Iterator[Step]:
        order = self._order()
        size = self._batch_size
        count = math.ceil(self.samples / size)
        for start in [number * size for number in range(count)]:
            rows = order[start : start + size]
            batch = self._arrays if count == 1 else self._cut(start, rows)
            yield Step(functools.partial(self._function, batch), len(rows), start, len(rows))

    def _cut(self, start: int, rows: np.ndarray) -> list[Any]:
        if not self._shuffle:
            # A slice is a view: nothing is copied.
            return sliced(self._arrays, start, start + len(rows))
        try:
            return sliced(self._arrays, rows)
        except TypeError:
            raise TypeError(
                'TypeError while preparing batch. If using HDF5 input data, pass shuffle="batch".'
            ) from None

    def _order(self) -> np.ndarray:
        order = np.arange(self.samples)
        if self._shuffle == "batch":
            return _shuffled_batches(order, self._batch_size)
        if self._shuffle:
            np.random.shuffle(order)
        return order

    def restart(self) -> None:
        """The next epoch is made from the same arrays."""

    def close(self, timeout: float | None = None) -> None:
        """Does nothing: arrays are not opened."""


def _shuffled_batches(order: np.ndarray, batch_size: int) -> np.ndarray:
    """Batches in a new order, each as it was; the last, shorter one stays last."""
    whole = len(order) // batch_size * batch_size
    batches = order[:whole].reshape((-1, batch_size))
    numbers = np.arange(len(batches))
    # A list of numbers is shuffled alike by all versions of NumPy, an array of two axes is not.
    np.random.shuffle(numbers)
    return np.append(batches[numbers].flatten(), order[whole:])


class TensorSource:
    """The same tensors again and again, until a dataset behind them is at its end."""

    counts = "steps"

    def __init__(
        self,
        function: Callable[[list[Any]], Any],
        feeds: list[Any],
        steps: int | None,
        restart: Callable[[], None] | None = None,
        is_dataset: bool = False,
    ) -> None:
        self._function, self._feeds = function, feeds
        self.steps, self.is_dataset = steps, is_dataset
        self._restart = restart

    @property
    def total(self) -> int | None:
        return self.steps

    def epoch(self) -> Iterator[Step]:
        number = 0
        while self.steps is None or number < self.steps:
            yield Step(self._run, 1, number, 1)
            number += 1

    def _run(self) -> Any:
        try:
            return self._function(self._feeds)
        except (errors.OutOfRangeError, StopIteration):
            raise OutOfData from None

    def restart(self) -> None:
        if self._restart is not None:
            self._restart()

    def close(self, timeout: float | None = None) -> None:
        """Iterators go with their session."""


class ArrayBatches(Sequence):
    """Arrays (inputs, targets, weights) as batches of `size` samples."""

    def __init__(self, parts: Any, size: int) -> None:
        self._parts = tuple(p for p in parts if any(x is not None for x in nest.flatten(p)))
        self._size = size

    def __len__(self) -> int:
        return -(-len(nest.flatten(self._parts)[0]) // self._size)

    def __getitem__(self, index: int) -> Any:
        start = index * self._size
        return nest.map_structure(lambda x: x[start : start + self._size], self._parts)


class GeneratorSource:
    """Batches from a generator or a `Sequence`, made ahead by other threads or processes."""

    counts = "steps"
    is_dataset = False

    def __init__(
        self,
        function: Callable[..., Any],
        data: Any,
        steps: int,
        shuffle: bool,
        workers: int,
        use_multiprocessing: bool,
        max_queue_size: int,
    ) -> None:
        self._function, self.steps = function, steps
        self._enqueuer: Any = None
        self._workers, self._max_queue_size = workers, max_queue_size
        self.last_size = 1
        self._batches: Any = None
        if workers <= 0:
            self._batches = iter_sequence_infinite(data) if isinstance(data, Sequence) else data
        elif isinstance(data, Sequence):
            self._enqueuer = OrderedEnqueuer(data, use_multiprocessing, shuffle=shuffle)
        else:
            self._enqueuer = GeneratorEnqueuer(data, use_multiprocessing)

    def _start(self) -> None:
        """Starts the workers, with the first epoch: a failure before that has nothing to end."""
        self._enqueuer.start(workers=self._workers, max_queue_size=self._max_queue_size)
        self._batches = self._enqueuer.get()

    @property
    def total(self) -> int | None:
        return self.steps

    def epoch(self) -> Iterator[Step]:
        if self._batches is None:
            self._start()
        for number in range(self.steps):
            batch = self._next()
            self.last_size = size = int(nest.flatten(batch)[0].shape[0])
            yield Step(functools.partial(self._function, *batch), size, number, 1)

    def _next(self) -> tuple[Any, ...]:
        try:
            batch = next(self._batches)
        except (StopIteration, errors.OutOfRangeError):
            raise OutOfData from None
        batch = batch if isinstance(batch, tuple) else (batch,)
        if len(batch) not in (1, 2, 3):
            raise ValueError(
                "Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or "
                f"(input, target) or (input, target, sample_weights). Received {batch}"
            )
        return batch

    def restart(self) -> None:
        """A generator goes on where it was."""

    def close(self, timeout: float | None = None) -> None:
        """Ends the workers, and waits for that as long as `timeout` says."""
        if self._enqueuer is not None:
            self._enqueuer.stop(timeout)
