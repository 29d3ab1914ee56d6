"""Training in four processes, each on its part of the batch, beside one on all of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.processes.group import run_group

pytestmark = pytest.mark.timeout(600)
PROGRAMS = ("by_strategy", "by_resnet", "by_keras", "by_estimator")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """By program: (what four processes have, what one has)."""
    results = []
    for size in (4, 1):
        folder = tmp_path_factory.mktemp(f"group{size}")
        names = [f"tests.processes.training:{program}" for program in PROGRAMS]
        models = tmp_path_factory.mktemp(f"model{size}")
        results.append(run_group(folder, size, *names, MODEL_DIR=str(models)))
    four, one = results
    return {program: ([each[i] for each in four], one[0][i]) for i, program in enumerate(PROGRAMS)}


def assert_close(found, wanted):
    if isinstance(wanted, dict):
        found, wanted = list(found.values()), list(wanted.values())
    if isinstance(wanted, (list, tuple)):
        for each, other in zip(found, wanted, strict=True):
            assert_close(each, other)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_step_of_a_strategy(found):
    four, one = found["by_strategy"]
    for each in four:
        assert_close(each, one)
        for mine, first in zip(each[2], four[0][2], strict=True):
            np.testing.assert_array_equal(mine, first)


def test_a_resnet(found):
    four, one = found["by_resnet"]
    assert one[0][-1] < one[0][0]
    for each in four:
        for mine, wanted in zip([each[0], *each[1]], [one[0], *one[1]], strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=0, atol=1e-6)


def test_fit(found):
    four, one = found["by_keras"]
    for each in four:
        assert_close(each, one)


def test_an_estimator_goes_on_from_the_checkpoint(found):
    four, one = found["by_estimator"]
    weights, files = four[0]  # it writes them
    assert_close(weights, one[0])
    assert files == one[1]
