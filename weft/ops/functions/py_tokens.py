"""Tokens of Python functions, in graphs that go from process to process.

A node has a token for its function, `pyfunc_7`, which every process numbers for itself. In a graph
that travels the token says of which process it is: `pyfunc_7@` and a number that only the process,
and those to whom it sends such graphs, can know. Another one's token finds nothing here.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

_PROCESS = secrets.token_hex(8)
_KINDS = frozenset(("PyFunc", "PyFuncStateless", "EagerPyFunc"))
_UNKNOWN = "another"


def sign_own(graph_def: Any) -> None:
    """Marks the functions of a graph that leaves this process as functions of this process."""
    _sign(graph_def, _PROCESS)


def sign_foreign(graph_def: Any) -> None:
    """Marks the functions of a graph that has come without saying whose they are."""
    _sign(graph_def, _UNKNOWN)


def own_token(token: str) -> str | None:
    """The token as this process gave it; None if it is of another."""
    name, at, process = token.partition("@")
    return name if not at or secrets.compare_digest(process, _PROCESS) else None


def _sign(graph_def: Any, process: str) -> None:
    for node in _nodes(graph_def):
        if node.op in _KINDS and b"@" not in node.attr["token"].s:
            node.attr["token"].s += f"@{process}".encode()


def _nodes(graph_def: Any) -> Iterator[Any]:
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def
