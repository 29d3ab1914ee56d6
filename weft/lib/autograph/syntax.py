"""Pieces of syntax trees: written as text, with holes that trees are put in."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

AG = "ag__"
"""The name by which converted code reaches `weft.lib.autograph.operators`."""


class _Fill(ast.NodeTransformer):
    def __init__(self, holes: dict[str, Any]) -> None:
        self.holes = holes

    def visit_Name(self, node: ast.Name) -> Any:
        found = self.holes.get(node.id)
        return node if found is None or isinstance(found, list) else found

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Name) and isinstance(self.holes.get(node.value.id), list):
            return self.holes[node.value.id] or ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node


def statements(text: str, at: ast.AST, **holes: Any) -> list[ast.stmt]:
    """The statements of `text`, at the place of `at`; names of holes stand for trees.

    A hole that is a list of statements is a statement of its own.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            _place(node, at)
    made = _Fill(holes).visit(tree)
    body: list[ast.stmt] = made.body
    return body


def _place(node: Any, at: Any) -> None:
    """On the first line of `at`: calls count as of the line where they end."""
    node.lineno = node.end_lineno = at.lineno
    node.col_offset = node.end_col_offset = at.col_offset


def expression(text: str, at: ast.AST, **holes: Any) -> ast.expr:
    (statement,) = statements(text, at, **holes)
    assert isinstance(statement, ast.Expr)
    return statement.value


def name(text: str, at: ast.AST, store: bool = False) -> ast.Name:
    return ast.copy_location(ast.Name(text, ast.Store() if store else ast.Load()), at)


def set_flag(flag: str, value: bool, at: ast.AST) -> ast.stmt:
    return statements(f"{flag} = {value}", at)[0]


def negated(flags: Sequence[str], at: ast.AST) -> ast.expr:
    """Whether none of the flags is up."""
    return expression(" and ".join(f"not {flag}" for flag in flags), at)


def both(a: ast.expr, b: ast.expr) -> ast.expr:
    return ast.copy_location(ast.BoolOp(ast.And(), [a, b]), b)
