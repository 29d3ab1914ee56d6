"""A mark for attributes that an object does not depend on, and objects that know it."""

from __future__ import annotations

from typing import Any


class NoDependency:
    """A value that, assigned to an attribute, is stored there but not saved with the object."""

    def __init__(self, value: Any) -> None:
        self.value = value


class TakesNoDependency:
    """An object whose attributes are values without the mark; it knows which had it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):
            untracked(self).add(name)
            value = value.value
        elif "_untracked" in self.__dict__:
            untracked(self).discard(name)
        super().__setattr__(name, value)


def untracked(owner: Any) -> set[str]:
    """The names of the attributes of an object that it does not depend on."""
    names: set[str] = owner.__dict__.setdefault("_untracked", set())
    return names
