"""The sessions of a master, and whether their clients are still there.

weft's clients hold a call open as long as they live. TensorFlow's do not: of those we know from
where they called, and the operating system tells which connections there are.
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_ESTABLISHED = "01"
# gRPC closes a connection that was idle for half an hour: that does not mean a client is gone.
_UNUSED_SECONDS = 25 * 60.0
Address = tuple[bytes, int]


def address_of(peer: str) -> Address | None:
    """The address of a caller, as gRPC writes it: `ipv4:1.2.3.4:5`, `ipv6:%5B::1%5D:5`."""
    family, _, rest = unquote(peer).partition(":")
    host, _, port = rest.rpartition(":")
    try:
        if family == "ipv4":
            return socket.inet_pton(socket.AF_INET, host), int(port)
        if family == "ipv6":
            whole = socket.inet_pton(socket.AF_INET6, host.strip("[]").partition("%")[0])
            return short(whole), int(port)
    except (OSError, ValueError):
        pass
    return None


def connected() -> set[Address] | None:
    """The other ends of all open connections of this machine; None if there is no way to know."""
    found: set[Address] = set()
    seen = False
    for table in _TABLES:
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        seen = True
        for line in lines:
            _, _, other, state = line.split()[:4]
            if state == _ESTABLISHED:
                found.add(_from_table(other))
    return found if seen else None


def _from_table(text: str) -> Address:
    """An address as the kernel prints it: words of 32 bits in the byte order of the machine."""
    digits, _, port = text.partition(":")
    words = [int(digits[i : i + 8], 16) for i in range(0, len(digits), 8)]
    order = "<" if sys.byteorder == "little" else ">"
    return short(struct.pack(f"{order}{len(words)}I", *words)), int(port, 16)


def short(address: bytes) -> bytes:
    """An IPv4 address that is dressed up as one of IPv6, bare."""
    dressed = len(address) == 16 and address[:12] == bytes(10) + b"\xff\xff"
    return address[12:] if dressed else address


@dataclass
class _Client:
    address: Address | None
    called: float  # when it was last heard
    missed: float | None = None  # since when it has no connection


class Clients:
    """Sessions of clients that do not say whether they are there."""

    def __init__(self, look: Callable[[], set[Address] | None] = connected) -> None:
        self._look = look
        self._clients: dict[str, _Client] = {}
        self._lock = threading.Lock()

    def called(self, session: str, peer: str, now: float, is_new: bool = False) -> None:
        """A call about a session has come; the one that makes a session `is_new`."""
        with self._lock:
            known = self._clients.get(session)
            if known is not None or is_new:
                self._clients[session] = _Client(address_of(peer) if peer else None, now)

    def forget(self, session: str) -> None:
        """Stops watching a session that is closed, or whose client says by itself when it goes."""
        with self._lock:
            self._clients.pop(session, None)

    def spare(self, may_go: Callable[[str], bool]) -> str | None:
        """The session to close where there are too many: one whose client has no connection.

        Or else one of the client that has most: that which it has not used for longest. A client
        with a single session keeps it.
        """
        with self._lock:
            there = self._look()
            away: list[str] = []
            present: dict[Address | None, list[str]] = {}
            for session, client in self._clients.items():
                if may_go(session):
                    is_away = there is not None and client.address not in there
                    is_away = is_away and client.address is not None
                    group = away if is_away else present.setdefault(client.address, [])
                    group.append(session)
            most = away or max(present.values(), key=len, default=[])
            if not away and len(most) < 2:
                return None
            return min(most, key=lambda session: self._clients[session].called)

    def gone(self, now: float, abandoned: float, idle: float) -> list[str]:
        """The sessions whose clients have had no connection for `abandoned` seconds.

        Also the sessions that have not been used for `idle` seconds, unless `idle` is 0.
        """
        with self._lock:
            if not self._clients:
                return []
            there = self._look()
            found = [
                session
                for session, client in self._clients.items()
                if _is_gone(client, there, now, abandoned, idle)
            ]
            for session in found:
                del self._clients[session]
        return found


def _is_gone(
    client: _Client, there: set[Address] | None, now: float, abandoned: float, idle: float
) -> bool:
    if idle and now - client.called >= idle:
        return True
    if there is None or client.address is None or client.address in there:
        client.missed = None
        return False
    if client.missed is None:
        client.missed = now
    if client.missed - client.called > _UNUSED_SECONDS:
        return False
    return now - client.missed >= abandoned
