"""The tree of a program's text: what Python makes of it, or what `weft run` has it mean."""

from __future__ import annotations

import ast
from collections.abc import Callable

Reader = Callable[[str, str], ast.Module | None]
_readers: list[Reader] = []


def read_by(reader: Reader) -> None:
    """Lets `reader` make trees, from texts and the names of their files; None: it does not."""
    if reader not in _readers:
        _readers.append(reader)


def parse(text: str, filename: str) -> ast.Module:
    """The tree of a text, as it was compiled from the file of this name."""
    for reader in _readers:
        tree = reader(text, filename)
        if tree is not None:
            return tree
    return ast.parse(text, filename)
