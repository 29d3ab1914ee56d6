"""`weft launch`: a whole cluster on this machine, every task a process that runs one program.

Each process learns from TF_CONFIG, and from what is put in for `{job}`, `{task}`, `{ps_hosts}` and
`{worker_hosts}` in its arguments, who it is and where the others are.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.cli import credentials
from weft.cli.numbers import count
from weft.cli.processes import Output, Process, exit_code

EXAMPLES = """\
  weft launch --ps 2 --workers 4 train.py
                                        a whole cluster on this machine
"""

Cluster = dict[str, list[str]]
HOST = "localhost"
_STANDARD_FLAGS = (
    "--ps_hosts={ps_hosts}",
    "--worker_hosts={worker_hosts}",
    "--job_name={job}",
    "--task_index={task}",
)
_USAGE = 2  # the exit code of a program that did not understand its arguments
# How long the tasks have to end after each signal, and how often they are looked at.
_GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.05
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


def make_cluster(ps: int, workers: int, chief: bool) -> Cluster:
    """Addresses by job, for jobs that have tasks."""
    counts = {"chief": int(chief), "worker": workers, "ps": ps}
    addresses = iter(free_addresses(sum(counts.values())))
    return {job: [next(addresses) for _ in range(n)] for job, n in counts.items() if n}


def tasks_of(cluster: Cluster, evaluator: bool) -> list[tuple[str, int]]:
    """Who is to be started: the parameter servers first. An evaluator is not in the cluster."""
    order = sorted(cluster, key=lambda job: job != "ps")
    found = [(job, i) for job in order for i in range(len(cluster[job]))]
    return found + [("evaluator", 0)] * evaluator


def tf_config(cluster: Cluster, job: str, task: int) -> str:
    """What a task is told. An evaluator alone is told of itself: strategies look for their task in
    the cluster, and others would wait for a server there that it does not start."""
    if job not in cluster:
        cluster = {**cluster, job: free_addresses(task + 1)}
    return json.dumps({"cluster": cluster, "task": {"type": job, "index": task}})


def filled_in(args: Sequence[str], cluster: Cluster, job: str, task: int) -> list[str]:
    """The arguments of one task. Braces around anything else stay as they are."""
    values = {"job": job, "task": str(task)}
    for name in ("ps", "worker", "chief"):
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
    tasks: Sequence[tuple[str, int]]
    restarts: int = 3
    until_chief: bool = False
    grace: float = _GRACE_SECONDS
    environment: Mapping[str, str] = field(default_factory=dict)
    well: float = _WELL_SECONDS
    chief: tuple[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.chief = ("chief", 0) if "chief" in self.cluster else ("worker", 0)


class Launcher:
    """Starts the tasks of a plan and looks after them until they are done."""

    def __init__(self, plan: Plan, output: Output) -> None:
        self.plan, self.output = plan, output
        self.processes: dict[tuple[str, int], Process] = {}
        self.starts: dict[tuple[str, int], int] = {}
        self._since: dict[tuple[str, int], float] = {}
        self._deaths: dict[tuple[str, int], int] = {}  # in a row
        self.over: dict[tuple[str, int], int] = {}  # exit codes of tasks that ended for good
        self.interrupted: int | None = None  # the signal that we were told to stop by

    def run(self) -> int:
        """Returns the exit code of it all."""
        try:
            for task in self.plan.tasks:
                self._start(task)
            while self.interrupted is None and not self._is_over():
                self._look()
                self.output.wait(_LOOK_SECONDS)
        finally:
            self._stop()
        if self.interrupted is not None:
            return exit_code(-self.interrupted)
        failed = next((code for code in self.over.values() if code), 0)
        return exit_code(self.over.get(self.plan.chief, failed) or failed)

    def _start(self, task: tuple[str, int]) -> None:
        job, index = task
        config = tf_config(self.plan.cluster, job, index)
        command = filled_in(self.plan.command, self.plan.cluster, job, index)
        environment = {
            **os.environ, **self.plan.environment, "TF_CONFIG": config, "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        self.starts[task] = self.starts.get(task, 0) + 1
        self._since[task] = time.monotonic()
        self.processes[task] = Process(f"{job}/{index}", command, environment, self.output)

    def _look(self) -> None:
        """Restarts the tasks that have died, and notes those that are done."""
        for task, process in self.processes.items():
            code = process.poll()
            if code is None or task in self.over:
                continue
            left = self.plan.restarts - self._deaths_before(task)
            if code in (0, _USAGE) or left <= 0:
                self.over[task] = code
                if code:
                    self.output.say(process.name, f"{_how(code)}; everything is stopped")
            else:
                self.output.say(process.name, f"{_how(code)}; starting again ({left} left)")
                self._deaths[task] += 1
                self._start(task)

    def _deaths_before(self, task: tuple[str, int]) -> int:
        """How often a task has been started again without having lived for a while since."""
        if time.monotonic() - self._since[task] >= self.plan.well:
            self._deaths[task] = 0
        return self._deaths.setdefault(task, 0)

    def _is_over(self) -> bool:
        if any(self.over.values()):
            return True
        if self.plan.until_chief:
            return self.plan.chief in self.over
        return all(task in self.over for task in self.plan.tasks if _trains(task))

    # ---- the end ----

    def _stop(self) -> None:
        """Ends what still runs: parameter servers last, since others may need them to end well."""
        if self.interrupted is not None:
            self._end([task for task in self.processes if task[0] != "ps"], signal.SIGINT)
        self._end(self.processes, signal.SIGTERM)
        self._end(self.processes, signal.SIGKILL)
        self.output.close()

    def _end(self, tasks: Any, number: signal.Signals) -> None:
        """Sends a signal and waits; a signal to ourselves meanwhile ends the wait."""
        before = self.interrupted
        self.interrupted = None
        left = [self.processes[task] for task in tasks if self.processes[task].poll() is None]
        for process in left:
            process.send(number)
        waited = 0.0
        while left and waited < self.plan.grace and self.interrupted is None:
            self.output.wait(_LOOK_SECONDS)
            waited += _LOOK_SECONDS
            left = [process for process in left if process.poll() is None]
        self.interrupted = before or self.interrupted


def _trains(task: tuple[str, int]) -> bool:
    return task[0] in ("worker", "chief")


def _how(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def add_parser(commands: Any) -> Any:
    launch = commands.add_parser(
        "launch",
        help="run a whole cluster on this machine",
        description="Starts PROGRAM once for every task of a cluster on this machine, as `weft run`"
        " does. Each finds its place in TF_CONFIG; in ARGS, {job}, {task}, {ps_hosts},"
        " {worker_hosts} and {chief_hosts} are put in. It is over when all workers have ended, or"
        " one task has failed for good; the exit code is the chief's (worker 0, or the one of"
        " --chief).",
        usage="weft launch [options] PROGRAM [ARGS ...]\n"
        "       weft launch [options] -m MODULE [ARGS ...]",
    )
    launch.add_argument("--ps", metavar="N", type=count, default=1, help="parameter servers (1)")
    launch.add_argument("--workers", metavar="N", type=count, default=2, help="workers (2)")
    launch.add_argument("--chief", action="store_true", help="a chief besides the workers")
    launch.add_argument(
        "--evaluator", action="store_true", help="an evaluator, outside the cluster"
    )
    launch.add_argument(
        "--flags", action="store_true", help=f"add {' '.join(_STANDARD_FLAGS)} to the arguments"
    )
    launch.add_argument(
        "--restarts", metavar="N", type=count, default=3,
        help="how often in a row each task that dies within a minute is started again (3)",
    )  # fmt: skip
    launch.add_argument(
        "--no-restart", dest="restarts", action="store_const", const=0, help="never start one again"
    )
    launch.add_argument(
        "--until", choices=("workers", "chief"), default="workers",
        help="who must have ended for the run to be over (workers: all of them)",
    )  # fmt: skip
    launch.add_argument(
        "--grace", metavar="SECONDS", type=float, default=_GRACE_SECONDS,
        help="how long a task may take to end after each of SIGINT, SIGTERM, SIGKILL (10)",
    )  # fmt: skip
    credentials.add_arguments(launch)
    launch.add_argument("-m", dest="is_module", action="store_true", help="PROGRAM is a module")
    launch.add_argument("program", metavar="PROGRAM", help="a Python file")
    args = launch.add_argument("args", metavar="ARGS", nargs="...", help="the program's own")
    args.required = False  # or argparse asks for them
    return launch


def run(arguments: Any) -> int:
    """Runs the cluster; Ctrl-C, and SIGTERM, stop all of it."""
    if not arguments.is_module and not os.path.exists(arguments.program):
        sys.stderr.write(f"weft launch: cannot open {arguments.program!r}\n")
        return _USAGE
    cluster = make_cluster(arguments.ps, arguments.workers, arguments.chief)
    if not any(map(_trains, tasks_of(cluster, False))):
        sys.stderr.write("weft launch: a cluster needs a worker or a chief\n")
        return _USAGE
    command = [sys.executable, "-m", "weft", "run", *["-m"] * arguments.is_module]
    command += [arguments.program, *arguments.args]
    command += _STANDARD_FLAGS if arguments.flags else ()
    plan = Plan(
        command, cluster, tasks_of(cluster, arguments.evaluator), arguments.restarts,
        arguments.until == "chief", arguments.grace, credentials.environment_of(arguments),
    )  # fmt: skip
    launcher = Launcher(plan, Output([f"{job}/{i}" for job, i in plan.tasks]))

    def stop(number: int, frame: Any) -> None:
        launcher.interrupted = number

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return launcher.run()
