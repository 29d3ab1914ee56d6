"""Which steps are so short that a thread of their own would take longer than they do."""

from __future__ import annotations

from collections.abc import Hashable

_SHORT = 500e-6  # seconds
_ENOUGH = 3  # the first run is interpreted, the second may compile
_MOST_KEPT = 1024


class Pace:
    """The steps of a version: those are short that have been so each of the last times."""

    def __init__(self) -> None:
        self._short_runs: dict[Hashable, int] = {}

    def is_short(self, step: Hashable) -> bool:
        return self._short_runs.get(step, 0) >= _ENOUGH

    def note(self, step: Hashable, seconds: float) -> None:
        """A step has taken so long."""
        runs = self._short_runs.get(step, 0)
        if seconds > _SHORT:
            self._short_runs.pop(step, None)
        elif runs < _ENOUGH:
            if len(self._short_runs) >= _MOST_KEPT:
                self._short_runs = {}
            self._short_runs[step] = runs + 1
