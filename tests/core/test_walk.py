"""Walks along edges."""

from __future__ import annotations

from weft.core.walk import reached

EDGES = {"a": "bc", "b": "d", "c": "d", "d": "b", "e": "a"}


def test_all_that_follows_is_found_once_also_in_a_circle() -> None:
    asked = []

    def following(name: str) -> str:
        asked.append(name)
        return EDGES[name]

    assert reached("a", following) == set("abcd")
    assert sorted(asked) == list("abcd")


def test_nothing_follows_from_nothing() -> None:
    assert reached((), EDGES.__getitem__) == set()
    assert reached("be", EDGES.__getitem__) == set("abcde")
