"""Is it a Python 2 file? If so, its tree, as Python 3 has trees."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from weft.core import flags
from weft.legacy.old.python2 import signs


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
    if not flags.STRICT and (is_python2 or signs.needs_python2(tree, file)):
        return _parse_old(source, file, None)
    return tree, False


def is_certain(source: bytes, file: str) -> bool:
    """Whether Python 3 cannot run a file at all, and Python 2 can."""
    try:
        tree = _parse(source, file)
    except SyntaxError as error:
        return _is_translated(source, file, error)
    return signs.imports_python2(tree, file)


def imports_neighbours(source: bytes, file: Path, folder: Path) -> bool:
    """Whether a file of a package below `folder` imports another by its name alone."""
    try:
        return signs.imports_neighbours(_parse(source, str(file)), file, [folder])
    except SyntaxError:
        return False


def are_python2(parts: Iterable[str], file: str) -> bool:
    """Whether one of the parts of a program, such as the cells of a notebook, is Python 2."""
    whole = ast.Module([], [])
    for part in parts:
        try:
            whole.body += _parse(part, file).body
        except SyntaxError as error:
            return not flags.STRICT and _is_translated(part.encode(), file, error)
    return not flags.STRICT and signs.uses_gone_builtins(whole)


def _is_translated(source: bytes, file: str, error: SyntaxError) -> bool:
    try:
        return _parse_old(source, file, error)[1]
    except SyntaxError:
        return False


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


def keep_meaning(tree: ast.Module) -> ast.Module:
    """The tree of a Python 2 file with Python 2's meaning."""
    from weft.legacy.old.python2 import meaning

    return meaning.keep_meaning(tree)
