"""Functions of a GraphDef's library: kept with the graph and written out with it."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Graph


class LibraryFunction:
    """A FunctionDef as it was read."""

    def __init__(self, message: Any) -> None:
        self.message = message
        self.name: str = message.signature.name

    def proto(self) -> Any:
        return self.message


def import_library(graph: Graph, functions: dict[str, Any]) -> None:
    """Adds FunctionDefs by name; one that is there already must be the same."""
    for name, message in functions.items():
        known = graph._functions.get(name)
        if known is None:
            graph._functions[name] = LibraryFunction(message)
        elif known.proto() != message:
            raise ValueError(
                f"Cannot add function '{name}' because a different function with the same name"
                " already exists."
            )
