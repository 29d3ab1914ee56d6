"""Edits of a text, by place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; of two that overlap, the first."""
    parts, done = [], 0
    for edit in sorted(dict.fromkeys(edits)):
        if edit.start < done:
            continue
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


def import_place(text: str, tree: ast.Module | None) -> int:
    """Where a new import can stand: after the docstring and what is imported from the future."""
    after = 0
    for i, node in enumerate(tree.body if tree is not None else []):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and i == 0
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        after = node.end_lineno or node.lineno
    lines = text.splitlines(keepends=True)
    while after < len(lines) and re.match(r"#|\s*$", lines[after]):
        after += 1
    return sum(map(len, lines[:after]))
