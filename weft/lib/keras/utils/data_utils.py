"""Data that is made while a model trains: sequences of batches, and workers that run ahead.

An enqueuer asks for batches in threads or processes and keeps a bounded number of them ready;
those of a `Sequence` come out in its order, those of a generator as they are made.
"""

from __future__ import annotations

import multiprocessing.connection
import multiprocessing.context
import multiprocessing.pool
import os
import queue
import random
import signal
import threading
import time
import warnings
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from typing import Any

import numpy as np


class Sequence:
    """Batches by number: safe to share among workers, and the same in every epoch.

    A subclass has `__len__`, the number of batches, and `__getitem__`, which makes one.
    """

    @abstractmethod
    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    @abstractmethod
    def __len__(self) -> int:
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Called when all batches have been taken."""

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


def is_generator_or_sequence(x: Any) -> bool:
    import inspect

    return inspect.isgenerator(x) or isinstance(x, Sequence)


def iter_sequence_infinite(seq: Any) -> Iterator[Any]:
    """The batches of a sequence, over and over."""
    while True:
        yield from seq


# What workers take batches from, by the number of the enqueuer; forked processes inherit it.
_shared: dict[int, Any] = {}
_next_uid = iter(range(2**62))
_PATIENCE = 5.0  # seconds that workers have to end when their batches are no longer wanted
_pools: weakref.WeakSet[_Processes] = weakref.WeakSet()


def get_index(uid: int, i: int) -> Any:
    """Batch `i` of a shared sequence."""
    return _shared[uid][i]


def next_sample(uid: int) -> Any:
    """The next batch of a shared generator."""
    return next(_shared[uid])


def _start_worker(shared: dict[int, Any], random_seed: int | None) -> None:
    global _shared
    _shared = shared
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # whatever the program does with it
    if random_seed is not None:
        np.random.seed(random_seed + os.getpid())


class _Promise:
    """The promised result of a process, with the methods of a thread pool's result."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future
        self.get, self.ready = future.result, future.done

    def wait(self, timeout: float) -> None:
        wait([self._future], timeout)

    def successful(self) -> bool:
        return self._future.exception() is None


class _Threads(multiprocessing.pool.ThreadPool):
    def end(self) -> None:
        self.terminate()
        self.join()


class _Context(multiprocessing.context.ForkContext):
    """Makes processes, and remembers them."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def Process(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        self.made.append(super().Process(*args, **kwargs))
        return self.made[-1]


class _Processes:
    """A pool of processes that know what is shared now. One that dies fails what it was asked for;
    `multiprocessing.Pool` would wait for it, and can hang where it ends one that hands over much.
    """

    def __init__(self, count: int, random_seed: int | None) -> None:
        self.context = _Context()
        given = _shared, random_seed
        self._executor = ProcessPoolExecutor(count, self.context, _start_worker, given)
        _pools.add(self)

    def apply_async(self, function: Callable[..., Any], args: tuple[Any, ...]) -> _Promise:
        with warnings.catch_warnings():
            # That threads of this process are not in the others is no news: they only make batches.
            warnings.filterwarnings("ignore", ".*fork")
            return _Promise(self._executor.submit(function, *args))

    def end(self) -> None:
        """Drops jobs that have not begun, and waits for the rest, but not for long."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in _alive_after(_PATIENCE, self.context.made):
            process.kill()


def _alive_after(seconds: float, processes: list[Any]) -> list[Any]:
    """The processes that have not ended after `seconds`.

    They are not joined: several threads may ask, and a process can be joined only once.
    """
    left = {process.sentinel: process for process in processes}
    until = time.monotonic() + seconds
    while left and (time_left := until - time.monotonic()) > 0:
        for ended in multiprocessing.connection.wait(list(left), time_left):
            del left[ended]  # type: ignore[arg-type]
    return list(left.values())


