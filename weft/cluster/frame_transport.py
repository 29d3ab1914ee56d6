"""Calls over frames: the server's end, and the end of whoever calls."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from weft.cluster import wire
from weft.cluster.frames import CANCEL, ERROR, GREETING, REQUEST, RESPONSE, Channel, Closed, Frame
from weft.cluster.frames import error_of as _error_of
from weft.cluster.interfaces import Caller
from weft.core import errors
from weft.core.deferred import Deferred
from weft.runtime.crew import Crew

_CONNECT_SECONDS = 5.0
Method = Callable[[wire.Chunk, Caller], bytes | list[wire.Chunk]]


class FrameCaller:
    """A `Caller` at the other end of a connection."""

    def __init__(self) -> None:
        self._actions: list[Callable[[], Any]] = []
        self._gone = False
        self._lock = threading.Lock()

    def on_gone(self, action: Callable[[], Any]) -> None:
        with self._lock:
            if not self._gone:
                self._actions.append(action)
                return
        action()

    def gone(self) -> None:
        with self._lock:
            self._gone = True
            actions, self._actions = self._actions, []
        for action in actions:
            action()


class FrameServer:
    """Listens next to a gRPC server, with the same methods. `port` is any that is free."""

    def __init__(self, host: str, methods: dict[str, Method]) -> None:
        self._methods = methods
        self._crew = Crew("weft-frames")
        self._listener = socket.create_server((host, 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._channels: set[Channel] = set()
        self._closed = False

    def start(self) -> None:
        self._crew.start(self._accept)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._crew.start(lambda c=connection: self._serve(c))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        """All calls of one connection, each on a thread of its own."""
        channel = Channel(connection)
        self._channels.add(channel)
        callers: dict[int, FrameCaller] = {}
        try:
            if connection.recv(len(GREETING), socket.MSG_WAITALL) != GREETING:
                return  # whoever that is, it is none of us
            channel.offer_memory()
            while not self._closed:
                self._take(channel.receive(), channel, callers)
        except (Closed, OSError):
            pass
        finally:
            self._channels.discard(channel)
            channel.release()
            for caller in list(callers.values()):
                caller.gone()

    def _take(self, frame: Frame, channel: Channel, callers: dict[int, FrameCaller]) -> None:
        if frame.kind == REQUEST:
            caller = callers[frame.call] = FrameCaller()
            self._crew.start(lambda: self._answer(frame, channel, callers, caller))
        elif frame.kind == CANCEL and frame.call in callers:
            callers[frame.call].gone()

    def _answer(
        self, frame: Frame, channel: Channel, callers: dict[int, FrameCaller], caller: FrameCaller
    ) -> None:
        try:
            try:
                method = self._methods.get(frame.name)
                if method is None:
                    raise errors.UnimplementedError(None, None, f"No method {frame.name}")
                answer = method(frame.data, caller)
            except Exception as error:
                callers.pop(frame.call, None)
                channel.send_error(frame.call, *wire.to_status(error))
                return
            callers.pop(frame.call, None)
            chunks = [answer] if isinstance(answer, bytes) else answer
            channel.send(RESPONSE, frame.call, "", chunks)
        except Closed:
            pass  # nobody waits for it any more

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()
        for channel in list(self._channels):
            channel.close()
        self._crew.close()


class FrameConnection:
    """Calls to one server. When the connection breaks, all calls under way fail."""

    def __init__(self, host: str, port: int, where: str) -> None:
        self.where = where
        self._connection = socket.create_connection((host, port), _CONNECT_SECONDS)
        self._connection.settimeout(None)
        self._connection.sendall(GREETING)
        self._channel = Channel(self._connection)
        self._calls: dict[int, tuple[Deferred, Callable[[Any], Any]]] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self.is_open = True
        self._channel.offer_memory()
        threading.Thread(target=self._receive, name="weft-frames", daemon=True).start()

    def start(
        self, name: str, message: Sequence[wire.Chunk], decode: Callable[[Any], Any]
    ) -> Deferred:
        number = next(self._numbers)
        result = Deferred(lambda: self._cancel(number))
        with self._lock:
            if not self.is_open:
                result.fail(self._gone("Socket closed"))
                return result
            self._calls[number] = result, decode
        try:
            self._channel.send(REQUEST, number, name, message)
        except Closed as error:
            self._end(str(error))
        return result

    def _cancel(self, number: int) -> None:
        with self._lock:
            known = self._calls.pop(number, None)
        if known is not None:
            try:
                self._channel.send(CANCEL, number)
            except Closed:
                pass  # it knows
            known[0].fail(errors.CancelledError(None, None, f"{self.where}: cancelled"))

    def _receive(self) -> None:
        try:
            while True:
                frame = self._channel.receive()
                with self._lock:
                    known = self._calls.pop(frame.call, None)
                if known is not None:
                    _settle(*known, frame)
                del frame, known
        except Closed as error:
            self._end(str(error))
        self._channel.release()

    def _end(self, why: str) -> None:
        with self._lock:
            self.is_open = False
            calls, self._calls = list(self._calls.values()), {}
        self._channel.close()
        for result, _ in calls:
            result.fail(self._gone(why))

    def _gone(self, why: str) -> errors.OpError:
        return errors.UnavailableError(None, None, f"{self.where}: {why}")

    def close(self) -> None:
        self._end("closed")


def _settle(result: Deferred, decode: Callable[[Any], Any], frame: Frame) -> None:
    try:
        if frame.kind == ERROR:
            result.fail(wire.from_status(*_error_of(frame.data)))
        else:
            result.complete(decode(frame.data))
    except Exception as error:
        result.fail(error)
