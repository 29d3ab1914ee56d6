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
    return _source(path, decode(data))


def decode(data: bytes) -> str:
    """The text of a Python file, by its encoding line; line ends are left as they are."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        return data.decode("latin1")


def _source(path: Path, text: str, cells: tuple[int, ...] = ()) -> Source:
    try:
        tree = parse(text)
        return Source(path, text, tree, 2 if _needs_python2(tree) else 3, cells=cells)
    except (SyntaxError, ValueError) as error:
        return _old_source(path, text, error, cells)


def _old_source(path: Path, text: str, error: Exception, cells: tuple[int, ...]) -> Source:
    translated = old_names.translate(text)
    if translated is not None:
        try:
            return Source(path, text, parse(translated), 2, cells=cells)
        except (SyntaxError, ValueError):
            pass
    elif _PYTHON2.search(text):
        return Source(path, text, None, 2, cells=cells)
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    where = f"line {error.lineno}: " if isinstance(error, SyntaxError) else ""
    return Source(path, text, None, 3, f"{where}{said}", cells)


def parse(text: str) -> ast.Module:
    """The tree of a Python 3 file, without warnings about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _needs_python2(tree: ast.Module) -> bool:
    """Whether it imports, outside of any `try`, a module that only Python 2 had."""
    modules = [
        name
        for node in tree.body
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    ]
    return any(old_names.is_python2_module(name) for name in modules)


def _read_notebook(path: Path, data: bytes) -> Source:
    try:
        cells = [_cell_text(cell) for cell in json.loads(data)["cells"] if _is_code(cell)]
    except (ValueError, KeyError, TypeError) as error:
        return Source(path, "", None, 3, f"not a notebook of version 4: {error}")
    first, starts = 1, []
    for cell in cells:
        starts.append(first)
        first += cell.count("\n") + 1
    return _source(path, "\n".join(cells), tuple(starts))


def _is_code(cell: dict[str, object]) -> bool:
    return cell.get("cell_type") == "code"


def _cell_text(cell: dict[str, object]) -> str:
    source = cell["source"]
    return without_magics("".join(source) if isinstance(source, list) else str(source))


def without_magics(cell: str) -> str:
    """A cell's Python, line for line: what IPython alone understands becomes `pass`."""
    if cell.lstrip().startswith("%%") and not re.match(r"\s*%%(?:time|timeit|capture)\b", cell):
        return "\n" * cell.count("\n")
    magic = re.compile(r"^([ \t]*)(?:[%!]|\w+\s*=\s*[!%])[^\n]*|^([ \t]*)\?.*|^[ \t]*\w[\w.]*\?+$")
    return "\n".join(
        magic.sub(lambda found: f"{found.group(1) or ''}pass", line) for line in cell.split("\n")
    )
