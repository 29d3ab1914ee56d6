"""The text of a stub: re-exports, and functions spelled out.

Public names such as `bool` and `Tensor` must not be taken for the types of the same name: types are
imported under names of their own.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
from typing import Any

ANY = "_Any"


class Stub:
    def __init__(self) -> None:
        self._imports = {"import builtins as _builtins", "from typing import Any as _Any"}
        self._exports: list[str] = []
        self._functions: list[str] = []

    def __str__(self) -> str:
        return "\n".join([*sorted(self._imports), *self._exports, *self._functions, ""])

    def export(self, name: str, home: str, original: str) -> None:
        """`from ... import a as b` exports nothing from a stub unless the names are the same."""
        inside = name if name == original else f"_is_{name}"
        self._exports.append(f"from {home} import {original} as {inside}")
        if inside != name:
            self._functions.append(f"{name} = {inside}")

    def define(self, name: str, function: Any) -> None:
        signature = inspect.signature(function)
        scope = getattr(inspect.unwrap(function), "__globals__", {})
        parts, is_keyword_only = [], False
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                is_keyword_only = True
            elif parameter.kind is parameter.KEYWORD_ONLY and not is_keyword_only:
                parts.append("*")
                is_keyword_only = True
            parts.append(self._parameter(parameter, scope))
        returned = self._type(signature.return_annotation, scope)
        self._functions.append(f"def {name}({', '.join(parts)}) -> {returned}: ...")

    def _parameter(self, parameter: inspect.Parameter, scope: dict[str, Any]) -> str:
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        annotation = parameter.annotation
        if annotation is parameter.empty and parameter.name == "name":
            annotation = "str | None"
        kind = self._type(annotation, scope)
        if parameter.default is parameter.empty:
            return f"{stars}{parameter.name}: {kind}"
        return f"{parameter.name}: {kind} = {_default(parameter.default)}"

    def _type(self, annotation: Any, scope: dict[str, Any]) -> str:
        if annotation is inspect.Signature.empty:
            return ANY
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
        try:
            tree = ast.parse(text, mode="eval")
            return ast.unparse(_Qualified(self, scope).visit(tree))
        except (LookupError, SyntaxError):
            return ANY

    def name_of(self, name: str, scope: dict[str, Any]) -> str:
        """How the stub calls what is called `name` where the function is written."""
        found = scope.get(name, getattr(builtins, name, None))
        if found is Any or found is None:
            return "None" if name == "None" else ANY
        if getattr(found, "__module__", "") == "builtins":
            return f"_builtins.{found.__name__}"
        home = getattr(found, "__module__", "")
        if (
            not inspect.isclass(found)
            or getattr(importlib.import_module(home), name, 0) is not found
        ):
            raise LookupError(name)
        self._imports.add(f"from {home} import {name} as _{name}")
        return f"_{name}"


class _Qualified(ast.NodeTransformer):
    """An annotation with every name in it replaced by that of the stub."""

    def __init__(self, stub: Stub, scope: dict[str, Any]) -> None:
        self._stub, self._scope = stub, scope

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._stub.name_of(node.id, self._scope))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        raise LookupError(ast.unparse(node))


def _default(value: Any) -> str:
    """The default as it is written, where that is a number, a string or None."""
    is_plain = type(value) in (type(None), bool, int, str, float)
    return repr(value) if is_plain and repr(value) not in ("inf", "-inf", "nan") else "..."
