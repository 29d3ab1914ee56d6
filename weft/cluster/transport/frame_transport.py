"""Calls over frames: the server's end, and the caller's."""

from __future__ import annotations

import contextlib
import errno
import itertools
import socket
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.cluster.guard.limits import COMPLAINTS, Meters
from weft.cluster.guard.security import NOBODY, Identity
from weft.cluster.interfaces import Caller
from weft.cluster.transport import local_socket, wire
from weft.cluster.transport.frames import (
    CANCEL,
    ERROR,
    REQUEST,
    RESPONSE,
    Channel,
    Closed,
    Frame,
    Malformed,
    greet,
    read_greeting,
)
from weft.cluster.transport.frames import error_of as _error_of
from weft.cluster.transport.methods import status_of
from weft.cluster.transport.receiving import Receiving
from weft.core import errors
from weft.core.deferred import Deferred
from weft.runtime.threads import ThreadPool

_BACKLOG = 128
_PAUSE_SECONDS = 0.25  # so often a thread that waits for an answer looks whether it still should
_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 0.1
_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
Method = Callable[[wire.Chunk, Caller], bytes | list[wire.Chunk]]


PromptMethod = Callable[[wire.Chunk, Caller, Callable[..., None]], None]
"""A method that never waits, so that it needs no thread but the one that receives.

Its answer goes to a function, now or later: the pieces of a message, or None and an error.
"""
# What a thread that receives may send: were it more, two could wait for each other to receive.
_MOST_SENT_AT_ONCE = 1 << 12


class FrameCaller:
    """A `Caller` at the other end of a connection."""

    peer = ""

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
    """Listens next to a gRPC server, with the same methods.

    `port` is any that is free, `name` that of a socket for processes of this machine, "" if none.
    """

    def __init__(
        self, host: str, methods: dict[str, Method], identity: Identity = NOBODY,
        meters: Meters | None = None, prompt: dict[str, PromptMethod] | None = None,
    ) -> None:  # fmt: skip
        self._methods, self._identity = methods, identity
        self._prompt = prompt or {}
        self._meters = meters or Meters()
        self._pool = ThreadPool("weft-frames")
        host = host.strip("[]")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listeners = [socket.create_server((host, 0), family=family, backlog=_BACKLOG)]
        self.port: int = self._listeners[0].getsockname()[1]
        local = local_socket.listen(_BACKLOG)
        self.name = ""
        if local is not None:
            self._listeners.append(local[0])
            self.name = local[1]
        self._channels: set[Channel] = set()
        self._closed = False

    def start(self) -> None:
        for listener in self._listeners:
            self._pool.start(partial(self._accept, listener))

    def _accept(self, listener: socket.socket) -> None:
        while not self._closed:
            try:
                connection, address = listener.accept()
            except OSError as error:
                if error.errno not in (*_OUT_OF_FILES, errno.ECONNABORTED) or self._closed:
                    return
                time.sleep(_RETRY_SECONDS)  # others may let go of theirs
                continue
            where = address[0] if address else "this machine"
            try:
                self._meters.calls.take()
            except errors.ResourceExhaustedError as error:
                COMPLAINTS.say("connections", f"a connection from {where}: {error.message}")
                connection.close()
                continue
            self._pool.start(partial(self._greet, connection, where))

    def _greet(self, connection: socket.socket, where: str) -> None:
        """Serves a connection if its token is accepted."""
        try:
            if self._identity.accepts(read_greeting(connection)):
                meters = self._meters
                self._serve(Channel(connection, meters.limits.message, arriving=meters.arriving))
            else:
                why = "the token is none of the server's tokens"
                COMPLAINTS.say(why, f"a connection from {where} by frames: {why}")
        except Malformed as error:
            COMPLAINTS.say("frames", f"a connection from {where} by frames: {error}")
        except (Closed, OSError):
            pass
        except Exception as error:
            COMPLAINTS.say("frames", f"a connection from {where} by frames: {error!r}")
        finally:
            connection.close()
            self._meters.calls.give_back()

    def _serve(self, channel: Channel) -> None:
        """Serves all calls of one connection, each on a thread of its own if it may wait."""
        self._channels.add(channel)
        callers: dict[int, FrameCaller] = {}
        try:
            channel.offer_memory()
            while not self._closed:
                self._take(channel.receive(), channel, callers)
        finally:
            self._channels.discard(channel)
            channel.release()
            for caller in list(callers.values()):
                caller.gone()

    def _take(self, frame: Frame, channel: Channel, callers: dict[int, FrameCaller]) -> None:
        if frame.kind == REQUEST:
            refused = frame.refused or self._admit()
            if refused is not None:
                channel.send_error(frame.call, *status_of(frame.name, refused))
                return
            caller = callers[frame.call] = FrameCaller()
            if frame.name in self._prompt:
                self._answer_promptly(frame, channel, callers, caller)
            else:
                self._pool.start(lambda: self._answer(frame, channel, callers, caller))
        elif frame.kind == CANCEL:
            known = callers.get(frame.call)
            if known is not None:
                known.gone()

    def _admit(self) -> errors.OpError | None:
        """Why there can be no call more, if so."""
        try:
            self._meters.calls.take()
        except errors.ResourceExhaustedError as error:
            return error
        return None

    def _answer_promptly(
        self, frame: Frame, channel: Channel, callers: dict[int, FrameCaller], caller: FrameCaller
    ) -> None:
        receiver = threading.get_ident()

        def finish(answer: Any, error: BaseException | None = None) -> None:
            callers.pop(frame.call, None)
            self._meters.calls.give_back()
            if not frame.call:
                return  # the caller expects no answer
            if error is None and (callable(answer) or self._is_slow(answer, receiver)):
                self._pool.start(lambda: _respond(frame, channel, answer, None))
            else:
                _respond(frame, channel, answer, error)

        try:
            self._prompt[frame.name](frame.data, caller, finish)
        except Exception as error:
            finish(None, error)

    def _is_slow(self, answer: Any, receiver: int) -> bool:
        """Whether sending would keep the thread that receives from its work."""
        return threading.get_ident() == receiver and wire.length(answer) > _MOST_SENT_AT_ONCE

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
                channel.send_error(frame.call, *status_of(frame.name, error))
                return
            callers.pop(frame.call, None)
            chunks = [answer] if isinstance(answer, bytes) else answer
            channel.send(RESPONSE, frame.call, "", chunks)
        except Closed:
            pass  # the caller is gone
        finally:
            self._meters.calls.give_back()

    def close(self) -> None:
        self._closed = True
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            listener.close()
        for channel in list(self._channels):
            channel.close()
        self._pool.close()


