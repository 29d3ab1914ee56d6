"""The examples, run as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.train.kill_and_resume import survive

ROOT = Path(__file__).parent.parent.parent


def run(*program: str) -> str:
    done = subprocess.run(
        [sys.executable, *program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_iris() -> None:
    printed = run("examples/iris.py", "--steps", "150")
    accuracy = re.search(r"Test accuracy: ([0-9.]+)", printed)
    assert accuracy is not None, printed
    assert float(accuracy[1]) >= 0.9
    assert len(re.findall(r"^  \[.*\] cm -> (setosa|versicolor|virginica)", printed, re.M)) == 3


def test_iris_data_is_whole() -> None:
    rows = (ROOT / "examples" / "data" / "iris.csv").read_text().splitlines()[1:]
    species = [row.rsplit(",", 1)[1] for row in rows]
    assert [species.count(name) for name in ("setosa", "versicolor", "virginica")] == [50] * 3


def test_survive_goes_on_after_kills() -> None:
    """A short form of `python -m tests.train.kill_and_resume`."""
    told = survive(kills=2, steps=60, save_every=5, seed=3)
    assert told["last_step"] == 60 and told["first_losses"] > 0.9


def test_the_readmes_first_example() -> None:
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert code is not None
    numbers = [float(each) for each in re.findall(r"-?\d+\.\d+", run("-c", code[1]))]
    assert numbers == pytest.approx([2, 1], abs=0.05)
