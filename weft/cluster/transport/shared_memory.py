"""Large messages between processes of one machine: written once, into memory that both can see.

The memory is the sender's, without a name: the receiver opens it by way of `/proc`, and it is gone
when both have let go of it, however they end. On other systems than Linux there is none of this.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import struct
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weft.cluster.transport.wire import Chunk, length

if sys.platform == "linux":
    import fcntl

IS_POSSIBLE = sys.platform == "linux" and hasattr(os, "memfd_create")
SMALLEST = 1 << 18  # below this, a socket is as good
# Of one pool; what does not fit goes by the socket. Every segment takes open files at both ends.
_MOST_BYTES = 1 << 31
_MOST_SEGMENTS = 32
_MOST_UNUSED = 1 << 28
_MOST_VIEWS = 2 * _MOST_SEGMENTS
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL if IS_POSSIBLE else 0
_TOKEN_BYTES = 16
_OFFER = struct.Struct(f"<QQ{_TOKEN_BYTES}s")
_PLACE = struct.Struct("<QQQQ")


@dataclass(frozen=True)
class Place:
    """The place of a message: the first `size` bytes of a segment, known by its `serial` number."""

    serial: int
    fd: int
    capacity: int
    size: int

    def pack(self) -> bytes:
        return _PLACE.pack(self.serial, self.fd, self.capacity, self.size)

    @classmethod
    def unpack(cls, data: Chunk) -> Place:
        return cls(*_PLACE.unpack(data))


def _nameless() -> int:
    """A file in memory that no other user can open."""
    fd = os.memfd_create("weft", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.fchmod(fd, 0o600)
    return fd


class Segment:
    """Memory of this process that others can open."""

    def __init__(self, serial: int, capacity: int) -> None:
        self.serial, self.capacity = serial, capacity
        self.fd = _nameless()
        os.ftruncate(self.fd, capacity)
        # Processes that map it cannot be hurt: memory that shrinks kills its readers.
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, _SEALS)
        self._map = mmap.mmap(self.fd, capacity)
        self.bytes = np.frombuffer(self._map, np.uint8)

    def write(self, chunks: Iterable[Chunk]) -> None:
        at = 0
        for chunk in filter(len, chunks):
            self.bytes[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
            at += len(chunk)

    def close(self) -> None:
        os.close(self.fd)  # the mapping goes with its last user


class Pool:
    """The segments that one channel sends messages in. A segment is written again when released."""

    def __init__(self) -> None:
        self._segments: dict[int, Segment] = {}
        self._free: list[Segment] = []
        self._serials = 0
        self._closed = False
        self._lock = threading.Lock()
        self.dropped: deque[int] = deque()  # serials that the receiver may forget

    def write(self, chunks: Sequence[Chunk]) -> Place | None:
        """None if there is no room."""
        size = length(chunks)
        segment = self._take(size)
        if segment is None:
            return None
        segment.write(chunks)
        return Place(segment.serial, segment.fd, segment.capacity, size)

    def _take(self, size: int) -> Segment | None:
        with self._lock:
            fitting = [s for s in self._free if size <= s.capacity <= 4 * size]
            if fitting:
                chosen = min(fitting, key=lambda s: s.capacity)
                self._free.remove(chosen)
                return chosen
            capacity = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
            used = sum(s.capacity for s in self._segments.values())
            if self._closed or used + capacity > _MOST_BYTES:
                return None
            if len(self._segments) >= _MOST_SEGMENTS and not self._make_room():
                return None
            self._serials += 1
            try:
                made = Segment(self._serials, capacity)
            except OSError:
                return None
            self._segments[made.serial] = made
            return made

    def release(self, serial: int) -> None:
        """The receiver has no more use for what is in a segment."""
        with self._lock:
            segment = self._segments.get(serial)
            if segment is None or segment in self._free:
                return
            self._free.append(segment)
            while sum(s.capacity for s in self._free) > _MOST_UNUSED and len(self._free) > 1:
                self._drop(self._free.pop(0))

    def _make_room(self) -> bool:
        """Gives up a segment that is not in use, if there is one."""
        if self._free:
            self._drop(self._free.pop(0))
        return len(self._segments) < _MOST_SEGMENTS

    def _drop(self, segment: Segment) -> None:
        del self._segments[segment.serial]
        segment.close()
        self.dropped.append(segment.serial)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for segment in self._segments.values():
                segment.close()
            self._segments.clear()
            self._free.clear()


class Views:
    """The segments of process `pid` that it has sent us messages in."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._maps: dict[int, mmap.mmap] = {}
        self.released: deque[int] = deque()  # serials that are not used here any more

    def open(self, place: Place) -> memoryview:
        """The message. Its segment is released when nothing refers to the view any more."""
        known = self._maps.get(place.serial)
        if known is None:
            if len(self._maps) >= _MOST_VIEWS:
                raise ValueError("Too many segments of shared memory")
            known = _opened(self._pid, place.fd, place.capacity)
            self._maps[place.serial] = known
        lent = np.frombuffer(known, np.uint8, place.size)
        # The last reference may go anywhere, so what is to be done then must not wait for a lock.
        weakref.finalize(lent, self.released.append, place.serial).atexit = False
        view: memoryview = lent.data
        return view

    def forget(self, serial: int) -> None:
        self._maps.pop(serial, None)

    def close(self) -> None:
        """Lets go of all segments, each when nothing refers to a message in it any more."""
        self._maps.clear()


def _opened(pid: int, fd: int, capacity: int) -> mmap.mmap:
    with _opened_file(pid, fd) as number:
        if not fcntl.fcntl(number, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK:
            raise ValueError("Shared memory that could shrink")
        return mmap.mmap(number, capacity, prot=mmap.PROT_READ)


@contextlib.contextmanager
def _opened_file(pid: int, fd: int) -> Iterator[int]:
    number = os.open(f"/proc/{pid}/fd/{fd}", os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield number
    finally:
        os.close(number)


class Offer:
    """Tells another process how to open memory of this one; it can, if it reads the same token."""

    def __init__(self) -> None:
        self._token = secrets.token_bytes(_TOKEN_BYTES)
        self._fd: int | None = _nameless()
        os.write(self._fd, self._token)
        self.message = _OFFER.pack(os.getpid(), self._fd, self._token)

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def accept(offer: Chunk) -> Views | None:
    """The views of the process that made the offer; None if its memory is out of reach."""
    pid, fd, token = _OFFER.unpack(offer)
    try:
        with _opened_file(pid, fd) as number:
            return Views(pid) if os.pread(number, _TOKEN_BYTES, 0) == token else None
    except OSError:
        return None