def _respond(frame: Frame, channel: Channel, answer: Any, error: BaseException | None) -> None:
    """Sends an answer, or the result of the function that makes it."""
    if callable(answer):
        try:
            answer = answer()
        except Exception as problem:
            error = problem
    try:
        if error is not None:
            channel.send_error(frame.call, *status_of(frame.name, error))
        else:
            channel.send(RESPONSE, frame.call, "", answer)
    except Closed:
        pass  # the caller is gone


_Call = tuple[Deferred, Callable[[Any], Any]]  # its result, and what reads the answer


class FrameConnection:
    """Calls to one server. When the connection breaks, all calls under way fail.

    `name` is that of the server's socket for its own machine, if it has one. OSError if the server
    cannot be reached, or hangs up at once.
    """

    def __init__(
        self, host: str, port: int, where: str, token: bytes = b"", name: str = ""
    ) -> None:
        self.where = where
        self._channel = _connected(host, port, token, name)
        self._calls: dict[int, _Call] = {}
        self._unattended: set[int] = set()  # the numbers of those that no thread waits for
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self.is_open = True
        self._receiving = Receiving(self._channel, self)

    def start(
        self,
        name: str,
        message: Sequence[wire.Chunk],
        decode: Callable[[Any], Any],
        here: bool = False,
    ) -> Deferred:
        """Calls a method. `here`: the thread that calls waits for the answer at once."""
        number = next(self._numbers)
        result = Deferred(lambda: self._cancel(number))
        with self._lock:
            if not self.is_open:
                result.fail(self._gone("Socket closed"))
                return result
            self._calls[number] = result, decode
            if not here:
                self._unattended.add(number)
        try:
            self._channel.send(REQUEST, number, name, message)
        except Closed as error:
            self.end(str(error))
        if here:
            result.help_until = self._receiving.help_until
        else:
            self._receiving.need()
        return result

    def post(self, name: str, message: Sequence[wire.Chunk]) -> None:
        """Calls a method that has no answer. UnavailableError if there is no connection."""
        try:
            self._channel.send(REQUEST, 0, name, message)
        except Closed as error:
            self.end(str(error))
            raise self._gone(str(error)) from None

    def _cancel(self, number: int) -> None:
        known = self._taken(number)
        if known is not None:
            try:
                self._channel.send(CANCEL, number)
            except Closed:
                pass  # it knows
            known[0].fail(errors.CancelledError(None, None, f"{self.where}: cancelled"))

    def deliver(self, frame: Frame) -> None:
        known = self._taken(frame.call)
        if known is not None:
            _settle(*known, frame)

    def _taken(self, number: int) -> _Call | None:
        """The call of a number, from now on none of those without an answer."""
        with self._lock:
            self._unattended.discard(number)
            return self._calls.pop(number, None)

    def is_awaited(self) -> bool:
        return bool(self._calls)

    def is_unattended(self) -> bool:
        return bool(self._unattended)

    def end(self, why: str, error: errors.OpError | None = None) -> None:
        with self._lock:
            self.is_open = False
            calls, self._calls, self._unattended = list(self._calls.values()), {}, set()
        self._channel.close()
        for result, _ in calls:
            result.fail(error or self._gone(why))

    def _gone(self, why: str) -> errors.OpError:
        return errors.UnavailableError(None, None, f"{self.where}: {why}")

    def close(self) -> None:
        """Closes the connection; calls that still wait for an answer are cancelled."""
        self.end("closed", errors.CancelledError(None, None, f"{self.where}: closed"))


def _connected(host: str, port: int, token: bytes, name: str) -> Channel:
    """A channel to a server, greeted; nothing stays open if that fails."""
    connection = local_socket.connect(name) or socket.create_connection(
        (host, port), _CONNECT_SECONDS
    )
    with contextlib.ExitStack() as undo:
        undo.callback(connection.close)
        connection.settimeout(None)
        greet(connection, token)
        channel = Channel(connection, pause=_PAUSE_SECONDS)
        undo.callback(channel.release)
        try:
            channel.offer_memory()
        except Closed as error:
            raise ConnectionError(str(error)) from None
        undo.pop_all()
    return channel


def _settle(result: Deferred, decode: Callable[[Any], Any], frame: Frame) -> None:
    try:
        if frame.refused is not None:
            result.fail(frame.refused)
        elif frame.kind == ERROR:
            result.fail(wire.from_status(*_error_of(frame.data)))
        else:
            result.complete(decode(frame.data))
    except Exception as error:
        result.fail(error)
