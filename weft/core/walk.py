"""Walks along the edges of any graph: of operations, nodes, names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

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
