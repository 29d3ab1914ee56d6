"""`weft launch -n` on this machine: a group of processes that may become more or fewer.

A process that dies is started again; one that dies too often is given up, and the others go on
without it while they are enough. A script can say how many there is room for: processes come and
go with that. Each time the group meets again, and programs under `hvd.elastic` go on.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from weft.cli.launching.keeper import Keeper
from weft.cli.launching.launcher import USAGE, Launcher, Starter, how, name_of, run_until_told
from weft.cli.launching.plan import Plan, Task, free_addresses
from weft.cli.launching.processes import Output
from weft.cli.launching.request import LaunchError, Request
from weft.cli.launching.room import ScriptedRoom
from weft.cli.launching.rounds import Rounds, first_free

_ROOM_SECONDS = 600.0  # how long to wait until there is room for enough processes
_JOB = "worker"


@dataclass(frozen=True)
class Bounds:
    """How many processes a group may have."""

    fewest: int
    most: int | None  # as many as there is room for

    @classmethod
    def of(cls, size: int, fewest: int | None, most: int | None, is_scripted: bool) -> Bounds:
        """Without a word about them, the group has the size it begins with."""
        found = cls(fewest or size, most or (None if is_scripted else size))
        if found.fewest > size or (found.most is not None and found.most < size):
            raise LaunchError(f"-n {size} is not from --min-np to --max-np")
        return found


class GroupLauncher(Launcher):
    """Looks after the processes of a group until they are done."""

    def __init__(
        self, plan: Plan, output: Output, starter: Starter, bounds: Bounds, room: Callable[[], int]
    ) -> None:
        super().__init__(plan, output, starter)
        self.bounds, self._room = bounds, room
        self.rounds = Rounds(bounds.fewest)
        self.keeper = Keeper(self.rounds)
        plan.tasks = []
        plan.told = lambda task: self.keeper.environment_of(task[1])
        self._given_up = 0
        self._short_since: float | None = None
        self._has_failed = False

    def run(self) -> int:
        """Returns the exit code of it all."""
        try:
            return super().run() or int(self._has_failed)
        finally:
            self.keeper.close()

    def _begin(self) -> None:
        self._fit()

    def _start(self, task: Task) -> None:
        self.rounds.expect(task[1])
        super()._start(task)

    def _look(self) -> None:
        self.keeper.look()
        for task in self.keeper.late(time.monotonic()):
            self.processes[_JOB, task].send(signal.SIGKILL)
        super()._look()
        if not self.over:
            self._fit()
        self._has_failed |= self.keeper.has_failed or self._is_short_for_long()

    def _is_over(self) -> bool:
        return self._has_failed or (bool(self.plan.tasks) and super()._is_over())

    # ---- ends ----

    def _note_end(self, task: Task, code: int) -> None:
        self.keeper.carry_out(self.rounds.end(task[1], is_done=not code))
        if task[1] in self.rounds.expected:
            super()._note_end(task, code)
        else:
            self.output.say(name_of(task), "has left the group")
            self._forget(task)

    def _finish(self, task: Task, code: int) -> None:
        if code in (0, USAGE) or len(self.rounds.expected) <= self.bounds.fewest:
            super()._finish(task, code)
            return
        self.output.say(name_of(task), f"{how(code)}; the others go on without it")
        self._given_up += 1
        self._forget(task)
        self.keeper.carry_out(self.rounds.give_up(task[1]))

    def _forget(self, task: Task) -> None:
        del self.processes[task]
        self.plan.tasks = [each for each in self.plan.tasks if each != task]

    # ---- room ----

    def _fit(self) -> None:
        """Starts processes that there is room for, and lets those go that there is none for."""
        room = self._room() if self.bounds.most is None else min(self._room(), self.bounds.most)
        wanted = max(0, room - self._given_up)
        present = sorted(self.rounds.expected)
        for task in present[wanted:]:
            self.keeper.carry_out(self.rounds.give_up(task))
        self._add(wanted - len(present))

    def _add(self, count: int) -> None:
        new: list[Task] = []
        for _ in range(count):
            taken = [index for _, index in (*self.processes, *new)]
            new.append((_JOB, first_free(taken)))
        self.plan.tasks = [*self.plan.tasks, *new]
        addresses = self.plan.cluster[_JOB]
        addresses += free_addresses(max(0, len(self.processes) + len(new) - len(addresses)))
        for task in new:
            self._start(task)

    def _is_short_for_long(self) -> bool:
        if self.over or len(self.rounds.expected) >= self.bounds.fewest:
            self._short_since = None
            return False
        self._short_since = self._short_since or time.monotonic()
        return time.monotonic() - self._short_since > _ROOM_SECONDS


def run_group(
    request: Request, starter: Starter, fewest: int | None, most: int | None, script: str | None
) -> int:
    """Runs a group to its end."""
    size = request.counts[_JOB]
    bounds = Bounds.of(size, fewest, most, script is not None)
    plan = request.plan(starter.python, starter.make_room(request.tasks))
    output = Output([name_of(task) for task in plan.tasks])
    if script is None:
        return run_until_told(GroupLauncher(plan, output, starter, bounds, lambda: size))
    room = ScriptedRoom(script)
    try:
        return run_until_told(GroupLauncher(plan, output, starter, bounds, room))
    finally:
        room.close()
