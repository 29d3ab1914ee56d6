"""TensorFlow's names as weft's: `import tensorflow as tf` becomes `import weft as tf`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import weft
from weft.legacy import tensorflow_import
from weft.legacy.checking import tensorflow_names as known
from weft.legacy.checking.program import Names
from weft.legacy.checking.scanning import Alias, Chain, Import
from weft.legacy.checking.scopes import Scopes
from weft.legacy.checking.sources import Source
from weft.legacy.upgrading.edits import Edit

LEGACY = "legacy_tensorflow"
LEGACY_IMPORT = f"import {tensorflow_import.UNDER_WEFT} as {LEGACY}"
OLD = "old_tensorflow"
OLD_IMPORT = f"import weft.legacy.old.tensorflow_behaviour as {OLD}"
_NOT_TENSORFLOWS = (
    "core ops graph passes runtime cluster client platform protos api cli lib".split()
)


@functools.cache
def module_in_weft(module: str, names: tuple[str, ...] = ()) -> str:
    """The module of weft's that has the names of one of TensorFlow's."""
    below = module.removeprefix(known.ROOT).removeprefix(".")
    below = "" if below == "compat.v1" else below.removeprefix("compat.v1.")
    place = f"weft.{below}".rstrip(".")
    if known.module(module) is None:
        return place  # in neither: the error will name it
    wanted = [name for name in names if known.missing(f"{module}.{name}") is None]
    if below.partition(".")[0] not in _NOT_TENSORFLOWS:
        found = _import(place)
        if found is not None and all(_has(found, name) for name in wanted):
            return place
    return f"{tensorflow_import.UNDER_WEFT}.{below}".rstrip(".")


def _import(module: str) -> ModuleType | None:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def _has(module: ModuleType, name: str) -> bool:
    return name == "*" or hasattr(module, name) or _import(f"{module.__name__}.{name}") is not None


def edits_of_imports(source: Source, is_own: Callable[[str], bool]) -> Iterator[Edit]:
    """The edits of the import statements."""
    for statement in source.scan.imports:
        if statement.module is None:
            for alias in statement.names:
                if _is_edited(alias.name, is_own):
                    yield Edit(alias.start, alias.end, _imported(alias))
        elif _is_edited(statement.module, is_own):
            yield from _edits_of_from(statement, is_own)


def _is_edited(module: str, is_own: Callable[[str], bool]) -> bool:
    """Whether a module is TensorFlow's, of 1.15; those of before have rows in the table."""
    return known.is_tensorflow(module) and not is_own(module) and not known.is_before_1_0(module)


def _imported(alias: Alias) -> str:
    place = module_in_weft(alias.name)
    if alias.bound:
        return f"{place} as {alias.bound}"
    root = f"weft as {known.ROOT}"
    return root if place == "weft" else f"{place}, {root}"


def _edits_of_from(statement: Import, is_own: Callable[[str], bool]) -> Iterator[Edit]:
    module = str(statement.module)
    if any(is_own(f"{module}.{alias.name}") for alias in statement.names):
        return
    place = module_in_weft(module, tuple(alias.name for alias in statement.names))
    yield Edit(statement.module_start, statement.module_end, place)


def edits_of_chains(source: Source, names: Names, scopes: Scopes) -> Iterator[Edit]:
    """The edits of names that are elsewhere in weft, or had another name before 1.0."""
    for chain in source.scan.chains:
        line, _ = source.scan.place(chain.parts[0].start)
        if len(chain.parts) > 1 and not scopes.is_shadowed(chain.parts[0].text, line):
            paths = names.meanings(chain.path)
            if paths and all(map(known.is_tensorflow, paths)):
                yield from _edits_of_chain(chain, paths[0], source.text)


def _edits_of_chain(chain: Chain, path: str, text: str) -> Iterator[Edit]:
    before = path.count(".") + 1 - len(chain.parts)
    lacking = known.missing(path)
    if lacking is not None:
        new = known.BEFORE_1_0.get(lacking.removeprefix(f"{known.ROOT}."))
        last = lacking.count(".") - before
        if new is not None and before == 0 and last > 0:
            yield Edit(chain.parts[1].start, chain.parts[last].end, new)
        elif before == 0 and last > 0 and (written := known.written_before_1_0(lacking)):
            yield Edit(chain.parts[0].start, chain.parts[last].end, f"{OLD}.{written}")
    elif before == 0 and known.is_called_as_before_1_0(path, text[chain.parts[-1].end :]):
        yield Edit(chain.parts[0].start, chain.parts[-1].end, f"{OLD}.{chain.parts[-1].text}")
    elif before == 0 and not _is_in_weft(path):
        yield Edit(chain.parts[0].start, chain.parts[0].end, LEGACY)


@functools.cache
def _is_in_weft(path: str) -> bool:
    """Whether `weft.a.b` has what `tensorflow.a.b` has, as far as can be known."""
    found: Any = weft
    for part in path.split(".")[1:]:
        if not isinstance(found, ModuleType | type):
            return True
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True
