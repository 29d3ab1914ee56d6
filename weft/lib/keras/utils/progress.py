"""A bar that grows in the terminal, with the values that are being averaged."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from weft.lib.keras.utils.io_utils import say


class Progbar:
    """Shows how far something has come; `target` None means that the end is unknown.

    Values are averaged over the units they stand for, those of `stateful_metrics` shown as they
    are. With `verbose` 1 there is a bar, with 2 one line at the end, with 0 nothing.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ) -> None:
        self.target, self.width, self.verbose = target, width, verbose
        self.interval, self.unit_name = interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._in_place = _can_go_back()
        self._written = 0
        self._seen_so_far = 0
        self._sums: dict[str, tuple[Any, Any]] = {}  # name -> (sum of values, units)
        self._start = time.time()
        self._last_update = 0.0

    def add(self, n: int, values: Any = None) -> None:
        """`n` units more."""
        self.update(self._seen_so_far + n, values)

    def update(self, current: int, values: Any = None) -> None:
        """`current` units in all; `values` are those of the units since the last update."""
        self._take(current - self._seen_so_far, values or [])
        self._seen_so_far = current
        now = time.time()
        done = self.target is not None and current >= self.target
        if self.verbose == 1:
            early = now - self._last_update < self.interval
            if early and self.target is not None and not done:
                return
            self._show(current, now - self._start, done)
        elif self.verbose == 2 and done:
            # A negative mean counts as small here, and only here.
            shown = self._averages(lambda mean: mean > 1e-3)
            say(self._count(current) + f" - {now - self._start:.0f}s" + shown)
        self._last_update = now

    def _take(self, units: int, values: Any) -> None:
        for name, value in values:
            if name in self.stateful_metrics:
                self._sums[name] = (value, 1)
            else:
                total, count = self._sums.get(name, (0, 0))
                self._sums[name] = (total + value * units, count + units)

    def _show(self, current: int, seconds: float, done: bool) -> None:
        line = self._bar(current) + self._time(current, seconds, done) + self._averages()
        before, self._written = self._written, len(line)
        start = "\b" * before + "\r" if self._in_place else "\n"
        say(start + line + " " * (before - len(line)), end="\n" if done else "")

    def _count(self, current: int) -> str:
        target = self.target or 0
        return f"{current:{len(str(target))}d}/{target}"

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        filled = int(self.width * current / self.target) if self.target else self.width
        head = "=" if current >= self.target else ">"
        drawn = "=" * (filled - 1) + head if filled > 0 else ""
        return f"{self._count(current)} [{drawn}{'.' * (self.width - filled)}]"

    def _time(self, current: int, seconds: float, done: bool) -> str:
        each = seconds / current if current else 0.0
        if self.target is not None and not done:
            return f" - ETA: {_clock(each * (self.target - current))}"
        spent = f" - {seconds:.0f}s"
        if each >= 1 or each == 0:
            return f"{spent} {each:.0f}s/{self.unit_name}"
        if each >= 1e-3:
            return f"{spent} {each * 1e3:.0f}ms/{self.unit_name}"
        return f"{spent} {each * 1e6:.0f}us/{self.unit_name}"

    def _averages(self, is_plain: Callable[[Any], Any] = lambda mean: abs(mean) > 1e-3) -> str:
        """All means; those that are not `is_plain` are written with an exponent."""
        shown = ""
        for name, (total, count) in self._sums.items():
            mean = np.mean(total / max(1, count))
            shown += f" - {name}: " + (f"{mean:.4f}" if is_plain(mean) else f"{mean:.4e}")
        return shown


def _can_go_back() -> bool:
    """Whether the terminal lets a line be written over."""
    return (
        (hasattr(sys.stdout, "isatty") and sys.stdout.isatty())
        or "ipykernel" in sys.modules
        or "posix" in sys.modules
        or "PYCHARM_HOSTED" in os.environ
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    if seconds > 3600:
        return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if seconds > 60 else f"{rest}s"
