"""Queues as objects: elements in, elements out, and the requests that wait.

An element is a tuple with an array for each component, or a Python object for a scalar: those are
cheaper to keep and to put into a batch. Every method returns at once, with the result or a
`Deferred`; the kernels of ops/queues/queue_nodes.py only check types and call them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.kit.shared import invalid
from weft.ops.kit.waiting import DONE, PROGRESS, WAIT, Monitor, Waiter
from weft.ops.queues.queue_values import (
    fits,
    packed,
    rows,
    show_shapes,
    show_types,
    stacked,
    unpacked,
)

Element = tuple[Any, ...]
UNBOUNDED = 0x7FFFFFFF


# ---- requests ------------------------------------------------------------------------------------


class Put(Waiter):
    """Elements to be added, as room becomes free."""

    cancelled = "Enqueue operation was cancelled"

    def __init__(self, elements: Sequence[Element]) -> None:
        super().__init__()
        self.elements, self.position = elements, 0

    def attempt(self, queue: Queue) -> int:
        if queue.closed:
            self.error = errors.CancelledError(
                None, None, f"{queue.kind} '{queue.name}' is closed."
            )
            return DONE
        room = queue.capacity - queue.count()
        if room <= 0:
            return WAIT
        if not self.position and len(self.elements) <= room:
            queue.push(self.elements)
            return DONE
        taken = self.elements[self.position : self.position + room]
        queue.push(taken)
        self.position += len(taken)
        return DONE if self.position == len(self.elements) else PROGRESS


class Close(Waiter):
    """Closes the queue after the elements that were waiting to get in before it."""

    cancelled = "Enqueue operation was cancelled"

    def attempt(self, queue: Queue) -> int:
        if queue.closed:
            self.error = errors.CancelledError(
                None, None, f"Queue '{queue.name}' is already closed."
            )
        queue.closed = True
        return DONE


class Take(Waiter):
    """Elements to be removed: `wanted` of them, or what is left at the end if `small` will do."""

    cancelled = "Dequeue operation was cancelled"

    def __init__(self, queue: Queue, wanted: int, small: bool = False) -> None:
        super().__init__()
        self.queue, self.wanted, self.small = queue, wanted, small
        self.taken: list[Element] = []

    def attempt(self, queue: Queue) -> int:
        missing = self.wanted - len(self.taken)
        if queue.closed and queue.count() < missing:
            size = queue.count()
            self.withdrawn(queue)
            if not (self.small and queue.count()):
                self.error = errors.OutOfRangeError(
                    None, None, f"{queue.kind} '{queue.name}' is closed and has insufficient"
                    f" elements (requested {missing}, current size {size})",
                )  # fmt: skip
                return DONE
            missing = self.wanted = queue.count()
        ready = min(missing, queue.available())
        if ready <= 0:
            return WAIT
        self.taken += queue.pop(ready)
        return DONE if ready == missing else PROGRESS

    def withdrawn(self, queue: Queue) -> None:
        queue.put_back(self.taken)
        self.taken = []

    def outputs(self) -> Sequence[Any]:
        return list(map(unpacked, self.taken[0], self.queue.dtypes))


class TakeBatch(Take):
    def outputs(self) -> Sequence[Any]:
        return self.queue.batch(self.taken)


# ---- queues --------------------------------------------------------------------------------------

_PUTS, _TAKES = 0, 1


class Queue(Monitor):
    """Elements in the order they came. Subclasses choose another order or another batching.

    `shapes` is None when the components may have any shape, and may differ between elements.
    Subclasses keep elements by `push`, `pop`, `put_back` and `count`, all under the lock.
    """

    kind = "FIFOQueue"

    def __init__(
        self, name: str, types: Sequence[DType], shapes: Sequence[Dims] | None, capacity: int
    ) -> None:
        super().__init__(lines=2)
        self.name, self.dtypes = name, list(types)
        self.shapes = list(shapes) if shapes else None
        self.capacity = capacity if capacity >= 0 else UNBOUNDED
        self.closed = False
        self.elements: Any = deque()
        if not self.dtypes:
            raise invalid(f"Empty component types for queue {name}")
        if self.shapes is not None and len(self.shapes) != len(self.dtypes):
            raise invalid(
                f"Different number of component types.  Types: {show_types(self.dtypes)}, Shapes:"
                f" {show_shapes(self.shapes)}"
            )

    # ---- what operations do ----

    def enqueue(self, components: Sequence[Any]) -> Any:
        self._check(components, self.shapes)
        element = tuple(map(packed, components))
        finished: Sequence[Waiter] = ()
        with self.lock:
            puts, takes = self.lines
            at_once = not puts and not self.closed and self.count() < self.capacity
            if at_once:
                self.push((element,))
                if takes:
                    finished = self._serve()
        if not at_once:
            return self.submit(_PUTS, Put([element]))
        if finished:
            self._deliver(finished)
        return ()

    def enqueue_many(self, components: Sequence[Any]) -> Any:
        """Adds every row of the components as an element."""
        self._check_many(components)
        if not len(components[0]):
            return ()
        return self.submit(_PUTS, Put(list(zip(*map(rows, components), strict=True))))

    def dequeue(self) -> Any:
        finished: Sequence[Waiter] = ()
        with self.lock:
            puts, takes = self.lines
            at_once = not takes and self.available() > 0
            if at_once:
                element = self.pop(1)[0]
                if puts:
                    finished = self._serve()
        if not at_once:
            return self.submit(_TAKES, Take(self, 1))
        if finished:
            self._deliver(finished)
        return list(map(unpacked, element, self.dtypes))

    def dequeue_many(self, count: int, allow_small: bool = False) -> Any:
        """Removes `count` elements as one batch; `allow_small`: the last batch may be smaller."""
        if self.shapes is None:
            raise invalid(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have"
                " specified shapes."
            )
        if count == 0:
            return self.batch([])
        return self.submit(_TAKES, TakeBatch(self, count, allow_small))

    def close(self, cancel_pending: bool = False) -> Any:
        """Closes the queue after the puts that wait; with `cancel_pending`, these fail too."""
        if not cancel_pending:
            return self.submit(_PUTS, Close())
        self.change(self._close_now)
        return ()

    def _close_now(self) -> list[Waiter]:
        self.closed = True
        ended = list(self.lines[_PUTS])
        self.lines[_PUTS].clear()
        for waiter in ended:
            waiter.error = errors.CancelledError(None, None, waiter.cancelled)
        return ended

    def size(self) -> int:
        with self.lock:
            return self.count()

    # ---- how elements are kept ----

    def count(self) -> int:
        return len(self.elements)

    def available(self) -> int:
        """How many elements may be taken now."""
        return self.count()

    def push(self, elements: Iterable[Element]) -> None:
        self.elements.extend(elements)

    def pop(self, count: int) -> list[Element]:
        take = self.elements.popleft
        return [take() for _ in range(count)]

    def put_back(self, elements: Sequence[Element]) -> None:
        self.elements.extendleft(reversed(elements))

    def batch(self, elements: Sequence[Element]) -> list[np.ndarray]:
        assert self.shapes is not None
        columns = zip(*elements, strict=True) if elements else [()] * len(self.dtypes)
        return [
            stacked(column, dims, dtype)  # type: ignore[arg-type]
            for column, dims, dtype in zip(columns, self.shapes, self.dtypes, strict=True)
        ]

    # ---- checks ----

    def _check(self, components: Sequence[Any], shapes: Sequence[Dims] | None) -> None:
        if len(components) != len(self.dtypes):
            raise invalid(
                f"Wrong number of components in tuple. Expected {len(self.dtypes)}, got"
                f" {len(components)}"
            )
        for i, value in enumerate(components if shapes is not None else ()):
            assert shapes is not None
            have = getattr(value, "shape", ())
            if have != shapes[i] and not fits(shapes[i], have):
                raise invalid(
                    f"Shape mismatch in tuple component {i}. Expected {s.show(shapes[i])}, got"
                    f" {s.show(have)}"
                )

    def _check_many(self, components: Sequence[Any]) -> None:
        if not components[0].ndim:
            raise invalid("Elements to enqueue must have at least one dimension, got a scalar")
        size = len(components[0])
        if self.shapes is not None:
            self._check(components, [s.concat((size,), dims) for dims in self.shapes])
            return
        self._check(components, None)
        for i, value in enumerate(components):
            if not value.ndim or len(value) != size:
                raise invalid(
                    "All input tensors must have the same size in the 0th dimension. Component"
                    f" {i} has {len(value) if value.ndim else 0}, and should have {size}"
                )

    def check_same(
        self, op: str, types: Sequence[DType], shapes: Sequence[Dims], capacity: int
    ) -> None:
        """Whether a node that names this queue asks for one like it."""
        if op.removesuffix("V2") != self.kind:
            raise invalid(f"Expected {self.kind}, found {op}")
        wanted = capacity if capacity >= 0 else UNBOUNDED
        self._same("capacity", self.capacity, wanted)
        self._same("component types", show_types(self.dtypes), show_types(types))
        if not self._same_shapes(shapes):
            self._same("component shapes", show_shapes(self.shapes or ()), show_shapes(shapes))

    def _same_shapes(self, shapes: Sequence[Dims]) -> bool:
        return list(shapes) == (self.shapes or [])

    def _same(self, what: str, have: Any, wanted: Any) -> None:
        if have != wanted:
            were = "were" if what.endswith("s") else "was"
            raise invalid(
                f"Shared queue '{self.name}' has {what} {have} but requested {what} {were} {wanted}"
            )
