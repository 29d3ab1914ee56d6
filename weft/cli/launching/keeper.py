"""The keeper of a group on this machine: tells processes their places, and when to meet again.

What it decides is in `rounds.py`. Connections are made in a thread; everything else happens in the
calls of `look`, which the launcher makes again and again.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, wait
from typing import Any

from weft.cli.launching.plan import HOST
from weft.cli.launching.processes import die_with_parent
from weft.cli.launching.rounds import Dismiss, Instruction, Meet, Rounds, Tell
from weft.core.meeting import CHANGED, KEEPER, KEY, LOST, STATE, TASK

# A member that shows no life for so long hangs, as one that does not leave a broken round.
LATE_SECONDS = 60.0


class Keeper:
    """Keeps the group that `rounds` decides about."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds = rounds
        self._key = secrets.token_bytes(32)
        self._listener = Listener((HOST, 0), authkey=self._key)
        self._folder = tempfile.TemporaryDirectory(prefix="weft-group-")
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._members: dict[int, Connection] = {}
        self._alive: dict[int, float] = {}  # when a process was last heard of
        self._coordinator: _Coordinator | None = None
        self._broken_since = 0.0
        self.has_failed = False
        self._is_closed = False
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def environment_of(self, task: int) -> dict[str, str]:
        """What a process is told, so that it finds its place by asking."""
        address = ":".join(map(str, self._listener.address))
        state = os.path.join(self._folder.name, str(task))
        return {KEEPER: address, KEY: self._key.hex(), TASK: str(task), STATE: state}

    def look(self) -> None:
        """Does what there is to do. Never waits."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._calls.get_nowait()()
        for connection in wait(self._members.values(), 0):
            self._hear(connection)

    def late(self, now: float) -> set[int]:
        """The members that hang."""
        if not self.rounds.is_broken:
            self._broken_since = now
        if now - self._broken_since > LATE_SECONDS:
            return set(self.rounds.members)
        return {task for task in self.rounds.members if now - self._alive[task] > LATE_SECONDS}

    def carry_out(self, instructions: list[Instruction]) -> None:
        for each in instructions:
            match each:
                case Tell(task, lost):
                    self._send(task, LOST if lost else CHANGED)
                case Dismiss(task, why):
                    self._send(task, json.dumps({"leave": why}).encode())
                case Meet(tasks):
                    self._meet(tasks)

    def close(self) -> None:
        self._is_closed = True
        with contextlib.suppress(OSError):  # a call, so that the thread sees it
            socket.create_connection(self._listener.address).close()
        self._thread.join()
        self._listener.close()
        for connection in self._members.values():
            connection.close()
        if self._coordinator is not None:
            self._coordinator.end()
        self._folder.cleanup()

    # ---- connections ----

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                connection = self._listener.accept()
                task = int(connection.recv_bytes())
            except (AuthenticationError, EOFError, OSError, ValueError):
                continue  # whatever that was, it does not know the key
            self._calls.put(lambda at=connection, task=task: self._asked(task, at))  # type: ignore[misc]

    def _asked(self, task: int, connection: Connection) -> None:
        self._members[task] = connection
        self._alive[task] = time.monotonic()
        self.carry_out(self.rounds.ask(task))

    def _hear(self, connection: Any) -> None:
        task = next(task for task, each in self._members.items() if each is connection)
        try:
            connection.recv_bytes()
            self._alive[task] = time.monotonic()
        except (EOFError, OSError):  # it has ended, or begins anew
            del self._members[task]

    def _send(self, task: int, message: bytes) -> None:
        with contextlib.suppress(OSError, KeyError):  # it has ended, which the launcher will see
            self._members[task].send_bytes(message)

    # ---- rounds ----

    def _meet(self, tasks: tuple[int, ...]) -> None:
        """Starts a place to meet at; the places of processes are told once that is there."""
        if self._coordinator is not None:
            self._coordinator.end()
        self._coordinator = _Coordinator(len(tasks))
        self._coordinator.when_ready(
            lambda at, port: self._calls.put(lambda: self._place(tasks, at, port))
        )

    def _place(self, tasks: tuple[int, ...], at: _Coordinator, port: str) -> None:
        if at is not self._coordinator:  # the group meets elsewhere by now
            return
        self.has_failed |= not port
        size = len(tasks)
        for rank, task in enumerate(tasks):
            self._alive[task] = time.monotonic()
            place = rank, size, rank, size, f"{HOST}:{port}"
            self._send(task, json.dumps({"place": place}).encode())


class _Coordinator:
    """A process that the members of one round meet at."""

    def __init__(self, size: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "weft.runtime.xla.coordinator", str(size)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=die_with_parent(),
        )  # fmt: skip

    def when_ready(self, call: Callable[[_Coordinator, str], Any]) -> None:
        """Calls with the port, in a thread; with "", if there will be none."""
        lines = self._process.stdout
        assert lines is not None

        def read() -> None:
            with lines:
                call(self, lines.readline().strip())

        threading.Thread(target=read, daemon=True).start()

    def end(self) -> None:
        """All that met there are gone."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
