"""What NumPy is stricter about: arrays of one element as numbers, or of a string; floats in slices.

Where a number is wanted, NumPy takes `n.item()` only, and `int(n)` of a float. What is found is
certain: a name counts as an array where everything that is assigned to it is one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from weft.legacy.checking.program import Names
from weft.legacy.checking.sources import Source
from weft.legacy.old.python2.statements import RUNTIME
from weft.legacy.upgrading.edits import Edit, Places

# Functions of NumPy that give arrays of at least one dimension.
_MAKERS = frozenset(
    f"numpy.{name}" for name in "frombuffer fromstring fromfile arange linspace atleast_1d".split()
)
_ROUNDING = frozenset({"floor", "ceil"})
_NUMBERS = frozenset({"int", "long", "float", "complex"})
_COUNTS = frozenset({"read", "range", "xrange"})
_SHAPES = frozenset({"reshape", "zeros", "ones", "empty"})
_CONVERSION = re.compile(r"%(?:\([^)]*\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?(.)")
_OF_NUMBERS = frozenset("diouxXeEfFgG")


def edits(source: Source, names: Names) -> Iterator[Edit]:
    """The edits of a file."""
    if source.tree is None or source.cells or "numpy" not in names.roots:
        return  # in a notebook, the tree's columns may not be the text's
    arrays, places = Arrays(source.tree, names), Places(source.text)
    for scope in _scopes(source.tree):
        for node in _own_nodes(scope):
            if isinstance(node, ast.Call) and _reads_bytes(node, names):
                yield from _from_buffer(node, places)
            for end in _rounded_ends(node):
                first, last = places.span(end)
                yield from (Edit(first, first, "int("), Edit(last, last, ")"))
            for number in _wanted_numbers(node):
                if arrays.is_array(number, scope):
                    yield from _item_of(number, places)


def _rounded_ends(node: ast.AST) -> Iterator[ast.expr]:
    """The ends of slices that are whole numbers as floats."""
    if isinstance(node, ast.Slice):
        yield from (each for each in (node.lower, node.upper) if each and _is_rounded(each))


def _is_rounded(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_rounded(node.left) or _is_rounded(node.right)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    is_known = ast.unparse(node.func.value) in ("math", "np", "numpy", RUNTIME)
    return is_known and node.func.attr in _ROUNDING


def _item_of(node: ast.expr, places: Places) -> Iterator[Edit]:
    start, end = places.span(node)
    needs_brackets = not isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
    if needs_brackets:
        yield Edit(start, start, "(")
    yield Edit(end, end, ").item()" if needs_brackets else ".item()")


def _reads_bytes(node: ast.Call, names: Names) -> bool:
    """`np.fromstring` without `sep`, which is for text today."""
    is_given = len(node.args) > 3 or any(each.arg in (None, "sep") for each in node.keywords)
    written = ast.unparse(node.func) if isinstance(node.func, ast.Attribute) else ""
    return not is_given and names.meanings(written) == ["numpy.fromstring"]


def _from_buffer(node: ast.Call, places: Places) -> Iterator[Edit]:
    (_, name_end), (_, end) = places.span(node.func), places.span(node)
    yield Edit(name_end - len("string"), name_end, "buffer")
    yield Edit(end, end, ".copy()")  # one that can be written to


def _wanted_numbers(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in a node that must be numbers."""
    if isinstance(node, ast.Call):
        yield from _numbers_of_call(node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        yield from _numbers_of_format(node)


def _numbers_of_call(node: ast.Call) -> Iterator[ast.expr]:
    function = ast.unparse(node.func)
    name = function.rpartition(".")[2].rstrip("_")  # `range_`, where Python 2 was translated
    is_number = name in _NUMBERS and len(node.args) == 1 and isinstance(node.func, ast.Name)
    if is_number or name in _COUNTS or function.startswith("math."):
        yield from node.args
    elif name in _SHAPES:
        several = node.args if len(node.args) > 1 else []
        listed = [each for each in node.args if isinstance(each, ast.Tuple | ast.List)]
        yield from (each for row in listed for each in row.elts)
        yield from several if not listed and isinstance(node.func, ast.Attribute) else ()


def _numbers_of_format(node: ast.BinOp) -> Iterator[ast.expr]:
    """The values that a format writes as numbers."""
    form = node.left.value if isinstance(node.left, ast.Constant) else None
    if not isinstance(form, str) or "%(" in form or "*" in form:
        return
    values = node.right
    if isinstance(values, ast.Call) and ast.unparse(values.func).endswith(".as_text"):
        values = values.args[0]  # where Python 2 was translated
    several = values.elts if isinstance(values, ast.Tuple) else [values]
    kinds = [kind for kind in _CONVERSION.findall(form) if kind != "%"]
    if len(kinds) == len(several):
        yield from (each for each, kind in zip(several, kinds, strict=True) if kind in _OF_NUMBERS)


class Arrays:
    """Which expressions of a file are arrays of at least one dimension."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self._names = names
        self._functions: set[str] = set()
        self._variables: dict[ast.AST, dict[str, bool]] = {}
        scopes = list(_scopes(tree))
        found = -1
        while len(self._functions) > found:  # functions return what others return
            found = len(self._functions)
            self._variables = {}
            for scope in scopes:
                self._read(scope)

    def _read(self, scope: ast.AST) -> None:
        variables = self._variables[scope] = {}
        values = _plain_assignments(scope)
        returned = []
        for node in _own_nodes(scope):
            if isinstance(node, ast.Return):
                returned.append(node.value is not None and self.is_array(node.value, scope))
            elif isinstance(node, ast.arg):
                variables[node.arg] = False
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                is_array = node in values and self.is_array(values[node], scope)
                variables[node.id] = is_array and variables.get(node.id, True)
        if isinstance(scope, ast.FunctionDef) and returned and all(returned):
            self._functions.add(scope.name)

    def is_array(self, node: ast.expr, scope: ast.AST) -> bool:
        """Whether an expression is surely an array."""
        if isinstance(node, ast.Name):
            return self._variables[scope].get(node.id, False)
        if isinstance(node, ast.BinOp):
            return self.is_array(node.left, scope) or self.is_array(node.right, scope)
        if isinstance(node, ast.UnaryOp):
            return self.is_array(node.operand, scope)
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Slice) and self.is_array(node.value, scope)
        if not isinstance(node, ast.Call):
            return False
        function = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "copy", "view"):
            return self.is_array(node.func.value, scope)
        meant = set(self._names.meanings(function))
        return function in self._functions or (bool(meant) and meant <= _MAKERS)


def _scopes(tree: ast.Module) -> Iterator[ast.Module | ast.FunctionDef]:
    yield tree
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of functions in it, in the order of the text."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            yield node
            yield from _own_nodes(node)


def _plain_assignments(scope: ast.AST) -> dict[ast.AST, ast.expr]:
    """The targets of `name = value` -> the values."""
    return {
        node.targets[0]: node.value
        for node in _own_nodes(scope)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
