"""A simulation of things that happen one after another, and wait for each other.

An activity is a generator. It yields what it waits for: seconds, a `Hold` of a resource, a
`Signal`, or a list of those for all of them. Simulated time passes only there.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

Activity = Generator[Any, None, None]


@dataclass
class Signal:
    """Something that happens once. Activities that wait for it go on then, or at once after."""

    has_happened: bool = False
    waiting: list[Any] = field(default_factory=list)


@dataclass
class Resource:
    """A thing that so many can use at a time, in the order in which they come. `busy` is the time
    for which it was used, all users together."""

    slots: int = 1
    busy: float = 0.0
    users: int = 0
    queue: deque[tuple[float, Any]] = field(default_factory=deque)


@dataclass(frozen=True)
class Hold:
    """The use of a resource for so long."""

    resource: Resource
    seconds: float


class Simulation:
    """The clock, and what is to happen when."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Any]] = []
        self._count = 0

    def start(self, activity: Activity) -> Signal:
        """Starts an activity now; the signal is its end."""
        ended = Signal()
        self._advance(activity, ended)
        return ended

    def happen(self, signal: Signal) -> None:
        """Lets a signal happen now."""
        if not signal.has_happened:
            signal.has_happened = True
            waiting, signal.waiting = signal.waiting, []
            for resume in waiting:
                self._after(0.0, resume)

    def run(self, until: Signal | None = None) -> None:
        """Goes on until nothing is left to happen, or a signal has."""
        while self._events and not (until is not None and until.has_happened):
            self.now, _, resume = heapq.heappop(self._events)
            resume()

    def _after(self, seconds: float, resume: Any) -> None:
        self._count += 1  # what is to happen at the same time happens in this order
        heapq.heappush(self._events, (self.now + seconds, self._count, resume))

    def _advance(self, activity: Activity, ended: Signal) -> None:
        try:
            wanted = next(activity)
        except StopIteration:
            self.happen(ended)
            return
        self._wait(wanted, lambda: self._advance(activity, ended))

    def _wait(self, wanted: Any, resume: Any) -> None:
        if isinstance(wanted, Hold):
            self._take(wanted.resource, wanted.seconds, resume)
        elif isinstance(wanted, Signal):
            self._hear(wanted, resume)
        elif isinstance(wanted, list):
            self._wait_for_all(wanted, resume)
        else:
            self._after(wanted, resume)

    def _hear(self, signal: Signal, resume: Any) -> None:
        if signal.has_happened:
            self._after(0.0, resume)
        else:
            signal.waiting.append(resume)

    def _wait_for_all(self, wanted: list[Any], resume: Any) -> None:
        left = len(wanted)
        if not left:
            self._after(0.0, resume)

        def one_less() -> None:
            nonlocal left
            left -= 1
            if not left:
                resume()

        for each in wanted:
            self._wait(each, one_less)

    def _take(self, resource: Resource, seconds: float, resume: Any) -> None:
        if resource.users >= resource.slots:
            resource.queue.append((seconds, resume))
            return
        resource.users += 1
        resource.busy += seconds
        self._after(seconds, lambda: self._give_back(resource, resume))

    def _give_back(self, resource: Resource, resume: Any) -> None:
        resource.users -= 1
        if resource.queue:
            self._take(resource, *resource.queue.popleft())
        resume()
