"""Messages as frames on a socket: what weft's processes say to each other when both are weft's.

The messages are those of TensorFlow's services; only what carries them is lighter than gRPC. An
array goes from its own memory to the socket, and from the socket into memory of its own; between
processes of one machine it is written into memory that both can see.
"""

from __future__ import annotations

import contextlib
import io
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from weft.cluster.guard.keepalive import keep_alive
from weft.cluster.guard.limits import Budget, message_limit, too_large
from weft.cluster.transport import shared_memory
from weft.cluster.transport.wire import Chunk, length
from weft.core import errors, flags

REQUEST, RESPONSE, ERROR, CANCEL = range(4)
# About shared memory, and between the channels alone. With SHARED, a frame has a place, not data.
_OFFER, _ACCEPT, _RELEASE, _FORGET = range(4, 8)
_SHARED = 16
GREETING = b"weft frames 3\n"
_TOKEN = struct.Struct("<H")  # length of the token, which comes after the greeting
_GREETING_SECONDS = 10.0
_TIME = struct.Struct("ll")  # of C: seconds and microseconds
_HEAD = struct.Struct("<BHQQ")  # kind, length of the name, call, length of the message
_CODE = struct.Struct("<I")
_SMALL = 1 << 16
_MOST_BUFFERS = 512
_BUFFER_BYTES = 1 << 21
_STEP = 1 << 22  # bytes of a large message that are counted at a time
_SLOWEST = 1 << 16  # bytes a second, on average, that a message must come by


class Frame(NamedTuple):
    """A request has the name of a method; an answer the number of the call it is for."""

    kind: int
    call: int
    name: str
    data: Chunk
    refused: errors.OpError | None = None  # why the message was not even read


class Closed(Exception):
    """The other end is gone."""


class Malformed(Closed):
    """The other end speaks another language."""


def greet(connection: socket.socket, token: bytes) -> None:
    connection.sendall(GREETING + _TOKEN.pack(len(token)) + token)


def read_greeting(connection: socket.socket) -> bytes:
    """The token of a new connection, which has a few seconds to send it."""
    connection.settimeout(_GREETING_SECONDS)
    if _exactly(connection, len(GREETING)) != GREETING:
        raise Malformed("no greeting")
    token = _exactly(connection, *_TOKEN.unpack(_exactly(connection, _TOKEN.size)))
    connection.settimeout(None)
    return token


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = connection.recv(size - len(found))
        if not more:
            raise Closed("Socket closed")
        found += more
    return found


def _set_up(connection: socket.socket, pause: float) -> None:
    """Frames go at once; a peer that is gone without a word, or stands still, is given up."""
    if connection.family != socket.AF_UNIX:
        keep_alive(connection)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    for option, limit in ((socket.SO_RCVTIMEO, pause), (socket.SO_SNDTIMEO, flags.STALL.value)):
        time_value = _TIME.pack(int(limit), int(limit % 1 * 1e6))
        connection.setsockopt(socket.SOL_SOCKET, option, time_value)


