"""Signs that a file which Python 3 can read was written for Python 2 alone."""

from __future__ import annotations

import ast
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

from weft.legacy.old import table, users_code

# Built-in names that only Python 2 had.
GONE = frozenset(name for holder, name in table.NAMES if holder == "builtins")
# Words of files that are for both Pythons: they know what to do about the names.
_BOTH = frozenset({"six", "future", "past", "PY2", "PY3", "version_info", "python_version"})


def needs_python2(tree: ast.Module, file: str) -> bool:
    """Whether a file imports a module, or uses a built-in name, that only Python 2 has."""
    if imports_python2(tree, file):
        return True
    return not users_code.is_installed(file) and uses_gone_builtins(tree)


def imports_python2(tree: ast.Module, file: str) -> bool:
    """Whether a file imports, come what may, a module that only Python 2 has."""
    gone = [name for name in _imported(tree) if name in table.PYTHON2_MODULES]
    return any(not _is_there(name, file) for name in gone)


def imports_neighbours(tree: ast.Module, file: Path, folders: Iterable[Path]) -> bool:
    """Whether a file of a package imports a neighbour by its name alone, as only Python 2 does.

    `folders` is where Python 3 looks, too, besides what is installed.
    """
    here = file.parent
    if here in folders or not (here / "__init__.py").is_file():
        return False
    names = {name.partition(".")[0] for name in _imported(tree)}
    if "__future__" in names and "absolute_import" in ast.dump(tree):
        return False
    return any(
        (here / f"{name}.py").is_file() and not any(_is_there(name, str(f / "x")) for f in folders)
        for name in names
    )


def uses_gone_builtins(tree: ast.Module) -> bool:
    """Whether a name that only Python 2 had is used, and can be nothing else."""
    words = set(_words(tree))
    if words & _BOTH:
        return False
    return ("*" not in words and bool(gone_builtins(tree))) or _calls_has_key(tree)


def _calls_has_key(tree: ast.AST) -> bool:
    """Whether dictionaries are asked as only Python 2's could be."""
    nodes = list(ast.walk(tree))
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    asks = any(isinstance(each, ast.Attribute) and each.attr == "has_key" for each in called)
    return asks and not any(
        isinstance(node, ast.FunctionDef) and node.name == "has_key" for node in nodes
    )


def gone_builtins(tree: ast.AST) -> set[str]:
    """The names that only Python 2 had which a file uses and does not define."""
    finder = _Finder()
    finder.visit(tree)
    return (finder.used & GONE) - finder.bound


def _imported(tree: ast.Module) -> list[str]:
    """The modules that are imported come what may."""
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append(node.module or "")
    return found


def _words(tree: ast.AST) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Attribute):
            found.append(node.attr)
        elif isinstance(node, ast.alias):
            found += [node.name.partition(".")[0], node.asname or ""]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.module or "").partition(".")[0])
    return found


def _is_there(name: str, file: str) -> bool:
    """Whether the program has a module of that name itself."""
    beside = os.path.join(os.path.dirname(os.path.abspath(file)), name)
    if os.path.exists(f"{beside}.py") or os.path.isdir(beside):
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def expects_name_error(node: ast.Try) -> bool:
    """Whether a `try` has another way where a name is missing."""
    caught = [ast.unparse(each.type) if each.type else "Exception" for each in node.handlers]
    return any("NameError" in each or "Exception" in each for each in caught)


class _Finder(ast.NodeVisitor):
    """The names that a file uses, but where it expects them to be missing; and those it binds."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.bound: set[str] = set()
        self._tried = 0

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)
        elif not self._tried:
            self.used.add(node.id)

    def visit_Try(self, node: ast.Try) -> None:
        tried = expects_name_error(node)
        self._tried += tried
        for statement in node.body:
            self.visit(statement)
        self._tried -= tried
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.bound.add(node.name)
        elif isinstance(node, ast.alias):
            self.bound.add(node.asname or node.name)
        elif isinstance(node, ast.arg):
            self.bound.add(node.arg)
        super().generic_visit(node)
