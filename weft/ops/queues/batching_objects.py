"""Queues of calls of concurrent steps that become one batch, and of results for them.

No call holds a thread while it waits: each has a promise, which the thread of a batch keeps.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.core.deferred import Deferred
from weft.core.errors import (
    AlreadyExistsError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    UnavailableError,
)
from weft.graph import shape_fn as s
from weft.ops.kit.shared import invalid

Array = Any


@dataclass
class Task:
    """The inputs of one call; all of them have as many rows."""

    key: int
    inputs: list[Array]
    captured: list[Array]
    promise: Deferred = field(default_factory=Deferred)

    @property
    def size(self) -> int:
        return len(self.inputs[0])


def total(tasks: Sequence[Task]) -> int:
    return sum(task.size for task in tasks)


@dataclass(frozen=True)
class Options:
    """How large batches get, how long the first of a batch waits, and how many may wait."""

    threads: int
    max_size: int
    timeout_s: float
    max_waiting: int
    allowed_sizes: tuple[int, ...]

    @staticmethod
    def of(attrs: dict[str, Any]) -> Options:
        sizes = tuple(attrs["allowed_batch_sizes"])
        if any(b <= a for a, b in itertools.pairwise(sizes)):
            raise invalid("allowed_batch_sizes entries must be monotonically increasing")
        if sizes and sizes[-1] != attrs["max_batch_size"]:
            raise invalid("final entry in allowed_batch_sizes must equal max_batch_size")
        return Options(
            attrs["num_batch_threads"], attrs["max_batch_size"],
            attrs["batch_timeout_micros"] / 1e6, attrs["max_enqueued_batches"], sizes,
        )  # fmt: skip

    def padded(self, size: int) -> int:
        """The least size that is allowed for a batch of `size` rows."""
        return next((each for each in self.allowed_sizes if each >= size), size)


class Alarms:
    """Calls that are made when some time has passed, unless they are called off before."""

    def __init__(self) -> None:
        self._timers: dict[Hashable, threading.Timer] = {}

    def set(self, key: Hashable, seconds: float, call: Callable[..., None], *args: Any) -> None:
        timer = threading.Timer(seconds, call, args)
        timer.daemon = True
        self._timers[key] = timer
        timer.start()

    def call_off(self, key: Hashable) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def released(self) -> None:
        for key in list(self._timers):
            self.call_off(key)


class Batcher:
    """Collects tasks, and hands batches to `process` on threads of its own."""

    def __init__(self, options: Options, process: Callable[[list[Task], Options], None]) -> None:
        self.options, self.process = options, process
        self.lock = threading.Lock()
        self.open: dict[str, list[Task]] = {}
        self.waiting, self.alarms = 0, Alarms()
        threads = max(1, options.threads)
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="weft-batch")

    def add(self, task: Task, queue: str) -> Deferred:
        if task.size > self.options.max_size:
            raise invalid(
                f"Task size {task.size} is larger than maximum batch size {self.options.max_size}"
            )
        task.promise.on_cancel = lambda: self._withdraw(task, queue)
        with self.lock:
            self._join(task, queue)
        return task.promise

    def _join(self, task: Task, queue: str) -> None:
        batch = self.open.get(queue)
        if batch and total(batch) + task.size > self.options.max_size:
            self._close(queue, batch)
            batch = None
        if not batch:
            if self.waiting >= self.options.max_waiting:
                raise UnavailableError(
                    None, None,
                    "The batch scheduling queue to which this task was submitted is full",
                )  # fmt: skip
            batch = self.open[queue] = []
            self.alarms.set(queue, self.options.timeout_s, self._time_is_up, queue, batch)
        batch.append(task)
        if total(batch) >= self.options.max_size:
            self._close(queue, batch)

    def _time_is_up(self, queue: str, batch: list[Task]) -> None:
        with self.lock:
            if self.open.get(queue) is batch:
                self._close(queue, batch)

    def _close(self, queue: str, batch: list[Task]) -> None:
        del self.open[queue]
        self.alarms.call_off(queue)
        self.waiting += 1
        self.pool.submit(self._run, batch)

    def _run(self, batch: list[Task]) -> None:
        with self.lock:
            self.waiting -= 1
        if not batch:
            return
        try:
            self.process(batch, self.options)
        except BaseException as error:
            for task in batch:
                task.promise.fail(error)

    def _withdraw(self, task: Task, queue: str) -> None:
        with self.lock:
            batch = self.open.get(queue, [])
            if task in batch:
                batch.remove(task)

    def released(self) -> None:
        self.alarms.released()
        self.pool.shutdown(wait=False, cancel_futures=True)


def joined(tasks: list[Task], options: Options) -> list[Array]:
    """Inputs one after the other. The first row fills up what is missing to an allowed size."""
    if len({len(task.inputs) for task in tasks}) > 1:
        raise invalid("Batching inputs must have equal number of edges")
    missing = options.padded(total(tasks)) - total(tasks)
    found = []
    for parts in zip(*(task.inputs for task in tasks), strict=True):
        check_rows(parts)
        found.append(np.concatenate([*parts, *[parts[0][:1]] * missing]))
    return found


def check_rows(parts: Sequence[Array]) -> None:
    """Whether arrays differ only in how many rows they have."""
    first = parts[0].shape
    for i, part in enumerate(parts):
        shapes = f"shape[0] = {s.show(first)} vs. shape[{i}] = {s.show(part.shape)}"
        if part.ndim != len(first):
            raise invalid(f"Ranks of all input tensors should match: {shapes}")
        if part.shape[1:] != first[1:]:
            raise invalid(f"Dimensions of inputs should match: {shapes}")


# ---- results on their way back -------------------------------------------------------------------


class Unbatcher:
    """Parts of batches by the key of the call that they belong to, whichever comes first."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s, self.lock = timeout_s, threading.Lock()
        self.parts: dict[int, Array] = {}
        self.promises: dict[int, Deferred] = {}
        self.alarms = Alarms()

    def take(self, key: int, parts: dict[int, Array]) -> Array | Deferred:
        """The part of `key`, or a promise of it; `parts` are there for others."""
        with self.lock:
            if key in self.parts:
                self.alarms.call_off(key)
                return self.parts.pop(key)
            if key in self.promises:
                raise AlreadyExistsError(
                    None, None, "Multiple session runs with the same batch key."
                )
            promise = Deferred(on_cancel=lambda: self._forget(key), then=lambda part: [part])
            self.promises[key] = promise
            self.alarms.set(key, self.timeout_s, self._too_late, key)
            awaited = [k for k in parts if k in self.promises]
            self._keep({k: part for k, part in parts.items() if k not in awaited})
            ready = [(self._pop(k), parts[k]) for k in awaited]
        for each, part in ready:
            each.complete(part)
        return promise

    def _pop(self, key: int) -> Deferred:
        self.alarms.call_off(key)
        return self.promises.pop(key)

    def _keep(self, parts: dict[int, Array]) -> None:
        for key, part in parts.items():
            if key in self.parts:
                raise AlreadyExistsError(
                    None, None, "Multiple tensors returned for same batch key."
                )
            self.parts[key] = part
            self.alarms.set(key, self.timeout_s, self._forget, key)

    def _forget(self, key: int) -> None:
        with self.lock:
            self.alarms.call_off(key)
            self.parts.pop(key, None)
            self.promises.pop(key, None)

    def released(self) -> None:
        self.alarms.released()

    def _too_late(self, key: int) -> None:
        with self.lock:
            promise = self.promises.pop(key, None)
        if promise is None:
            return
        promise.fail(
            DeadlineExceededError(None, None, "Batched data did not arrive within timeout window.")
        )


