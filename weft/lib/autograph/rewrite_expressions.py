"""Expressions that may be of tensors: and, or, not, chains of comparisons, a if c else b, calls."""

from __future__ import annotations

import ast
from typing import Any

from weft.lib.autograph.liveness import bound
from weft.lib.autograph.syntax import AG, expression

# Calls that look at the function they are made from.
_LEFT_ALONE = {"locals", "globals", "vars", "dir", "eval", "exec", "breakpoint", "super"}
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def _has_walrus(node: ast.AST) -> bool:
    return any(isinstance(each, ast.NamedExpr) for each in ast.walk(node))


class ExpressionRewriter(ast.NodeTransformer):
    """`maybe_undefined`: variables to be checked when read; `first`: the function's first argument,
    which `super()` is about.
    """

    def __init__(
        self, features: frozenset[str], maybe_undefined: frozenset[str] | set[str],
        first: str | None,
    ) -> None:  # fmt: skip
        self.features, self.maybe_undefined = features, set(maybe_undefined)
        self.first = first

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Load) and node.id in self.maybe_undefined:
            return expression(f"ag__.ld({node.id})", node)
        return node

    # ---- logic ----

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        if _has_walrus(node):
            return node
        function = "and_" if isinstance(node.op, ast.And) else "or_"
        found = node.values[-1]
        for value in reversed(node.values[:-1]):
            found = expression(f"ag__.{function}(lambda: A, lambda: B)", node, A=value, B=found)
        return found

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return expression("ag__.not_(VALUE)", node, VALUE=node.operand)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        text = ast.unparse(node)
        self.generic_visit(node)
        if _has_walrus(node):
            return node
        return expression(
            f"ag__.if_exp(TEST, lambda: A, lambda: B, {text!r})", node, TEST=node.test,
            A=node.body, B=node.orelse,
        )  # fmt: skip

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        by_value = not self.features.isdisjoint(("EQUALITY_OPERATORS", "ALL"))
        equality = any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops)
        if _has_walrus(node) or (len(node.ops) == 1 and not (equality and by_value)):
            return node
        parts = ", ".join(
            f"({_COMPARISONS[type(op)]!r}, lambda: PART_{i})" for i, op in enumerate(node.ops)
        )
        holes = {f"PART_{i}": each for i, each in enumerate(node.comparators)}
        return expression(
            f"ag__.compare(FIRST, [{parts}], {by_value})", node, FIRST=node.left, **holes
        )

    # ---- calls ----

    def visit_Call(self, node: ast.Call) -> Any:
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called == "super" and not node.args and self.first is not None:
            return expression(f"super(__class__, {self.first})", node)
        self.generic_visit(node)
        ours = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == AG
        if ours or called in _LEFT_ALONE:
            return node
        args = ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
        keys: list[ast.expr | None] = [
            None if word.arg is None else ast.Constant(word.arg) for word in node.keywords
        ]
        words: ast.expr = ast.Dict(keys, [word.value for word in node.keywords])
        if not node.keywords:
            words = ast.Constant(None)
        return expression(
            "ag__.converted_call(CALLED, ARGS, WORDS)", node, CALLED=node.func, ARGS=args,
            WORDS=words,
        )  # fmt: skip

    # ---- scopes of their own ----

    def _inside(self, node: ast.AST, names: set[str]) -> Any:
        before = self.maybe_undefined
        self.maybe_undefined = before - names
        try:
            self.generic_visit(node)
        finally:
            self.maybe_undefined = before
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        self._inside(node, {arg.arg for arg in every if arg is not None})
        return expression("ag__.autograph_artifact(LAMBDA)", node, LAMBDA=node)

    def _comprehension(self, node: Any) -> Any:
        targets = [part.target for part in node.generators]
        return self._inside(node, bound(targets))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension
