"""When a group of processes meets, and who is in it."""

from __future__ import annotations

import pytest

from weft.cli.launching.rounds import (
    NOT_NEEDED,
    TOO_LATE,
    Dismiss,
    Instruction,
    Meet,
    Rounds,
    Tell,
    first_free,
)

# What happens, and what is done about it; a group of three has met before.
STORIES: dict[str, list[tuple[str, int, list[Instruction]]]] = {
    "one that has ended comes back": [
        ("ends", 0, [Tell(1, True), Tell(2, True)]),
        ("asks", 2, []),
        ("asks", 0, []),
        ("asks", 1, [Meet((1, 2, 0))]),
    ],
    "one that has ended is given up": [
        ("ends", 1, [Tell(0, True), Tell(2, True)]),
        ("is given up", 1, []),
        ("asks", 0, []),
        ("asks", 2, [Meet((0, 2))]),
    ],
    "too few are left": [
        ("ends", 0, [Tell(1, True), Tell(2, True)]),
        ("is given up", 0, []),
        ("ends", 1, []),
        ("is given up", 1, []),
        ("asks", 2, []),
        ("is expected", 3, []),
        ("asks", 3, [Meet((2, 3))]),
    ],
    "one joins": [
        ("is expected", 3, []),
        ("asks", 3, [Tell(0, False), Tell(1, False), Tell(2, False)]),
        ("asks", 1, [Tell(0, True), Tell(2, True)]),
        ("asks", 0, []),
        ("asks", 2, [Meet((0, 1, 2, 3))]),
    ],
    "one ends before it has joined": [
        ("is expected", 3, []),
        ("asks", 3, [Tell(0, False), Tell(1, False), Tell(2, False)]),
        ("ends", 3, []),
        ("is given up", 3, []),
        ("asks", 1, [Tell(0, True), Tell(2, True)]),
        ("asks", 0, []),
        ("asks", 2, [Meet((0, 1, 2))]),
    ],
    "one has to go": [
        ("is given up", 2, [Tell(0, False), Tell(1, False), Tell(2, False)]),
        ("asks", 0, [Tell(1, True), Tell(2, True)]),
        ("asks", 1, []),
        ("asks", 2, [Dismiss(2, NOT_NEEDED), Meet((0, 1))]),
    ],
    "one that waits has to go": [
        ("ends", 1, [Tell(0, True), Tell(2, True)]),
        ("asks", 2, []),
        ("is given up", 2, [Dismiss(2, NOT_NEEDED)]),
        ("asks", 1, []),
        ("asks", 0, [Meet((0, 1))]),
    ],
    "all are done": [
        ("is done", 0, []),
        ("is done", 2, []),
        ("is done", 1, []),
    ],
    "some come when the others are done": [
        ("is expected", 3, []),
        ("asks", 3, [Tell(0, False), Tell(1, False), Tell(2, False)]),
        ("is done", 0, [Dismiss(3, NOT_NEEDED)]),
        ("ends", 1, []),
        ("asks", 1, [Dismiss(1, TOO_LATE)]),
    ],
    "one is lost while they meet": [
        ("ends", 0, [Tell(1, True), Tell(2, True)]),
        ("asks", 0, []),
        ("asks", 1, []),
        ("ends", 0, []),
        ("asks", 2, []),
        ("asks", 0, [Meet((1, 2, 0))]),
        ("ends", 2, [Tell(0, True), Tell(1, True)]),
    ],
}


def happen(rounds: Rounds, what: str, task: int) -> list[Instruction]:
    if what == "is expected":
        rounds.expect(task)
        return []
    if what in ("ends", "is done"):
        return rounds.end(task, is_done=what == "is done")
    return rounds.ask(task) if what == "asks" else rounds.give_up(task)


@pytest.mark.parametrize("story", STORIES)
def test_a_story(story: str) -> None:
    rounds = Rounds(fewest=2)
    for task in range(3):
        rounds.expect(task)
    assert [rounds.ask(task) for task in (0, 2, 1)] == [[], [], [Meet((0, 1, 2))]]
    for what, task, wanted in STORIES[story]:
        assert happen(rounds, what, task) == wanted, (what, task)


def test_numbers_are_used_again() -> None:
    assert [first_free([]), first_free([0, 1]), first_free([2, 0])] == [0, 2, 1]
