"""Whether a whole program is Python 2: all of its files were run by the same Python.

A file such as `utils.py` may show nothing of Python 2, and still divide whole numbers. What tells
is a file that Python 3 cannot run at all: the main one, or one of the program's that it imports;
or one of a package that imports another by its name alone, unless the program sets where to look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from weft.core import flags
from weft.legacy.old import table, users_code
from weft.legacy.old.python2 import translation

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*([\w, \t]*)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
# What to look for in a text before it is worth parsing.
_MODULES = "|".join(sorted(table.PYTHON2_MODULES)).encode()
_HINT = re.compile(
    rb"^[ \t]*(?:print|exec)(?:[ \t]+[^\s=(.,)\]:]|[ \t]*['\">]|[ \t]*\(.*\)[ \t]*[%,])"
    rb"|^[ \t]*except[^:\n]*,[^:\n]*:|^[ \t]*raise[ \t]+[\w.]+[ \t]*,"
    rb"|^[ \t]*(?:import|from)[ \t]+(?:" + _MODULES + rb")\b",
    re.MULTILINE,
)


def is_python2(source: bytes, file: str) -> bool:
    """Whether the main file of a program, or one of its own that it imports, is Python 2."""
    if flags.STRICT:
        return False
    folder = Path(file).resolve().parent
    seen: set[Path] = set()
    in_packages: list[tuple[bytes, Path]] = []
    sets_path = False
    waiting = [(source, Path(file).resolve())]
    while waiting:
        text, path = waiting.pop()
        if _HINT.search(text) and translation.is_certain(text, str(path)):
            return True
        sets_path |= b"sys.path" in text
        if path.parent != folder:
            in_packages.append((text, path))
        for found in imported_files(text, {path.parent, folder}):
            if found not in seen and not users_code.is_installed(str(found)):
                seen.add(found)
                waiting.append((found.read_bytes(), found))
    return not sets_path and any(
        translation.imports_neighbours(text, path, folder) for text, path in in_packages
    )


def imported_files(text: bytes, folders: set[Path]) -> Iterator[Path]:
    """The files of the program that a text imports."""
    for match in _IMPORT.finditer(text):
        module, names, modules = ((part or b"").decode() for part in match.groups())
        for name in _modules(module, names, modules):
            parts = [part for part in name.split(".") if part]
            for folder in folders if parts else ():
                place = folder.joinpath(*parts)
                yield from filter(Path.is_file, (place.with_suffix(".py"), place / "__init__.py"))


def _modules(module: str, names: str, modules: str) -> Iterator[str]:
    if module:
        yield module
    for written in (names or modules).split(","):
        name = written.split()[0] if written.split() else ""
        yield f"{module}.{name}" if module else name
