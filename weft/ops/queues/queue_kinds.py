"""Queues that give elements in another order, or batches of another form."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.kit import philox
from weft.ops.kit.shared import invalid
from weft.ops.queues.queue_objects import Element, Queue
from weft.ops.queues.queue_values import padded, show_types, stacked

_WORD_BLOCKS = 256


class PaddingQueue(Queue):
    """Shapes may be partly unknown; batches are padded with zeros to the largest element."""

    kind = "PaddingFIFOQueue"

    def __init__(
        self, name: str, types: Sequence[DType], shapes: Sequence[Dims] | None, capacity: int
    ) -> None:
        if len(shapes or ()) != len(types):
            raise invalid(
                "Shapes must be provided for all components, but received"
                f" {len(types)} dtypes and {len(shapes or ())} shapes."
            )
        super().__init__(name, types, shapes, capacity)

    def batch(self, elements: Sequence[Element]) -> list[np.ndarray]:
        assert self.shapes is not None
        columns = zip(*elements, strict=True) if elements else [()] * len(self.dtypes)
        return [
            stacked(column, dims, dtype)  # type: ignore[arg-type]
            if s.known(dims)
            else padded(column, dims, dtype)
            for column, dims, dtype in zip(columns, self.shapes, self.dtypes, strict=True)
        ]

    def _same_shapes(self, shapes: Sequence[Dims]) -> bool:
        assert self.shapes is not None
        if len(shapes) != len(self.shapes):
            return False
        try:
            for ours, theirs in zip(self.shapes, shapes, strict=True):
                s.merge(ours, theirs)
        except ValueError:
            return False
        return True


class ShufflingQueue(Queue):
    """Elements in random order; at least `min_after_dequeue` stay behind until the queue closes."""

    kind = "RandomShuffleQueue"

    def __init__(
        self, name: str, types: Sequence[DType], shapes: Sequence[Dims] | None, capacity: int,
        min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(name, types, shapes, capacity)
        if min_after_dequeue < 0:
            raise invalid(f"min_after_dequeue {min_after_dequeue} must be >= 0")
        if min_after_dequeue >= self.capacity:
            raise invalid(
                f"min_after_dequeue {min_after_dequeue} must be < capacity {self.capacity}"
            )
        self.min_after_dequeue, self.seeds = min_after_dequeue, (seed, seed2)
        self.elements = []
        self._state = philox.initial_state(seed, seed2)
        self._words: list[int] = []

    def available(self) -> int:
        return self.count() - (0 if self.closed else self.min_after_dequeue)

    def pop(self, count: int) -> list[Element]:
        taken = []
        elements, size = self.elements, len(self.elements)
        for word in self._draw(count):
            # The last element takes the place of the one that goes.
            i = word % size
            size -= 1
            taken.append(elements[i])
            elements[i] = elements[size]
            elements.pop()
        return taken

    def put_back(self, elements: Sequence[Element]) -> None:
        self.elements.extend(reversed(elements))

    def _draw(self, count: int) -> list[int]:
        """The next words of the queue's random stream."""
        words = self._words
        while len(words) < count:
            blocks = np.stack(philox.blocks(np, self._state, _WORD_BLOCKS), axis=1)
            words[:0] = blocks.ravel()[::-1].tolist()  # the next one is at the end
            self._state = philox.advance(self._state, _WORD_BLOCKS)
        if count == 1:
            return [words.pop()]
        drawn = words[: -count - 1 : -1]
        del words[-count:]
        return drawn

    def check_same_order(self, min_after_dequeue: int, seed: int, seed2: int) -> None:
        if min_after_dequeue != self.min_after_dequeue:
            raise invalid(
                f"Shared queue '{self.name}' has min_after_dequeue {self.min_after_dequeue} but"
                f" requested min_after_dequeue was {min_after_dequeue}."
            )
        if (seed or seed2) and (seed, seed2) != self.seeds:
            raise invalid(
                f"Shared queue '{self.name}' has random seeds ({self.seeds[0]}, {self.seeds[1]})"
                f" but requested seeds are ({seed}, {seed2})."
            )


class HeapQueue(Queue):
    """Elements in the order of their first component; those of one priority as they came."""

    kind = "PriorityQueue"

    def __init__(
        self, name: str, types: Sequence[DType], shapes: Sequence[Dims] | None, capacity: int
    ) -> None:
        super().__init__(name, types, shapes, capacity)
        if self.dtypes[0].name != "int64":
            raise invalid(
                "PriorityQueue priority index component must be type int64, but dtype is:"
                f" {show_types(self.dtypes[:1])}"
            )
        if self.shapes is not None and self.shapes[0] != ():
            raise invalid(
                "PriorityQueue priority index component must be a scalar, but shape is:"
                f" {s.show(self.shapes[0])}"
            )
        self.elements = []
        # Places among elements of one priority: behind all others, and before them.
        self._last, self._first = itertools.count(), itertools.count(-1, -1)

    def push(self, elements: Iterable[Element]) -> None:
        for element in elements:
            heapq.heappush(self.elements, (int(element[0]), next(self._last), element))

    def pop(self, count: int) -> list[Element]:
        return [heapq.heappop(self.elements)[2] for _ in range(count)]

    def put_back(self, elements: Sequence[Element]) -> None:
        for element in reversed(elements):
            heapq.heappush(self.elements, (int(element[0]), next(self._first), element))

    def enqueue(self, components: Sequence[Any]) -> Any:
        self._check(components, self.shapes)
        if components[0].ndim:
            raise invalid(
                "Expected the priority element to be a scalar, but received shape:"
                f" {s.show(components[0].shape)}"
            )
        return super().enqueue(components)

    def enqueue_many(self, components: Sequence[Any]) -> Any:
        self._check_many(components)
        if components[0].ndim != 1:
            raise invalid(
                "Expected the priority element to be a vector, but received shape:"
                f" {s.show(components[0].shape)}"
            )
        return super().enqueue_many(components)
