"""Receiving on a connection: by a thread that waits for an answer, or by a thread of its own.

An answer that is received by the thread that wants it costs one change of threads less, which is a
good part of a short step. A thread that receives while it waits also receives for all others; when
it has its answer it goes on with its work, and often is back with its next call before anything
else has come. So the connection's own thread takes over only when others still wait and nobody has
received for a moment, or when there is a call that no thread waits for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from weft.cluster.transport.frames import Channel, Closed, Frame

_AWAY_SECONDS = 0.1  # so long after the last thread that waited here, our own is back
_MOMENT_SECONDS = 0.0005  # an answer may lie about so long, if a thread that waits may receive it


class Calls(Protocol):
    """The calls of a connection that have no answer yet."""

    def deliver(self, frame: Frame) -> None:
        """Takes what came."""

    def is_awaited(self) -> bool:
        """Whether there are any."""

    def is_unattended(self) -> bool:
        """Whether there is one that no thread waits for."""

    def end(self, why: str) -> None:
        """There will be no answers any more."""


class Receiving:
    """Sees to it that what comes on a channel is delivered, by one thread at a time."""

    def __init__(self, channel: Channel, calls: Calls) -> None:
        self._channel, self._calls = channel, calls
        self._turn = threading.Lock()  # held by the thread that receives
        self._needed = threading.Event()  # an answer is to come, and perhaps nobody receives
        self._is_helped = False  # whether a waiting thread would have received what ours received
        threading.Thread(target=self._run, name="weft-frames", daemon=True).start()

    def need(self) -> None:
        """Wakes the connection's own thread: an answer is to come that no other thread receives."""
        if not self._needed.is_set():
            self._needed.set()

    def _run(self) -> None:
        try:
            while True:
                self._needed.clear()  # now: a thread that has the turn tells when it is over
                if self._turn.acquire(blocking=False):
                    self._receive_all()
                if self._needed.wait(_AWAY_SECONDS) and not self._calls.is_unattended():
                    time.sleep(_MOMENT_SECONDS)
        except Closed as error:
            self._calls.end(str(error))
        self._channel.release()

    def _receive_all(self) -> None:
        """Receives until others would."""
        try:
            self._is_helped = False
            while not self._is_helped or self._calls.is_unattended():
                self._calls.deliver(self._channel.receive())
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Ends the turn of the calling thread; a call that came meanwhile is not forgotten."""
        self._turn.release()
        if self._calls.is_awaited():
            self.need()

    def help_until(self, is_done: Callable[[], bool]) -> None:
        """Receives on the calling thread, if no other does, until `is_done`; that is asked often.

        To interrupt it is to close the connection: what was half received cannot be gone on with.
        """
        if not self._turn.acquire(blocking=False):
            self._is_helped = True
            return
        try:
            while not is_done():
                self._receive_soon()
        except Closed as error:
            self._calls.end(str(error))
        except BaseException:
            self._calls.end("interrupted")
            raise
        finally:
            self._pass_on()

    def _receive_soon(self) -> None:
        frame = self._channel.receive_soon()
        if frame is not None:
            self._calls.deliver(frame)
