"""Walks along the edges of any graph: of operations, nodes, names."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def reached(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> set[T]:
    """The `starts`, those following them, those following these, and so on."""
    found: set[T] = set()
    waiting = list(starts)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += following(each)
    return found


def postorder(roots: Iterable[T], before: Callable[[T], Iterable[T]]) -> list[T]:
    """The `roots` and all before them, each after what is before it, as one meets them.

    `roots` may be a list that `before` adds to: what closes a circle can so come after it.
    """
    order: list[T] = []
    seen: set[T] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            each, is_done = stack.pop()
            if is_done:
                order.append(each)
            elif each not in seen:
                seen.add(each)
                stack.append((each, True))
                stack += [(b, False) for b in reversed([*before(each)]) if b not in seen]
    return order


def as_ready(
    items: Iterable[T], before: Callable[[T], Iterable[T]], rank: Callable[[T, int], Any]
) -> list[T]:
    """All items, each after what is before it; of those that are ready the lowest ranked first.

    `rank(item, n)`: `n` counts in which order they became ready.
    """
    waiting: dict[T, int] = {}
    users: dict[T, list[T]] = {}
    for each in items:
        sources = list(before(each))
        waiting[each] = len(sources)
        for source in sources:
            users.setdefault(source, []).append(each)
    turn = itertools.count()
    ready: list[tuple[Any, int, T]] = []

    def add(each: T) -> None:
        n = next(turn)
        heapq.heappush(ready, (rank(each, n), n, each))

    for each, count in waiting.items():
        if not count:
            add(each)
    order: list[T] = []
    while ready:
        each = heapq.heappop(ready)[2]
        order.append(each)
        for user in users.get(each, ()):
            waiting[user] -= 1
            if not waiting[user]:
                add(user)
    return order
