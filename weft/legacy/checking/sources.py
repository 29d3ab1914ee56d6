"""The files of a program: Python files and the cells of notebooks, as text and tree."""

from __future__ import annotations

import ast
import functools
import io
import json
import os
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.legacy.checking import old_names
from weft.legacy.checking.scanning import Scan

_LEFT_OUT = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages", "build"})
# Syntax that only Python 2 has, at the start of a statement or anywhere in it.
_PYTHON2 = re.compile(
    r"^[ \t]*(?:(?:print|exec)[ \t]+[^\s=(.,\[:)]|print[ \t]*>>|print[ \t]*$"
    r"|print[ \t]*\(.*\)[ \t]*[%,]"
    r"|except[ \t]+[\w.() ,]+,[ \t]*\w+[ \t]*:|raise[ \t]+[\w.]+[ \t]*,)"
    r"|<>|`\w|\b0\d+\b|\b\d+[lL]\b|\bur['\"]",
    re.MULTILINE,
)
_MAGIC = re.compile(r"^([ \t]*)([%!?].*|\w+\s*=\s*[!%].*|\w[\w.]*\?+)$")


class CannotRead(Exception):
    """The path cannot be checked; the message is for the user."""


@dataclass(frozen=True)
class Source:
    """One program file. `tree` is None where it is no Python that can be read."""

    path: Path
    text: str
    tree: ast.Module | None
    python: int
    error: str | None = None
    error_line: int = 1
    cells: tuple[int, ...] = field(default=())  # of a notebook: the first line of each cell

    @functools.cached_property
    def scan(self) -> Scan:
        """Its tokens."""
        return Scan(self.text)

    def place(self, offset: int) -> tuple[int | None, int, int]:
        """(number of the cell in a notebook, line, column)."""
        line, column = self.scan.place(offset)
        if not self.cells:
            return None, line, column
        cell = sum(first <= line for first in self.cells)
        return cell, line - self.cells[cell - 1] + 1, column

    def where(self, offset: int) -> str:
        """`train.py:12:5`; in a notebook `train.ipynb:cell 3:2:1`."""
        cell, line, column = self.place(offset)
        return f"{self.path}{'' if cell is None else f':cell {cell}'}:{line}:{column}"


def find_files(path: Path) -> list[Path]:
    """Every program at or below a path, sorted."""
    if not path.exists():
        raise CannotRead(f"there is no file or folder {str(path)!r}")
    found = sorted(_walk(path)) if path.is_dir() else [path]
    if not found:
        raise CannotRead(f"{str(path)!r} has no Python files or notebooks")
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if _is_part(Path(here, name))]
        yield from (Path(here, name) for name in files if name.endswith((".py", ".ipynb")))


def _is_part(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _LEFT_OUT
    return not hidden and not (folder / "pyvenv.cfg").exists()


def read(path: Path) -> Source:
    """The program in a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CannotRead(f"cannot open {str(path)!r}: {error.strerror}") from error
    if path.suffix == ".ipynb":
        return _read_notebook(path, data)
    return source_of(path, data.decode(encoding_of(data)))


def encoding_of(data: bytes) -> str:
    """The encoding of a Python file, by its encoding line; Latin 1 where that does not hold."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return "latin1"
    return encoding


def source_of(path: Path, text: str, cells: tuple[int, ...] = ()) -> Source:
    """The program in a text; IPython takes cells that are indented as a whole."""
    try:
        tree = parse(_dedented(text, cells) if cells else text)
        return Source(
            path, text, tree, 2 if old_names.needs_python2(tree, str(path)) else 3, cells=cells
        )
    except (SyntaxError, ValueError) as error:
        return old_source(path, text, error, cells)


def _dedented(text: str, cells: tuple[int, ...]) -> str:
    lines = text.split("\n")
    ends = [*(first - 1 for first in cells[1:]), len(lines)]
    parts = ["\n".join(lines[first - 1 : end]) for first, end in zip(cells, ends, strict=True)]
    return "\n".join(map(_dedented_cell, parts))


def _dedented_cell(text: str) -> str:
    """A cell without the indent of its first line, where lines have it."""
    indent = re.match(r"(?:[ \t]*\n)*([ \t]*)", text)
    return re.sub(f"^{indent[1]}", "", text, flags=re.MULTILINE) if indent else text


def old_source(path: Path, text: str, error: Exception, cells: tuple[int, ...]) -> Source:
    """The program in a Python 2 text; Python 3's `error` where it is none."""
    translated = old_names.translate(text)
    if translated is not None:
        try:
            return Source(path, text, parse(translated), 2, cells=cells)
        except (SyntaxError, ValueError):
            pass
    elif _PYTHON2.search(text):
        return Source(path, text, None, 2, cells=cells)
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    line = error.lineno if isinstance(error, SyntaxError) else None
    return Source(path, text, None, 3, said, line or 1, cells)


def parse(text: str) -> ast.Module:
    """The tree of a Python 3 file, without warnings about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _read_notebook(path: Path, data: bytes) -> Source:
    try:
        cells = [without_magics(cell_text(cell)) for cell in code_cells(json.loads(data))]
    except (ValueError, KeyError, TypeError) as error:
        return Source(path, "", None, 3, f"not a notebook of version 4: {error}")
    first, starts = 1, []
    for cell in cells:
        starts.append(first)
        first += cell.count("\n") + 1
    return source_of(path, "\n".join(cells), tuple(starts))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook that are run."""
    return [cell for cell in notebook["cells"] if cell.get("cell_type") == "code"]


def cell_text(cell: dict[str, Any]) -> str:
    """The text of a cell, which may be stored by line."""
    return "".join(cell["source"])


def without_magics(cell: str) -> str:
    """A cell's Python, character for character: what IPython alone understands does nothing."""
    if cell.lstrip().startswith("%%") and not re.match(r"\s*%%(?:time|timeit|capture)\b", cell):
        return "".join(each if each == "\n" else "#" for each in cell)
    return "\n".join(_MAGIC.sub(_masked, line) for line in cell.split("\n"))


def _masked(found: re.Match[str]) -> str:
    """A statement that is as long as a line of IPython's."""
    indent, magic = found.groups()
    return f"{indent}0{'#' * (len(magic) - 1)}"
