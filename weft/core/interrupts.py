"""Whether work of this thread may go on. Who sets limits adds a check; who works long, asks."""

from __future__ import annotations

from collections.abc import Callable

_checks: list[Callable[[], None]] = []


def add_check(check: Callable[[], None]) -> None:
    """From now on `check`, which may raise, has a say."""
    _checks.append(check)


def check() -> None:
    """Raises what one of the checks raises."""
    for each in _checks:
        each()
