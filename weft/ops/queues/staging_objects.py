"""Staging areas as objects: tuples that wait to be taken, in order or by key."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.ops.kit.shared import invalid
from weft.ops.kit.waiting import DONE, WAIT, Monitor, Waiter
from weft.ops.queues.queue_values import owned


class Request(Waiter):
    """`action()` under the owner's lock: None as long as it must wait, then the outputs."""

    def __init__(self, action: Callable[[], Sequence[Any] | None]) -> None:
        super().__init__()
        self.action = action
        self.result: Sequence[Any] = ()

    def attempt(self, owner: Any) -> int:
        try:
            result = self.action()
        except errors.OpError as error:
            self.error = error
            return DONE
        if result is None:
            return WAIT
        self.result = result
        return DONE

    def outputs(self) -> Sequence[Any]:
        return self.result


class Area(Monitor):
    """The base of both kinds: limits on the number of tuples and on their bytes (0: none)."""

    in_turn = False

    def __init__(self, capacity: int, memory_limit: int) -> None:
        super().__init__()
        self.capacity, self.memory_limit = capacity, memory_limit
        self.bytes = 0

    def ask(self, action: Callable[[], Sequence[Any] | None]) -> Any:
        with self.lock:
            outputs = None if self.lines[0] else action()
        return self.submit(0, Request(action)) if outputs is None else outputs

    def size_of(self, values: Sequence[Any]) -> int:
        """Bytes, where they are counted."""
        return bytes_of(values) if self.memory_limit else 0

    def check_size(self, size: int) -> None:
        if self.memory_limit and size > self.memory_limit:
            raise errors.ResourceExhaustedError(
                None, None, f"Attempted to insert tensors with combined size of '{size}' bytes into"
                f" Staging Area with a memory limit of '{self.memory_limit}'.",
            )  # fmt: skip

    def has_room(self, count: int, size: int) -> bool:
        if self.capacity and count >= self.capacity:
            return False
        return not self.memory_limit or size + self.bytes <= self.memory_limit


class StagingList(Area):
    """Tuples that leave in the order they came."""

    def __init__(self, capacity: int, memory_limit: int) -> None:
        super().__init__(capacity, memory_limit)
        self.items: deque[tuple[Any, ...]] = deque()

    def put(self, values: Sequence[Any]) -> Any:
        item = tuple(map(owned, values))
        size = self.size_of(item)
        self.check_size(size)

        def put() -> Sequence[Any] | None:
            if not self.has_room(len(self.items), size):
                return None
            self.items.append(item)
            self.bytes += size
            return ()

        return self.ask(put)

    def get(self, count: int) -> Any:
        """`count` is the number of outputs of the node that asks."""

        def get() -> Sequence[Any] | None:
            if not self.items:
                return None
            item = self.items.popleft()
            self.bytes -= self.size_of(item)
            return self._matching(item, count)

        return self.ask(get)

    def peek(self, index: int, count: int) -> Any:
        def peek() -> Sequence[Any] | None:
            if index >= len(self.items):
                return None
            return self._matching(self.items[index], count)

        return self.ask(peek)

    @staticmethod
    def _matching(item: tuple[Any, ...], count: int) -> tuple[Any, ...]:
        if len(item) != count:
            raise invalid(f"Mismatch stage/unstage: {len(item)} vs. {count}")
        return item

    def clear(self) -> None:
        def clear() -> None:
            self.items.clear()
            self.bytes = 0

        self.change(clear)


class StagingMap(Area):
    """Tuples by key. A tuple may come in parts, and may be taken in parts once it is complete."""

    def __init__(self, capacity: int, memory_limit: int, ordered: bool) -> None:
        super().__init__(capacity, memory_limit)
        self.ordered = ordered
        self.size = 0  # of a tuple; a put has all of it, a take may ask for less
        self.items: dict[int, list[Any]] = {}
        self.incomplete: dict[int, list[Any]] = {}

    def put(self, key: int, indices: Any, values: Sequence[Any], tuple_size: int) -> Any:
        self.size = tuple_size
        places = self._places(indices)
        values = [owned(v) for v in values]
        size = bytes_of(values)
        self.check_size(size)
        whole = len(places) == self.size

        def put() -> Sequence[Any] | None:
            if not self.has_room(len(self.items) if whole else -1, size):
                return None
            self._place(key, places, values)
            self.bytes += size
            return ()

        return self.ask(put)

    def _place(self, key: int, places: list[int], values: Sequence[Any]) -> None:
        begun = self.incomplete.get(key)
        item = list(begun) if begun is not None else [None] * self.size
        for i, value in zip(places, values, strict=True):
            self._check_index(key, i)
            if item[i] is not None:
                raise invalid(
                    f"The tensor for index '{i}' for key '{key}' was already initialized"
                    f" '{self.size}'."
                )
            item[i] = value
        if all(part is not None for part in item):
            self.incomplete.pop(key, None)
            self.items.setdefault(key, item)
        else:
            self.incomplete[key] = item

    def peek(self, key: int, indices: Any) -> Any:
        places = self._places(indices)
        return self.ask(lambda: self._parts(key, places) if key in self.items else None)

    def pop(self, key: int, indices: Any) -> Any:
        places = self._places(indices)
        return self.ask(lambda: self._remove(key, places) if key in self.items else None)

    def pop_any(self, indices: Any) -> Any:
        """The key and values of some tuple; of the smallest key if the map is ordered."""
        places = self._places(indices)

        def pop() -> Sequence[Any] | None:
            if not self.items:
                return None
            key = min(self.items) if self.ordered else next(iter(self.items))
            return [np.array(key, np.int64), *self._remove(key, places)]

        return self.ask(pop)

    def _remove(self, key: int, places: list[int]) -> list[Any]:
        values = self._parts(key, places)
        item = self.items[key]
        for i in places:
            item[i] = None
        if all(part is None for part in item):
            del self.items[key]
        self.bytes -= bytes_of(values)
        return values

    def _parts(self, key: int, places: list[int]) -> list[Any]:
        item = self.items[key]
        for i in places:
            self._check_index(key, i)
            if item[i] is None:
                raise invalid(f"Tensor at index '{i}' for key '{key}' has already been removed.")
        return [item[i] for i in places]

    def _check_index(self, key: int, index: int) -> None:
        if not 0 <= index < self.size:
            raise invalid(f"Index '{index}' for key '{key}' was out of bounds '{self.size}'.")

    @staticmethod
    def _places(indices: Any) -> list[int]:
        places = np.ravel(indices).tolist()
        if not places:
            raise invalid("Indices are empty")
        if any(a >= b for a, b in itertools.pairwise(places)):
            raise invalid("Indices are not strictly ordered")
        return places

    def clear(self) -> None:
        def clear() -> None:
            self.items.clear()
            self.incomplete.clear()
            self.bytes = 0

        self.change(clear)


def bytes_of(values: Sequence[Any]) -> int:
    return sum(v.nbytes for v in values)
