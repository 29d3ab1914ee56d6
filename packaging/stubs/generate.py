"""Writes the type stubs of the public modules, and the places of operations (`make stubs`).

`--check` only looks.

A function that a table or a decorator makes has no definition that a type checker could read. The
stub beside a public module re-exports what has one, and spells out the signatures of the others.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import places
from origins import Origins
from signatures import Stub

ROOT = Path(__file__).parent.parent.parent
HEADER = "# Written by `make stubs` from {source} and the functions that it exports.\n"
CONTRIB = "weft/lib/contrib"
# Modules with code of their own, which type checkers read as it is.
OWN_CODE = ("api/compat_v2", "api/public_modules", "api/compat", "api/groundwork")
CONTRIB_PACKAGES = ("framework", "layers", "learn", "opt", "slim", "training")


def sources() -> Iterator[Path]:
    """The public modules that get a stub."""
    yield ROOT / "weft" / "__init__.py"
    for path in sorted((ROOT / "weft" / "api").rglob("*.py")):
        if not str(path.with_suffix("")).endswith(OWN_CODE):
            yield path
    yield ROOT / CONTRIB / "__init__.py"
    yield from (ROOT / CONTRIB / package / "__init__.py" for package in CONTRIB_PACKAGES)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def exports(path: Path) -> Iterator[tuple[str, str, str]]:
    """(public name, module, name there) of everything that a public module re-exports."""
    for node in _statements(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            for alias in node.names:
                if alias.asname is not None and alias.asname != "_docs":
                    yield alias.asname, node.module, alias.name
    module = importlib.import_module(module_name(path))
    yield from vars(module).get("_PUBLIC", ())
    yield from ((name, home, name) for name, home in vars(module).get("_HOMES", {}).items())
    package = module.__name__
    yield from ((part, package, part) for part in vars(module).get("PARTS", ()))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Those of the module, and those that it shows to type checkers only."""
    for node in tree.body:
        yield from node.body if isinstance(node, ast.If) else [node]


def stub(path: Path, origins: Origins) -> str:
    module = importlib.import_module(module_name(path))
    text = Stub()
    for name, home, original in dict.fromkeys(exports(path)):
        value: Any = getattr(module, name)
        if origins.is_made(home, original, value):
            text.define(name, value)
        else:
            text.export(name, home, original)
    return HEADER.format(source=path.relative_to(ROOT)) + str(text)


def main() -> int:
    check, stale, origins = "--check" in sys.argv, [], Origins(ROOT)
    # The places first: they are seen when the operations are first imported.
    texts = {ROOT / "weft" / "ops" / "places.py": places.text()}
    texts |= {source.with_suffix(".pyi"): stub(source, origins) for source in sources()}
    for target, text in texts.items():
        if not target.exists() or target.read_text() != text:
            stale.append(target.relative_to(ROOT))
            if not check:
                target.write_text(text)
    print(*(f"{'stale' if check else 'wrote'} {path}" for path in stale), sep="\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
