"""The engine `local`: the tasks of a cluster are processes of this machine."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.launching.group import run_group
from weft.cli.launching.launcher import run_tasks
from weft.cli.launching.options import Option
from weft.cli.launching.plan import JOBS, Cluster, Plan, Task, free_addresses, with_addresses
from weft.cli.launching.processes import Output, Process
from weft.cli.launching.request import LaunchError, Request
from weft.cli.numbers import count

OPTIONS: tuple[Option, ...] = (
    Option(
        "--min-np", "the fewest processes that -n may be left with (as many as -n)",
        {"metavar": "N", "type": count},
    ),
    Option(
        "--max-np", "the most processes that -n may come to (as many as -n)",
        {"metavar": "N", "type": count},
    ),
    Option(
        "--host-discovery-script", "a program that writes `localhost:N`, again and again: how many"
        " processes there is room for",
        {"metavar": "FILE"},
    ),
)  # fmt: skip


def launch(request: Request, options: Mapping[str, Any]) -> int:
    """Runs the cluster to its end."""
    request.check_program()
    if request.alike:
        given = (options.get(option.destination) for option in OPTIONS)
        return run_group(request, LocalStarter(), *given)
    if options:
        raise LaunchError(f"{', '.join(option.name for option in OPTIONS)} are for -n")
    return run_tasks(request, LocalStarter())


class LocalStarter:
    """Starts processes here, at ports that are free."""

    python = sys.executable

    def make_room(self, tasks: Sequence[Task]) -> Cluster:
        counted = Counter(job for job, _ in tasks)
        counts = {job: counted[job] for job in JOBS}
        return with_addresses(counts, free_addresses(sum(counts.values())))

    def start(self, task: Task, plan: Plan, output: Output) -> Process:
        job, index = task
        environment = {**os.environ, **plan.environment_of(task)}
        return Process(f"{job}/{index}", plan.command_of(task), environment, output)

    def close(self) -> None:
        """Nothing is left: the launcher has ended the processes."""
