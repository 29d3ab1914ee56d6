"""Type checkers read weft's types: a right program is clean, and mistakes are found."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TIMEOUT = 900


def _mypy(program: Path) -> list[str]:
    pytest.importorskip("mypy", reason="mypy is not installed (weft[dev])")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context"]
    return _errors([*command, str(program)], program)


def _pyright(program: Path) -> list[str]:
    beside = str(Path(sys.executable).parent)
    found = shutil.which("basedpyright", path=beside) or shutil.which("basedpyright")
    if found is None:
        pytest.skip("basedpyright is not installed (weft[types])")
    command = [found, "--level", "error", "--pythonpath", sys.executable, "-p", str(HERE)]
    return _errors(command, program)


def _errors(command: list[str], program: Path) -> list[str]:
    """The lines that name an error in the program."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT)
    assert not done.stderr, done.stderr
    named = re.compile(rf"{program.name}:\d+.*error: ")
    return [line for line in done.stdout.splitlines() if named.search(line)]


CHECKERS = pytest.mark.parametrize("check", [_mypy, _pyright], ids=["mypy", "pyright"])


def test_stubs_are_up_to_date() -> None:
    """They say what the functions' own signatures say; `make stubs` rewrites them."""
    command = [sys.executable, str(ROOT / "packaging" / "stubs" / "generate.py"), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(TIMEOUT)
@CHECKERS
def test_a_right_program_is_clean(check) -> None:
    assert check(HERE / "program.py") == []


@pytest.mark.slow
@pytest.mark.timeout(TIMEOUT)
@CHECKERS
def test_mistakes_are_found(check) -> None:
    source = (HERE / "mistakes.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(source, 1) if line.endswith("# mistake")}
    found = [re.search(r"mistakes\.py:(\d+)", line) for line in check(HERE / "mistakes.py")]
    assert {int(match[1]) for match in found if match} == wrong
