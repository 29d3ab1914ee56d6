"""Public namespaces as modules: `import weft.keras.layers`, `from weft.contrib import slim`.

`tf.keras` is made in `weft/api`, `tf.contrib` in `weft/lib`; a program may import both under the
names it uses them by, and gets the very same modules.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class PublicModules(MetaPathFinder, Loader):
    """Finds the modules below each public namespace: `places` says where those are made."""

    def __init__(self, places: dict[str, str]) -> None:
        self.places = places

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, below = fullname.partition(".")
        public, _, rest = below.partition(".")
        if package != "weft" or public not in self.places:
            return None
        module = _module_at(".".join(filter(None, (self.places[public], rest))))
        if module is None:
            return None
        return ModuleSpec(
            fullname, self, loader_state=module, is_package=hasattr(module, "__path__")
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module: ModuleType = spec.loader_state
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Has run already, under the name it was made by, and keeps that name."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def _module_at(home: str) -> ModuleType | None:
    try:
        return importlib.import_module(home)
    except ModuleNotFoundError as error:
        if not f"{home}.".startswith(f"{error.name}."):
            raise
    parent, _, name = home.rpartition(".")
    found = getattr(_module_at(parent), name, None)  # `tf.compat.v1` is the package itself
    return found if isinstance(found, ModuleType) else None


def install(places: dict[str, str]) -> None:
    """Makes the public namespaces importable; `places` says where each is made."""
    sys.meta_path.insert(0, PublicModules(places))
