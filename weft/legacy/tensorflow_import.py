"""`import tensorflow` means weft: the import hook behind `weft run`.

Comes in: the name of a TensorFlow module. Goes out: a `View`, which looks each name up in weft
when it is asked for. What is in weft is the very same object under both names; what is not gives
an error with TensorFlow's name for it.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

import weft
from weft.core import tracebacks
from weft.legacy.old.versions import VersionText
from weft.legacy.tensorflow_modules import MIRRORED, MODULES, RENAMED

ROOT = "tensorflow"
# The same modules for programs whose imports say weft, where weft has no place of its own for one.
UNDER_WEFT = "weft.legacy.tensorflow"
_MISSING = object()
_VERSIONS = ("__version__", "VERSION")

# Attributes of the package `weft` that are how it is built, not part of TensorFlow's API.
_OWN = frozenset(
    "api autodiff cli client cluster core examples graph ops passes platform protos python"
    " runtime".split()
)

# Internal modules import one another, and programs take them from wherever they showed
# (`tensorflow.python.ops.rnn.rnn_cell_impl`): last part of the name -> module.
_NEIGHBOURS = {
    module.rpartition(".")[2]: module
    for module, places in MODULES.items()
    if places and module.rpartition(".")[0] in ("python.framework", "python.ops", "python.util")
}


class _Raw:
    """Operations by the lower-case names of the generated modules: `mat_mul`, `_max_pool_grad`."""

    def __getattr__(self, name: str) -> Any:
        wanted = name.replace("_", "").lower()
        for op in dir(weft.raw_ops):
            if op.lower() == wanted:
                return getattr(weft.raw_ops, op)
        raise AttributeError(name)


_RAW = _Raw()


class View(ModuleType):
    """A module of TensorFlow's, made of the places of weft that hold its names."""

    def __init__(self, name: str, places: tuple[str, ...]):
        super().__init__(name, f"{name}, as weft has it")
        _own(self)["_places"] = places

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """A copy with every name, for programs that walk through a module: `vars(tf.nn)`."""
        public = [name for name in dir(self) if not name.startswith("_")]
        return {name: getattr(self, name) for name in public} | _own(self)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [each for each in dir(self) if not each.startswith("_")]
        child = f"{self.__name__}.{name}"
        below = _below_root(child)
        if below in MODULES and below not in RENAMED:  # `python.ops.gradients` is both
            return importlib.import_module(child)
        if name.startswith("__") and not _holder(self._places, name):
            raise AttributeError(_not_here(child), name=name, obj=self)
        found = _find(self.__name__, self._places, name)
        # A namespace is handed out as a View too, so that a name missing in it is reported alike.
        is_module = found is _MISSING or _is_namespace(found)
        if is_module and places_of(_below_root(child)) is not None:
            return importlib.import_module(child)
        if found is _MISSING:
            raise AttributeError(_not_here(child), name=name, obj=self)
        return VersionText(found) if name in _VERSIONS and isinstance(found, str) else found

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets it in weft, so that what a program patches is patched under both names."""
        if isinstance(value, ModuleType) and _below_root(f"{self.__name__}.{name}") in RENAMED:
            return  # the function of this name stays, though its module is imported
        place = _holder(self._places, name) or next(_present(self._places), None)
        if place is None or name.startswith("__") or isinstance(value, ModuleType):
            super().__setattr__(name, value)
        else:
            setattr(place, name, value)

    def __delattr__(self, name: str) -> None:
        place = _holder(self._places, name)
        if place is None or name in _own(self):
            super().__delattr__(name)
        else:
            delattr(place, name)

    def __dir__(self) -> list[str]:
        names = set(_own(self))
        for place in _present(self._places):
            names.update(each for each in dir(place) if _holder(self._places, each))
        return sorted(names)


def _own(module: ModuleType) -> dict[str, Any]:
    """The attributes that a module really has."""
    found: dict[str, Any] = vars(ModuleType)["__dict__"].__get__(module)
    return found


class Finder(MetaPathFinder, Loader):
    """Finds every module at and below `root`, and no other."""

    def __init__(self, root: str = ROOT) -> None:
        self.root = root

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.root and not fullname.startswith(self.root + "."):
            return None
        places = places_of(_below_root(fullname))
        if places is not None:
            return ModuleSpec(fullname, self, loader_state=places, is_package=True)
        spec = _in_the_programs_tree(fullname, path)
        if spec is None:
            raise _no_module(fullname)
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return View(spec.name, spec.loader_state)

    def exec_module(self, module: ModuleType) -> None:
        """A View has nothing to run. The process may have become a notebook's by now."""
        if module.__name__ == self.root:
            tracebacks.install()

    def get_code(self, fullname: str) -> CodeType | None:
        """The program that a module is when it is run by its name; None if it is none."""
        if not hasattr(importlib.import_module(fullname), "run_main"):
            return None
        return compile(f"from {fullname} import run_main\nrun_main()", fullname, "exec")


