"""Replacing attributes for the length of a test."""

from __future__ import annotations

import inspect
from typing import Any


class StubOutForTesting:
    """Remembers what it replaces. `CleanUp`, or leaving a `with` block, puts everything back."""

    def __init__(self) -> None:
        self._smart: list[tuple[Any, str, Any]] = []
        self._plain: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Undoes every `SmartSet` and `Set`."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces an attribute where it is defined: of an instance, usually in its class."""
        if not inspect.ismodule(obj) and not inspect.isclass(obj) and attr_name not in vars(obj):
            obj = type(obj)
        if inspect.isclass(obj):
            owner = next((c for c in inspect.getmro(obj) if attr_name in vars(c)), None)
            if owner is None:
                raise AttributeError("Attribute not found.")
            obj = owner
        self._smart.append((obj, attr_name, _stored(obj, attr_name)))
        setattr(obj, attr_name, new_attr)

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces an attribute of `parent` itself."""
        self._plain.append((parent, child_name, _stored(parent, child_name)))
        setattr(parent, child_name, new_child)

    def SmartUnsetAll(self) -> None:
        _restore(self._smart)

    def UnsetAll(self) -> None:
        _restore(self._plain)


def _stored(obj: Any, name: str) -> Any:
    """The attribute as it is kept, so that static and class methods stay what they are."""
    return vars(obj)[name] if name in getattr(obj, "__dict__", ()) else getattr(obj, name)


def _restore(replaced: list[tuple[Any, str, Any]]) -> None:
    while replaced:
        setattr(*replaced.pop())
