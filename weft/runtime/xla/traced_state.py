"""Mutable state threaded through a trace: lists, stacks, arrays, checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from weft.passes.client_graph import Node
from weft.passes.devices import HOST_TYPE, DeviceInfo
from weft.passes.place.cost import traced_time
from weft.runtime.xla.checks import Failed

SWITCH_SIZE = 16  # a power of two: a program looks at each element in turn
# A loop ends soon enough by itself if it runs no more often than this and takes no longer, in
# microseconds; both with all loops around it.
_FEW, _SHORT = 1024, 2.5e5


class Cell:
    """A value that a program changes on its way."""

    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state


class Objects:
    """The mutable objects of a trace, and how often the loops around a point may run.

    Each object has a `state`: arrays, or None before it holds any. Where nothing tells how often a
    loop runs, buffers get room for a guess, times `factor`; `excess` is how many times the guess
    the program needed. If that is more than `factor`, its results are void.

    `switch` is the array by which the program can be stopped (see stopping.py), if it has one;
    `watched` whether a loop looks at it; `time` is what the loops take on `device`, estimated, in
    microseconds.

    `room`, if it is not 0, is the guess for loops that no other is around. `trips`,
    if it is not None, counts the iterations of the one such loop (see given_stack.py).

    `failed` is where kernels note what must hold of values; None on an accelerator, where nothing
    is checked.
    """

    def __init__(self, factor: int, switch: Any, device: DeviceInfo, room: int = 0) -> None:
        self.items: list[Any] = []
        self.room = room
        self.trips: Any = None
        self.bounds: list[int] = []
        self.guesses = 0  # how many of `bounds` are only guesses
        self.factor = factor
        self.guessed = False
        self.excess = self.add(Cell(np.int32(0)))
        self.switch, self.watched = switch, False
        self.device, self.time = device, 0.0
        self.looks = self.add(Cell(np.int32(0)))
        self.stopped = self.add(Cell(np.bool_(False)))
        is_checked = device.device_type == HOST_TYPE
        self.failed: Failed | None = self.add(Failed(self.range_of)) if is_checked else None
        # By identity, values and what they are known to be within.
        self.ranges: dict[int, tuple[Any, range]] = {}

    def add(self, item: Any) -> Any:
        if hasattr(item, "registry"):
            item.registry = self
        self.items.append(item)
        return item

    def cell(self, state: Any) -> Cell:
        """A cell that holds `state`, which loops and branches carry along where they change it."""
        found: Cell = self.add(Cell(state))
        return found

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Within, what is traced may run any number of times, or not at all."""
        if self.failed is None:
            yield
            return
        self.failed.depth += 1
        try:
            yield
        finally:
            self.failed.depth -= 1

    def rows(self) -> int:
        """How many values may be saved here in all."""
        return math.prod(self.bounds) * (self.factor if self.guesses else 1)

    def watch(self, index: Any, rows: int) -> None:
        """Called where one of `rows` rows is written, if `rows` is only a guess."""
        import jax.numpy as jnp

        self.guessed = True
        needed = jnp.asarray(index, np.int32) // np.int32(max(1, rows // self.factor))
        self.excess.state = jnp.maximum(self.excess.state, needed + np.int32(1))

    def add_time(self, node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Called for each node inside a loop."""
        if self.switch is not None:
            time = traced_time(node, inputs, outputs, self.device)
            self.time += time * math.prod(self.bounds)

    def may_run_long(self, bound: int | None, time: float = 0.0) -> bool:
        """Whether the loop around this point, which takes `time`, has to be stoppable."""
        long = bound is None or math.prod(self.bounds) > _FEW or time > _SHORT
        return self.switch is not None and long

    def look(self) -> None:
        """Once in every iteration of a loop that can be stopped."""
        # Always at another element: what does not change, XLA would look at once.
        self.watched = True
        self.looks.state = self.looks.state + np.int32(1)

    def may_go_on(self) -> Any:
        return self.switch[self.looks.state & np.int32(SWITCH_SIZE - 1)] == 0

    def rows_for(self, index: Any) -> int:
        """How many rows a buffer needs that is written at `index`."""
        if isinstance(index, (np.ndarray, np.generic)):
            return int(index) + 1
        most = self.most(index)
        if most is not None:
            return most + 1
        rows = max(1, math.prod(self.bounds)) * self.factor
        self.watch(index, rows)
        return rows

    def most(self, value: Any) -> int | None:
        """An upper bound of a value of the program, if one is known."""
        return self.ranges[id(value)][1].stop - 1 if id(value) in self.ranges else None

    def range_of(self, value: Any) -> range | None:
        """What a value of the program is known to be within, if anything is."""
        return self.ranges[id(value)][1] if id(value) in self.ranges else None

    def states(self) -> list[Any]:
        return [item.state for item in self.items]

    def restore(self, states: Sequence[Any]) -> None:
        for item, state in zip(self.items, states, strict=False):
            item.state = state
