"""The table of old names: what was there, why it is not any more, what is used instead.

A row's substitute is a dotted place, imported when the old name is first used.
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
from types import ModuleType
from typing import Any, NamedTuple

from weft.legacy.old import library_rows, numpy_rows, python_rows, tensorflow_rows

# How programs write the modules that they rename.
_SHORT = {"numpy": "np", "pandas": "pd", "matplotlib.pyplot": "plt"}
_TENSORFLOW = re.compile(r"^(?:tensorflow|weft)(?=\.|$)")


class Row(NamedTuple):
    """One old name. `kind` is `name`, `method`, `property`, `module` or `changed`.

    A `changed` name is still there but does less than it did: its substitute tells by itself when
    the difference matters. The other kinds are used only where the name is missing.
    """

    old: str
    reason: str
    substitute: str
    kind: str

    @property
    def holder(self) -> str:
        """The module or class that had the name."""
        return self.old.rpartition(".")[0]

    @property
    def name(self) -> str:
        """The last part of the old name."""
        return self.old.rpartition(".")[2]

    @property
    def shown(self) -> str:
        """The old name as programs write it: `np.float`."""
        if self.kind == "module" or not self.holder or " " in self.old:
            return self.old
        if self.holder == "builtins" and self.kind == "name":
            return self.name
        if self.kind in ("method", "property"):
            return ".".join(self.old.split(".")[-2:])
        holder = _SHORT.get(self.holder, self.holder)
        return f"{_TENSORFLOW.sub('tf', holder)}.{self.name}"

    @property
    def advice(self) -> str:
        """The end of a notice: what happens instead."""
        if self.substitute.startswith("pip "):
            return f"`{self.substitute}` brings it back"
        own = self.substitute.startswith("weft.legacy.") or not self.substitute
        place = _TENSORFLOW.sub("tf", self.substitute.removeprefix("builtins."))
        used = "a stand-in" if own else place
        return f"{used} is used"

    def value(self) -> Any:
        """The substitute itself."""
        return find(self.substitute)


@functools.cache
def find(place: str) -> Any:
    """The object at a dotted place: a module, or something in one."""
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        parent, _, name = place.rpartition(".")
        if not parent or not (place + ".").startswith(f"{error.name}."):
            raise
        return getattr(find(parent), name)


def _rows() -> list[Row]:
    found = []
    for part in (python_rows, numpy_rows, library_rows, tensorflow_rows):
        for kind, reason, holder, names in part.ROWS:
            found += [
                Row(f"{holder}.{old}" if holder else old, reason, new, kind)
                for old, new in names.items()
            ]
    return found


ROWS = _rows()
MODULES = {row.old: row for row in ROWS if row.kind == "module"}
# Modules that only Python 2 had: a file that needs one is a Python 2 file.
PYTHON2_MODULES = frozenset(
    row.old for row in MODULES.values() if row.reason == python_rows.PYTHON_3
)
# (module, name), for names of modules.
NAMES = {(row.holder, row.name): row for row in ROWS if row.kind in ("name", "changed")}
# name -> rows, for names of objects and their classes.
MEMBERS: dict[str, list[Row]] = {}
for _row in ROWS:
    if _row.kind in ("method", "property"):
        MEMBERS.setdefault(_row.name, []).append(_row)
ATTRIBUTES = frozenset(
    [*MEMBERS, *(name for _, name in NAMES), *(name.rpartition(".")[2] for name in MODULES)]
)
_HOLDERS = frozenset(holder for holder, _ in NAMES)


def concerns(module: str) -> bool:
    """Whether names or submodules of `module`, or itself, are in the table."""
    return module in _HOLDERS or any(
        name == module or name.startswith(module + ".") or module.startswith(name + ".")
        for name in MODULES
    )


def member(holder: Any, name: str) -> Row | None:
    """The row of an attribute of an object, or of a class, by what the object is."""
    for row in MEMBERS.get(name, ()):
        kind = class_named(row.holder)
        if kind is not None and (
            isinstance(holder, kind) or (isinstance(holder, type) and issubclass(holder, kind))
        ):
            return row
    return None


def class_named(place: str) -> type | None:
    """The class at a place; None while its module has not been imported."""
    module, _, name = place.rpartition(".")
    found = sys.modules.get(module)
    return getattr(found, name, None) if isinstance(found, ModuleType) else None
