"""A group that loses a process on the way goes on from what was committed."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.processes.group import ROOT

SIZE, STEPS, COMMITTED = 3, 6, 3


def trained() -> np.ndarray:
    """The variable after all steps, from what the first process begins with."""
    w, speed = np.ones([3, 1]), np.zeros([3, 1])
    for step in range(STEPS):
        draws = [np.random.RandomState(10 * step + rank).rand(4, 3) for rank in range(SIZE)]
        grads = [2 * x.T @ (x @ w - 1.0) / len(x) for x in draws]
        speed = 0.9 * speed + np.mean(grads, 0)
        w = w - 0.1 * speed
    return w


@pytest.mark.timeout(600)
def test_training_goes_on(tmp_path):
    program = ROOT / "tests" / "processes" / "elastic_program.py"
    command = [sys.executable, "-m", "weft", "launch", "-n", str(SIZE), str(program)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [*command, str(tmp_path), "1"], env=variables, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stdout + done.stderr
    found = [np.load(tmp_path / f"{rank}.npz") for rank in range(SIZE)]
    for each in found:
        np.testing.assert_allclose(each["w"], trained(), rtol=1e-5)
    # The one that was lost has its state from the others, which began again by themselves.
    assert [each["begun"].tolist() for each in found] == [[COMMITTED], [-1], [COMMITTED]]
