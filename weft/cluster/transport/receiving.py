"""Receiving on a connection: by the thread that waits for an answer, or by a thread of its own.

An answer that is received by the thread that wants it costs one change of threads less, which is a
good part of a short step. As long as no thread waits that way, or several wait at once, a thread
of the connection's own receives for all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from weft.cluster.transport.frames import Channel, Closed, Frame

_AWAY_SECONDS = 0.1  # so long after the last thread that waited here, our own is back


class Receiving:
    """`deliver(frame)` takes what comes; `is_awaited()`: more will; `end(why)`: nothing will."""

    def __init__(
        self,
        channel: Channel,
        deliver: Callable[[Frame], None],
        is_awaited: Callable[[], bool],
        end: Callable[[str], None],
    ) -> None:
        self._channel, self._deliver = channel, deliver
        self._is_awaited, self._end = is_awaited, end
        self._turn = threading.Lock()  # held by the thread that receives
        self._needed = threading.Event()
        self._needed.set()
        self._is_helped = False  # whether a waiting thread would have received what ours received
        threading.Thread(target=self._run, name="weft-frames", daemon=True).start()

    def need(self) -> None:
        """Wakes the connection's own thread: an answer is to come that no other thread receives."""
        if not self._needed.is_set():
            self._needed.set()

    def _run(self) -> None:
        try:
            while True:
                with self._turn:
                    self._receive_all()
                self._needed.wait(_AWAY_SECONDS)
        except Closed as error:
            self._end(str(error))
        self._channel.release()

    def _receive_all(self) -> None:
        """Receives until others would."""
        self._needed.set()
        while self._needed.is_set():
            self._deliver(self._channel.receive())
            if self._is_helped and not self._is_awaited():
                self._is_helped = False
                self._needed.clear()
                if self._is_awaited():  # by a thread that came when we were not yet away
                    self._needed.set()

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
            self._end(str(error))
        except BaseException:
            self._end("interrupted")
            raise
        finally:
            self._turn.release()
            if self._is_awaited():
                self.need()

    def _receive_soon(self) -> None:
        frame = self._channel.receive_soon()
        if frame is not None:
            self._deliver(frame)
