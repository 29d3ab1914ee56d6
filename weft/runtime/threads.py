"""Threads that run the partitions of steps: as many as are needed at once, then kept."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft.core.waiting import take

Job = Callable[[], None]
_IDLE_SECONDS = 30.0
_TURN = 0.0005  # seconds; Python's are ten times as long


@contextmanager
def short_turns() -> Iterator[None]:
    """Inside, threads that want to run Python take short turns, in a process that serves others.

    A small step takes the interpreter several times, and would wait for a whole turn of another
    client's plan each time.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class CallerQueue:
    """Jobs for a thread that waits for their outcome anyway; when it goes away, for a pool."""

    def __init__(self, pool: ThreadPool) -> None:
        self._pool, self._is_attended = pool, True
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    def start(self, job: Job) -> None:
        with self._lock:
            if self._is_attended:
                self._jobs.put(job)
                return
        self._pool.start(job)

    def over(self) -> None:
        """There will be no other."""
        self._jobs.put(None)

    def attend(
        self,
        time_left: Callable[[], float | None] = lambda: None,
        late: Callable[[], None] = lambda: None,
    ) -> None:
        """Runs jobs until it is over; calls `late()` when there was none in the time left."""
        while True:
            try:
                job = take(self._jobs, time_left())
            except queue.Empty:
                late()
                continue
            if job is None:
                return
            job()

    def leave(self) -> None:
        """The caller goes away: later jobs are the pool's."""
        with self._lock:
            self._is_attended = False
        while not self._jobs.empty():
            job = self._jobs.get()
            if job is not None:
                self._pool.start(job)


class ThreadPool:
    """`start(job)` runs a job at once on a thread of its own; no job waits for another to end."""

    def __init__(self, name: str = "weft-device") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Job | None]] = []
        self._closed = False

    def start(self, job: Job) -> None:
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is not None:
            inbox.put(job)
            return
        fresh: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        fresh.put(job)
        threading.Thread(target=self._work, args=(fresh,), name=self._name, daemon=True).start()

    def _work(self, inbox: queue.SimpleQueue[Job | None]) -> None:
        while True:
            try:
                job = inbox.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        return
                continue  # a job was given out just now
            if job is None:
                return
            job()
            del job
            with self._lock:
                if self._closed:
                    return
                self._idle.append(inbox)

    def close(self) -> None:
        """Ends idle threads; busy ones end with their job."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)