class Channel:
    """One end of a socket. Frames may be sent from any thread; one thread at a time receives.

    A message of more than `most` bytes is not received; its frame says so. Nor is one that there is
    no room for among those that are `arriving`, here and on other channels. After `pause` seconds
    of silence, `receive_soon` gives up.
    """

    def __init__(
        self, connection: socket.socket, most: int | None = None, pause: float | None = None,
        arriving: Budget | None = None,
    ) -> None:  # fmt: skip
        _set_up(connection, flags.STALL.value if pause is None else pause)
        self._socket = connection
        self._most = most if most is not None else message_limit()
        self._arriving = arriving
        # Not `makefile`, whose reads are functions of Python.
        raw = io.FileIO(connection.fileno(), closefd=False)
        self._input = io.BufferedReader(raw, _SMALL)
        self._lock = threading.Lock()
        self._offer: shared_memory.Offer | None = None
        self._pool: shared_memory.Pool | None = None  # once the other end has accepted the offer
        self._views: shared_memory.Views | None = None  # once we have accepted its offer

    def offer_memory(self) -> None:
        """From now on large messages may go by memory of ours, if the other end can open it."""
        if shared_memory.IS_POSSIBLE and flags.SHARED_MEMORY.value:
            self._offer = shared_memory.Offer()
            self.send(_OFFER, 0, "", [self._offer.message])

    def send(self, kind: int, call: int, name: str = "", message: Sequence[Chunk] = ()) -> None:
        """`Closed` if the other end is gone."""
        size, label = length(message), name.encode()
        if size >= shared_memory.SMALLEST and self._pool is not None:
            place = self._pool.write(message)
            if place is not None:
                message, kind = [place.pack()], kind | _SHARED
                size = length(message)
        chunks = [_HEAD.pack(kind, len(label), call, size) + label, *message]
        try:
            with self._lock:
                if size <= _SMALL:
                    self._socket.sendall(b"".join([*self._notices(), *chunks]))
                else:
                    self._send_all(chunks)
        except (OSError, ValueError) as error:
            raise Closed(str(error)) from None

    def _notices(self) -> list[bytes]:
        """Frames about released and dropped segments, to go with the next frame that is sent."""
        found = []
        if self._views is not None:
            while self._views.released:
                found.append(_HEAD.pack(_RELEASE, 0, self._views.released.popleft(), 0))
        if self._pool is not None:
            while self._pool.dropped:
                found.append(_HEAD.pack(_FORGET, 0, self._pool.dropped.popleft(), 0))
        return found

    def _send_all(self, chunks: Sequence[Chunk]) -> None:
        views = [memoryview(chunk) for chunk in chunks if len(chunk)]
        while views:
            sent = self._socket.sendmsg(views[:_MOST_BUFFERS])
            while views and sent >= len(views[0]):
                sent -= len(views.pop(0))
            if sent:
                views[0] = views[0][sent:]

    def send_error(self, call: int, code: int, text: str) -> None:
        self.send(ERROR, call, "", [_CODE.pack(code), text.encode()])

    def receive(self) -> Frame:
        """The next frame. `Closed` when there will be none."""
        while (frame := self.receive_soon()) is None:
            pass  # nothing was said for a while
        return frame

    def receive_soon(self) -> Frame | None:
        """The next frame; None if it does not begin to come in time. `Closed` if none will."""
        try:
            while (head := self._input.read(_HEAD.size)) is not None:
                if len(head) < _HEAD.size:
                    head = self._whole(head, _HEAD.size)
                kind, label, call, size = _HEAD.unpack(head)
                name = bytes(self._read(label)).decode() if label else ""
                if size > self._most:
                    return self._refuse(kind, call, name, size, too_large(size, self._most))
                if size > _SMALL and self._arriving is not None:
                    return self._receive_large(kind, call, name, size, self._arriving)
                data = self._read(size) if size else b""
                if kind & _SHARED and self._views is not None:
                    return self._shared(kind - _SHARED, call, name, data)
                if kind <= CANCEL:
                    return Frame(kind, call, name, data)
                self._settle(kind, call, data)
        except OSError as error:
            raise Closed(str(error)) from None
        except (ValueError, MemoryError, struct.error) as error:
            raise Malformed(str(error)) from None
        return None

    def _receive_large(self, kind: int, call: int, name: str, size: int, arriving: Budget) -> Frame:
        """A frame whose message counts while it is under way, as far as it has come."""
        if kind > CANCEL:
            raise Malformed(f"A frame of kind {kind} and {size} bytes")
        view: memoryview = np.empty(size, np.uint8).data
        at = counted = 0
        start = time.monotonic()
        try:
            while at < size:
                if at == counted:
                    arriving.take(min(_STEP, size - at))
                    counted += min(_STEP, size - at)
                at += self._read_into(view[at:counted], self._input.readinto1)
                if at < (time.monotonic() - start - flags.STALL.value) * _SLOWEST:
                    raise Closed("A message is too long in coming")
        except errors.ResourceExhaustedError as error:
            del view
            return self._refuse(kind, call, name, size - at, error)
        finally:
            arriving.give_back(counted)
        return Frame(kind, call, name, view)

    def _refuse(self, kind: int, call: int, name: str, size: int, why: errors.OpError) -> Frame:
        """A frame whose message is too large: it is skipped."""
        if kind > CANCEL:
            raise Malformed(f"A frame of kind {kind} and {size} bytes")
        scratch, left = memoryview(bytearray(_SMALL)), size
        while left:
            left -= self._read_into(scratch[: min(left, _SMALL)])
        return Frame(kind, call, name, b"", why)

    def _shared(self, kind: int, call: int, name: str, data: Chunk) -> Frame:
        """A frame whose message is in memory of the other end."""
        place = shared_memory.Place.unpack(data)
        assert self._views is not None
        view = self._views.open(place)
        if place.size > self._most:
            return Frame(kind, call, name, b"", too_large(place.size, self._most))
        return Frame(kind, call, name, view)

    def _settle(self, kind: int, serial: int, data: Chunk) -> None:
        """A frame about shared memory."""
        if kind == _OFFER:
            self._views = shared_memory.accept(data)
            if self._views is not None:
                self.send(_ACCEPT, 0)
        elif kind == _ACCEPT and self._offer is not None:
            self._pool = self._pool or shared_memory.Pool()
        elif kind == _RELEASE and self._pool is not None:
            self._pool.release(serial)
        elif kind == _FORGET and self._views is not None:
            self._views.forget(serial)
        else:
            raise Malformed(f"A frame of kind {kind}")

    def _read(self, size: int) -> Chunk:
        """The next `size` bytes of a frame that has begun."""
        if size <= _SMALL:
            data = self._input.read(size) or b""
            return data if len(data) == size else self._whole(data, size)
        view: memoryview = np.empty(size, np.uint8).data
        at = 0
        while at < size:
            at += self._read_into(view[at:])
        return view

    def _whole(self, data: bytes, size: int) -> bytes:
        """`data` and what is missing."""
        rest = memoryview(bytearray(size - len(data)))
        at = 0
        while at < len(rest):
            at += self._read_into(rest[at:])
        return data + rest

    def _read_into(
        self, view: memoryview, read: Callable[[memoryview], int | None] | None = None
    ) -> int:
        """Some bytes; they must not be long in coming. `read` may return with fewer than all."""
        read = read or self._input.readinto
        until = time.monotonic() + flags.STALL.value
        while (count := read(view)) is None:
            if time.monotonic() >= until:
                raise Closed("Nothing came for too long")
        if not count:
            raise Closed("Socket closed")
        return count

    def close(self) -> None:
        """Shuts the connection down: both ends see that, and a thread that is receiving stops."""
        with contextlib.suppress(OSError):  # it has been closed by the other end
            self._socket.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        """The end, told by the thread that received."""
        self.close()
        self._input.close()
        self._socket.close()
        for memory in (self._offer, self._pool, self._views):
            if memory is not None:
                memory.close()


def error_of(data: Chunk) -> tuple[int, str]:
    """Code and text of an ERROR frame."""
    view = memoryview(data)
    return _CODE.unpack(view[: _CODE.size])[0], bytes(view[_CODE.size :]).decode()
