"""The actor of a task on Ray: it runs the task's program as a process of its node.

It is sent to the nodes as it is, with `processes.py`: neither may import anything of weft.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.launching import processes

PYTHON = "{python}"  # in commands: the interpreter of the node
_WAIT_SECONDS = 1.0
_MOST_LINES = 1000


class Heard(processes.Output):
    """Keeps lines until they are fetched."""

    def __init__(self) -> None:
        super().__init__(())
        self._lines: queue.SimpleQueue[tuple[bytes, bool]] = queue.SimpleQueue()

    def _write(self, sink: Any, name: str, line: bytes) -> None:
        self._lines.put((line, sink is sys.stderr))

    def fetch(self, seconds: float) -> list[tuple[bytes, bool]]:
        """What there is; waits so long for the first line."""
        found = []
        try:
            found.append(self._lines.get(timeout=seconds))
            while len(found) < _MOST_LINES:
                found.append(self._lines.get_nowait())
        except queue.Empty:
            pass
        return found


class TaskHost:
    """One task's place on a node, which others reach by `host` or by the address that Ray has for
    it. Calls may come at once, but for `start`."""

    def __init__(self, host: str | None) -> None:
        self._host = host or _this_node()
        self._socket: socket.socket | None = None
        self._process: processes.Process | None = None
        self._heard = Heard()

    def reserve(self) -> str:
        """An address of this node, which is kept free until the task starts."""
        self._socket = socket.socket()
        self._socket.bind(("", 0))
        return f"{self._host}:{self._socket.getsockname()[1]}"

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], host: str | None,
        folder: str | None,
    ) -> bool:  # fmt: skip
        """Starts the program in a folder of this node; does not if this is not the right host."""
        if host not in (None, self._host):
            return False
        if self._socket is not None:
            self._socket.close()
        words = [sys.executable if word == PYTHON else word for word in command]
        self._heard = Heard()
        variables = {**os.environ, **environment}
        self._process = processes.Process(name, words, variables, self._heard, folder)
        return True

    def follow(self) -> tuple[list[tuple[bytes, bool]], int | None]:
        """Lines that were not fetched before, and the exit code once there will be no more."""
        assert self._process is not None
        code = self._process.poll()
        if code is not None:
            self._heard.close()
        lines = self._heard.fetch(_WAIT_SECONDS if code is None else 0.0)
        return lines, None if lines else code

    def send(self, number: int) -> None:
        """A signal to the program."""
        if self._process is not None:
            self._process.send(signal.Signals(number))

    def process_id(self) -> int:
        """The actor's own process, whose end is also that of the program."""
        return os.getpid()


def _this_node() -> str:
    import ray.util

    return str(ray.util.get_node_ip_address())
