"""`imp`: finding and loading modules by hand."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY, C_BUILTIN = 1, 2, 3, 5, 6
reload = importlib.reload
new_module = ModuleType
cache_from_source = importlib.util.cache_from_source
source_from_cache = importlib.util.source_from_cache
_lock = threading.RLock()


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """The module in a file, under a name of the caller's choice; one that is there is redone."""
    from weft.legacy.old import loading

    spec = importlib.util.spec_from_file_location(
        name, pathname, loader=loading.UsersLoader(name, pathname)
    )
    assert spec is not None and spec.loader is not None
    module = sys.modules.get(name) or importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find_module(name: str, path: Any = None) -> tuple[Any, Any, tuple[str, str, int]]:
    """(open file, path, (suffix, mode, kind)) of a module."""
    spec = PathFinder.find_spec(name, path)
    if spec is None:
        if path is None and name in sys.builtin_module_names:
            return None, None, ("", "", C_BUILTIN)
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations:
        return None, next(iter(spec.submodule_search_locations)), ("", "", PKG_DIRECTORY)
    suffix = os.path.splitext(str(spec.origin))[1]
    if suffix == ".py":
        return open(str(spec.origin)), spec.origin, (suffix, "r", PY_SOURCE)
    return open(str(spec.origin), "rb"), spec.origin, (suffix, "rb", C_EXTENSION)


def load_module(name: str, file: Any, filename: str, details: Any) -> ModuleType:
    """The module that `find_module` found."""
    if details[2] == PKG_DIRECTORY:
        return load_source(name, os.path.join(filename, "__init__.py"))
    if details[2] == PY_SOURCE:
        return load_source(name, filename)
    return load_dynamic(name, filename)


def load_dynamic(name: str, path: str, file: Any = None) -> ModuleType:
    """The extension module in a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        return importlib.import_module(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def get_suffixes() -> list[tuple[str, str, int]]:
    """The endings of files that are modules."""
    extensions = importlib.machinery.EXTENSION_SUFFIXES
    return [*((each, "rb", C_EXTENSION) for each in extensions), (".py", "r", PY_SOURCE)]


def acquire_lock() -> None:
    """Takes the lock."""
    _lock.acquire()


def release_lock() -> None:
    """Gives the lock back."""
    _lock.release()


def lock_held() -> bool:
    """Whether the lock is taken by this thread."""
    return bool(getattr(_lock, "_is_owned", lambda: False)())
