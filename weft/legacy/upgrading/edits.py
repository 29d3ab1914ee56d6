"""Edits of a text, by place."""

from __future__ import annotations

import ast
import io
import itertools
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


class Places:
    """The offsets of the nodes of a tree in the text it was made of."""

    def __init__(self, text: str) -> None:
        self._lines = _lines(text)
        self._starts = [0, *itertools.accumulate(map(len, self._lines))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """(the offset of the first character, the one after the last)."""
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self._offset(node.lineno, node.col_offset), end

    def _offset(self, line: int, column: int) -> int:
        before = self._lines[line - 1].encode()[:column].decode()  # columns count bytes
        return self._starts[line - 1] + len(before)


def import_place(text: str, tree: ast.Module | None) -> int:
    """Where a new import can stand: after the docstring and what is imported from the future."""
    after = 0
    for i, node in enumerate(tree.body if tree is not None else []):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and i == 0
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        after = node.end_lineno or node.lineno
    lines = _lines(text)
    while after < len(lines) and re.match(r"#|\s*$", lines[after]):
        after += 1
    return sum(map(len, lines[:after]))


def _lines(text: str) -> list[str]:
    """The lines as Python counts them: a form feed ends none."""
    return list(io.StringIO(text, newline=""))
