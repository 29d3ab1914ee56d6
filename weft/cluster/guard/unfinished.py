"""Messages that have come in part, over gRPC: how many bytes of them a server holds.

gRPC keeps them and does not tell. But the kernel knows how much each connection has received, and
the service how much of that was in whole requests.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from dataclasses import dataclass
from stat import S_ISSOCK

from weft.cluster.guard.clients import Address, address_of, short
from weft.cluster.guard.limits import COMPLAINTS, Budget

_FOLDER = "/proc/self/fd"
_SECONDS = 0.1  # between two looks
_IDLE_LOOKS = 300  # after so many without a byte, little that is left over is forgiven
_LITTLE = 1 << 16
_INFO_SIZE, _RECEIVED_AT = 192, 128  # of the kernel's `tcp_info`, and its `tcpi_bytes_received`
# What comes with a request: headers, and those of HTTP/2's frames. Rather too much.
_PER_REQUEST, _PER_BYTES = 512, 1024
File = tuple[int, int]  # device and inode: the number of a socket is not given again


@dataclass
class _Connection:
    received: int = 0
    base: int = 0  # of what was received, so much is known not to be held
    progress: int = 0  # since the look before
    idle: int = 0  # looks without progress
    held: int = 0

    def note(self, received: int) -> None:
        self.progress, self.received = received - self.received, received
        self.idle = 0 if self.progress else self.idle + 1


class Unfinished:
    """Counts what the connections to `port` hold among what is `arriving` at the server.

    Where that is too much, connections are closed: those first that have not gone on.
    """

    def __init__(self, arriving: Budget) -> None:
        self.port = 0
        self._arriving, self._counted = arriving, 0
        self._connections: dict[Address, _Connection] = {}
        # By descriptor, what has been found out: the other end, if it is a connection to `port`.
        self._files: dict[int, tuple[File, Address | None]] = {}
        self._finished: dict[str, int] = {}
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Looks from now on; there is a call."""
        with self._lock:
            if self._watch is None and os.path.isdir(_FOLDER) and hasattr(socket, "TCP_INFO"):
                self._watch = threading.Thread(target=self._run, name="weft-arrivals", daemon=True)
                self._watch.start()

    def finish(self, peer: str, size: int) -> None:
        """A request of so many bytes has come as a whole."""
        with self._lock:
            size += _PER_REQUEST + size // _PER_BYTES
            self._finished[peer] = self._finished.get(peer, 0) + size

    def close(self) -> None:
        self._closed.set()
        if self._watch is not None:
            self._watch.join(10 * _SECONDS)

    def _run(self) -> None:
        while not self._closed.wait(_SECONDS):
            with contextlib.suppress(OSError):
                self.look()

    def look(self) -> None:
        """Counts once, and closes what is too much."""
        there = self._there()
        for address, descriptor in there.items():
            self._connections.setdefault(address, _Connection()).note(_received(descriptor))
        for gone in self._connections.keys() - there.keys():
            del self._connections[gone]
        self._subtract_finished()
        self._count()
        if self._arriving.used > self._arriving.most:
            self._close_some(there)

    def _there(self) -> dict[Address, int]:
        """The descriptors of the connections to `port`, by their other ends.

        A descriptor is looked into once, as long as it stands for the same file.
        """
        before, self._files = self._files, {}
        for descriptor in map(int, os.listdir(_FOLDER)):
            try:
                about = os.fstat(descriptor)
                file, known = (about.st_dev, about.st_ino), before.get(descriptor)
                if known is None or known[0] != file:
                    known = file, self._other_end(descriptor) if S_ISSOCK(about.st_mode) else None
            except OSError:  # closed meanwhile
                continue
            self._files[descriptor] = known
        ends = self._files.items()
        return {address: descriptor for descriptor, (_, address) in ends if address is not None}

    def _other_end(self, descriptor: int) -> Address | None:
        with _opened(descriptor) as connection:
            return _other_end(connection, self.port)

    def _subtract_finished(self) -> None:
        with self._lock:
            finished, self._finished = self._finished, {}
        for peer, size in finished.items():
            connection = self._connections.get(address_of(peer) or (b"", 0))
            if connection is not None:
                connection.base += size
        for connection in self._connections.values():
            left = connection.received - connection.base
            if left < 0 or (left < _LITTLE and connection.idle > _IDLE_LOOKS):
                connection.base, left = connection.received, 0
            connection.held = left

    def _count(self) -> None:
        held = sum(connection.held for connection in self._connections.values())
        self._arriving.give_back(self._counted - held)
        self._counted = held

    def _close_some(self, there: dict[Address, int]) -> None:
        order = sorted(self._connections.items(), key=lambda pair: _blame(pair[1]))
        for address, connection in order:
            if self._arriving.used <= self._arriving.most or connection.held <= _LITTLE:
                break
            COMPLAINTS.say(
                "unfinished", f"a connection that holds {connection.held} bytes of messages that"
                f" have not come to their end: {self._arriving.refusal(0).message}",
            )  # fmt: skip
            with contextlib.suppress(OSError), _opened(there[address]) as found:
                if _other_end(found, self.port) == address:
                    found.shutdown(socket.SHUT_RDWR)
            del self._connections[address]
            self._count()


def _blame(connection: _Connection) -> tuple[bool, bool, int]:
    """The order of closing, smallest first: connections that stand still, and hold most."""
    return connection.held <= _LITTLE, connection.progress > 0, -connection.held


def _opened(descriptor: int) -> socket.socket:
    """A socket of this process, once more: to be closed."""
    return socket.socket(fileno=os.dup(descriptor))


def _other_end(connection: socket.socket, port: int) -> Address | None:
    """The address that a connection to `port` comes from; None if it is no such connection."""
    try:
        if connection.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        if connection.getsockname()[1] != port:
            return None
        host, other = connection.getpeername()[:2]
    except OSError:  # one that listens, or has ended
        return None
    return short(socket.inet_pton(connection.family, host.partition("%")[0])), other


def _received(descriptor: int) -> int:
    """The bytes that a connection has ever received; 0 if the kernel does not tell."""
    try:
        with _opened(descriptor) as connection:
            info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_SIZE)
        count: int = struct.unpack_from("=Q", info, _RECEIVED_AT)[0]
    except (OSError, struct.error):
        return 0
    return count
