"""The group of processes that this one has joined, as operations and passes see it."""

from __future__ import annotations

from weft.core.processes import Place

AXIS = "processes"  # the name of the dimension that collectives go along
# What the error of a step says in which another process was missing.
ENDED = "A process of the group has ended, or cannot be reached"

_place = Place()
_failed = False


def current() -> Place:
    """The place of this process in the group; alone, before it has joined one."""
    return _place


def enter(place: Place) -> None:
    """Called once this process has joined, or left."""
    global _place
    _place = place


def fail() -> None:
    """Notes that the program has failed, although no exception shows it when it ends."""
    global _failed
    _failed = True


def has_failed() -> bool:
    return _failed
