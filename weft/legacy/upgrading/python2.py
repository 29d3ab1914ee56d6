"""Python 2 as Python 3: syntax line for line, then the expressions that mean something else."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from weft.legacy.checking import old_names
from weft.legacy.checking.sources import parse
from weft.legacy.upgrading.edits import Edit, Places, apply, import_place

_RUNTIME = "__weft_python2__"
_RUNTIME_IMPORT = f"import weft.legacy.old.python2.runtime as {_RUNTIME}\n"


def translated(text: str) -> str | None:
    """The text of a Python 2 file in Python 3; None where it cannot be translated."""
    new = old_names.translate(text)
    if new is None:
        return None
    try:
        old_tree = parse(new)
    except (SyntaxError, ValueError):
        return None
    new = apply(new, _Differences(new).edits(old_tree, _with_meaning(old_tree)))
    if _RUNTIME in new:
        place = import_place(new, parse(new))
        new = new[:place] + _RUNTIME_IMPORT + new[place:]
    return _with_line_ends(new, text)


def _with_line_ends(new: str, text: str) -> str:
    """A translated text with the ends of lines that it had."""
    new = new if text.endswith("\n") else new.removesuffix("\n")
    ends_in_both = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return new.replace("\n", "\r\n") if ends_in_both else new


def _with_meaning(tree: ast.Module) -> ast.Module:
    """A copy of the tree with Python 2's meaning; imports are left to find what they find."""
    new = copy.deepcopy(tree)
    absolute = ast.ImportFrom("__future__", [ast.alias("absolute_import")], 0)
    new.body.insert(0, ast.fix_missing_locations(absolute))
    new = old_names.keep_meaning(new)
    own = [_imports_runtime(node) or node is absolute for node in new.body]
    new.body = [node for node, is_own in zip(new.body, own, strict=True) if not is_own]
    return new


def _imports_runtime(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and node.names[0].asname == _RUNTIME


class _Differences:
    """The edits that make the text of one tree that of another: the smallest parts that differ."""

    def __init__(self, text: str) -> None:
        self._places = Places(text)

    def edits(self, old: ast.Module, new: ast.Module) -> list[Edit]:
        """The edits of a whole file."""
        found = self._between(old, new)
        return [] if found is None else found

    def _between(self, old: ast.AST, new: ast.AST) -> list[Edit] | None:
        """The edits of a node; None where an outer node must be written instead."""
        inside = self._inside(old, new) if type(old) is type(new) else None
        if inside is not None or not isinstance(old, ast.expr | ast.stmt):
            return inside
        return [self._written(old, new)]

    def _inside(self, old: ast.AST, new: ast.AST) -> list[Edit] | None:
        found: list[Edit] = []
        for field in old._fields:
            pairs = _pairs(getattr(old, field, None), getattr(new, field, None))
            if pairs is None:
                return None
            for one, other in pairs:
                edits = self._between(one, other)
                if edits is None:
                    return None
                found += edits
        return found

    def _written(self, old: ast.expr | ast.stmt, new: ast.AST) -> Edit:
        start, end = self._places.span(old)
        text = ast.unparse(new)
        if isinstance(new, ast.expr) and not isinstance(new, ast.Call | ast.Name | ast.Attribute):
            text = f"({text})"
        indent = " " * old.col_offset if isinstance(old, ast.stmt) else ""
        return Edit(start, end, text.replace("\n", f"\n{indent}"))


def _pairs(old: object, new: object) -> list[tuple[ast.AST, ast.AST]] | None:
    """The nodes of a field in both trees; None where it differs otherwise."""
    olds, news = list(_listed(old)), list(_listed(new))
    if len(olds) != len(news):
        return None
    pairs = []
    for one, other in zip(olds, news, strict=True):
        if isinstance(one, ast.AST) and isinstance(other, ast.AST):
            pairs.append((one, other))
        elif type(one) is not type(other) or one != other:
            return None
    return pairs


def _listed(value: object) -> Iterator[object]:
    yield from value if isinstance(value, list) else (value,)
