"""Finds the module that declares each operation, for weft/ops/places.py."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

HEADER = '''"""Which module of weft.ops declares what; written by `make stubs`."""

PLACES = {
'''
WIDTH = 100


def text() -> str:
    """The file."""
    lines = [HEADER]
    for module, names in sorted(_declared().items()):
        lines.append(_entry(module, sorted(names)))
    return "".join([*lines, "}\n"])


def _declared() -> dict[str, list[str]]:
    """The operations by module, whose import is what declares them."""
    from weft.graph.registry import Registry

    found: dict[str, list[str]] = {}

    def put(table: Any, name: str, value: Any) -> None:
        home, _, module = _importing(sys._getframe(1)).partition("weft.ops.")
        if type(value).__name__ == "OpDef" and not home:
            found.setdefault(module, []).append(name)
        dict.__setitem__(table, name, value)

    Registry.__setitem__ = put  # type: ignore[method-assign]
    try:
        from weft.ops import load_all

        load_all()
    finally:
        del Registry.__setitem__
    return found


def _importing(frame: FrameType | None) -> str:
    """The module whose code is run."""
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    assert frame is not None
    return str(frame.f_globals["__name__"])


def _entry(module: str, names: list[str]) -> str:
    line = f'    "{module}": "{" ".join(names)}",\n'
    if len(line) <= WIDTH + 1:
        return line
    rows, row = [], ""
    for name in names:
        if len(row) + len(name) > WIDTH - 11:
            rows.append(row)
            row = ""
        row += f"{name} "
    rows.append(row.rstrip())
    shown = "".join(f'        "{each}"\n' for each in rows)
    return f'    "{module}": (\n{shown}    ),\n'
