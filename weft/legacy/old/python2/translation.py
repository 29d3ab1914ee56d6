"""Is it a Python 2 file? If so, its tree, as Python 3 has trees."""

from __future__ import annotations

import ast
import importlib.util
import io
import os
import tokenize
import warnings
from collections.abc import Callable

from weft.core import flags
from weft.legacy.old import table


def parse(source: bytes, file: str, is_python2: bool = False) -> tuple[ast.Module, bool]:
    """(the tree of a file, whether it is a Python 2 file: one that Python 3 does not take).

    `is_python2` says that it is one, even if Python 3 would take it.
    """
    try:
        tree = _parse(source, file)
    except SyntaxError as error:
        if flags.STRICT:
            raise
        return _parse_old(source, file, error)
    if not flags.STRICT and (is_python2 or _needs_python2(tree, file)):
        return _parse_old(source, file, None)
    return tree, False


def _parse(source: bytes | str, file: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes in strings, `is` with a literal
        tree = compile(source, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree


def _parse_old(source: bytes, file: str, error: SyntaxError | None) -> tuple[ast.Module, bool]:
    """The tree of a file that Python 3 does not take, with `error`, or takes for something else."""
    from weft.legacy.old.python2 import statements

    text = _decode(source)
    ways: list[tuple[Callable[[str], str], bool]] = [(statements.translate, True)]
    if error is not None:
        ways.insert(0, (statements.rename_reserved, False))
    for translate, is_python2 in ways:
        try:
            new = translate(text)
            tree = _parse(new, file)
        except (SyntaxError, ValueError) as other:
            found = other
            continue
        _blur_columns(tree, text, new)
        return tree, is_python2
    raise error or found from None


def _decode(source: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        return source.decode("latin1")


def _blur_columns(tree: ast.Module, before: str, after: str) -> None:
    """Has tracebacks underline nothing in lines that were changed: columns are not the file's."""
    old = before.splitlines()
    changed = {
        number: len(was.encode())
        for number, (was, now) in enumerate(zip(old, after.splitlines(), strict=False), 1)
        if was != now
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", None)
        end = getattr(node, "end_lineno", None)
        if line is not None and (line in changed or end in changed):
            node.col_offset = 0  # type: ignore[attr-defined]
            node.end_lineno = line  # type: ignore[attr-defined]
            length = changed.get(line, len(old[line - 1].encode()) if line <= len(old) else 0)
            node.end_col_offset = length  # type: ignore[attr-defined]


def _needs_python2(tree: ast.Module, file: str) -> bool:
    """Whether it imports, come what may, a module that only Python 2 has."""
    imported = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.append(node.module or "")
    return any(name in table.PYTHON2_MODULES and not _is_there(name, file) for name in imported)


def _is_there(name: str, file: str) -> bool:
    """Whether the program has a module of that name itself."""
    beside = os.path.join(os.path.dirname(os.path.abspath(file)), name)
    if os.path.exists(f"{beside}.py") or os.path.isdir(beside):
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def keep_meaning(tree: ast.Module) -> ast.Module:
    """The tree of a Python 2 file with Python 2's meaning."""
    from weft.legacy.old.python2 import meaning

    return meaning.keep_meaning(tree)
