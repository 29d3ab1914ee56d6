"""A function's syntax tree -> one whose control flow asks `ag__` (weft.lib.autograph.operators).

The blocks of conditionals and loops become functions inside of the function, which share its
variables (`nonlocal`). `ag__.if_stmt` and its like call them as Python would, or trace them. The
variables they change that are read later are their state, which two more functions get and set.
"""

from __future__ import annotations

import ast
from typing import Any

from weft.lib.autograph.exits import LOOPS, Names, blocks, extra_test, lower_exits
from weft.lib.autograph.liveness import Liveness, bound, declared, parts_set
from weft.lib.autograph.rewrite_expressions import ExpressionRewriter
from weft.lib.autograph.rewrite_lists import ListRewriter
from weft.lib.autograph.syntax import name, statements


def rewrite_function(
    node: ast.FunctionDef, features: frozenset[str], visible: frozenset[str] = frozenset()
) -> None:
    """Rewrites a function in place.

    `visible`: variables of functions around it that may be undefined.
    """
    _strip_annotations(node)
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | _parameters(node)
    names = Names(taken)
    documentation = node.body[:1] if ast.get_docstring(node, False) is not None else []
    node.body = node.body[len(documentation) :] or [ast.copy_location(ast.Pass(), node)]
    if not features.isdisjoint(("LISTS", "ALL")):
        lists = ListRewriter(_parameters(node) | bound(node.body))
        node.body = [made for each in node.body for made in _listed(lists.visit(each))]
    lower_exits(node, names)
    work = _Rewriter(node, names, features, visible)
    body = [made for each in node.body for made in _listed(work.visit(each))]
    hoisted = [
        each
        for variable in sorted(work.hoisted)
        for each in statements(f"{variable} = ag__.Undefined({variable!r})", node.body[0])
    ]
    first = [each for each in body if isinstance(each, (ast.Global, ast.Nonlocal))]
    rest = [each for each in body if each not in first]
    node.body = [*documentation, *first, *hoisted, *rest]


def _listed(made: Any) -> list[ast.stmt]:
    if made is None:
        return []
    return made if isinstance(made, list) else [made]


def _all_arguments(node: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    args = node.args
    stars = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *stars]