class GradientBatcher:
    """Gradients of the parts of a batch, until all are there."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.found: dict[int, Array] = {}
        self.batches: list[tuple[list[int], Deferred]] = []

    def add(self, key: int, grad: Array, wanted: list[int]) -> Array | Deferred:
        """`wanted`: the keys of the batch whose gradient this call is to give, if any."""
        with self.lock:
            if key in self.found:
                raise invalid("Two runs with the same batch key.")
            self.found[key] = grad
            promise = Deferred(then=lambda made: [made])
            if wanted:
                self.batches.append((wanted, promise))
            ready = [each for each in self.batches if all(k in self.found for k in each[0])]
            self.batches = [each for each in self.batches if each not in ready]
            made = [(p, [self.found.pop(k) for k in keys]) for keys, p in ready]
        for each, parts in made:
            each.complete(np.concatenate(parts))
        return promise if wanted else grad[:0]


def split_outputs(tasks: list[Task], outputs: list[Array], size: int) -> list[list[Array]]:
    """For each task its rows of each output of a function of a batch of `size` rows."""
    for output in outputs:
        if not np.ndim(output):
            raise FailedPreconditionError(None, None, "Batched output tensor has 0 dimensions")
        if len(output) != size:
            raise FailedPreconditionError(
                None, None,
                "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension"
                " sizes of the input tensors",
            )  # fmt: skip
    ends = np.cumsum([task.size for task in tasks])
    if ends[-1] > size:
        raise InternalError(None, None, "Tensor split operation failed")
    parts = [np.split(output, ends)[: len(tasks)] for output in outputs]
    return [list(row) for row in zip(*parts, strict=True)]
