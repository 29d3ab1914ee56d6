"""Lookup tables in a SavedModel: two functions, one that makes the table and one that fills it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from weft.graph.convert import constant
from weft.graph.tensor import Tensor
from weft.lib.functions.polymorphic import Function
from weft.lib.saved_model.objects import RestoredResource, TrackableAsset
from weft.ops.lookup.tables import LookupInterface


def is_table(value: Any) -> bool:
    """Whether it is something behind a handle that a function makes anew where it is loaded."""
    own = isinstance(value, LookupInterface) and hasattr(value, "_create_resource")
    return own or isinstance(value, RestoredResource)


class SavedTable:
    """A table of the program, as functions."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.file = _file_of(table)
        if isinstance(table, RestoredResource):
            self.create, self.initialize = table._create_resource, table._initialize
        else:
            self.create = Function(self._create, "_creator", [], autograph=False)
            self.initialize = Function(self._fill, "_initializer", [], autograph=False)
        # Here, since they are traced in the graph of the program.
        self.create_trace = self.create.traces()[0]
        self.initialize_trace = self.initialize.traces()[0]

    def children(self) -> list[tuple[str, Any]]:
        if isinstance(self.table, RestoredResource):
            return [(name, each) for name, each in vars(self.table).items() if name != "_handle"]
        found = [("_create_resource", self.create), ("_initialize", self.initialize)]
        if self.file is not None:
            found.append(("_initializer", self.file))
        return found

    def _create(self) -> Tensor:
        named = vars(self.table).get("_table_name")
        made: Tensor = self.table._create_resource()
        self.table._table_name = named
        return made

    def _fill(self) -> Tensor:
        if hasattr(self.table, "_initialize"):
            with self._reading_the_asset():
                self.table._initialize()
        return constant(1)

    @contextlib.contextmanager
    def _reading_the_asset(self) -> Iterator[None]:
        """The table's file is one of the model's own where that is loaded."""
        if self.file is None:
            yield
            return
        initializer, path = self.table._initializer, self.table._initializer._source
        initializer._source = self.file.asset_path
        try:
            yield
        finally:
            initializer._source = path


def _file_of(table: Any) -> TrackableAsset | None:
    """The file that a table is filled from; an initializer keeps one object for it."""
    initializer: Any = getattr(table, "_initializer", None)
    path = getattr(initializer, "_filename", None)
    if path is None or isinstance(table, RestoredResource):
        return None
    if not hasattr(initializer, "_asset"):
        initializer._asset = TrackableAsset(path)
    found: TrackableAsset = initializer._asset
    return found
