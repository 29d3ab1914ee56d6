"""Conditionals and loops as nodes that call functions, which `ops/functions` knows how to build.

A graph of functions has those instead of switches and merges. Functions are made of operations, and
conditionals and loops are operations: so the family of functions comes later, and adds its forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FORMS: dict[str, Callable[..., Any]] = {}


def adds_form(kind: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: `function` builds a "cond", "case" or "while" in a graph of functions."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        _FORMS[kind] = function
        return function

    return add


def function_form(kind: str) -> Callable[..., Any]:
    """The builder of a "cond", "case" or "while"."""
    return _FORMS[kind]
