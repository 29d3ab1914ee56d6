"""The engine `ray`: every task is an actor, on a cluster of Ray or one that is started here.

A placement group holds what the tasks need for as long as the run lasts; a task that has died is
started again in its own share, so at its own address. When its node is gone, Ray moves the share:
then all tasks start again, with new addresses.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.launching import processes, task_host
from weft.cli.launching.launcher import run_tasks
from weft.cli.launching.options import RESOURCES, Option
from weft.cli.launching.plan import HOST, JOBS, Cluster, Plan, Task, with_addresses
from weft.cli.launching.processes import Output
from weft.cli.launching.request import LaunchError, Request

OPTIONS: tuple[Option, ...] = (
    Option(
        "--address", "the cluster of Ray to use (RAY_ADDRESS, or one is started on this machine)",
        {"metavar": "HOST:PORT"},
    ),
    Option(
        "--working-dir", "a folder that is copied to the nodes, for tasks to run in; without it,"
        " they run in a folder of this one's name there",
        {"metavar": "FOLDER"},
    ),
    Option(
        "--placement", "whether tasks share nodes (pack) or not (spread); strictly or if possible",
        {"choices": ("pack", "spread", "strict-pack", "strict-spread")},
    ),
    Option(
        "--room-timeout", "how long to wait until the cluster has room for all tasks (300)",
        {"metavar": "SECONDS", "type": float},
    ),
    *RESOURCES,
)  # fmt: skip
# What a task gets from the environment of the launcher: the rest is its node's.
_PASSED_ON = ("WEFT_", "JAX_", "XLA_", "TF_")
_ROOM_SECONDS = 300.0
_FAILED = 1


def launch(request: Request, options: Mapping[str, Any]) -> int:
    """Runs the cluster to its end."""
    request.check_program(options.get("working_dir", ""))
    return run_tasks(request, RayStarter(request, **_without_resources(options)))


def _without_resources(options: Mapping[str, Any]) -> dict[str, Any]:
    resources = [option.destination for option in RESOURCES]
    return {name: value for name, value in options.items() if name not in resources}


class RayStarter:
    """Starts tasks in actors. `hosts` are the actors by task."""

    python = task_host.PYTHON

    def __init__(
        self, request: Request, address: str | None = None, working_dir: str | None = None,
        placement: str = "pack", room_timeout: float = _ROOM_SECONDS,
    ) -> None:  # fmt: skip
        self._request, self._address, self._working_dir = request, address, working_dir
        self._placement, self._room_timeout = placement, room_timeout
        self._is_connected = False
        self._is_local = False  # then nobody elsewhere needs to reach the tasks
        self._group: Any = None
        self._bundles: dict[Task, int] = {}
        self.hosts: dict[Task, Any] = {}
        self._running: dict[Task, RayTask] = {}

    def make_room(self, tasks: Sequence[Task]) -> Cluster:
        if self._group is None:
            self._bundles = {task: i for i, task in enumerate(tasks)}
            cpus = len(tasks) * self._request.cpus
            self._is_local = _connect(self._address, self._working_dir, cpus)
            self._is_connected = True
            self._group = self._reserve()
        addresses = self._addresses([task for task in tasks if task[0] in JOBS])
        counted = Counter(job for job, _ in addresses)
        order = [addresses[job, i] for job in JOBS for i in range(counted[job])]
        return with_addresses({job: counted[job] for job in JOBS}, order)

    def start(self, task: Task, plan: Plan, output: Output) -> RayTask:
        job, index = task
        before = self._running.get(task)
        if task not in self.hosts or (before is not None and before.is_lost):
            self.hosts[task] = self._new_host(task)
        passed = {n: v for n, v in os.environ.items() if n.startswith(_PASSED_ON)}
        address = plan.cluster[job][index] if job in plan.cluster else ""
        call = self.hosts[task].start.remote(
            f"{job}/{index}", plan.command_of(task), {**passed, **plan.environment_of(task)},
            address.rpartition(":")[0] or None, None if self._working_dir else os.getcwd(),
        )  # fmt: skip
        self._running[task] = RayTask(f"{job}/{index}", self.hosts[task], call, output)
        return self._running[task]

    def close(self) -> None:
        if not self._is_connected:
            return
        import ray

        for host in self.hosts.values():
            ray.kill(host)
        if self._group is not None:
            ray.util.remove_placement_group(self._group)
        ray.shutdown()

    # ---- room ----

    def _reserve(self) -> Any:
        """A placement group with a share for every task."""
        import ray
        from ray.util.placement_group import placement_group

        bundles = [self._resources(job) for job, _ in self._bundles]
        group = placement_group(bundles, self._placement.replace("-", "_").upper())
        if not group.wait(self._room_timeout):
            has = {name: n for name, n in ray.cluster_resources().items() if name in ("CPU", "GPU")}
            wanted = sum((Counter(bundle) for bundle in bundles), Counter())
            raise LaunchError(
                f"the cluster of Ray has no room for {dict(wanted)} in {len(bundles)} tasks within"
                f" {self._room_timeout:g} seconds; all of it has {has}"
            )
        return group

    def _resources(self, job: str) -> dict[str, float]:
        wanted = {"CPU": self._request.cpus, "GPU": self._request.gpus_of(job)}
        return {name: amount for name, amount in wanted.items() if amount}

    def _new_host(self, task: Task) -> Any:
        """An actor in the share of a task; the one before, if there is one, ends."""
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        if task in self.hosts:
            ray.kill(self.hosts[task])
        resources = self._resources(task[0])
        where = PlacementGroupSchedulingStrategy(self._group, self._bundles[task])
        return (
            ray.remote(task_host.TaskHost)
            .options(
                num_cpus=resources.get("CPU", 0), num_gpus=resources.get("GPU", 0),
                scheduling_strategy=where, max_concurrency=4,
            )
            .remote(HOST if self._is_local else None)
        )  # fmt: skip

    def _addresses(self, tasks: Sequence[Task]) -> dict[Task, str]:
        """An address for every task, on the node of its share."""
        import ray

        for task in tasks:
            if task not in self.hosts or (task in self._running and self._running[task].is_lost):
                self.hosts[task] = self._new_host(task)
        found = ray.get([self.hosts[task].reserve.remote() for task in tasks])
        return dict(zip(tasks, found, strict=True))


class RayTask:
    """A task that runs in an actor; a thread fetches what it says. `is_up`: it has been started;
    `is_lost`: the actor is gone."""

    def __init__(self, name: str, host: Any, started: Any, output: Output) -> None:
        self.name, self.host = name, host
        self.has_moved = self.is_lost = self.is_up = False
        self._started, self._output = started, output
        self._code: int | None = None
        output.hear(self._follow)

    def poll(self) -> int | None:
        return self._code

    def send(self, number: signal.Signals) -> None:
        self.host.send.remote(int(number))

    def _follow(self) -> None:
        import ray.exceptions

        try:
            self._code = self._fetch_all()
        except ray.exceptions.RayTaskError as error:
            self._output.say(self.name, str(error.cause))
            self._code = _FAILED
        except ray.exceptions.RayError:
            self.is_lost = True
            self._code = -signal.SIGKILL

    def _fetch_all(self) -> int:
        """Passes lines on until the program has ended; its exit code."""
        import ray

        if not ray.get(self._started):
            self.has_moved = True
            return -signal.SIGKILL
        self.is_up = True
        while True:
            lines, code = ray.get(self.host.follow.remote())
            for line, is_error in lines:
                self._output.pass_on(self.name, line, is_error)
            if code is not None:
                return int(code)


def _connect(address: str | None, working_dir: str | None, cpus: float) -> bool:
    """Joins the cluster of Ray, or starts one here that lends out as many cores as are needed.
    Whether it did the second."""
    try:
        import ray
    except ImportError:
        raise LaunchError("--engine ray needs Ray: pip install 'weft[ray]'") from None
    for module in (task_host, processes):
        ray.cloudpickle.register_pickle_by_value(module)
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
    if working_dir:
        settings["runtime_env"] = {"working_dir": working_dir}
    if where == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        settings |= {
            "num_cpus": max(os.cpu_count() or 1, int(cpus + 0.5)),
            "include_dashboard": False,
        }
    try:
        ray.init(where, **settings)
    except Exception as error:  # Ray raises this class when it takes too long to start
        raise LaunchError(f"no cluster of Ray at {where}: {error}") from None
    return where == "local"
