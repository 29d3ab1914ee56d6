"""Python functions -> converted functions, which keep file and lines of the user's source."""

from __future__ import annotations

import ast
import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any

from weft.lib.autograph.rewrite import rewrite_function
from weft.lib.autograph.source import Definition, NoSource, definition_of
from weft.lib.autograph.syntax import AG

FACTORY = "outer_factory"

# Codes of equal functions in two files are equal, too.
_Key = tuple[str, frozenset[str]]
_codes: weakref.WeakKeyDictionary[types.CodeType, dict[_Key, types.CodeType]] = (
    weakref.WeakKeyDictionary()
)
_made: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def is_converted(code: types.CodeType) -> bool:
    """Whether it is the code of a converted function, or of a block of one."""
    return AG in code.co_freevars or code in _made


def mark_done(function: Any) -> Any:
    """Marks a function as one that needs no conversion.

    The mark names its code: `functools.wraps` copies it to wrappers, which are not done.
    """
    function.ag_converted = function.__code__
    return function


def is_done(function: Any) -> bool:
    """Whether `mark_done` was called for this function, or for that of a method."""
    code = getattr(function, "__code__", None)
    return code is not None and getattr(function, "ag_converted", None) is code


def is_convertible(function: Any) -> bool:
    """Whether a function is written in Python and runs from begin to end when called."""
    if not inspect.isfunction(function):
        return False
    waits = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    return not function.__code__.co_flags & waits


def converted(function: Callable[..., Any], features: frozenset[str]) -> Callable[..., Any]:
    """A function like `function` whose control flow may depend on tensors.

    NoSource if it cannot be had.
    """
    if not is_convertible(function):
        raise NoSource(f"{function} is not a Python function")
    assert isinstance(function, types.FunctionType)
    known = _codes.setdefault(function.__code__, {})
    key = function.__code__.co_filename, features
    if key not in known:
        known[key] = _converted_code(function, features)
        _made.add(known[key])
    return _with_code(function, known[key])


def _with_code(function: types.FunctionType, code: types.CodeType) -> types.FunctionType:
    """The code in the place of the function's own: with its globals, cells and defaults."""
    from weft.lib.autograph import operators

    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[AG] = types.CellType(operators)
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(made, function)
    vars(made).pop("__wrapped__", None)
    return mark_done(made)


def _converted_code(function: types.FunctionType, features: frozenset[str]) -> types.CodeType:
    tree = converted_tree(function, features)
    code = compile(tree, function.__code__.co_filename, "exec", dont_inherit=True)
    name = function.__code__.co_name
    return _nested(_nested(code)).replace(co_name=name, co_qualname=function.__qualname__)


def _nested(code: types.CodeType) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType))


def converted_tree(function: types.FunctionType, features: frozenset[str]) -> ast.Module:
    """A module with a function that holds the converted one, so that it has its free variables."""
    definition, owner = definition_of(function)
    if owner is not None:
        _Mangle(owner).visit(definition)
    node = _as_function(definition)
    node.decorator_list = []
    none = ast.copy_location(ast.Constant(None), node)
    node.args.defaults = [none for _ in node.args.defaults]
    node.args.kw_defaults = [each and none for each in node.args.kw_defaults]
    rewrite_function(node, features)
    # Under its own name it would be what the function finds by that name.
    node.name = AG + node.name
    free = [ast.arg(name) for name in dict.fromkeys([*function.__code__.co_freevars, AG])]
    empty: list[Any] = []
    args = ast.arguments(empty, free, None, [], [], None, [])
    outer = ast.FunctionDef(FACTORY, args, [node], [])
    ast.copy_location(outer, node)
    module = ast.Module([outer], [])
    ast.fix_missing_locations(module)
    return module


def _as_function(node: Definition) -> ast.FunctionDef:
    if isinstance(node, ast.FunctionDef):
        return node
    body = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(ast.FunctionDef("lambda_", node.args, [body], []), node)


class _Mangle(ast.NodeTransformer):
    """Private names of a class as Python knows them: `__x` is `_Class__x`."""

    def __init__(self, owner: str) -> None:
        self.prefix = "_" + owner.lstrip("_")

    def _name(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__")
        return self.prefix + name if private else name

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.attr = self._name(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._name(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.arg = self._name(node.arg)
        return node


def converted_source(function: types.FunctionType, features: frozenset[str]) -> str:
    """The text of the converted function."""
    outer = converted_tree(function, features).body[0]
    assert isinstance(outer, ast.FunctionDef) and isinstance(outer.body[0], ast.FunctionDef)
    outer.body[0].name = outer.body[0].name.removeprefix(AG)
    return ast.unparse(outer.body[0]) + "\n"
