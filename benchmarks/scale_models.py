"""Clusters to be simulated: parameter servers in three ways, and all-reduce in two.

All is made of what was measured of one worker (`Costs`), and of machines that are alike
(`Machines`). A transfer is cut into pieces, each of which occupies the sender's link and then the
receiver's, so that transfers which share a link share it fairly.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scale_events import Activity, Hold, Resource, Signal, Simulation

_PIECES = 4  # of one transfer
_SMALL = 64e3  # bytes that travel in one piece


@dataclass(frozen=True)
class Costs:
    """What one worker's step takes. `jitter`: how long steps take, as multiples of the median."""

    fixed: float  # seconds of a step that does nothing, with no worker
    dispatch: float  # seconds of the one who coordinates a step, for each worker
    handle: float  # seconds of a parameter server for each message
    bandwidth: float  # bytes a second of a link, in each direction
    compute: float  # seconds of a worker's own work
    jitter: Sequence[float] = (1.0,)
    latency: float = 0.0  # seconds of one message of a collective


@dataclass(frozen=True)
class Job:
    """What is trained. Bytes are those of all parameters that a step uses, and of its updates."""

    workers: int
    servers: int = 1
    fetched: float = 0.0
    pushed: float = 0.0
    backups: int = 0


@dataclass
class Machines:
    """Links and processors. On one machine, all share its memory and its cores."""

    job: Job
    shared_bytes: float = 0.0  # a second; 0: every task has a machine of its own
    cores: int = 0
    out: list[Resource] = field(init=False)
    into: list[Resource] = field(init=False)

    def __post_init__(self) -> None:
        tasks = self.job.servers + self.job.workers + self.job.backups
        self.out = [Resource() for _ in range(tasks)]
        self.into = [Resource() for _ in range(tasks)]
        self.server = [Resource() for _ in range(self.job.servers)]
        self.coordinator = Resource()
        self.memory = Resource() if self.shared_bytes else None
        self.processors = Resource(self.cores) if self.cores else None


class ParameterServers:
    """A run with parameter servers: tasks 0 to servers - 1 are those, then come workers."""

    def __init__(self, costs: Costs, machines: Machines, seed: int = 0) -> None:
        self.costs, self.machines, self.job = costs, machines, machines.job
        self.simulation = Simulation()
        self._rng = random.Random(seed)

    def transfer(self, sender: int, receiver: int, size: float) -> Activity:
        """A tensor from one task to another."""
        pieces = _PIECES if size > _SMALL else 1
        seconds = size / self.costs.bandwidth / pieces
        arriving = []
        for _ in range(pieces):
            yield Hold(self.machines.out[sender], seconds)
            arriving.append(self.simulation.start(self._receive(receiver, seconds)))
        yield arriving

    def _receive(self, receiver: int, seconds: float) -> Activity:
        machines = self.machines
        if machines.memory is not None:
            yield Hold(machines.memory, seconds * self.costs.bandwidth / machines.shared_bytes)
        else:
            yield Hold(machines.into[receiver], seconds)

    def exchange(self, worker: int, size: float, is_fetch: bool) -> Activity:
        """A worker's share of parameters from every server, or of updates to every server."""
        job, simulation = self.job, self.simulation

        def with_one(server: int) -> Activity:
            task = job.servers + worker
            ends = (server, task) if is_fetch else (task, server)
            yield Hold(self.machines.server[server], self.costs.handle)
            yield simulation.start(self.transfer(*ends, size / job.servers))

        yield [simulation.start(with_one(server)) for server in range(job.servers)]

    def step(self, worker: int, compute: float) -> Activity:
        """Parameters, work, updates."""
        yield self.simulation.start(self.exchange(worker, self.job.fetched, True))
        if self.machines.processors is not None:
            yield Hold(self.machines.processors, compute)
        elif compute:
            yield compute
        yield self.simulation.start(self.exchange(worker, self.job.pushed, False))

    def compute_time(self) -> float:
        return self.costs.compute * self._rng.choice(self.costs.jitter)

    # ---- ways to train ----

    def synchronous(self, steps: int) -> list[float]:
        """Seconds of each step. A step is over when as many updates as there are workers have come;
        those of the slowest are thrown away, but not before they have come. A worker that is late
        begins the next step when it is done with this one."""
        simulation, job = self.simulation, self.job
        free = [Signal(has_happened=True) for _ in range(job.workers + job.backups)]
        times = []
        for _ in range(steps):
            began, over = simulation.now, Signal()
            simulation.start(self._one_step(free, over))
            simulation.run(over)
            times.append(simulation.now - began)
        return times

    def _one_step(self, free: list[Signal], over: Signal) -> Activity:
        simulation, job = self.simulation, self.job
        yield self.costs.fixed
        come = 0

        def work(worker: int) -> Activity:
            nonlocal come
            before, free[worker] = free[worker], Signal()
            yield before
            yield Hold(self.machines.coordinator, self.costs.dispatch)
            yield simulation.start(self.step(worker, self.compute_time()))
            simulation.happen(free[worker])
            come += 1
            if come == job.workers:
                simulation.happen(over)

        for worker in range(job.workers + job.backups):
            simulation.start(work(worker))

    def asynchronous(self, seconds: float) -> float:
        """Steps a second of all workers together, each at its own pace, once they are under way."""
        simulation, done = self.simulation, [0]

        def work(worker: int) -> Activity:
            yield self._rng.random() * self.costs.compute
            while True:
                yield self.costs.fixed + self.costs.dispatch
                yield simulation.start(self.step(worker, self.compute_time()))
                done[0] += 1

        def measure() -> Activity:
            yield seconds / 4
            done[0] = 0
            yield seconds

        for worker in range(self.job.workers):
            simulation.start(work(worker))
        simulation.run(simulation.start(measure()))
        return done[0] / seconds


# ---- all-reduce ----


def ring(costs: Costs, workers: int, size: float) -> float:
    """Seconds: each passes a share on to its neighbour, as often as there are others, twice."""
    rounds = 2 * (workers - 1)
    return rounds * (costs.latency + size / workers / costs.bandwidth)


def tree(costs: Costs, workers: int, size: float) -> float:
    """Seconds: halves are exchanged with ever farther partners, and then back (as many rounds as
    the number has binary digits, one more if it is not a power of two)."""
    digits = (workers - 1).bit_length()
    extra = workers & (workers - 1) != 0
    moved = 2 * size * (1 - 1 / workers) + (2 * size if extra else 0.0)
    return 2 * (digits + extra) * costs.latency + moved / costs.bandwidth


def all_reduce_step(
    costs: Costs, workers: int, size: float, reduce: Any = ring, steps: int = 200, seed: int = 0
) -> float:
    """The median step of data-parallel training: the slowest worker, then the sum."""
    rng = random.Random(seed)
    slowest = [max(rng.choice(costs.jitter) for _ in range(workers)) for _ in range(steps)]
    whole = reduce(costs, workers, size) if workers > 1 else 0.0
    return costs.compute * statistics.median(slowest) + whole
