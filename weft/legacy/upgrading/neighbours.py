"""Python 2's imports of neighbours in a package: `import ops` becomes `from . import ops`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from weft.legacy.checking.scanning import Alias, Import
from weft.legacy.checking.sources import Source
from weft.legacy.upgrading.edits import Edit

# Beside the file itself when that is run, in the package when it is imported.
_EITHER_WAY = "if __package__:\n{indent}    {relative}\n{indent}else:\n{indent}    {absolute}"


def edits(source: Source) -> Iterator[Edit]:
    """The edits of a Python 2 file, in Python 3's syntax, that is part of a package."""
    folder = source.path.resolve().parent
    if not (folder / "__init__.py").exists() or _is_absolute(source.tree):
        return
    is_run = re.search(r"__name__\s*==\s*['\"]__main__['\"]", source.text) is not None
    for statement in source.scan.imports:
        written = source.text[statement.start : statement.end]
        relative = _relative(statement, written, folder)
        if relative == written:
            continue
        indent = _indent_of_line(source.text, statement)
        if is_run and indent is not None:
            relative = _EITHER_WAY.format(indent=indent, relative=relative, absolute=written)
        yield Edit(statement.start, statement.end, relative)


def _is_absolute(tree: ast.Module | None) -> bool:
    """Whether a file says `from __future__ import absolute_import`."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "absolute_import" for alias in node.names)
        for node in (tree.body if tree is not None else ())
    )


def _relative(statement: Import, written: str, folder: Path) -> str:
    """An import statement with neighbours found in the package."""
    if statement.module is not None:
        place = statement.module_start - statement.start
        return (
            f"{written[:place]}.{written[place:]}" if _is_in(folder, statement.module) else written
        )
    if not any(_is_in(folder, alias.name) for alias in statement.names):
        return written
    parts = [
        _import_of_neighbour(alias) if _is_in(folder, alias.name) else f"import {_written(alias)}"
        for alias in statement.names
    ]
    return "; ".join(parts)


def _is_in(folder: Path, module: str) -> bool:
    if module.startswith("."):
        return False
    place = folder / module.partition(".")[0]
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def _import_of_neighbour(alias: Alias) -> str:
    package, _, module = alias.name.rpartition(".")
    if alias.bound or not package:
        return f"from .{package} import {module}{f' as {alias.bound}' if alias.bound else ''}"
    # `import a.b` binds `a`, in which `b` is found once it is imported.
    below = f"from .{package} import {module} as _{alias.name.replace('.', '_')}"
    return f"{below}; from . import {alias.name.partition('.')[0]}"


def _written(alias: Alias) -> str:
    return f"{alias.name} as {alias.bound}" if alias.bound else alias.name


def _indent_of_line(text: str, statement: Import) -> str | None:
    """The blanks before a statement that has its line, or lines, to itself."""
    before = text[text.rfind("\n", 0, statement.start) + 1 : statement.start]
    after = text[statement.end :].partition("\n")[0]
    is_alone = not before.strip() and re.fullmatch(r"\s*(?:#.*)?", after)
    return before if is_alone else None
