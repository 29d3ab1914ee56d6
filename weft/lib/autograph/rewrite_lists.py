"""Statements on lists -> assignments, on request: the list may be a `tf.TensorArray`, a value."""

from __future__ import annotations

import ast
from typing import Any

from weft.lib.autograph.syntax import statements


class ListRewriter(ast.NodeTransformer):
    """`variable.append(x)`, `y = variable.pop()` and `variable[i] = x`; `local`: variables of the
    function, which can be assigned to.
    """

    def __init__(self, local: set[str]) -> None:
        self.local = local

    def visit_Expr(self, node: ast.Expr) -> Any:
        target, method, args = self._method(node.value)
        if method == "append":
            text = f"{target} = ag__.list_append({target}, VALUE)"
            return statements(text, node, VALUE=args[0])
        if method == "pop":
            return statements(f"{target}, _ = ag__.list_pop({target})", node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if len(node.targets) != 1:
            return node
        target, method, _ = self._method(node.value)
        if method == "pop":
            text = f"{target}, RESULT = ag__.list_pop({target})"
            return statements(text, node, RESULT=node.targets[0])
        into = node.targets[0]
        if isinstance(into, ast.Subscript) and self._is_local(into.value):
            owner = ast.unparse(into.value)
            text = f"{owner} = ag__.set_item({owner}, KEY, VALUE)"
            return statements(text, node, KEY=into.slice, VALUE=node.value)
        return node

    def _is_local(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.local

    def _method(self, node: ast.expr) -> tuple[str, str, list[ast.expr]]:
        """The variable, the method and the arguments of a call that changes a list."""
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(function, ast.Attribute) or not self._is_local(function.value):
            return "", "", []
        assert isinstance(node, ast.Call)
        if {"append": 1, "pop": 0}.get(function.attr) != len(node.args):
            return "", "", []
        return ast.unparse(function.value), function.attr, node.args

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node
