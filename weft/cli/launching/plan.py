"""Who is in a cluster, where, and what each task is told."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from weft.core.processes import COORDINATOR, MEMORY, RANK, place_in

Cluster = dict[str, list[str]]
Task = tuple[str, int]
HOST = "localhost"
JOBS = ("chief", "worker", "ps")
GRACE_SECONDS = 10.0  # how long tasks have to end after each signal
_WELL_SECONDS = 60.0  # after so long, earlier deaths of a task do not count any more


def free_addresses(count: int) -> list[str]:
    """Addresses on this machine that nobody listens at just now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((HOST, 0))
        return [f"{HOST}:{each.getsockname()[1]}" for each in sockets]
    finally:
        for each in sockets:
            each.close()


def with_addresses(counts: Mapping[str, int], addresses: Sequence[str]) -> Cluster:
    """The cluster of so many tasks in each job, in the order of the jobs; no empty ones."""
    left = iter(addresses)
    return {job: [next(left) for _ in range(n)] for job, n in counts.items() if n}


def make_cluster(ps: int, workers: int, chief: bool) -> Cluster:
    """Addresses on this machine by job, for jobs that have tasks."""
    counts = {"chief": int(chief), "worker": workers, "ps": ps}
    return with_addresses(counts, free_addresses(sum(counts.values())))


def tasks_of(cluster: Cluster, evaluator: bool) -> list[Task]:
    """Who is to be started: the parameter servers first. An evaluator is not in the cluster."""
    order = sorted(cluster, key=lambda job: job != "ps")
    found = [(job, i) for job in order for i in range(len(cluster[job]))]
    return found + [("evaluator", 0)] * evaluator


def trains(task: Task) -> bool:
    """Whether the run is not over before this task is."""
    return task[0] in ("worker", "chief")


def tf_config(cluster: Cluster, job: str, task: int) -> str:
    """What a task is told. An evaluator alone is told of itself: strategies look for their task in
    the cluster, and others would wait for a server there that it does not start."""
    if job not in cluster:
        cluster = {**cluster, job: free_addresses(task + 1)}
    return json.dumps({"cluster": cluster, "task": {"type": job, "index": task}})


def filled_in(args: Sequence[str], cluster: Cluster, job: str, task: int | str) -> list[str]:
    """The arguments of one task. Braces around anything else stay as they are."""
    values = {"job": job, "task": str(task)}
    for name in JOBS:
        values[f"{name}_hosts"] = ",".join(cluster.get(name, ()))
    return [_replaced(each, values) for each in args]


def _replaced(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


@dataclass
class Plan:
    """What to run, and how patiently. `chief` decides how it all ended."""

    command: Sequence[str]
    cluster: Cluster
    tasks: Sequence[Task]
    restarts: int = 3
    until_chief: bool = False
    grace: float = GRACE_SECONDS
    environment: Mapping[str, str] = field(default_factory=dict)
    well: float = _WELL_SECONDS
    alike: bool = False  # processes know each other by rank, not by TF_CONFIG
    told: Callable[[Task], Mapping[str, str]] = lambda task: {}  # further variables of a task
    chief: Task = field(init=False)

    def __post_init__(self) -> None:
        self.chief = ("chief", 0) if "chief" in self.cluster else ("worker", 0)

    def command_of(self, task: Task) -> list[str]:
        """The command line of a task."""
        return filled_in(self.command, self.cluster, *task)

    def environment_of(self, task: Task) -> dict[str, str]:
        """The variables of a task, besides those of the place where it runs."""
        told = {} if self.alike else {"TF_CONFIG": tf_config(self.cluster, *task)}
        told |= {**self._rank_of(task), **self.told(task)}
        memory = {name: os.environ.get(name, MEMORY[name]) for name in MEMORY if RANK in told}
        return {**memory, **self.environment, **told, "PYTHONUNBUFFERED": "1"}

    def _rank_of(self, task: Task) -> dict[str, str]:
        """Workers without parameter servers are a group, for collectives."""
        members = [each for each in self.tasks if trains(each)]
        if "ps" in self.cluster or task not in members:
            return {}
        addresses = [self.cluster[job][index] for job, index in members]
        meeting = {COORDINATOR: addresses[0]} if self.alike else {}  # no server is there
        return place_in(addresses, members.index(task), meeting).environment()
