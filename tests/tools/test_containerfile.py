"""The images of the Containerfile: both targets, without rights, and with steps that work."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "packaging" / "container"
TARGETS = ("cpu", "cuda")


@pytest.fixture
def containerfile(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    import containerfile

    return containerfile


def test_lines_and_variables(containerfile: ModuleType) -> None:
    text = "# one\nARG V=1\nFROM a:${V} AS b\nRUN x \\\n  y\nFROM b AS c\nCOPY --from=b /p /q\n"
    stages, arguments = containerfile.parse(text, V="2")
    assert arguments == {"V": "2"} and stages["b"].base == "a:2"
    assert [step.text.split() for step in containerfile.steps_of(stages, "c")] == [
        ["x", "y"],
        ["--from=b", "/p", "/q"],
    ]
    assert containerfile.needed(stages, "c") == ["b", "c"]
    assert containerfile.filled("$V ${V} $W", {"V": "3"}) == "3 3 $W"


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_has_a_user_without_rights(containerfile: ModuleType, target: str) -> None:
    stages, _ = containerfile.parse((ROOT / "Containerfile").read_text())
    steps = containerfile.steps_of(stages, target)
    users = [step.text for step in steps if step.instruction == "USER"]
    assert users and users[-1].isdecimal() and int(users[-1]) > 0
    assert [step.text for step in steps if step.instruction == "ENTRYPOINT"] == ['["weft"]']


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_holds_only_what_is_installed(containerfile: ModuleType, target: str) -> None:
    """Wheels and caches stay in the stages before."""
    stages, _ = containerfile.parse((ROOT / "Containerfile").read_text())
    steps = containerfile.steps_of(stages, target)
    copies = [step.text for step in steps if step.instruction in ("COPY", "ADD")]
    assert copies == [f"--from=install-{target} /opt/weft /opt/weft"]
    assert not [step for step in steps if step.instruction == "RUN" and "pip" in step.text]


def test_the_default_image_is_for_a_cpu(containerfile: ModuleType) -> None:
    stages, _ = containerfile.parse((ROOT / "Containerfile").read_text())
    assert list(stages)[-1] == "cpu"


def test_the_extras_exist(containerfile: ModuleType) -> None:
    _, arguments = containerfile.parse((ROOT / "Containerfile").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*arguments["EXTRAS"].split(","), "cuda"} <= project["optional-dependencies"].keys()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_steps_work(tmp_path: Path) -> None:
    """In a fresh virtual environment; needs a package index."""
    command = [sys.executable, str(FOLDER / "rehearse.py"), "--folder", str(tmp_path / "image")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trained to 2.000" in done.stdout
