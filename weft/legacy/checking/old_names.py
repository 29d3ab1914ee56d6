"""Old names of Python, NumPy and other libraries: what `weft run` will put in their place."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from types import ModuleType
from typing import Any, Protocol

_PACKAGE = "weft.legacy.old"
# Names that today's strings, lists and dictionaries have: no sign of an old program.
_EVERYDAY = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind)
) | {"next", "message", "decode", "value", "node", "A", "H", "ix", "hold", "unescape"}


class Row(Protocol):
    """A row of the table: an old name, and its substitute."""

    @property
    def old(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def substitute(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def holder(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def advice(self) -> str: ...


@functools.cache
def _module(name: str) -> Any:
    """A module of the table's package; None where weft has none."""
    try:
        return importlib.import_module(f"{_PACKAGE}.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or not f"{_PACKAGE}.{name}.".startswith(f"{error.name}."):
            raise
        return None


def name_row(path: str) -> Row | None:
    """The row of a module's name, `numpy.float`, where the installed module lacks it."""
    table = _module("table")
    if table is None:
        return None
    holder, _, name = path.rpartition(".")
    row: Row | None = table.NAMES.get((holder, name)) or table.MODULES.get(path)
    if row is None or row.kind == "changed" or _is_there(holder, name):
        return None
    return row


def module_row(path: str) -> Row | None:
    """The row of a module that is gone, or of the nearest package above it."""
    table = _module("table")
    while table is not None and path:
        if path in table.MODULES:
            row: Row = table.MODULES[path]
            return row
        path = path.rpartition(".")[0]
    return None


def member_row(name: str, roots: set[str]) -> Row | None:
    """The row of a method that no object has any more, in a file that imports `roots`."""
    table = _module("table")
    if table is None or name in _EVERYDAY:
        return None
    for row in table.MEMBERS.get(name, ()):
        root = row.holder.partition(".")[0]
        known = root in sys.stdlib_module_names or root in roots
        if known and not _has_member(row):
            return row  # type: ignore[no-any-return]
    return None


def _has_member(row: Row) -> bool:
    """Whether the class of Python's or NumPy's still has the name."""
    module, _, kind = row.holder.rpartition(".")
    if module.partition(".")[0] not in (*sys.stdlib_module_names, "numpy"):
        return False
    return hasattr(getattr(importlib.import_module(module), kind, None), row.name)


def is_python2_module(name: str) -> bool:
    """Whether only Python 2 had this module."""
    table = _module("table")
    return table is not None and name in table.PYTHON2_MODULES


def _is_there(holder: str, name: str) -> bool:
    """Whether the module, where it can be imported, has the name without a warning."""
    try:
        found: ModuleType | None = importlib.import_module(holder) if holder else None
    except ImportError:
        return False
    return found is not None and name in vars(found)


def translate(text: str) -> str | None:
    """The text of a Python 2 file in Python 3, line for line; None without a translator."""
    statements = _module("python2.statements")
    if statements is None:
        return None
    try:
        return str(statements.translate(text))
    except (SyntaxError, ValueError, IndexError):
        return text


def can_translate() -> bool:
    """Whether Python 2 files can be translated."""
    return _module("python2.statements") is not None


def keep_meaning(tree: ast.Module) -> ast.Module:
    """The tree of a translated file with Python 2's meaning."""
    meaning = _module("python2.meaning")
    return tree if meaning is None else meaning.keep_meaning(tree)  # type: ignore[no-any-return]
