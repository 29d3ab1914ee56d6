"""The wheel has every file of the package that is no Python: pages, and the mark of types."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_other_files_are_package_data() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = settings["tool"]["setuptools"]["package-data"]
    packed: set[Path] = set()
    for package, patterns in declared.items():
        for pattern in patterns:
            folder = ROOT / "weft" if package == "*" else ROOT / package.replace(".", "/")
            found = list(folder.rglob(pattern) if package == "*" else folder.glob(pattern))
            assert found, f"nothing is {pattern} in {package}"
            packed.update(found)
    files = [path for path in (ROOT / "weft").rglob("*") if path.is_file()]
    # What setup.py builds is packed by itself.
    made = (".py", ".so")
    others = {p for p in files if p.suffix not in made and "__pycache__" not in p.parts}
    assert others <= packed
