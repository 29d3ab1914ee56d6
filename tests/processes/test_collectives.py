"""Collectives of a graph between real processes."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from tests.processes.group import run_group

pytestmark = pytest.mark.timeout(600)
SIZE = 4


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("group")
    results = run_group(folder, SIZE, "tests.processes.collectives:every_collective")
    return [each[0] for each in results]


def given(step):
    """What the processes have in a step."""
    return [np.arange(4, dtype=np.float32) + rank + step for rank in range(SIZE)]


def whole(values):
    return (np.array(values).astype(np.int32) - 3).sum(0)


def means(values):
    return 2 * sum(values) / SIZE


SAME_EVERYWHERE = {
    "mean": means,
    "product": lambda values: reduce(np.multiply, [v + 1 for v in values]),
    "most": lambda values: values[-1],
    "least": lambda values: values[0],
    "whole": lambda values: np.trunc(whole(values) / SIZE),
    "half": sum,
    "gather": lambda values: np.concatenate([v + means(values) for v in values]),
    "sum": sum,
    "sent": lambda values: -values[0],
}


@pytest.mark.parametrize("name", SAME_EVERYWHERE)
def test_all_processes_have_the_result(found, name):
    for results in found:
        for step, value in enumerate(results[name]):
            np.testing.assert_array_equal(value, SAME_EVERYWHERE[name](given(step)))


def test_no_bit_of_what_is_sent_changes(found):
    assert all(np.signbit(results["sent"][0][0]) for results in found)


def test_types_stay(found):
    assert {name: found[0][name][0].dtype for name in ("half", "whole", "sum")} == {
        "half": np.float16, "whole": np.int32, "sum": np.float32,
    }  # fmt: skip


def test_parts_are_exchanged(found):
    for step in range(3):
        for rank, results in enumerate(found):
            expected = [value[rank] for value in given(step)]
            np.testing.assert_array_equal(results["exchange"][step], expected)


def test_values_go_round(found):
    for rank, results in enumerate(found):
        np.testing.assert_array_equal(results["ring"][0], given(0)[rank - 1])


def test_gradients_are_on_their_way_while_others_are_computed(tmp_path):
    results = run_group(tmp_path, 2, "tests.processes.collectives:order_of_a_step")
    for (order,) in results:
        first, last = order.index("all-reduce"), len(order) - order[::-1].index("dot")
        assert order[first:last].count("dot") >= 2, order
