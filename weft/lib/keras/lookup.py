"""Names of a package that are in one of its modules: `from weft.lib.keras.layers import Dense`.

Modules are imported when a name is asked for, not with the package.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any


def finder(package: str, path: Iterable[str], *more: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `more` are modules elsewhere to look in."""
    modules = [found.name for found in pkgutil.iter_modules(path)]

    def find(name: str) -> Any:
        if not name.startswith("_") and name not in modules:
            for module in [*(f"{package}.{each}" for each in modules), *more]:
                found = vars(importlib.import_module(module)).get(name)
                # Not what a module only imports.
                if found is not None and getattr(found, "__module__", module) == module:
                    return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
