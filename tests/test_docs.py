"""The documents say what the code says."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_flags_page_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert (ROOT / "docs" / "flags.md").read_text() == generate.flags_page(), "run `make docs`"


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#]+)", page.read_text())
        if "://" not in target
    ]
    assert links
    assert not [(page, target) for page, target in links if not (page.parent / target).exists()]


@pytest.mark.parametrize("page", ["README", "control_flow", "distribute", "functions"])
def test_the_code_of_a_page_is_a_program(page: str, tmp_path: Path) -> None:
    """It is run from a file, in a process of its own, as its reader would."""
    path = ROOT / "README.md" if page == "README" else ROOT / "docs" / f"{page}.md"
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
    assert blocks
    program = tmp_path / "page.py"
    program.write_text("\n".join(["import numpy as np", "import weft as tf", *blocks]))
    result = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_the_tour() -> None:
    """The story of a step is true: it ends with the losses that its stages gave."""
    program = [sys.executable, str(ROOT / "docs" / "tour.py")]
    told = subprocess.run(program, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    stages = re.findall(r"loss +([\d.]+), (\w+)", told)
    assert [how for _, how in stages] == ["interpreted", "compiled", "compiled"]
    losses = [float(loss) for loss, _ in stages]
    assert [round(loss, 3) for loss in eval(told.splitlines()[-1])] == losses