def _parameters(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    return {arg.arg for arg in _all_arguments(node)}


def _strip_annotations(node: ast.FunctionDef) -> None:
    node.returns = None
    for arg in _all_arguments(node):
        arg.annotation = None


def _bound_in_blocks(stmts: list[ast.stmt]) -> set[str]:
    """The names that are bound inside of conditionals and loops."""
    found: set[str] = set()
    for node in stmts:
        if isinstance(node, (ast.If, *LOOPS)):
            found |= bound([node])
        for block in blocks(node):
            found |= _bound_in_blocks(block)
    return found


def _is_generator(node: ast.FunctionDef) -> bool:
    kinds = (ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(each, kinds) for each in ast.walk(node))


class _Rewriter(ExpressionRewriter):
    """Rewrites the statements of one function; `hoisted` are variables that start undefined."""

    def __init__(
        self, node: ast.FunctionDef, names: Names, features: frozenset[str],
        visible: frozenset[str],
    ) -> None:  # fmt: skip
        self.names, self.live = names, Liveness(node.body)
        self.globals = declared(node.body, ast.Global)
        own = _parameters(node) | bound(node.body)
        self.outside = self.globals | declared(node.body, ast.Nonlocal)
        self.hoisted = _bound_in_blocks(node.body) - _parameters(node) - self.outside
        first = node.args.posonlyargs or node.args.args
        super().__init__(features, (visible - own) | self.hoisted, first[0].arg if first else None)

    # ---- conditionals and loops ----

    def visit_If(self, node: ast.If) -> Any:
        changed = bound([*node.body, *node.orelse])
        state = self._state([*node.body, *node.orelse], changed, self.live.after[node])
        # One branch must not see what the other one did while both are traced.
        entering = sorted((changed & self.live.head[node]) - set(state))
        test = self.visit(node.test)
        body, orelse = self._block(node.body), self._block(node.orelse)
        then, other = self.names.new("if_body"), self.names.new("else_body")
        declare = self._declaration(changed)
        text = (
            f"def {then}():\n    {declare}\n    BODY\n"
            f"def {other}():\n    {declare}\n    ORELSE\n"
            + self._accessors(
                [*state, *entering],
                f"ag__.if_stmt(TEST, {then}, {other}, {{get}}, {{set}}, {tuple(state)!r})",
            )
        )
        return statements(text, node, BODY=body, ORELSE=orelse, TEST=test)

    def visit_While(self, node: ast.While) -> Any:
        options = self._options(node)
        changed = bound([*node.body, node.test])
        live = self.live.after[node] | self.live.head[node]
        state = self._state(node.body, changed, live)
        test, body = self.visit(node.test), self._block(node.body)
        again, turn = self.names.new("loop_test"), self.names.new("loop_body")
        declare = self._declaration(changed)
        text = (
            f"def {again}():\n    {declare}\n    return TEST\n"
            f"def {turn}():\n    {declare}\n    BODY\n"
            + self._accessors(
                state,
                f"ag__.while_stmt({again}, {turn}, {{get}}, {{set}}, {{names}}, OPTIONS)",
            )
        )
        return statements(text, node, TEST=test, BODY=body, OPTIONS=options)

    def visit_For(self, node: ast.For) -> Any:
        options = self._options(node)
        changed = bound([*node.body, node.target])
        live = self.live.after[node] | self.live.head[node]
        state = self._state([node.target, *node.body], changed, live)
        more = extra_test(node)
        item, turn = self.names.new("item_"), self.names.new("loop_body")
        assign = ast.copy_location(ast.Assign([node.target], name(item, node)), node)
        body = [*_listed(self.visit(assign)), *self._block(node.body)]
        values = self.visit(node.iter)
        declare = self._declaration(changed)
        text, again = "", "None"
        if more is not None:
            again = self.names.new("extra_test")
            text = f"def {again}():\n    return MORE\n"
        call = f"ag__.for_stmt(VALUES, {again}, {turn}, {{get}}, {{set}}, {{names}}, OPTIONS)"
        text += f"def {turn}({item}):\n    {declare}\n    BODY\n" + self._accessors(state, call)
        more = more and self.visit(more)
        return statements(text, node, MORE=more, BODY=body, VALUES=values, OPTIONS=options)

    def _block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        return [made for each in stmts for made in _listed(self.visit(each))]

    def _options(self, node: ast.While | ast.For) -> ast.expr:
        """The arguments of `tf.autograph.experimental.set_loop_options(...)`, if it comes first."""
        first = node.body[0]
        call = first.value if isinstance(first, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("set_loop_options"):
            node.body = node.body[1:] or [ast.copy_location(ast.Pass(), first)]
            keys: list[ast.expr | None] = [ast.Constant(word.arg) for word in call.keywords]
            return ast.Dict(keys, [self.visit(word.value) for word in call.keywords])
        return ast.Dict([], [])

    def _state(self, nodes: list[Any], changed: set[str], live: set[str]) -> list[str]:
        parts = [part for part in parts_set(nodes) if changed.isdisjoint(_names_in(part))]
        return [*sorted(changed & live), *parts]

    def _declaration(self, changed: set[str]) -> str:
        inside, outside = sorted(changed - self.globals), sorted(changed & self.globals)
        parts = [f"nonlocal {', '.join(inside)}"] if inside else []
        parts += [f"global {', '.join(outside)}"] if outside else []
        return "; ".join(parts) or "pass"

    def _accessors(self, state: list[str], call: str) -> str:
        """The functions that get and set the state, and what is done with them."""
        get, put = self.names.new("get_state"), self.names.new("set_state")
        values = "".join(f"{self._getter(each)}, " for each in state)
        lines = [self._declaration({each for each in state if each.isidentifier()})]
        lines += [_setter(each, f"values_[{i}]") for i, each in enumerate(state)]
        body = "\n    ".join(lines)
        call = call.format(get=get, set=put, names=repr(tuple(state)))
        return f"def {get}():\n    return ({values})\ndef {put}(values_):\n    {body}\n{call}\n"

    def _getter(self, symbol: str) -> str:
        if not symbol.isidentifier():
            return f"ag__.part(lambda: {_steps(symbol)}, {symbol!r})"
        # A variable that is not the function's own may have no value.
        return f"ag__.variable(lambda: {symbol}, {symbol!r})" if symbol in self.outside else symbol

    # ---- other statements ----

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            # It may be all that makes a variable the function's.
            alone = isinstance(node.target, ast.Name) and node.target.id not in self.hoisted
            return node if alone else ast.copy_location(ast.Pass(), node)
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Delete(self, node: ast.Delete) -> Any:
        if all(isinstance(t, ast.Name) and t.id in self.hoisted for t in node.targets):
            names = [ast.unparse(target) for target in node.targets]
            text = "\n".join(f"{each} = ag__.Undefined({each!r})" for each in names)
            return statements(text, node)
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        message = node.msg or ast.Constant("Assertion error")
        return statements(
            "ag__.assert_stmt(TEST, lambda: MESSAGE)", node, TEST=self.visit(node.test),
            MESSAGE=self.visit(message),
        )  # fmt: skip

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if _is_generator(node):
            return node
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        rewrite_function(node, self.features, frozenset(self.maybe_undefined))
        node.decorator_list.append(name("ag__", node))
        node.decorator_list[-1] = ast.copy_location(
            ast.Attribute(node.decorator_list[-1], "autograph_artifact", ast.Load()), node
        )
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node


def _names_in(part: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(part)) if isinstance(node, ast.Name)}


def _setter(symbol: str, value: str) -> str:
    if symbol.isidentifier():
        return f"{symbol} = {value}"
    return f"ag__.set_part({_steps(symbol)}, {value})"


def _steps(symbol: str) -> str:
    """The object that a part belongs to, and its attribute or key there."""
    node = ast.parse(symbol, mode="eval").body
    assert isinstance(node, (ast.Attribute, ast.Subscript))
    owner = ast.unparse(node.value)
    if isinstance(node, ast.Attribute):
        return f"({owner}, {node.attr!r}, None)"
    return f"({owner}, None, {ast.unparse(node.slice)})"
