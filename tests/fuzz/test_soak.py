"""A short soak, and that what it is there to notice is noticed."""

from __future__ import annotations

import pytest

from tests.fuzz.soak import Seen, Soak

KINDS = (
    "send_nonsense", "stop_in_the_middle", "call_with_nonsense", "abandon_a_session",
    "run_a_changed_graph", "ask_for_too_much",
)  # fmt: skip


def test_an_honest_client_among_hostile_ones() -> None:
    seen = Soak(honest=1, hostile=1, seed=1).run(20)
    assert not seen.errors and not seen.ended
    assert seen.quiet and seen.under_attack
    assert {line.split()[0] for line in seen.attacks} <= {*KINDS}
    assert seen.attacks.total() > 5


FINE = {"quiet": [1.0], "under_attack": [1.9], "memory": [1 << 28] * 8}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, ""),
        ({"errors": ["error NotFoundError"]}, "1 errors of honest clients: error NotFoundError"),
        ({"under_attack": [2.1]}, "honest clients are 2.10 times as slow"),
        ({"memory": [1 << 28] * 6 + [1 << 30] * 2}, "the server has grown by 805 MB"),
        ({"memory": [1 << 20] * 2 + [1 << 28] * 6}, ""),
        ({"ended": "the server ended: -6"}, "the server ended: -6"),
    ],
)
def test_what_is_noticed(changed: dict, problem: str) -> None:
    seen = Seen(**(FINE | changed))
    assert seen.problems() == ([problem] if problem else [])
    assert "under attack" in str(seen)
