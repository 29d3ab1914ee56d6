"""A group whose processes are killed, come and go trains on from what was committed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.processes.group import ROOT

pytestmark = pytest.mark.timeout(600)


def trained(sizes: list[int]) -> np.ndarray:
    """The variable after steps of so many processes, from what the first one begins with."""
    w, speed = np.ones([3, 1]), np.zeros([3, 1])
    for step, size in enumerate(sizes):
        draws = [np.random.RandomState(10 * step + rank).rand(4, 3) for rank in range(size)]
        grads = [2 * x.T @ (x @ w - 1.0) / len(x) for x in draws]
        speed = 0.9 * speed + np.mean(grads, 0)
        w = w - 0.1 * speed
    return w


def run_elastic(folder: Path, options: list[str], *events: str) -> list[dict[str, list]]:
    """What the processes that are there at the end have, by rank; all have trained the same."""
    program = ROOT / "tests" / "processes" / "elastic_program.py"
    command = [sys.executable, "-m", "weft", "launch", *options, str(program), str(folder), *events]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    files = sorted(folder.glob("*.npz"))
    found = [{name: value.tolist() for name, value in np.load(f).items()} for f in files]
    for each in found:
        assert each["sizes"] == found[0]["sizes"]
        np.testing.assert_allclose(each["w"], trained(each["sizes"]), rtol=1e-5)
    return found


@pytest.mark.parametrize("rank", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_process_that_is_killed_comes_back(tmp_path, rank):
    found = run_elastic(tmp_path, ["-n", "3"], f"kill:{rank}")
    assert found[0]["sizes"] == [3, 3, 3, 3] and found[0]["met"] == [0, 2]
    # It has its state from the others, which began again by themselves, and now are before it.
    assert [each["begun"] for each in found] == [[2], [2], [-1]]


def test_the_others_go_on_without_the_first(tmp_path):
    options = ["-n", "3", "--min-np", "2", "--no-restart"]
    found = run_elastic(tmp_path, options, "kill:0")
    assert found[0]["sizes"] == [3, 3, 2, 2]
    assert [each["begun"] for each in found] == [[2], [2]]


@pytest.mark.slow
def test_processes_come_and_go(tmp_path):
    """Two become three, of which the first is killed and comes back; then there is room for two."""
    (tmp_path / "room").write_text("localhost:2\n")
    script = tmp_path / "hosts.sh"
    script.write_text(f"#!/bin/sh\nexec cat {tmp_path}/room\n")
    script.chmod(0o755)
    options = ["-n", "2", "--min-np", "1", "--max-np", "4", "--host-discovery-script", str(script)]
    found = run_elastic(tmp_path, options, "room:3", "kill:0", "room:2")
    sizes, met = found[0]["sizes"], found[0]["met"]
    assert [sizes[step] for step in met] == [2, 3, 3, 2] and len(found) == 2
    assert [len(set(sizes[a:b])) for a, b in zip(met, [*met[1:], None], strict=True)] == [1] * 4
