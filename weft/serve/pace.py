"""Which steps are so short that a thread of their own would take longer than they do."""

from __future__ import annotations

from collections.abc import Hashable

_SHORT = 500e-6  # seconds
_ENOUGH = 3  # the first run is interpreted, the second may compile
_MOST_TRUST = 32
_MOST_KEPT = 1024


class Pace:
    """The steps of a version: those are short that have been so for some time.

    Each short run is a reason for trust, each long one is one against it for every time that it
    has taken longer. So a step that had to wait for a processor, now and then, is still short.
    """

    def __init__(self) -> None:
        self._trust: dict[Hashable, float] = {}

    def is_short(self, step: Hashable) -> bool:
        return self._trust.get(step, 0) >= _ENOUGH

    def note(self, step: Hashable, seconds: float) -> None:
        """A step has taken so long."""
        trust = self._trust.get(step, 0)
        if seconds <= _SHORT and trust >= _MOST_TRUST:
            return
        if len(self._trust) >= _MOST_KEPT and step not in self._trust:
            self._trust = {}
        self._trust[step] = trust + 1 if seconds <= _SHORT else max(0, trust - seconds / _SHORT)
