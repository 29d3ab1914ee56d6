"""Where a name is bound, as the source says it: can a type checker read its signature there?"""

from __future__ import annotations

import ast
import functools
import inspect
from pathlib import Path
from typing import Any

# Decorators that type checkers see through.
PLAIN = frozenset({"contextmanager", "cache", "lru_cache", "overload", "deprecated"})


class Origins:
    def __init__(self, root: Path) -> None:
        self._root = root

    def is_made(self, module: str, name: str, value: Any) -> bool:
        """Whether `value`, found as `name` in `module`, is a function without a readable `def`."""
        if not (inspect.isfunction(value) or _is_operation(value)):
            return False
        bound = self._binding(module, name)
        if isinstance(bound, ast.FunctionDef):
            return not all(_name(decorator) in PLAIN for decorator in bound.decorator_list)
        return bound is not None

    def _binding(self, module: str, name: str) -> ast.stmt | None:
        """The definition or assignment behind a name, through imports and plain aliases."""
        bound = self._bindings(module).get(name)
        if isinstance(bound, ast.ImportFrom) and bound.module:
            original = next(a.name for a in bound.names if (a.asname or a.name) == name)
            return self._binding(bound.module, original)
        if isinstance(bound, ast.Assign) and isinstance(bound.value, ast.Name):
            return self._binding(module, bound.value.id)
        return bound

    @functools.cache  # noqa: B019 - one object, for one run
    def _bindings(self, module: str) -> dict[str, ast.stmt]:
        base = self._root.joinpath(*module.split("."))
        found = [path for path in (base.with_suffix(".py"), base / "__init__.py") if path.exists()]
        if not found:
            return {}
        tree = ast.parse(found[0].read_text())
        return {name: node for node in tree.body for name in _names_bound_by(node)}


def _is_operation(value: Any) -> bool:
    return type(value).__name__ == "OpDef"


def _names_bound_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Assign):
        return [
            n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)
        ]
    return []


def _name(decorator: ast.expr) -> str:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
