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


def number(pattern: str, printed: str) -> float:
    found = re.search(pattern, printed)
    assert found is not None, printed
    return float(found[1])


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
    told = survive(kills=2, steps=600, save_every=20, seed=3)
    assert told["last_step"] == 600 and told["first_losses"] > 0.9


def test_model_parallel() -> None:
    printed = run("examples/model_parallel.py", "--steps", "60", "--devices", "3")
    where = dict(re.findall(r"^(\w+).*/kernel:0 .* on /device:(CPU:\d)$", printed, re.M))
    assert where == {"layer_0": "CPU:0", "layer_1": "CPU:1", "scores": "CPU:2"}
    sent = {(a, b): int(n) for a, b, n in re.findall(r"^(\S+) -> (\S+): (\d+)", printed, re.M)}
    assert sent["CPU:0", "CPU:1"] and sent["CPU:1", "CPU:2"] and sent["CPU:2", "CPU:1"]
    assert number(r"new walks: ([0-9.]+)", printed) > 0.8


def test_towers() -> None:
    printed = run("examples/towers.py", "--steps", "50", "--devices", "cpu:1", "cpu:2")
    assert "A step ran on CPU:0, CPU:1, CPU:2" in printed
    assert number(r"step 50: loss ([0-9.]+)", printed) < 0.5
    assert number(r"at most ([0-9.e+-]+)", printed) < 1e-5


def test_mirrored() -> None:
    printed = run("examples/mirrored.py", "--steps", "40", "--devices", "cpu:0", "cpu:1")
    assert number(r"step   39  loss ([0-9.]+)", printed) < 0.1
    assert number(r"2 replicas, accuracy ([0-9.]+)", printed) > 0.8
    assert "copies of hidden/kernel:0 are equal" in printed


def test_pipelined_steps() -> None:
    printed = run("examples/pipelined_steps.py", "--batches", "40")
    times = [float(ms) for ms in re.findall(r"40 steps, ([0-9.]+) ms a batch", printed)]
    assert len(times) == 3 and "Batches read: 124, used: 124" in printed
    assert times[0] > 10  # one by one: reading takes 10 ms, and nothing hides it


def test_queue_between_devices() -> None:
    printed = run("examples/queue_between_devices.py", "--numbers", "30")
    assert "Taken in order: True; left in the queue: 0" in printed
    assert number(r"At most (\d+) ahead", printed) <= 4 + 1
    squares, cubes = sum(i**2 for i in range(31)), sum(i**3 for i in range(31))
    assert f"Sum of squares {squares}, of cubes {cubes}" in printed


def test_the_readmes_first_example() -> None:
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert code is not None
    numbers = [float(each) for each in re.findall(r"-?\d+\.\d+", run("-c", code[1]))]
    assert numbers == pytest.approx([2, 1], abs=0.05)
