"""Loop frames and iterations: where a value of a loop lives.

A frame is one execution of a loop (the root frame is the step itself); an iteration holds one value
per slot and how many inputs each task still waits for.
"""

from __future__ import annotations

import functools
from typing import Any

DEAD = object()  # stands in for a value that the step decided not to compute


_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_SEED = 0xDECAFCAFFE


@functools.cache
def _hashed(name: str) -> int:
    """MurmurHash64A of a name, with TensorFlow's seed."""
    data = name.encode()
    whole = len(data) // 8 * 8
    found = _SEED ^ len(data) * _MULTIPLIER & _MASK
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * _MULTIPLIER & _MASK
        part = (part ^ part >> 47) * _MULTIPLIER & _MASK
        found = (found ^ part) * _MULTIPLIER & _MASK
    if whole < len(data):
        found = (found ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    found = (found ^ found >> 47) * _MULTIPLIER & _MASK
    return found ^ found >> 47


def _combined(a: int, b: int) -> int:
    return a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4) & _MASK)


class Iteration:
    """One iteration of a frame. `outstanding` counts tasks ready or running in it.

    `tag`: frame and iteration, as they end the key of a transfer.
    """

    __slots__ = (
        "alive", "child_frames", "dead", "index", "outstanding", "pending", "tag", "values",
    )  # fmt: skip

    def __init__(self, frame: int, index: int, pending: list[int], values: list[Any]) -> None:
        self.tag = f"{frame}:{index}"
        self.index = index
        self.pending = pending
        self.values = values
        self.dead: dict[int, int] = {}  # task -> inputs that arrived dead
        self.alive: dict[int, int] = {}  # merge -> position of the input it took
        self.outstanding = 0
        self.child_frames = 0


class Frame:
    """One execution of a loop.

    `waiting_enters` counts Enter nodes that have not delivered yet; `invariants` are delivered to
    every iteration; `held` are next-iteration values kept back by the limit on parallel iterations.
    """

    __slots__ = (
        "dead_exits", "held", "invariants", "iterations", "key", "last", "limit", "live_exits",
        "name", "number", "parent", "parent_iteration", "waiting_enters",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        key: Any,
        parent: Frame | None,
        parent_iteration: int,
        enters: int,
        limit: int,
    ) -> None:
        self.name, self.key = name, key
        # What names the frame to other devices of the step; the same wherever it is entered, also
        # by TensorFlow (since 2.3).
        self.number = 0
        if parent is not None:
            self.number = _combined(parent.number, _combined(parent_iteration, _hashed(name)))
        self.parent, self.parent_iteration = parent, parent_iteration
        self.waiting_enters, self.limit = enters, max(1, limit)
        self.iterations: dict[int, Iteration] = {}
        self.last = -1
        self.invariants: list[tuple[int, Any]] = []
        self.held: list[tuple[int, Any]] = []
        self.dead_exits: set[int] = set()
        self.live_exits: set[int] = set()

    def is_done(self) -> bool:
        return not self.waiting_enters and not self.iterations

    def iteration_is_done(self, iteration: Iteration) -> bool:
        if iteration.outstanding or iteration.child_frames:
            return False
        if iteration.index == 0:
            return not self.waiting_enters
        return iteration.index - 1 not in self.iterations

    def describe(self, iteration: Iteration) -> str:
        """Where in the loops this is, for error messages; empty in the root frame."""
        if self.parent is None:
            return ""
        outer = self.parent.iterations.get(self.parent_iteration)
        before = self.parent.describe(outer) if outer is not None else ""
        return f"{before} (iteration {iteration.index} of loop '{self.name}')"