class SequenceEnqueuer:
    """Keeps batches ready. `start`, then iterate over `get()`, then `stop`."""

    def __init__(self, sequence: Any, use_multiprocessing: bool = False) -> None:
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.uid = next(_next_uid)
        self.workers = 0
        self.queue: Any = None
        self.run_thread: threading.Thread | None = None
        self.stop_signal: threading.Event | None = None
        self._error: Exception | None = None  # of the thread that asks for batches

    def is_running(self) -> bool:
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Starts `workers` threads or processes."""
        self.workers, self.queue = workers, queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        _shared[self.uid] = self.sequence
        self.run_thread = thread = threading.Thread(target=self._run_to_the_end, daemon=True)
        thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Ends the workers; what is in the queue is dropped."""
        if self.stop_signal is None or self.run_thread is None:
            return
        self.stop_signal.set()
        with self.queue.mutex:
            self.queue.queue.clear()
            self.queue.unfinished_tasks = 0
            self.queue.not_full.notify_all()
        self.run_thread.join(timeout)
        _shared.pop(self.uid, None)

    def __del__(self) -> None:
        if self.is_running():
            self.stop()

    def _pool(self) -> Any:
        if self.use_multiprocessing:
            return _Processes(self.workers, self._random_seed())
        return _Threads(self.workers)

    def _run_to_the_end(self) -> None:
        pool = self._pool()
        try:
            self._run(pool)
        except Exception as error:
            self._error = error
        finally:
            pool.end()

    def _random_seed(self) -> int | None:
        return None

    def _stopping(self) -> bool:
        return not self.is_running()

    def _put(self, promise: Any) -> None:
        """Adds a batch that is being made, unless it is too late for it."""
        while self.is_running():
            try:
                return self.queue.put(promise, timeout=0.1)
            except queue.Full:
                continue

    def _take(self) -> Any:
        """The next batch; None when it was stopped meanwhile."""
        while self.is_running():
            try:
                promise = self.queue.get(timeout=0.1)
            except queue.Empty:
                if self._error is not None:
                    raise self._error from None
                continue
            if not self._has_come(promise):
                return None
            try:
                value = promise.get()
            except CancelledError:
                return None
            self.queue.task_done()
            return value
        return None

    def _has_come(self, promise: Any) -> bool:
        """Waits for a result; False if the workers are stopped meanwhile."""
        while not promise.ready() and self.is_running():
            promise.wait(0.1)
        return promise.ready()

    @abstractmethod
    def _run(self, pool: Any) -> None:
        """Hands work to the pool until it is stopped."""
        raise NotImplementedError

    @abstractmethod
    def get(self) -> Iterator[Any]:
        """The batches."""
        raise NotImplementedError


class OrderedEnqueuer(SequenceEnqueuer):
    """For a `Sequence`: epoch after epoch, in order, or in another order each with `shuffle`."""

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle
        self._indices: list[int] = []

    def _run_to_the_end(self) -> None:
        # Processes know the sequence as it was when they began: each epoch has new ones.
        while self.is_running() and self._error is None:
            super()._run_to_the_end()
            if self.is_running() and self._error is None:
                self.sequence.on_epoch_end()

    def _run(self, pool: Any) -> None:
        for i in self._order():
            if self._stopping():
                return
            self._put(pool.apply_async(get_index, (self.uid, i)))
        self._wait_until_taken()

    def _order(self) -> list[int]:
        # Each epoch shuffles the order that the one before had.
        order = self._indices = self._indices or list(range(len(self.sequence)))
        if self.shuffle:
            random.shuffle(order)
        return order

    def _wait_until_taken(self) -> None:
        while self.is_running() and self.queue.unfinished_tasks:
            time.sleep(0.01)

    def get(self) -> Iterator[Any]:
        try:
            while self.is_running():
                inputs = self._take()
                if inputs is not None:
                    yield inputs
        except Exception:
            self.stop()
            raise


class GeneratorEnqueuer(SequenceEnqueuer):
    """For a generator; with processes, each has a copy of it and a random seed of its own."""

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, random_seed: int | None = None
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _random_seed(self) -> int | None:
        return self.random_seed

    def _run(self, pool: Any) -> None:
        while self.is_running():
            self._put(pool.apply_async(next_sample, (self.uid,)))

    def get(self) -> Iterator[Any]:
        try:
            while self.is_running():
                if (inputs := self._take()) is not None:
                    yield inputs
        except StopIteration:
            yield from self._rest()
        except Exception as error:
            self.stop()
            _explain(error)
            raise

    def _rest(self) -> Iterator[Any]:
        """The batches that other workers had begun when one found the end."""
        begun = []
        while not self.queue.empty():
            begun.append(self.queue.get())
        for promise in filter(self._has_come, begun):
            inputs = promise.get() if promise.successful() else None
            if inputs is not None:
                yield inputs
        self.stop()


def _explain(error: Exception) -> None:
    if "generator already executing" in str(error):
        raise RuntimeError(
            "Your generator is NOT thread-safe. Keras requires a thread-safe generator "
            "when `use_multiprocessing=False, workers > 1`. "
        ) from error


def terminate_keras_multiprocessing_pools(
    grace_period: float = 0.1, use_sigkill: bool = False
) -> list[str]:
    """Ends what worker processes are left; says which would not go."""
    workers = [worker for pool in list(_pools) for worker in pool.context.made]
    for worker in _alive_after(1e-3, workers):
        (worker.kill if use_sigkill else worker.terminate)()
    left = _alive_after(grace_period, workers)
    return [f"worker still alive: {worker.name}, pid={worker.pid}" for worker in left]
