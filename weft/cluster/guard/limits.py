"""Limits of a server: requests beyond them are refused, and the server goes on."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from dataclasses import asdict, dataclass, field
from typing import Any

from weft.core import errors, flags, machine
from weft.core.printable import escaped
from weft.runtime.debug import report

_MEGABYTE = 1 << 20
_SECONDS_BETWEEN_COMPLAINTS = 60.0
_MOST_COMPLAINTS = 1024


def _bytes(flag: flags.Flag[int], part: int) -> int:
    return flag.value * _MEGABYTE if flag.value > 0 else machine.memory() // part


def message_limit() -> int:
    """The largest message that this process receives, unless a server has a limit of its own."""
    return _bytes(flags.MAX_MESSAGE, 2)


@dataclass(frozen=True)
class Limits:
    """The limits of a server; messages, tensors and graphs in bytes.

    Of messages, `message` is for one and `arriving` for all that are under way.
    """

    message: int = field(default_factory=message_limit)
    sessions: int = field(default_factory=lambda: flags.MAX_SESSIONS.value)
    calls: int = field(default_factory=lambda: flags.MAX_CALLS.value)
    held: int = field(default_factory=lambda: _bytes(flags.MAX_HELD, 2))
    graphs: int = field(default_factory=lambda: _bytes(flags.MAX_GRAPHS, 4))
    arriving: int = field(default_factory=lambda: _bytes(flags.MAX_ARRIVING, 2))

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int) or value < 1:
                raise errors.InvalidArgumentError(
                    None, None, f"A server that takes {value!r} as its limit of {name} could not do"
                    " anything: a number from 1 on is wanted",
                )  # fmt: skip


class Budget:
    """A quota; `what` and `flag` name it in the error."""

    def __init__(self, most: int, what: str, flag: flags.Flag[int]) -> None:
        self.most, self._what, self._flag = most, what, flag
        self.used = 0
        self._owners: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        # A collection of garbage, which may come at any time, gives back.
        self._lock = threading.RLock()

    def take(self, amount: int = 1) -> None:
        """ResourceExhaustedError if there is not so much left."""
        with self._lock:
            if self.used + amount > self.most:
                raise self.refusal(amount)
            self.used += amount

    def give_back(self, amount: int = 1) -> None:
        with self._lock:
            self.used -= amount

    def take_for(self, owner: Any, amount: int = 1) -> None:
        """As `take`; it is given back for `owner`, at the latest when that is gone from memory."""
        try:
            self.take(amount)
        except errors.ResourceExhaustedError:
            gc.collect()  # owners that only reference cycles keep alive
            self.take(amount)
        returned = weakref.finalize(owner, self.give_back, amount)
        returned.atexit = False
        with self._lock:
            self._owners.setdefault(owner, []).append(returned)

    def give_back_for(self, owner: Any) -> None:
        """Takes back what `owner` has, which may stay in memory for a while."""
        with self._lock:
            for returned in self._owners.pop(owner, ()):
                returned()

    def refusal(self, amount: int) -> errors.OpError:
        return errors.ResourceExhaustedError(
            None, None, f"The server has {self.used} of at most {self.most} {self._what}, and was"
            f" asked for {amount} more. {self._flag.name}, where it is started, sets the limit",
        )  # fmt: skip


class Meters:
    """The quotas of one server, with the amounts in use."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        most = self.limits
        self.sessions = Budget(most.sessions, "sessions", flags.MAX_SESSIONS)
        self.worker_sessions = Budget(most.sessions, "sessions", flags.MAX_SESSIONS)
        self.calls = Budget(most.calls, "calls and connections", flags.MAX_CALLS)
        self.steps = Budget(most.calls, "open steps", flags.MAX_CALLS)
        self.held = Budget(most.held, "bytes of tensors that wait to be taken", flags.MAX_HELD)
        self.graphs = Budget(most.graphs, "bytes of graphs", flags.MAX_GRAPHS)
        arriving = "bytes of messages that are being received"
        self.arriving = Budget(most.arriving, arriving, flags.MAX_ARRIVING)


def too_large(size: int, most: int) -> errors.OpError:
    """The refusal of a message."""
    return errors.ResourceExhaustedError(
        None, None, f"A message of {size} bytes is larger than the {most} bytes that are received"
        f" here. {flags.MAX_MESSAGE.name}, at the receiving end, sets the limit",
    )  # fmt: skip


class Complaints:
    """Says what was refused: the first of a kind at once, then now and again how many there were.

    A client that sends nonsense all day must not fill the log.
    """

    def __init__(self) -> None:
        self._said: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}
        self._lock = threading.Lock()

    def say(self, kind: str, text: str) -> None:
        now = time.monotonic()
        with self._lock:
            since = now - self._said.get(kind, -_SECONDS_BETWEEN_COMPLAINTS)
            if since < _SECONDS_BETWEEN_COMPLAINTS:
                self._unsaid[kind] = self._unsaid.get(kind, 0) + 1
                return
            if len(self._said) >= _MOST_COMPLAINTS:
                self._said.clear()
                self._unsaid.clear()
            self._said[kind] = now
            more = self._unsaid.pop(kind, 0)
        report.log(
            f"weft: refused: {escaped(text)}" + (f" (and {more} more like it)" if more else "")
        )


COMPLAINTS = Complaints()
