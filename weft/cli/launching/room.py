"""How many processes of a group there is room for on this machine, as a script says."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterable

from weft.cli.launching.plan import HOST
from weft.cli.launching.request import LaunchError

_ASK_SECONDS = 1.0
_ANSWER_SECONDS = 60.0


class ScriptedRoom:
    """Asks a script every second, in a thread; lines are `HOST` or `HOST:SLOTS`, as Horovod has
    them. While it fails, its last answer counts."""

    def __init__(self, script: str) -> None:
        self._script = script
        self._slots = self._ask()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def __call__(self) -> int:
        return self._slots

    def close(self) -> None:
        self._is_closed.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._is_closed.wait(_ASK_SECONDS):
            try:
                self._slots = self._ask()
            except LaunchError:
                continue

    def _ask(self) -> int:
        try:
            done = subprocess.run(
                [self._script], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=_ANSWER_SECONDS, check=True,
            )  # fmt: skip
            return slots_here(done.stdout.splitlines())
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise LaunchError(f"--host-discovery-script {self._script}: {error}") from None


def slots_here(lines: Iterable[str]) -> int:
    """The slots of this machine; those of others are for engines that reach them."""
    names = {HOST, "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()}
    total = 0
    for line in filter(None, map(str.strip, lines)):
        host, colon, slots = line.rpartition(":")
        name, number = (host, int(slots)) if colon else (line, 1)
        total += number if name in names else 0
    return total
