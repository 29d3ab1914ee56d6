"""Networks out of parts: one after another (`|`), several times (`**`), side by side (`+`, `*`)."""

from __future__ import annotations

import functools
import importlib
import operator
import re
import sys
from collections.abc import Callable as _Callable
from typing import Any

__all__ = [
    "Callable",
    "Composable",
    "Composition",
    "External",
    "Function",
    "Import",
    "Operator",
    "check_keywords",
    "debug",
    "get_positional",
]
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_KEYWORDS = re.compile(r"\b(import|while|def|exec)\b")
_told = {"debug": False}


def check_keywords(spec: str) -> None:
    """ValueError where a specification has a word that it must not have, outside of quotes."""
    found = _KEYWORDS.search(_QUOTED.sub("", spec))
    if found:
        raise ValueError(f"keyword '{found[1]}' found in spec")


def get_positional(args: Any, kw: dict[str, Any], kw_overrides: bool = False) -> Any:
    """Arguments whose places are given as `_0`, `_1`, ... among those without names."""
    placed = {int(name[1:]): value for name, value in kw.items() if name.startswith("_")}
    if not placed:
        return args, kw
    found = list(args) + [None] * (max(placed) + 1 - len(args))
    for place, value in placed.items():
        if kw_overrides or found[place] is None:
            found[place] = value
    return found, {name: value for name, value in kw.items() if not name.startswith("_")}


class Composable:
    """A part of a network; `funcall(x)` adds it to the graph, on top of `x`."""

    def funcall(self, x: Any) -> Any:
        """The part, on top of `x`."""
        raise NotImplementedError

    def __or__(self, f: Composable) -> Composition:
        return Composition(self, f)

    def __add__(self, g: Composable) -> Operator:
        return Operator(operator.add, self, g)

    def __mul__(self, g: Composable) -> Operator:
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        assert n >= 0
        if not n:
            return Callable(lambda x: x)
        return functools.reduce(operator.or_, [self] * n)


class Callable(Composable):
    """A function of one tensor as a part."""

    def __init__(self, f: _Callable[[Any], Any]) -> None:
        self.funcall = f  # type: ignore[method-assign]


class Operator(Composable):
    """An operation on what several parts make of the same input."""

    def __init__(self, op: _Callable[..., Any], *args: Composable) -> None:
        self.op, self.funs = op, args

    def funcall(self, x: Any) -> Any:
        """The operation, on top of the parts."""
        return self.op(*(part.funcall(x) for part in self.funs))


class Composition(Composable):
    """A part on top of another."""

    def __init__(self, f: Composable, g: Composable) -> None:
        self.f, self.g = f, g

    def funcall(self, x: Any) -> Any:
        """The second part on top of the first."""
        return self.g.funcall(self.f.funcall(x))


class Function(Composable):
    """A function with further arguments; calling it gives it more of them."""

    def __init__(self, f: Any, *args: Any, **kw: Any) -> None:
        if not callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f, self.args, self.kw = f, list(args), kw

    def __call__(self, *args: Any, **kw: Any) -> Function:
        return Function(self.f, *args, *self.args, **self.kw | kw)

    def funcall(self, x: Any) -> Any:
        """The function of `x` and its arguments."""
        args, kw = get_positional(self.args, self.kw)
        if _told["debug"]:
            sys.stdout.write(f"DEBUG: {self.f} {x} {args} {kw}\n")
        return self.f(x, *args, **kw)


def External(module_name: str, function_name: str) -> Function:
    """A function of a module as a part."""
    return Function(vars(importlib.import_module(module_name))[function_name])


def Import(statements: str) -> Function:
    """The function `f` that some statements make, as a part."""
    made: dict[str, Any] = {}
    exec(statements, made)
    if "f" not in made:
        raise ValueError('failed to define "f": %s', statements)
    return Function(made["f"])


def debug(mode: bool = True) -> None:
    """Says what functions are called with, as they are."""
    _told["debug"] = mode
