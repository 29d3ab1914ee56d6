"""Where, in a program's tree, a name means something else, or is only tried."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

_VERSION_WORDS = ("hasattr(", "version", "VERSION", "Version(")


class Lines(NamedTuple):
    """A range of lines, both ends with it."""

    first: int
    last: int

    def __contains__(self, line: object) -> bool:
        return isinstance(line, int) and self.first <= line <= self.last


class Attempt(NamedTuple):
    """A `try` that expects an import or a name to be missing."""

    body: Lines
    otherwise: tuple[Lines, ...]


class Scopes:
    """What the tree of a program says about its lines."""

    def __init__(self, tree: ast.Module | None) -> None:
        nodes = [] if tree is None else list(ast.walk(tree))
        self._shadows = [each for node in nodes for each in _shadows(node)]
        self.attempts = [
            Attempt(_lines(node.body), tuple(_lines(each.body) for each in node.handlers))
            for node in nodes
            if isinstance(node, ast.Try) and _expects_missing(node)
        ]
        self._choices = [
            part for node in nodes if isinstance(node, ast.If) for part in _choice(node)
        ]

    def is_shadowed(self, name: str, line: int) -> bool:
        """Whether a function has a variable of its own by the name of a module."""
        return any(name == shadow and line in lines for shadow, lines in self._shadows)

    def is_chosen(self, line: int) -> bool:
        """Whether a line is run only for some versions."""
        return any(line in lines for lines in self._choices)


def _lines(statements: list[ast.stmt]) -> Lines:
    return Lines(statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno)


def _shadows(node: ast.AST) -> Iterator[tuple[str, Lines]]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    lines = Lines(node.lineno, node.end_lineno or node.lineno)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            yield argument.arg, lines
    for name in () if isinstance(node, ast.Lambda) else _assigned(node.body):
        yield name, lines


def _assigned(body: list[ast.stmt]) -> set[str]:
    """The variables of a function; not those that are made of another's attribute: `x = tf.x`."""
    names: set[str] = set()
    aliases: set[str] = set()
    shared: set[str] = set()
    for node in (each for statement in body for each in ast.walk(statement)):
        if isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            aliases.update(each.id for each in node.targets if isinstance(each, ast.Name))
    return names - aliases - shared


def _expects_missing(node: ast.Try) -> bool:
    caught = " ".join(ast.unparse(each.type) if each.type else "" for each in node.handlers)
    if any(
        name in caught for name in ("ImportError", "ModuleNotFound", "AttributeError", "NameError")
    ):
        return True
    anything = any(each.type is None for each in node.handlers) or "Exception" in caught
    return anything and isinstance(node.body[0], ast.Import | ast.ImportFrom)


def _choice(node: ast.If) -> list[Lines]:
    test = ast.unparse(node.test)
    if not any(word in test for word in _VERSION_WORDS):
        return []
    return [_lines(part) for part in (node.body, node.orelse) if part]
