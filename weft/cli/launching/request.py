"""A cluster that was asked for on the command line, before it is known where it will run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.cli.launching.plan import GRACE_SECONDS, JOBS, Cluster, Plan, Task, tasks_of, trains

STANDARD_FLAGS = (
    "--ps_hosts={ps_hosts}",
    "--worker_hosts={worker_hosts}",
    "--job_name={job}",
    "--task_index={task}",
)


class LaunchError(Exception):
    """A request that cannot be carried out; the message says why."""


@dataclass(frozen=True)
class Request:
    """So many tasks of each job, all running one program. `cpus` and `gpus`: of each task; GPUs
    are for those that train. `alike`: processes are told their ranks, and nothing of a cluster."""

    program: str
    args: Sequence[str] = ()
    is_module: bool = False
    counts: Mapping[str, int] = field(default_factory=lambda: {"worker": 2, "ps": 1})
    evaluator: bool = False
    restarts: int = 3
    until_chief: bool = False
    grace: float = GRACE_SECONDS
    environment: Mapping[str, str] = field(default_factory=dict)
    cpus: float = 1.0
    gpus: float = 0.0
    alike: bool = False

    def __post_init__(self) -> None:
        if not any(map(trains, self.tasks)):
            raise LaunchError("a cluster needs a worker or a chief")

    def check_program(self, folder: str = "") -> None:
        """The program must be a file, if it is not a module."""
        if not self.is_module and not os.path.exists(os.path.join(folder, self.program)):
            raise LaunchError(f"cannot open {self.program!r}")

    @property
    def tasks(self) -> list[Task]:
        """Who is to be started, in this order."""
        return tasks_of({job: [""] * self.counts.get(job, 0) for job in JOBS}, self.evaluator)

    def run_arguments(self) -> list[str]:
        """The arguments of the `weft` command in every task."""
        return ["run", *["-m"] * self.is_module, self.program, *self.args]

    def gpus_of(self, job: str) -> float:
        """Parameter servers hold and add; they have no use for an accelerator."""
        return 0.0 if job == "ps" else self.gpus

    def plan(self, python: str, cluster: Cluster) -> Plan:
        """The tasks with their addresses, each run by an interpreter."""
        command = [python, "-m", "weft", *self.run_arguments()]
        return Plan(
            command, cluster, self.tasks, self.restarts, self.until_chief, self.grace,
            self.environment, alike=self.alike,
        )  # fmt: skip


def variables(said: Sequence[str]) -> dict[str, str]:
    """The variables of `--env NAME=VALUE`, and of `--env NAME`: the value that is set here."""
    found = {}
    for each in said:
        name, equals, value = each.partition("=")
        if not equals and name not in os.environ:
            raise LaunchError(f"--env {name}: no such variable is set here")
        found[name] = value if equals else os.environ[name]
    return found
