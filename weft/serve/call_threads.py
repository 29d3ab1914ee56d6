"""The threads that gRPC runs calls on.

They are what a ThreadPoolExecutor has, without what gRPC does not ask for: results, errors and
cancelling. Those take locks, and as long as a twentieth of a short call.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from weft.runtime.debug import report


class Call:
    """A call to be run, and what is to be done after it: as much of a future as gRPC uses."""

    __slots__ = ("_after", "_args", "_function", "_is_over")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._function, self._args = function, args
        self._after: deque[Callable[[Call], None]] = deque()
        self._is_over = False

    def add_done_callback(self, action: Callable[[Call], None]) -> None:
        self._after.append(action)
        if self._is_over:
            self._finish()

    def run(self) -> None:
        try:
            self._function(*self._args)
        except Exception as error:  # gRPC's own: those of methods are answers
            report.log(f"weft serve: {type(error).__name__}: {error}")
        self._is_over = True
        self._finish()

    def _finish(self) -> None:
        """Does what is left to be done; if two threads do so, each takes what the other has not."""
        while self._after:
            try:
                action = self._after.popleft()
            except IndexError:
                return
            action(self)


class CallThreads:
    """So many threads at most, each made when all others are busy."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name, self._made = most, name, 0
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._idle: deque[None] = deque()  # one for each thread that has nothing to do

    def submit(self, function: Callable[..., Any], *args: Any) -> Call:
        """Runs a function soon. gRPC calls this from one thread at a time."""
        call = Call(function, args)
        self._calls.put(call)
        try:
            self._idle.pop()
        except IndexError:
            self._add_thread()
        return call

    def _add_thread(self) -> None:
        if self._made < self._most:
            self._made += 1
            name = f"{self._name}_{self._made}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                return
            call.run()
            del call  # what it holds is not to wait for the next
            self._idle.append(None)

    def close(self) -> None:
        """Ends the threads, each after the calls that came before."""
        for _ in range(self._made):
            self._calls.put(None)
