"""break, continue and return -> flags, so that every block has one way out.

`if c: return a` with more to come becomes `if c: return a` `else:` that; where this does not do,
what may be jumped over is put under `if not flag:`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from weft.lib.autograph.syntax import both, name, negated, set_flag, statements

RETURNED, RESULT = "do_return", "retval_"
LOOPS = (ast.While, ast.For)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def lower_exits(function: ast.FunctionDef, names: Names) -> None:
    """Rewrites the body of a function in place."""
    function.body = _lower_loops(function.body, names)
    if not _only_returns_last(function.body):
        _lower_returns(function, names)


class Names:
    """Gives names that are not in use."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def new(self, base: str) -> str:
        found, number = base, 0
        while found in self.taken:
            number += 1
            found = f"{base}_{number}"
        self.taken.add(found)
        return found


# ---- blocks inside of statements ----------------------------------------------------------------


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement that belong to the same function."""
    if isinstance(node, _SCOPES):
        return []
    found = [getattr(node, field, []) for field in ("body", "orelse", "finalbody")]
    if isinstance(node, ast.Try):
        found += [handler.body for handler in node.handlers]
    if isinstance(node, ast.Match):
        found += [case.body for case in node.cases]
    return [block for block in found if block]


def _contains(stmts: list[ast.stmt], kind: type, through_loops: bool) -> bool:
    return any(
        isinstance(node, kind)
        or (
            (through_loops or not isinstance(node, LOOPS)) and _in_blocks(node, kind, through_loops)
        )
        for node in stmts
    )


def _in_blocks(node: ast.stmt, kind: type, through_loops: bool) -> bool:
    return any(_contains(block, kind, through_loops) for block in blocks(node))


def _always(stmts: list[ast.stmt], kind: type) -> bool:
    """Whether a block ends in this statement whichever way it goes."""
    if not stmts:
        return False
    last = stmts[-1]
    if isinstance(last, (kind, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return _always(last.body, kind) and _always(last.orelse, kind)
    if isinstance(last, ast.While) and kind is ast.Return:
        # Of one that could be left by `break`, the condition has a flag in it by now.
        return isinstance(last.test, ast.Constant) and bool(last.test.value)
    return isinstance(last, ast.With) and _always(last.body, kind)


# ---- one kind of exit -> a flag -----------------------------------------------------------------


class _Lowering:
    """Replaces statements of one kind by what raises a flag, and guards what comes after."""

    def __init__(
        self, kind: type, flag: str, through_loops: bool,
        replace: Callable[[ast.stmt], list[ast.stmt]],
    ) -> None:  # fmt: skip
        self.kind, self.flag, self.through_loops = kind, flag, through_loops
        self.replace = replace

    def block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for i, node in enumerate(stmts):
            rest = stmts[i + 1 :]
            if isinstance(node, self.kind):
                return [*done, *self.replace(node)]
            if not self._may_exit(node):
                done.append(node)
                continue
            if isinstance(node, ast.If) and self._take_rest(node, rest):
                rest = []
            self._inside(node)
            done.append(node)
            if rest:
                done.append(self._guarded(self.block(rest)))
            return done
        return done

    def _may_exit(self, node: ast.stmt) -> bool:
        if isinstance(node, LOOPS) and not self.through_loops:
            return False
        return _in_blocks(node, self.kind, self.through_loops)

    def _take_rest(self, node: ast.If, rest: list[ast.stmt]) -> bool:
        """Moves the code after a branch that ends here into the other branch."""
        if not rest:
            return False
        if _always(node.body, self.kind):
            node.orelse = [*node.orelse, *rest]
            return True
        if node.orelse and _always(node.orelse, self.kind):
            node.body = [*node.body, *rest]
            return True
        return False

    def _inside(self, node: ast.stmt) -> None:
        leaves = isinstance(node, ast.Try) and _contains(node.body, self.kind, self.through_loops)
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field)))
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            part.body = self.block(part.body)
        if leaves and isinstance(node, ast.Try) and node.orelse:
            node.orelse = [self._guarded(node.orelse)]  # runs only after the end of the body
        if isinstance(node, LOOPS):
            stop_on(node, self.flag)

    def _guarded(self, stmts: list[ast.stmt]) -> ast.stmt:
        guard = ast.If(negated([self.flag], stmts[0]), stmts, [])
        return ast.copy_location(guard, stmts[0])


def stop_on(loop: ast.stmt, flag: str) -> None:
    """Makes a loop end when a flag is up."""
    test = negated([flag], loop)
    if isinstance(loop, ast.While):
        loop.test = both(test, loop.test)
    else:
        known = extra_test(loop)
        set_extra_test(loop, test if known is None else both(test, known))


def extra_test(loop: ast.stmt) -> ast.expr | None:
    """The further condition for a `for` loop to go on."""
    return getattr(loop, "weft_extra_test", None)


def set_extra_test(loop: ast.stmt, test: ast.expr) -> None:
    loop.weft_extra_test = test  # type: ignore[attr-defined]


# ---- loops --------------------------------------------------------------------------------------


def _lower_loops(stmts: list[ast.stmt], names: Names) -> list[ast.stmt]:
    done: list[ast.stmt] = []
    for node in stmts:
        for field in ("body", "orelse", "finalbody"):
            if not isinstance(node, _SCOPES) and getattr(node, field, None):
                setattr(node, field, _lower_loops(getattr(node, field), names))
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            part.body = _lower_loops(part.body, names)
        done += _lower_loop(node, names) if isinstance(node, LOOPS) else [node]
    return done


def _lower_loop(node: ast.While | ast.For, names: Names) -> list[ast.stmt]:
    if _contains(node.body, ast.Continue, False):
        flag = names.new("continue_")
        body = _Lowering(ast.Continue, flag, False, lambda at: [set_flag(flag, True, at)])
        node.body = [set_flag(flag, False, node.body[0]), *body.block(node.body)]
    before: list[ast.stmt] = []
    orelse, node.orelse = node.orelse, []
    if _contains(node.body, ast.Break, False):
        stop = names.new("break_")
        lowering = _Lowering(ast.Break, stop, False, lambda at: [set_flag(stop, True, at)])
        node.body = lowering.block(node.body)
        stop_on(node, stop)
        before = [set_flag(stop, False, node)]
        if orelse:
            guard = ast.copy_location(ast.If(negated([stop], orelse[0]), orelse, []), orelse[0])
            orelse = [guard]
    return [*before, node, *orelse]


# ---- returns ------------------------------------------------------------------------------------


def _only_returns_last(body: list[ast.stmt]) -> bool:
    return not _contains(body[:-1], ast.Return, True) and (
        isinstance(body[-1], ast.Return) or not _in_blocks(body[-1], ast.Return, True)
    )


def _lower_returns(function: ast.FunctionDef, names: Names) -> None:
    flag, result = names.new(RETURNED), names.new(RESULT)

    def replace(node: ast.stmt) -> list[ast.stmt]:
        assert isinstance(node, ast.Return)
        value = node.value or ast.copy_location(ast.Constant(None), node)
        target = name(result, node, store=True)
        made = ast.copy_location(ast.Assign([target], value), node)
        # The flag comes last: a value that cannot be computed is not returned.
        return [made, set_flag(flag, True, node)]

    first = function.body[0]
    begin = statements(f"{flag} = False\n{result} = ag__.NOTHING_RETURNED", first)
    # Where it may end without a return, that must not depend on a tensor.
    sure = "True" if _always(function.body, ast.Return) else flag
    end = statements(f"return ag__.returned({result}, {sure})", function.body[-1])
    lowering = _Lowering(ast.Return, flag, True, replace)
    function.body = [*begin, *lowering.block(function.body), *end]