def install(root: str = ROOT) -> None:
    """Puts weft in the place of the modules at and below `root`, for the rest of the process."""
    finders = [finder for finder in sys.meta_path if isinstance(finder, Finder)]
    if all(finder.root != root for finder in finders):
        sys.meta_path.insert(0, Finder(root))


def places_of(module: str) -> tuple[str, ...] | None:
    """Where the names of `tensorflow.<module>` are; None when weft has no such module."""
    if module in ("", "compat.v1"):
        return ("tf",)
    if module.startswith("compat.v1."):
        return places_of(module.removeprefix("compat.v1."))
    if module in MODULES:
        return MODULES[module]
    if module.startswith("core.") and module.endswith("_pb2"):
        leaf = module.rpartition(".")[2]
        messages = (f"tensorboard.compat.proto.{leaf}", f"weft.protos.{leaf}")
        return messages if any(_present(messages)) else None
    public = _public_name(module)
    return (public,) if _is_namespace(resolve(public)) else None


def _public_name(module: str) -> str:
    for internal, public in MIRRORED.items():
        if module == internal or module.startswith(internal + "."):
            return public + module.removeprefix(internal)
    return f"tf.{module}"


def resolve(place: str) -> Any:
    """The object at a place (see `tensorflow_modules`), or None."""
    if place == "raw":
        return _RAW
    root, *parts = place.split(".")
    if root != "tf":
        return _at(place)
    if parts and parts[0] in _OWN:
        return None
    found: Any = weft
    for part in parts:
        below = getattr(found, part, None)
        if below is None and isinstance(found, ModuleType):
            below = _import(f"{found.__name__}.{part}")
        if below is None:
            return None
        found = below
    return found


@functools.cache
def _at(path: str) -> Any:
    """A module, or a class in one, by its dotted path; None when there is none."""
    module = _import(path)
    if module is not None or "." not in path:
        return module
    parent, _, name = path.rpartition(".")
    return getattr(_import(parent), name, None)


def _import(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that is there but imports something that is not must say so.
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise
        return None


def _find(view: str, places: tuple[str, ...], name: str) -> Any:
    module = _below_root(view)
    renamed = RENAMED.get(f"{module}.{name}")
    if renamed is not None:
        found = resolve(renamed)
        return _MISSING if found is None else found
    place = _holder(places, name)
    if place is not None:
        return getattr(place, name)
    if name.endswith(("_v1", "V1")):  # TensorFlow 1's form of a function that 2 changed
        return _find(view, places, name[:-2].rstrip("_"))
    if f"{module}.".startswith("python.") and places and name in _NEIGHBOURS:
        return importlib.import_module(f"{_root(view)}.{_NEIGHBOURS[name]}")
    return _MISSING


def _holder(places: tuple[str, ...], name: str) -> Any:
    """The first place that has `name`; None when none does."""
    if name.startswith("__") and name != "__version__" and places != ("tf",):
        return None
    return next((place for place in _present(places) if _has(place, name)), None)


def _has(place: Any, name: str) -> bool:
    return hasattr(place, name) and not (place is weft and name in _OWN)


def _present(places: tuple[str, ...]) -> Iterator[Any]:
    return (found for found in map(resolve, places) if found is not None)


def _is_namespace(found: Any) -> bool:
    if isinstance(found, ModuleType):
        return found.__name__.partition(".")[0] == weft.__name__
    return isinstance(found, SimpleNamespace)


def _in_the_programs_tree(fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """`tensorflow.examples.x` may be a file of the program's own, next to it or where it is run."""
    parts = fullname.split(".")[:-1]
    if parts[1:2] not in (["examples"], ["models"]) and fullname != f"{ROOT}.models":
        return None
    roots = [os.path.join(entry or ".", *parts) for entry in (*sys.path, os.getcwd())]
    return PathFinder.find_spec(fullname, [*(path or ()), *roots])


def _no_module(fullname: str) -> ModuleNotFoundError:
    parent, _, name = fullname.rpartition(".")
    if hasattr(sys.modules.get(parent), name):  # `pydoc.locate` tries whether a function is one
        return ModuleNotFoundError(f"{fullname} is not a module", name=fullname)
    # With `name` set, `from tensorflow.x import y` would replace this message by its own; without
    # it, `pydoc.locate` does not see that there is no such module.
    name = fullname if _is_asked_by("pydoc") else ""
    return ModuleNotFoundError(_not_here(fullname), name=name or None)


def _is_asked_by(module: str) -> bool:
    frame = sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame.f_globals.get("__name__") == module


def _root(fullname: str) -> str:
    below = f"{fullname}.".startswith(f"{UNDER_WEFT}.")
    return UNDER_WEFT if below else fullname.partition(".")[0]


def _below_root(fullname: str) -> str:
    return fullname.removeprefix(_root(fullname)).removeprefix(".")


def _not_here(name: str) -> str:
    return f"{name} is not in weft yet"
