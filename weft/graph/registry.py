"""Tables by the name of an operation, filled by modules that are imported when they are needed."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, TypeVar

Value = TypeVar("Value")


class Registry(dict[str, Value]):
    """What the modules of `weft.ops` declare; who asks for a name gets it, whatever is imported.

    `searches`: a name that no module is known to declare is looked for in all of them.
    """

    def __init__(self, searches: bool) -> None:
        super().__init__()
        self._searches = searches

    def has(self, name: object) -> bool:
        """Whether a module that is imported declares `name`."""
        return super().__contains__(name)

    def __contains__(self, name: object) -> bool:
        if self.has(name):
            return True
        if isinstance(name, str):
            _modules().load(name, self._searches)
        return self.has(name)

    def __missing__(self, name: str) -> Value:
        if name in self:
            return self[name]
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> Any:
        _modules().load_all()
        return super().keys()

    def values(self) -> Any:
        _modules().load_all()
        return super().values()

    def items(self) -> Any:
        _modules().load_all()
        return super().items()


def _modules() -> Any:
    """The package of operations, which is below this one."""
    return importlib.import_module("weft.ops")
