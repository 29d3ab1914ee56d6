"""The loop that looks after the tasks of a plan, wherever they run."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from weft.cli.launching.plan import Cluster, Plan, Task, trains
from weft.cli.launching.processes import Output, exit_code
from weft.cli.launching.request import Request

USAGE = 2  # the exit code of a program that did not understand its arguments
_LOOK_SECONDS = 0.05  # how often the tasks are looked at


class Running(Protocol):
    """A task that was started. `has_moved`: it is not where the cluster says, and does not run."""

    name: str
    has_moved: bool

    def poll(self) -> int | None:
        """The exit code, once it has ended; minus the signal, if one has ended it. Never waits."""

    def send(self, number: signal.Signals) -> None:
        """A signal to it and to all it has started."""


class Starter(Protocol):
    """What starts tasks. All calls come from one thread."""

    python: str  # the interpreter, in commands

    def make_room(self, tasks: Sequence[Task]) -> Cluster:
        """Takes what all tasks need, and gives the addresses of those that are in the cluster."""

    def start(self, task: Task, plan: Plan, output: Output) -> Running:
        """Starts a task, or starts it again; what it says goes to `output` under its name."""

    def close(self) -> None:
        """Gives everything back."""


class Launcher:
    """Starts the tasks of a plan and looks after them until they are done."""

    def __init__(self, plan: Plan, output: Output, starter: Starter) -> None:
        self.plan, self.output, self.starter = plan, output, starter
        self.processes: dict[Task, Running] = {}
        self.starts: dict[Task, int] = {}
        self._since: dict[Task, float] = {}
        self._deaths: dict[Task, int] = {}  # in a row
        self.over: dict[Task, int] = {}  # exit codes of tasks that ended for good
        self.interrupted: int | None = None  # the signal that we were told to stop by

    def run(self) -> int:
        """Returns the exit code of it all."""
        try:
            self._begin()
            while self.interrupted is None and not self._is_over():
                self._look()
                self.output.wait(_LOOK_SECONDS)
        finally:
            self._stop()
        if self.interrupted is not None:
            return exit_code(-self.interrupted)
        failed = next((code for code in self.over.values() if code), 0)
        return exit_code(self.over.get(self.plan.chief, failed) or failed)

    def _begin(self) -> None:
        for task in self.plan.tasks:
            self._start(task)

    def _start(self, task: Task) -> None:
        self.starts[task] = self.starts.get(task, 0) + 1
        self._since[task] = time.monotonic()
        self.processes[task] = self.starter.start(task, self.plan, self.output)

    def _look(self) -> None:
        """Restarts the tasks that have died, and notes those that are done."""
        if moved := [each for each in self.processes.values() if each.has_moved]:
            self.output.say(moved[0].name, "has another address; the whole cluster starts again")
            self._start_over()
        for task, process in list(self.processes.items()):
            code = process.poll()
            if code is not None and task not in self.over:
                self._note_end(task, code)

    def _note_end(self, task: Task, code: int) -> None:
        left = self.plan.restarts - self._deaths_before(task)
        if code in (0, USAGE) or left <= 0:
            self._finish(task, code)
            return
        self.output.say(name_of(task), f"{how(code)}; starting again ({left} left)")
        self._deaths[task] += 1
        self._start(task)

    def _finish(self, task: Task, code: int) -> None:
        """A task has ended for good."""
        self.over[task] = code
        if code:
            self.output.say(name_of(task), f"{how(code)}; everything is stopped")

    def _start_over(self) -> None:
        """Starts what is not done with new addresses: who is told of old ones must end first."""
        tasks = [task for task in self.plan.tasks if task not in self.over]
        self._end(tasks, signal.SIGTERM)
        self._end(tasks, signal.SIGKILL)
        self.plan.cluster = self.starter.make_room(self.plan.tasks)
        for task in tasks:
            self._start(task)

    def _deaths_before(self, task: Task) -> int:
        """How often a task has been started again without having lived for a while since."""
        if time.monotonic() - self._since[task] >= self.plan.well:
            self._deaths[task] = 0
        return self._deaths.setdefault(task, 0)

    def _is_over(self) -> bool:
        if any(self.over.values()):
            return True
        if self.plan.until_chief:
            return self.plan.chief in self.over
        return all(task in self.over for task in self.plan.tasks if trains(task))

    # ---- the end ----

    def _stop(self) -> None:
        """Ends what still runs: parameter servers last, since others may need them to end well."""
        if self.interrupted is not None:
            self._end([task for task in self.processes if task[0] != "ps"], signal.SIGINT)
        self._end(self.processes, signal.SIGTERM)
        self._end(self.processes, signal.SIGKILL)
        self.output.close()

    def _end(self, tasks: Iterable[Task], number: signal.Signals) -> None:
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


def run_tasks(request: Request, starter: Starter) -> int:
    """Runs a cluster to its end; Ctrl-C, and SIGTERM, stop all of it."""
    try:
        plan = request.plan(starter.python, starter.make_room(request.tasks))
        return run_until_told(Launcher(plan, Output(list(map(name_of, plan.tasks))), starter))
    finally:
        starter.close()


def run_until_told(launcher: Launcher) -> int:
    """Runs a launcher to its end, or until a signal says so."""

    def stop(number: int, frame: Any) -> None:
        launcher.interrupted = number

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return launcher.run()


def name_of(task: Task) -> str:
    """A task, as its lines are called."""
    return f"{task[0]}/{task[1]}"


def how(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
