"""A group of processes with a keeper, who tells each its place every time that the group meets.

`weft launch -n` is the keeper of the processes that it starts. A process that wants to join asks
it, and has its place when all are there. From then on the keeper tells it of others: that one has
left the group (LOST), or that one waits to join it, or has to go (CHANGED). Either way the group
has to meet again. Without a keeper, the environment tells a process its place once and for all.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Client, Connection
from typing import TYPE_CHECKING

from weft.core.processes import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

KEEPER, KEY, TASK = "WEFT_KEEPER", "WEFT_KEEPER_KEY", "WEFT_TASK"
# Where a process keeps what it has when it begins anew.
STATE = "WEFT_ELASTIC_STATE"
LOST, CHANGED, ALIVE = b"lost", b"changed", b"alive"
SHOW_SECONDS = 5.0  # how often a member shows that it lives
_LOOK_SECONDS = 0.2
_OPEN_FILES = "/dev/fd"


class Meeting:
    """The end of a member: a connection to the keeper, for as long as the process is in a group."""

    def __init__(self) -> None:
        self._heard: set[bytes] = set()
        self._lost_at: float | None = None
        self._lock = threading.Lock()
        self._watch: tuple[Callable[[], None], float] | None = None

    def is_kept(self) -> bool:
        return KEEPER in os.environ

    def take_place(self) -> Place:
        """Waits until all are there. A process that is not needed any more ends here."""
        host, _, port = os.environ[KEEPER].rpartition(":")
        connection = Client((host, int(port)), authkey=bytes.fromhex(os.environ[KEY]))
        connection.send_bytes(os.environ[TASK].encode())
        self._heard, self._lost_at = set(), None
        answer = json.loads(self._answer(connection))
        if "place" not in answer:
            raise SystemExit(answer["leave"])
        threading.Thread(target=self._live, args=(connection,), daemon=True).start()
        rank, size, local_rank, local_size, coordinator = answer["place"]
        found = Place(rank, size, local_rank, local_size, coordinator, is_kept=True)
        os.environ.update(found.environment())
        return found

    def has_heard(self, *words: bytes) -> bool:
        """Whether the keeper has said one of these since the group met."""
        return not self._heard.isdisjoint(words)

    @contextlib.contextmanager
    def watched(self, begin_anew: Callable[[], None], patience: float) -> Iterator[None]:
        """Calls `begin_anew`, which does not return, if a process is lost and the block goes on.

        What the block waits for, another process of the group, may never come.
        """
        self._watch = begin_anew, patience
        try:
            yield
        finally:
            with self._lock:
                self._watch = None

    # ---- the keeper's words ----

    def _answer(self, connection: Connection) -> bytes:
        """A process may be lost before all have their places."""
        while (message := connection.recv_bytes()) in (LOST, CHANGED):
            self._hear(message)
        return message

    def _hear(self, message: bytes) -> None:
        self._heard.add(message)
        if message == LOST:
            self._lost_at = time.monotonic()

    def _live(self, connection: Connection) -> None:
        """Shows the keeper, again and again, that this process lives, and listens to it."""
        shown = 0.0
        with contextlib.suppress(EOFError, OSError):  # the launcher is gone: this process will be
            while True:
                if connection.poll(_LOOK_SECONDS):
                    self._hear(connection.recv_bytes())
                if time.monotonic() - shown > SHOW_SECONDS:
                    connection.send_bytes(ALIVE)
                    shown = time.monotonic()
                self._end_waiting()

    def _end_waiting(self) -> None:
        with self._lock:
            if self._watch is None or self._lost_at is None:
                return
            begin_anew, patience = self._watch
            if time.monotonic() - self._lost_at >= patience:
                begin_anew()


MEETING = Meeting()


def begin_anew() -> None:
    """Puts a new run of the program in the place of this one. This does not return."""
    sys.stdout.flush()
    sys.stderr.flush()
    _keep_from_next(_OPEN_FILES)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _keep_from_next(folder: str) -> None:
    """Connections end with this run: others wait for that. Gloo's would be open in the next one."""
    for name in os.listdir(folder):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # the one that lists the folder is closed by now
                os.set_inheritable(int(name), False)
