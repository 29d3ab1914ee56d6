"""Requests put together into one step, and its results taken apart again.

There are no threads for batches: the thread of a batch's first request leads it. It waits until
the batch is full, or the time for it is over, and one of the places for steps is free; then it runs
the step for all, and wakes the others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.core import errors
from weft.serve.config import Batching
from weft.serve.errors import invalid, unavailable
from weft.serve.merging import merged, rows_of, split_rows, trailing
from weft.serve.servable import Runner

Noted = Callable[[int, int, list[float]], None]
"""Is told of a batch: its rows, its padding, and how long each request has waited."""


class Places:
    """So many steps at once, of all models."""

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)

    def __enter__(self) -> None:
        self._free.acquire()

    def __exit__(self, *error: Any) -> None:
        self._free.release()


class _Task:
    """One request. `done` is held until there are results, or an error."""

    __slots__ = ("came", "deadline", "done", "error", "feeds", "results", "rows")

    def __init__(self, feeds: dict[str, np.ndarray], rows: int, deadline: float | None) -> None:
        self.feeds, self.rows, self.deadline = feeds, rows, deadline
        self.came = time.monotonic()
        self.results: list[np.ndarray] = []
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def wait(self) -> None:
        """Until it is done; DeadlineExceededError if that takes too long."""
        if self.deadline is None:
            self.done.acquire()
        elif not self.done.acquire(timeout=max(0.0, self.deadline - time.monotonic())):
            raise _late()

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline


@dataclass
class _Batch:
    tasks: list[_Task] = field(default_factory=list)
    rows: int = 0
    full: threading.Event = field(default_factory=threading.Event)


def _late() -> errors.OpError:
    return errors.DeadlineExceededError(
        None, None, "Run() timeout exceeded while waiting in batching queue"
    )


class Batcher:
    """The batches of one version. `run_alone` runs a step; `places` bounds how many at once."""

    def __init__(
        self, run_alone: Runner, parameters: Batching, places: Places, noted: Noted | None = None
    ) -> None:
        self._run_alone, self.parameters, self._places = run_alone, parameters, places
        self._noted = noted
        self._open: dict[Any, _Batch] = {}
        self._waiting: dict[Any, int] = {}  # batches of a signature that do not run yet
        self._lock = threading.Lock()

    @property
    def queued(self) -> int:
        """Batches that wait."""
        with self._lock:
            return sum(self._waiting.values())

    def run(
        self, feeds: dict[str, np.ndarray], fetches: Sequence[str], deadline: float | None = None
    ) -> list[np.ndarray]:
        """As `Servable.run_alone`, in a batch with others."""
        rows = rows_of(feeds.values())
        if not rows:
            return self._run_alone(feeds, fetches, deadline)
        if rows > self.parameters.largest:
            return self._run_large(feeds, rows, fetches, deadline)
        return self._submit(feeds, rows, tuple(fetches), deadline)

    def _run_large(
        self, feeds: dict[str, np.ndarray], rows: int, fetches: Sequence[str], deadline: Any
    ) -> list[np.ndarray]:
        limits = self.parameters
        if not limits.enable_large_batch_splitting or rows > limits.max_batch_size:
            raise invalid(
                f"Task size {rows} is larger than maximum input batch size {limits.max_batch_size}"
            )
        parts = []
        for start in range(0, rows, limits.largest):
            end = min(rows, start + limits.largest)
            piece = {name: value[start:end] for name, value in feeds.items()}
            parts.append(self._submit(piece, end - start, tuple(fetches), deadline))
        return [np.concatenate(values) for values in zip(*parts, strict=True)]

    def _submit(
        self, feeds: dict[str, np.ndarray], rows: int, fetches: tuple[str, ...], deadline: Any
    ) -> list[np.ndarray]:
        signature = tuple(feeds), fetches
        key = signature, trailing(feeds.values(), self.parameters.pad_variable_length_inputs)
        task = _Task(feeds, rows, deadline)
        batch, leads = self._join(task, signature, key)
        if leads:
            self._lead(batch, signature, key, fetches)
        else:
            task.wait()
        if task.error is not None:
            raise task.error
        return task.results

    def _join(self, task: _Task, signature: Any, key: Any) -> tuple[_Batch, bool]:
        """The batch that the task is part of now, and whether it is the first."""
        limits = self.parameters
        with self._lock:
            batch = self._open.get(key)
            if batch is not None and batch.rows + task.rows > limits.largest:
                del self._open[key]
                batch.full.set()
                batch = None
            leads = batch is None
            if batch is None:
                if self._waiting.get(signature, 0) >= max(1, limits.max_enqueued_batches):
                    raise unavailable(
                        "The batch scheduling queue to which this task was submitted is full"
                    )
                self._waiting[signature] = self._waiting.get(signature, 0) + 1
                batch = self._open[key] = _Batch()
            batch.tasks.append(task)
            batch.rows += task.rows
            if batch.rows >= limits.largest:
                del self._open[key]
                batch.full.set()
            return batch, leads

    def _lead(self, batch: _Batch, signature: Any, key: Any, fetches: tuple[str, ...]) -> None:
        """Runs the batch when its time has come, and wakes all that are in it."""
        try:
            if self.parameters.batch_timeout_micros:
                batch.full.wait(self.parameters.batch_timeout_micros / 1e6)
            with self._places:
                self._close(batch, signature, key)
                self._run(batch.tasks, fetches)
        except BaseException as error:
            for task in batch.tasks:
                task.error = task.error or error
        finally:
            for task in batch.tasks:
                task.done.release()

    def _close(self, batch: _Batch, signature: Any, key: Any) -> None:
        with self._lock:
            if self._open.get(key) is batch:
                del self._open[key]
            left = self._waiting[signature] - 1
            if left:
                self._waiting[signature] = left
            else:
                del self._waiting[signature]

    # ---- the step ----

    def _run(self, tasks: list[_Task], fetches: tuple[str, ...]) -> None:
        timely = [task for task in tasks if not task.is_late]
        for task in tasks:
            if task not in timely:
                task.error = _late()
        if not timely:
            return
        try:
            self._run_together(timely, fetches)
        except Exception as error:
            if len(timely) == 1:
                timely[0].error = error
                return
            for task in timely:  # one of them is to blame, and the others are not to suffer
                self._run_one(task, fetches)

    def _run_one(self, task: _Task, fetches: tuple[str, ...]) -> None:
        try:
            self._run_together([task], fetches)
        except Exception as error:
            task.error = error

    def _run_together(self, tasks: list[_Task], fetches: tuple[str, ...]) -> None:
        rows = sum(task.rows for task in tasks)
        size = self.parameters.rounded(rows)
        if self._noted is not None:
            now = time.monotonic()
            self._noted(rows, size - rows, [now - task.came for task in tasks])
        feeds = merged([task.feeds for task in tasks], size)
        values = self._run_alone(feeds, fetches, None)
        parts = split_rows(values, [task.rows for task in tasks], size)
        for task, part in zip(tasks, parts, strict=True):
            task.results = part
