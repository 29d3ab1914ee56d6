"""Objects as `tf.saved_model.save` writes them: all that their attributes lead to.

That is what a checkpoint holds (variables and their owners), and functions, files and tables.
"""

from __future__ import annotations

import inspect
from typing import Any

from weft.lib.functions.concrete import ConcreteFunction
from weft.lib.functions.polymorphic import Function
from weft.lib.saved_model.objects import RestoredResource, SignatureMap, TrackableAsset
from weft.lib.saved_model.restored_function import RestoredFunction
from weft.lib.saved_model.tables import SavedTable, is_table
from weft.lib.train.checkpoint.objects import Children, ObjectGraph, children, tracks_attributes
from weft.lib.train.checkpoint.objects import is_trackable as in_checkpoints
from weft.lib.train.checkpoint.saver_saveable import VARIABLE_VALUE_KEY
from weft.ops.state.variables import Variable

SIGNATURES = "signatures"
FUNCTIONS = (Function, RestoredFunction, ConcreteFunction)
_WITHOUT_CHILDREN = (Variable, *FUNCTIONS, TrackableAsset)


class SavedObjects(ObjectGraph):
    """All objects below a root, by number; `signatures` belong to the root."""

    def __init__(self, root: Any, signatures: SignatureMap) -> None:
        self._signatures, self._root = signatures, root
        self._known: dict[int, tuple[Any, Children]] = {}
        self._tables: dict[int, SavedTable] = {}
        super().__init__(root)

    def number_of(self, value: Any) -> int:
        return self._ids[id(value)]

    def variable_key(self, variable: Any) -> str:
        """The name of a variable's value in the checkpoint."""
        return f"{self._paths[id(variable)]}/.ATTRIBUTES/{VARIABLE_VALUE_KEY}"

    def children(self, value: Any) -> Children:
        # Asked once: some attributes are new objects each time.
        if id(value) not in self._known:
            self._known[id(value)] = value, self._children(value)
        return self._known[id(value)][1]

    def _children(self, value: Any) -> Children:
        if isinstance(value, _WITHOUT_CHILDREN):
            return []
        if isinstance(value, SignatureMap):
            return list(value.items())
        if is_table(value):
            return self.table(value).children()
        if isinstance(value, (list, tuple)):
            return [(str(i), each) for i, each in enumerate(value) if is_saved(each)]
        if isinstance(value, dict):
            return [(str(key), each) for key, each in value.items() if is_saved(each)]
        found = {**attributes(value), **functions_of(value)}
        if value is self._root:
            found[SIGNATURES] = self._signatures
        return list(found.items())

    def table(self, value: Any) -> SavedTable:
        """A table's functions; traced when they are first asked for."""
        if id(value) not in self._tables:
            self._tables[id(value)] = SavedTable(value)
        return self._tables[id(value)]


def is_trackable(value: Any) -> bool:
    """Whether an object can be saved by itself."""
    return in_checkpoints(value) or isinstance(value, SignatureMap)


def is_saved(value: Any) -> bool:
    """Whether an attribute or element is written."""
    if isinstance(value, (*FUNCTIONS, TrackableAsset, RestoredResource)) or is_table(value):
        return True
    if isinstance(value, (list, tuple)):
        return not value or any(map(is_saved, value))
    if isinstance(value, dict):
        return not value or any(map(is_saved, value.values()))
    return in_checkpoints(value)


def attributes(value: Any) -> dict[str, Any]:
    found = dict(children(value))
    if tracks_attributes(value):
        public = {name: each for name, each in vars(value).items() if name[0] != "_"}
        found |= {name: each for name, each in public.items() if is_saved(each)}
    return found | getattr(value, "_lists_to_save", dict)()


def functions_of(value: Any) -> dict[str, Any]:
    """The functions among an object's attributes, and among its methods."""
    own = getattr(value, "__dict__", {})
    found = {name: each for name, each in own.items() if isinstance(each, FUNCTIONS)}
    for name in dir(type(value)):
        if isinstance(inspect.getattr_static(type(value), name, None), Function):
            found.setdefault(name, getattr(value, name))
    return found | getattr(value, "_functions_to_save", dict)(found)
