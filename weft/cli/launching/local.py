"""The engine `local`: the tasks of a cluster are processes of this machine."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.launching.launcher import run_tasks
from weft.cli.launching.options import Option
from weft.cli.launching.plan import JOBS, Cluster, Plan, Task, free_addresses, with_addresses
from weft.cli.launching.processes import Output, Process
from weft.cli.launching.request import Request

OPTIONS: tuple[Option, ...] = ()


def launch(request: Request, options: Mapping[str, Any]) -> int:
    """Runs the cluster to its end."""
    request.check_program()
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
