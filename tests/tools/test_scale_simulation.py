"""The simulation of large clusters: its clock, and what must hold of its clusters."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def costs(**more: Any) -> Any:
    from scale_models import Costs

    usual = {"fixed": 0.0, "dispatch": 0.0, "handle": 0.0, "bandwidth": 1e9, "compute": 0.0}
    return Costs(**{**usual, **more})


def run(job: Any, seed: int = 0, **more: Any) -> Any:
    from scale_models import Machines, ParameterServers

    return ParameterServers(costs(**more), Machines(job), seed)


def test_a_resource_is_used_in_turn() -> None:
    from scale_events import Hold, Resource, Simulation

    simulation, one, two, ends = Simulation(), Resource(), Resource(2), []

    def use(resource: Any, name: str) -> Any:
        yield Hold(resource, 2.0)
        ends.append((name, simulation.now))

    for i in range(3):
        simulation.start(use(one, f"one{i}"))
        simulation.start(use(two, f"two{i}"))
    simulation.run()
    assert sorted(ends) == [
        ("one0", 2.0), ("one1", 4.0), ("one2", 6.0), ("two0", 2.0), ("two1", 2.0), ("two2", 4.0),
    ]  # fmt: skip
    assert (one.busy, two.busy) == (6.0, 6.0)


def test_waiting_for_all_and_for_signals() -> None:
    from scale_events import Signal, Simulation

    simulation, signal, seen = Simulation(), Signal(), []

    def wait(what: Any) -> Any:
        yield what
        seen.append(simulation.now)

    def happen() -> Any:
        yield 3.0
        simulation.happen(signal)

    simulation.start(wait([1.0, signal, 2.0]))
    simulation.start(wait([]))
    simulation.start(happen())
    simulation.run()
    assert seen == [0.0, 3.0]
    simulation.start(wait(signal))
    simulation.run()
    assert seen[-1] == 3.0


@pytest.mark.parametrize(("workers", "servers"), [(1, 1), (4, 1), (4, 4), (2, 8)])
def test_a_dense_step_takes_what_the_busiest_link_takes(workers: int, servers: int) -> None:
    from scale_models import Job

    (seconds,) = run(Job(workers, servers, 1e9)).synchronous(1)
    least = max(1.0, workers / servers)  # a worker's link, or a server's
    assert least <= seconds < 1.3 * least + 0.3


def test_the_coordinator_serves_one_at_a_time() -> None:
    from scale_models import Job

    (seconds,) = run(Job(50, 4), fixed=0.01, dispatch=0.001).synchronous(1)
    assert seconds == pytest.approx(0.01 + 50 * 0.001)


def test_asynchronous_workers_add_up_until_a_server_is_full() -> None:
    from scale_models import Job

    rates = [run(Job(n), compute=1.0, handle=0.05).asynchronous(100.0) for n in (1, 5, 50)]
    assert rates[0] == pytest.approx(1 / 1.1, rel=0.05)
    assert rates[1] == pytest.approx(5 * rates[0], rel=0.1)
    assert rates[2] == pytest.approx(10.0, rel=0.05)  # two messages a step


def test_backups_hide_stragglers() -> None:
    """One worker in twenty is slow: with backups steps are as fast as the others."""
    from scale_models import Job

    jitter = [1.0] * 19 + [3.0]
    medians = [
        statistics.median(run(Job(20, backups=b), compute=1.0, jitter=jitter).synchronous(40))
        for b in (0, 4)
    ]
    assert medians[0] == pytest.approx(3.0, rel=0.01)
    assert medians[1] == pytest.approx(1.0, rel=0.01)


def test_ring_and_tree() -> None:
    from scale_models import ring, tree

    small, large = costs(latency=1e-3), costs(bandwidth=1e9)
    assert ring(small, 8, 0.0) == pytest.approx(14e-3) and tree(small, 8, 0.0) == pytest.approx(
        6e-3
    )
    assert ring(large, 8, 1e9) == tree(large, 8, 1e9) == pytest.approx(1.75)
    assert tree(large, 9, 1e9) > tree(large, 16, 1e9)


@pytest.mark.parametrize(("name", "within"), [("100 MB", 0.1), ("1 GB", 0.1)])
def test_the_papers_null_step_with_100_workers(name: str, within: float) -> None:
    """Two costs of the scalar step, and the speed of a link, foretell the others."""
    from scale_models import Job, Machines
    from scale_simulation import NULL_SERVERS, NULL_STEPS, PUBLISHED, null_step, published_costs

    job = Job(100, NULL_SERVERS, NULL_STEPS[name])
    found = null_step(published_costs(), Machines(job), steps=1)
    assert found == pytest.approx(PUBLISHED[name][1], rel=within)


def test_costs_follow_from_measurements() -> None:
    """Of a machine on which everything is exact: then the simulation says what was measured."""
    from scale_simulation import Measured, against_measurements

    counts = ("1", "2", "4", "8")
    found = {
        "machine": "none", "cores": 16, "dense_bytes": 1e8, "trained_bytes": 1e3, "batch": 1,
        "null": {
            "scalar": {n: 1e-3 + int(n) * 1e-4 for n in counts},
            "dense": {n: 1e-3 + int(n) * 1e-4 + int(n) * 0.1 for n in counts},
        },
        "updates": {n: 100.0 * int(n) for n in counts},
        "training": {n: int(n) / 0.0111 for n in counts},
        "steps": {"seconds": [0.01] * 5, "cores": 1.0},
        "sums": {n: {"4": 2e-3, "100000000": 2e-3 + 0.1} for n in ("2",)},
    }  # fmt: skip
    measured = Measured(json.loads(json.dumps(found)))
    assert measured.costs.dispatch == pytest.approx(1e-4)
    assert measured.costs.bandwidth == pytest.approx(1e9, rel=1e-3)
    for name, n, real, simulated in against_measurements(measured):
        assert simulated == pytest.approx(real, rel=0.3), (name, n)
