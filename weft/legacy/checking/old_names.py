"""Old names of Python, NumPy and other libraries: what `weft run` will put in their place."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from weft.legacy.old import python_rows, table
from weft.legacy.old.python2 import statements
from weft.legacy.old.python2.meaning import keep_meaning as keep_meaning
from weft.legacy.old.python2.program import imported_files as imported_files
from weft.legacy.old.python2.signs import gone_builtins as gone_builtins
from weft.legacy.old.python2.signs import imports_neighbours as imports_neighbours
from weft.legacy.old.python2.signs import needs_python2 as needs_python2
from weft.legacy.old.python2.translation import is_certain as is_certain
from weft.legacy.old.table import Row

# Names that today's strings, lists and dictionaries have: no sign of an old program.
_EVERYDAY = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind)
) | {
    "next",
    "message",
    "decode",
    "value",
    "node",
    "A",
    "H",
    "ix",
    "hold",
    "unescape",
    "newbyteorder",
}

# Rows of built-in names that only Python 2 had.
BUILTINS = {name: row for (holder, name), row in table.NAMES.items() if holder == "builtins"}


def name_row(path: str, python: int = 3) -> Row | None:
    """The row of a module's name, `numpy.float`, where the installed module lacks it.

    In Python 2 a name counts as well that is there and refuses text today, as `pickle.load` does.
    """
    holder, _, name = path.rpartition(".")
    row = table.NAMES.get((holder, name)) or table.MODULES.get(path)
    if python == 2 and (strict := _stricter_row(holder, name)) is not None:
        return strict
    if row is None or row.kind == "changed" or _is_there(holder, name):
        return None
    return row


def _stricter_row(holder: str, name: str) -> Row | None:
    """The row of a name that took text in Python 2, by its module's name of then or of today."""
    module = table.MODULES.get(holder)
    row = table.NAMES.get((holder if module is None else module.substitute, name))
    return row if row is not None and row.reason == python_rows.STRICTER else None


def row_before_1_0(path: str) -> Row | None:
    """The row of a name or a module that TensorFlow had before 1.0."""
    holder, _, name = path.rpartition(".")
    return table.NAMES.get((holder, name)) or table.MODULES.get(path)


def module_row(path: str) -> Row | None:
    """The row of a module that is gone, or of the nearest package above it."""
    while path:
        if path in table.MODULES:
            return table.MODULES[path]
        path = path.rpartition(".")[0]
    return None


def member_row(name: str, roots: set[str]) -> Row | None:
    """The row of a method that no object has any more, in a file that imports `roots`."""
    if name in _EVERYDAY:
        return None
    for row in table.MEMBERS.get(name, ()):
        root = row.holder.partition(".")[0]
        known = root in sys.stdlib_module_names or root in roots
        if known and not _has_member(row):
            return row
    return None


def _has_member(row: Row) -> bool:
    """Whether the class of Python's or NumPy's still has the name."""
    module, _, kind = row.holder.rpartition(".")
    if module.partition(".")[0] not in (*sys.stdlib_module_names, "numpy"):
        return False
    return hasattr(getattr(importlib.import_module(module), kind, None), row.name)


def _is_there(holder: str, name: str) -> bool:
    """Whether the module, where it can be imported, has the name without a warning."""
    try:
        found: ModuleType | None = importlib.import_module(holder) if holder else None
    except ImportError:
        return False
    return found is not None and name in vars(found)


def translate(text: str) -> str:
    """The text of a Python 2 file in Python 3, line for line; as it is where that cannot be."""
    try:
        return str(statements.translate(text))
    except (SyntaxError, ValueError, IndexError):
        return text
