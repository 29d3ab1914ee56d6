"""Random programs give the same values and effects across tasks as on one device."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft as tf
from tests.runtime.test_control_flow_ways import fed_values, programs
from tests.runtime.test_partitioned import assert_same, on_one_device, quiet, run_steps, spread

TASKS = 3


@pytest.fixture
def targets(servers):
    return [server.target for server in servers(a=TASKS)["a"]]


def check(targets, parts, fed, seed, resource):
    got = run_steps(
        parts, fed, resource,
        lambda graph: spread(graph, TASKS, seed, "/job:a/task:{}"),
        lambda: tf.Session(targets[seed % TASKS]),
    )  # fmt: skip
    assert_same(got, on_one_device(parts, fed, resource))


cases = (
    st.lists(programs(), min_size=1, max_size=2), fed_values, st.integers(0, 1 << 30),
    st.booleans(),
)  # fmt: skip


@settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=quiet)
@given(*cases)
def test_random_programs(targets, parts, fed, seed, resource):
    check(targets, parts, fed, seed, resource)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=60, deadline=None, suppress_health_check=quiet)
@given(*cases)
def test_many_random_programs(targets, parts, fed, seed, resource):
    check(targets, parts, fed, seed, resource)
