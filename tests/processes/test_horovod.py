"""Horovod's interface in four processes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.processes.group import run_group

pytestmark = pytest.mark.timeout(600)
SIZE = 4
NAMES = ("every_operation", "by_optimizer", "by_adaptive_sum", "by_tape", "by_keras")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """By program: what each process has."""
    programs = [f"tests.processes.horovod_programs:{name}" for name in NAMES]
    results = run_group(tmp_path_factory.mktemp("group"), SIZE, *programs)
    return {name: [each[i] for each in results] for i, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    program = "tests.processes.horovod_programs:by_optimizer"
    return run_group(tmp_path_factory.mktemp("alone"), 1, program)[0][0]


X = np.array([[rank + 1, rank + 3] for rank in range(SIZE)], np.float32)
WANTED = {
    "mean": X.mean(0),
    "sum": X.sum(0),
    "half": X.mean(0),
    "whole": X.sum(0).astype(np.int64),
    "gather": [[rank, rank] for rank in range(SIZE) for _ in range(rank)],
    "broadcast": X[1] * 2,
    "flag": [True],
}


@pytest.mark.parametrize("name", WANTED)
def test_operations(found, name):
    for values in found["every_operation"]:
        np.testing.assert_array_equal(values[name], WANTED[name])
        assert values[name].dtype == np.asarray(WANTED[name]).dtype or name == "gather"


def adapted(vectors):
    """Adasum, of pairs of pairs."""
    if len(vectors) == 1:
        return vectors[0]
    half = len(vectors) // 2
    a, b = adapted(vectors[:half]), adapted(vectors[half:])
    return (1 - a @ b / (2 * a @ a)) * a + (1 - a @ b / (2 * b @ b)) * b


def test_an_adaptive_sum(found):
    given = np.stack([X[:, 0], -X[:, 1] * X[:, 0]], 1).astype(np.float64)
    for values in found["every_operation"]:
        np.testing.assert_allclose(values["adaptive"], adapted(given), rtol=1e-5)
        assert not values["nothing"].any()


def test_an_optimizer_by_an_adaptive_sum(found):
    steps = np.array([[-0.5 * (1 + rank), -1.0] for rank in range(SIZE)])
    for values in found["by_adaptive_sum"]:
        np.testing.assert_allclose(values[0], 1 + adapted(steps), rtol=1e-5)


def test_the_gradient_of_a_mean(found):
    """Of the sum over all processes of mean * x, by the x of one of them."""
    for values in found["every_operation"]:
        np.testing.assert_allclose(values["gradient"], X.mean(0) + X.sum(0) / SIZE)


def test_rows_of_all_processes(found):
    for values in found["every_operation"]:
        np.testing.assert_array_equal(values["rows"].values, X / SIZE)
        np.testing.assert_array_equal(values["rows"].indices, range(SIZE))


def test_who_a_process_is(found):
    assert [values["who"] for values in found["every_operation"]] == [
        (rank, SIZE, rank, SIZE) for rank in range(SIZE)
    ]


def test_an_optimizer_trains_as_one_process_on_the_whole_batch(found, alone):
    for values in found["by_optimizer"]:
        for value, wanted in zip(values, alone, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(values[0], found["by_optimizer"][0][0])


def test_a_tape(found):
    assert [values[0].tolist() for values in found["by_tape"]] == [[5.0]] * SIZE


def test_a_model_of_keras(found):
    first, *others = found["by_keras"]
    for weights, losses, mean in others:
        for mine, wanted in zip(weights, first[0], strict=True):
            np.testing.assert_array_equal(mine, wanted)
        assert losses == first[1] and mean == 1.5
    assert first[1][-1] < first[1][0]
