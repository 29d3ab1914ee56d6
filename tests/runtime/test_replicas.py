"""Replicas of a step as one program: the same values as with one partition for each device."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runtime import replica_programs

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("replicas") / "results"
    command = [sys.executable, replica_programs.__file__, str(path)]
    variables = {**os.environ, "PYTHONPATH": str(_ROOT), "WEFT_CACHE": "0"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    found: dict[str, Any] = pickle.loads(path.read_bytes())
    return found


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", replica_programs.PROGRAMS)
def test_both_ways_are_one(name: str, results: dict[str, Any]) -> None:
    plain, found, is_one_program = results[name]
    assert is_one_program
    for a, b in zip(_leaves(plain), _leaves(found), strict=True):
        if isinstance(a, np.ndarray) and a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
        else:
            assert np.array_equal(a, b)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", replica_programs.ONLY_ONE_PROGRAM)
def test_collectives_of_replicas(name: str, results: dict[str, Any]) -> None:
    found, is_one_program = results[name]
    parts = np.split(replica_programs.rows(), replica_programs.COUNT)
    given = np.stack([part @ np.ones([6, 60], np.float32) for part in parts])
    assert is_one_program
    for step in found[:-1]:
        for value, expected in zip(
            step, replica_programs.ONLY_ONE_PROGRAM[name][1](given), strict=True
        ):
            np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.timeout(300)
def test_all_gradients_are_summed_at_once(results: dict[str, Any]) -> None:
    assert results["sums"] == [replica_programs.LAYERS + 1]  # and the loss


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value if isinstance(value, (str, bytes)) or value is None else np.asarray(value)]
