"""The syntax tree of a function that was defined in a file, a notebook cell or by `exec`."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
from collections.abc import Callable, Iterator
from typing import Any

from weft.core import sources

Definition = ast.FunctionDef | ast.Lambda

_trees: dict[str, tuple[int, ast.Module]] = {}


class NoSource(Exception):
    """The source of a function cannot be found, or is not what it was compiled from."""


def definition_of(function: Callable[..., Any]) -> tuple[Definition, str | None]:
    """A copy of the definition of a function, and the name of the class it stands in."""
    code: Any = getattr(function, "__code__")  # noqa: B009
    found = [
        (node, owner)
        for node, owner in _definitions(_tree(code.co_filename, function))
        if _first_line(node) == code.co_firstlineno and _fits(node, code)
    ]
    if len(found) > 1:
        found = [each for each in found if _covers(each[0], code)]
    if len(found) != 1:
        raise NoSource(f"could not find the source of {function}")
    node, owner = found[0]
    return copy.deepcopy(node), owner


def _tree(filename: str, function: Any) -> ast.Module:
    lines = linecache.getlines(filename, getattr(function, "__globals__", None))
    if not lines:
        try:
            lines = inspect.findsource(function)[0]
        except (OSError, TypeError):
            raise NoSource(f"there is no source for {function}") from None
    text = "".join(lines)
    key = hash(text)
    if filename not in _trees or _trees[filename][0] != key:
        _trees[filename] = key, _parsed(text, filename)
    return _trees[filename][1]


def _parsed(text: str, filename: str) -> ast.Module:
    try:
        return sources.parse(text, filename)
    except SystemError:
        # Python 3.11 loses count of its recursion when another thread parses meanwhile.
        return sources.parse(text, filename)
    except SyntaxError:
        raise NoSource(f"{filename} cannot be read as Python") from None


def _definitions(
    node: ast.AST, owner: str | None = None
) -> Iterator[tuple[Definition, str | None]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield child, owner
        inside = child.name if isinstance(child, ast.ClassDef) else owner
        yield from _definitions(child, inside)


def _first_line(node: Definition) -> int:
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno


def _fits(node: Definition, code: Any) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return name == code.co_name and tuple(names) == code.co_varnames[: len(names)]


def _covers(node: Definition, code: Any) -> bool:
    """Whether the instructions of a function lie where its definition does."""
    body = node.body if isinstance(node, ast.Lambda) else node.body[-1]
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    places = [(line, column) for line, _, column, _ in code.co_positions() if column is not None]
    inside = [place for place in places if begin <= place <= end]  # type: ignore[operator]
    return len(inside) * 2 > len(places)
