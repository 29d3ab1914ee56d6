"""`weft launch -n`: the keeper of a group, and how many processes it may have."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from weft.cli.launching.group import Bounds
from weft.cli.launching.keeper import LATE_SECONDS, Keeper
from weft.cli.launching.request import LaunchError
from weft.cli.launching.room import ScriptedRoom, slots_here
from weft.cli.launching.rounds import Rounds
from weft.cli.main import main
from weft.core.meeting import CHANGED, LOST, TASK, Meeting
from weft.core.processes import Place

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

# ---- how many ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((4, None, None, False), Bounds(4, 4)),
        ((4, 2, None, False), Bounds(2, 4)),
        ((4, 2, 8, True), Bounds(2, 8)),
        ((4, None, None, True), Bounds(4, None)),
    ],
)
def test_bounds(given: tuple, wanted: Bounds) -> None:
    assert Bounds.of(*given) == wanted


@pytest.mark.parametrize("given", [(2, 3, None), (4, None, 3)])
def test_a_size_beyond_its_bounds(given: tuple) -> None:
    with pytest.raises(LaunchError, match=f"-n {given[0]} is not from --min-np to --max-np"):
        Bounds.of(*given, is_scripted=True)


def test_bounds_are_for_processes_that_are_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "--host-discovery-script", "x", __file__]) == 2
    assert "--host-discovery-script are for -n\n" in capsys.readouterr().err
    assert main(["launch", "-n", "2", "--min-np", "3", __file__]) == 2
    assert "-n 2 is not from --min-np to --max-np\n" in capsys.readouterr().err


def test_slots_of_this_machine() -> None:
    lines = ["localhost:2", "", f"{socket.gethostname()}:3", "elsewhere.example:8", "127.0.0.1"]
    assert slots_here(lines) == 6


def test_a_script_is_asked_again(tmp_path: Path) -> None:
    script, answer = tmp_path / "script.sh", tmp_path / "answer"
    script.write_text(f"#!/bin/sh\ncat {answer}\n")
    script.chmod(0o755)
    with pytest.raises(LaunchError, match="--host-discovery-script"):
        ScriptedRoom(str(script))
    answer.write_text("localhost:2")
    room = ScriptedRoom(str(script))
    assert room() == 2
    answer.unlink()  # while it fails, what it said counts
    answer.with_suffix(".new").write_text("localhost:4")
    answer.with_suffix(".new").rename(answer)
    wait_until(lambda: room() == 4)
    room.close()


# ---- the keeper ----------------------------------------------------------------------------------


def wait_until(condition) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


class Member:
    """Asks in a thread, as a process would."""

    def __init__(self) -> None:
        self.meeting = Meeting()
        self.place: Place | None = None
        self.left: object = None
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self) -> None:
        try:
            self.place = self.meeting.take_place()
        except SystemExit as error:
            self.left = error.code
        except EOFError:
            self.left = "the keeper has closed"


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch):
    kept = Keeper(Rounds(fewest=1))
    for name in (*Place().environment(), *kept.environment_of(0)):
        monkeypatch.setenv(name, kept.environment_of(0).get(name, ""))
    yield kept
    kept.close()


def asked(keeper: Keeper, task: int, monkeypatch: pytest.MonkeyPatch) -> Member:
    """A member that the keeper knows of."""
    monkeypatch.setenv(TASK, str(task))
    member = Member()
    wait_until(lambda: (keeper.look(), task in keeper.rounds.waiting or member.left is not None)[1])
    return member


def test_a_group_meets_and_is_told_of_others(keeper, monkeypatch) -> None:
    for task in (0, 1):
        keeper.rounds.expect(task)
    first = asked(keeper, 0, monkeypatch)
    monkeypatch.setenv(TASK, "1")
    second = Member()
    wait_until(lambda: (keeper.look(), first.place and second.place)[1])
    coordinator = first.place.coordinator
    assert first.place == Place(0, 2, 0, 2, coordinator, is_kept=True)
    assert second.place == Place(1, 2, 1, 2, coordinator, is_kept=True)
    keeper.rounds.expect(2)
    asked(keeper, 2, monkeypatch)
    wait_until(lambda: first.meeting.has_heard(CHANGED) and second.meeting.has_heard(CHANGED))
    assert not first.meeting.has_heard(LOST)
    keeper.carry_out(keeper.rounds.end(1, is_done=False))
    wait_until(lambda: first.meeting.has_heard(LOST))
    assert not second.meeting.has_heard(LOST)  # it is gone


def test_what_a_member_waits_for_is_lost(keeper, monkeypatch) -> None:
    keeper.rounds.expect(0)
    monkeypatch.setenv(TASK, "0")
    member = Member()
    wait_until(lambda: (keeper.look(), member.place)[1])
    begun = threading.Event()
    with member.meeting.watched(begun.set, patience=0.0):
        member.meeting._hear(LOST)
        assert begun.wait(60)


def test_members_that_hang(keeper, monkeypatch) -> None:
    keeper.rounds.expect(0)
    monkeypatch.setenv(TASK, "0")
    member = Member()
    wait_until(lambda: (keeper.look(), member.place)[1])
    now = time.monotonic()
    assert keeper.late(now) == set()
    assert keeper.late(now + LATE_SECONDS + 60) == {0}  # it has shown no life by then


def test_one_that_is_not_needed_ends_well(keeper, monkeypatch) -> None:
    assert asked(keeper, 5, monkeypatch).left == 0
