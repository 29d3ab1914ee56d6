"""Who is in a group, and when it meets: events come in, instructions come out.

A group meets again, in a new round, when all that are expected wait for it and all that were in the
round before have left it. Members leave by themselves, between two steps, once they are told that
another waits. Once one has left, or has ended, no step of the round can be done any more: the
others are told that too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

NOT_NEEDED = 0  # the exit code of a process that leaves because it is not needed any more
TOO_LATE = "weft: the other processes of the group have done their work; this one cannot join them"


@dataclass(frozen=True)
class Meet:
    """Those that wait are a group, in the order of their ranks."""

    tasks: tuple[int, ...]


@dataclass(frozen=True)
class Tell:
    """A member has to leave the round: the group changes, or has `lost` a member already."""

    task: int
    lost: bool


@dataclass(frozen=True)
class Dismiss:
    """A process that waits is to end, with an exit code or with what it says as a failure."""

    task: int
    why: int | str


Instruction = Meet | Tell | Dismiss


@dataclass
class Rounds:
    """Decides. `fewest`: a smaller group does not meet. Tasks are numbers."""

    fewest: int
    expected: set[int] = field(default_factory=set)
    waiting: list[int] = field(default_factory=list)
    members: set[int] = field(default_factory=set)  # those that have not left the round
    is_broken: bool = False  # whether a member of the round has left it
    _order: list[int] = field(default_factory=list)  # those that live of the last round, by rank
    _known: set[int] = field(default_factory=set)  # those that were in a round
    _told: set[Tell] = field(default_factory=set)
    _is_done: bool = False

    def expect(self, task: int) -> None:
        """A process was started."""
        self.expected.add(task)

    def ask(self, task: int) -> list[Instruction]:
        """A process wants to join; if it was a member, it has left."""
        self.is_broken |= task in self.members
        self.members.discard(task)
        if task not in self.expected:
            return [Dismiss(task, NOT_NEEDED), *self._go_on()]
        self.waiting.append(task)
        return self._dismiss_all() if self._is_done else self._go_on()

    def end(self, task: int, is_done: bool) -> list[Instruction]:
        """A process has ended. One that `is_done` has done its work, and so have the others."""
        self.is_broken |= task in self.members and not is_done
        self.members.discard(task)
        self.waiting, self._order = _without(task, self.waiting), _without(task, self._order)
        self._is_done |= is_done
        return self._dismiss_all() if self._is_done else self._go_on()

    def give_up(self, task: int) -> list[Instruction]:
        """A process is not to be in the group any more."""
        self.expected.discard(task)
        dismissed = [Dismiss(task, NOT_NEEDED)] if task in self.waiting else []
        self.waiting = _without(task, self.waiting)
        return [*dismissed, *self._go_on(must_leave=task in self.members)]

    def _go_on(self, must_leave: bool = False) -> list[Instruction]:
        if self.members:
            return self._tell() if self.waiting or self.is_broken or must_leave else []
        if not self.waiting or self.expected.difference(self.waiting):
            return []
        return [] if len(self.waiting) < self.fewest else [self._meet()]

    def _tell(self) -> list[Instruction]:
        """Each member hears each word once."""
        told = {Tell(task, self.is_broken) for task in self.members} - self._told
        self._told |= told
        return [*sorted(told, key=lambda each: each.task)]

    def _meet(self) -> Meet:
        """Those that were there before have the lower ranks, in their order: they know more."""
        before = [task for task in self._order if task in self.waiting]
        self._order = [*before, *sorted(set(self.waiting).difference(before))]
        self.members, self.waiting, self._told = set(self._order), [], set()
        self._known |= self.members
        self.is_broken = False
        return Meet(tuple(self._order))

    def _dismiss_all(self) -> list[Instruction]:
        """A process that never was in the group was not needed; another has failed to end well."""
        waiting, self.waiting = self.waiting, []
        return [Dismiss(task, TOO_LATE if task in self._known else NOT_NEEDED) for task in waiting]


def _without(task: int, tasks: list[int]) -> list[int]:
    return [each for each in tasks if each != task]


def first_free(taken: Iterable[int]) -> int:
    """The smallest number that is not taken."""
    numbers = set(taken)
    return next(number for number in range(len(numbers) + 1) if number not in numbers)
