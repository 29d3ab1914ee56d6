"""Compiles the user's files: finds them as they are imported, rewrites them, keeps the result.

What comes out is kept in the folder of `WEFT_CACHE`, never in `__pycache__`: Python and pytest,
run without weft, must not meet it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import marshal
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from weft.core import flags, sources
from weft.core.cache import LEGACY
from weft.legacy.old import messages, notices, rewriting, users_code
from weft.legacy.old.python2 import program, translation

_HERE = os.path.dirname(__file__)


# Whether the program that is run is Python 2: then all of its own files are.
_program_is_python2 = False

_compiled: set[str] = set()  # files; others were loaded as they are, before `install`


def compile_main(source: bytes, file: str) -> CodeType:
    """The code of a program's main file; it tells for the files that it imports."""
    global _program_is_python2
    _program_is_python2 = program.is_python2(source, file)
    return compile_users(source, file)


def compile_users(source: bytes, file: str) -> CodeType:
    """The code of one of the user's files."""
    _compiled.add(file)
    of_python2 = _is_of_python2(file)
    kept = _kept_as(source, file, of_python2)
    if kept is not None and kept.is_file():
        is_python2, code = marshal.loads(kept.read_bytes())
    else:
        tree, is_python2 = tree_of(source, file, of_python2)
        code = compile(tree, file, "exec", dont_inherit=True)
        _keep(kept, marshal.dumps((is_python2, code)))
    if is_python2:
        notices.tell_of_python2(file)
    return code


def _is_of_python2(file: str) -> bool:
    return _program_is_python2 and not users_code.is_installed(file)


def read_users(text: str, file: str) -> ast.Module | None:
    """The tree that one of the user's files was compiled from, for AutoGraph; None of others.

    Comparisons are as they are written: AutoGraph has a meaning of its own for them.
    """
    is_file = os.path.isfile(file)
    if not users_code.is_users(file) or (is_file and file not in _compiled):
        return None
    # A file may say how it is encoded, which its text no longer is.
    source = Path(file).read_bytes() if is_file else text.encode()
    return tree_of(source, file, _is_of_python2(file), comparisons=False)[0]


def tree_of(
    source: bytes, file: str, is_python2: bool = False, comparisons: bool = True
) -> tuple[ast.Module, bool]:
    """(the rewritten tree of a file, whether it is a Python 2 file or was said to be one)."""
    tree, is_python2 = translation.parse(source, file, is_python2)
    if is_python2:
        tree = translation.keep_meaning(tree)
    return rewriting.rewrite(messages.replace_descriptors(tree), comparisons), is_python2


def _kept_as(source: bytes, file: str, of_python2: bool) -> Path | None:
    folder = flags.cache_directory()
    if folder is None or flags.STRICT:
        return None
    parts = (_fingerprint(), file.encode(), b"2" if of_python2 else b"", source)
    name = hashlib.sha256(b"\0".join(parts)).hexdigest()
    return Path(folder, LEGACY, name[:2], name[2:])


@functools.cache
def _fingerprint() -> bytes:
    """Changes with Python and with the rules by which files are rewritten."""
    rules = hashlib.sha256(importlib.util.MAGIC_NUMBER)
    for folder, folders, names in os.walk(_HERE):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    rules.update(file.read())
    return rules.hexdigest().encode()


def _keep(path: Path | None, data: bytes) -> None:
    """Writes a file at once or not at all; a folder that cannot be written to is no error."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(data)
        os.replace(file.name, path)
    except OSError:
        pass


class UsersLoader(SourceFileLoader):
    """Loads one of the user's files."""

    def get_code(self, fullname: str) -> CodeType:
        """The rewritten code."""
        path = self.get_filename(fullname)
        return compile_users(self.get_data(path), path)


class UsersFinder(MetaPathFinder):
    """Asks the other finders, and takes over what is the user's."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that would be found anyway, with another loader where it matters."""
        for finder in _after(self):
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if spec is not None:
                return _taken_over(spec)
        return None


def _after(finder: MetaPathFinder) -> list[object]:
    return list(sys.meta_path[sys.meta_path.index(finder) + 1 :])


def _taken_over(spec: ModuleSpec) -> ModuleSpec:
    if spec.name == "_pytest.assertion.rewrite" and spec.origin:
        from weft.legacy.old import pytest_files

        spec.loader = pytest_files.PytestLoader(spec.name, spec.origin)
    elif type(spec.loader) is SourceFileLoader and spec.origin and users_code.is_users(spec.origin):
        spec.loader = UsersLoader(spec.name, spec.origin)
        spec.cached = None
    return spec


def install() -> None:
    """Has the user's files loaded by `UsersLoader`, for the rest of the process."""
    sources.read_by(read_users)
    if not any(isinstance(finder, UsersFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, UsersFinder())
