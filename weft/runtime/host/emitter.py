"""The emitter: lines of Python become one function, of objects that they name.

Everything that is generated (runs of host nodes, steps and loops that may wait, calls of programs)
is written through it. The line an error comes from tells which node raised it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.errors import raise_from
from weft.passes.client_graph import Node
from weft.runtime.host.interpret import with_node

_FILE = "<weft step>"


class Emitter:
    """Source lines, the objects they name, and which node each line runs."""

    def __init__(self, **names: Any) -> None:
        self.names: dict[str, Any] = names
        self.lines: list[str] = []
        self.where: dict[int, Node] = {}

    def bind(self, value: Any) -> str:
        """A name for an object."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def add(self, depth: int, line: str, node: Node | None = None) -> None:
        self.lines.append("    " * depth + line)
        if node is not None:
            self.where[len(self.lines)] = node

    def function(self, name: str) -> Callable[..., Any]:
        """The function that the lines define."""
        exec(compile("\n".join(self.lines), _FILE, "exec"), self.names)
        found: Callable[..., Any] = self.names.pop(name)  # left there, it would be a cycle
        return found

    def guarded_function(self, name: str) -> Callable[..., Any]:
        """The same, whose errors name the node that failed."""
        inner, where = self.function(name), self.where

        def call(*args: Any) -> Any:
            try:
                return inner(*args)
            except Exception as error:
                node = _node_of(error, where)
                raise_from(with_node(error, node) if node is not None else error, error)

        return call


def _node_of(error: Exception, where: dict[int, Node]) -> Node | None:
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == _FILE:
            return where.get(frame.tb_lineno)
        frame = frame.tb_next
    return None
