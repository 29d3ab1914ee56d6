"""The variables that a function binds and reads, and those that matter after a statement.

Only those that do have to pass out of a conditional, or from one turn of a loop to the next.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from weft.lib.autograph.exits import extra_test

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


# ---- names --------------------------------------------------------------------------------------


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements or expressions bind in their own function."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _COMPREHENSIONS):
            # Only `:=` reaches out of one.
            walked = [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            found |= {n.target.id for n in walked}
            continue
        found |= _bound_here(node)
        found |= bound(ast.iter_child_nodes(node))
    return found


def _bound_here(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return {node.id}
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        return {node.name}
    if isinstance(node, ast.MatchMapping) and node.rest:
        return {node.rest}
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    return set()


def parts_set(nodes: Iterable[ast.AST]) -> list[str]:
    """The parts of variables that statements assign to: "name.attribute", "name['key']"."""
    found: dict[str, None] = {}
    for node in nodes:
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            if _is_path(node):
                found[ast.unparse(node)] = None
        found |= dict.fromkeys(parts_set(ast.iter_child_nodes(node)))
    return list(found)


def _is_path(node: ast.expr) -> bool:
    """Whether it leads from a variable, by attributes and keys that are constants or variables."""
    if isinstance(node, ast.Attribute):
        return _is_path(node.value)
    if isinstance(node, ast.Subscript):
        return _is_path(node.value) and isinstance(node.slice, (ast.Constant, ast.Name))
    return isinstance(node, ast.Name)


def read(node: ast.AST | None) -> set[str]:
    """The names that a statement or expression may read; of functions in it, the free ones."""
    if node is None:
        return set()
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Store) else {node.id}
    if isinstance(node, _COMPREHENSIONS):
        targets = bound([part.target for part in node.generators])
        first = read(node.generators[0].iter)
        return first | (_read_by(ast.iter_child_nodes(node)) - targets)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return _read_by_function(node)
    found = _read_by(ast.iter_child_nodes(node))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return found | read(extra_test(node)) if isinstance(node, ast.For) else found


def _read_by(nodes: Iterable[ast.AST]) -> set[str]:
    return set().union(*map(read, nodes))


def _read_by_function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    body: Iterable[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
    shared = declared(body, ast.Nonlocal) | declared(body, ast.Global)
    own = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)} | bound(body)
    outside = [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
    outside += getattr(node, "decorator_list", [])
    return ((_read_by(body) | shared) - (own - shared)) | _read_by(outside)


def readers(nodes: Iterable[ast.AST]) -> Counter[str]:
    """How many functions inside read each name: they may be called at any time."""
    found: Counter[str] = Counter()
    for node in nodes:
        if isinstance(node, _SCOPES):
            found.update(read(node))
        else:
            found += readers(ast.iter_child_nodes(node))
    return found


def declared(nodes: Iterable[ast.AST], kind: type) -> set[str]:
    """The names in `global` or `nonlocal` statements of a function."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, kind):
            found |= set(node.names)  # type: ignore[attr-defined]
        elif not isinstance(node, _SCOPES):
            found |= declared(ast.iter_child_nodes(node), kind)
    return found


# ---- liveness -----------------------------------------------------------------------------------


class Liveness:
    """Walks a function backwards; `after` of a conditional or loop is what matters after it.

    `head` is what matters when a turn of the loop, or a branch, begins.
    """

    def __init__(self, body: list[ast.stmt]) -> None:
        self.after: dict[ast.stmt, set[str]] = {}
        self.head: dict[ast.stmt, set[str]] = {}
        self.shared = declared(body, ast.Nonlocal) | declared(body, ast.Global)
        self.readers = readers(body)
        self.caught: set[str] = set()  # what matters when an exception comes
        self.block(body, set())

    def _always(self, node: ast.stmt) -> set[str]:
        """Names that are live after a statement in any case: functions outside of it read them."""
        inside = readers([node])
        return self.shared | {name for name, n in self.readers.items() if n > inside[name]}

    def block(self, stmts: list[ast.stmt], after: set[str]) -> set[str]:
        for node in reversed(stmts):
            after = self.before(node, after)
        return after

    def before(self, node: ast.stmt, after: set[str]) -> set[str]:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        found: set[str] = method(node, after) if method is not None else after | read(node)
        return found | self.caught

    def _catching(self, stmts: list[ast.stmt], after: set[str], caught: set[str]) -> set[str]:
        outer, self.caught = self.caught, self.caught | caught
        try:
            return self.block(stmts, after)
        finally:
            self.caught = outer

    def _if(self, node: ast.If, after: set[str]) -> set[str]:
        self.after[node] = after | self._always(node)
        self.head[node] = self.block(node.body, after) | self.block(node.orelse, after)
        return read(node.test) | self.head[node]

    def _while(self, node: ast.While, after: set[str]) -> set[str]:
        return self._loop(node, after, read(node.test), set())

    def _for(self, node: ast.For, after: set[str]) -> set[str]:
        test = read(extra_test(node))
        return read(node.iter) | self._loop(node, after, test, bound([node.target]))

    def _loop(
        self, node: ast.While | ast.For, after: set[str], test: set[str], given: set[str]
    ) -> set[str]:
        head = after | test
        for _ in range(2):  # the second time, with what the first turn needs
            head = head | (self.block(node.body, head) - given)
        always = self._always(node)
        self.after[node], self.head[node] = after | always, head | always
        return head

    def _with(self, node: ast.With, after: set[str]) -> set[str]:
        live = self._catching(node.body, after, after)  # it may swallow an exception
        for item in node.items:
            live = (live - bound([item])) | read(item.context_expr)
        return live

    def _try(self, node: ast.Try, after: set[str]) -> set[str]:
        last = self.block(node.finalbody, after) | after
        handled = last.union(*(self.block(handler.body, last) for handler in node.handlers))
        types = set().union(*(read(handler.type) for handler in node.handlers))
        normal = self.block(node.orelse, last)
        return types | self._catching(node.body, normal, handled | types)

    def _match(self, node: ast.Match, after: set[str]) -> set[str]:
        parts = [self.block(case.body, after) | read(case.guard) for case in node.cases]
        return read(node.subject) | after.union(*parts)

    def _assign(self, node: ast.Assign, after: set[str]) -> set[str]:
        return self._killed(node.targets, after) | read(node.value)

    def _annassign(self, node: ast.AnnAssign, after: set[str]) -> set[str]:
        if node.value is None:
            return after
        return self._killed([node.target], after) | read(node.value)

    @staticmethod
    def _killed(targets: list[ast.expr], after: set[str]) -> set[str]:
        within = set().union(*(read(target) for target in targets))
        return (after - bound(targets)) | within

    def _augassign(self, node: ast.AugAssign, after: set[str]) -> set[str]:
        return after | read(node)

    def _functiondef(self, node: ast.FunctionDef, after: set[str]) -> set[str]:
        return (after - {node.name}) | read(node)

    def _return(self, node: ast.Return, after: set[str]) -> set[str]:
        return read(node.value)

    def _raise(self, node: ast.Raise, after: set[str]) -> set[str]:
        return read(node.exc) | read(node.cause)
