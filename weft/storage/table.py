"""Sorted tables of bytes in LevelDB's format, in which TensorFlow keeps checkpoints.

A table is a run of blocks, an index of them, and a footer. In a block each key is written as what
it does not share with the key before; now and then one is written whole (a restart). Every block
ends with its compression and a masked crc32c, which is checked whenever the block is read.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import BinaryIO

from google_crc32c import extend as crc32c_extend

from weft.core import errors
from weft.core.expansion import check_expansion
from weft.core.varint import read_varint, varint

_BLOCK_SIZE = 1 << 18
_RESTART_INTERVAL = 16
_MAGIC = 0xDB4775248B80FB57
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5
_PLAIN, _SNAPPY = 0, 1
_SNAPPY_GROWTH = 64  # more than any block of its format can grow by
_MASK_DELTA = 0xA282EAD8


def mask(crc: int) -> int:
    """A crc as files hold it: rotated and shifted, so that a crc of crcs is still useful."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def unmask(masked: int) -> int:
    rotated = (masked - _MASK_DELTA) & 0xFFFFFFFF
    return (rotated >> 17 | rotated << 15) & 0xFFFFFFFF


# ---- writing ------------------------------------------------------------------------------------


class _Block:
    """A block under construction."""

    def __init__(self, restart_interval: int) -> None:
        self.interval = restart_interval
        self.data = bytearray()
        self.restarts = [0]
        self.since_restart = 0
        self.last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.since_restart < self.interval:
            shared = shared_length(self.last_key, key)
        else:
            self.restarts.append(len(self.data))
            self.since_restart = 0
        self.data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        self.data += key[shared:]
        self.data += value
        self.last_key = key
        self.since_restart += 1

    def size(self) -> int:
        return len(self.data) + 4 * len(self.restarts) + 4

    def finish(self) -> bytes:
        count = len(self.restarts)
        return bytes(self.data) + struct.pack(f"<{count + 1}I", *self.restarts, count)


def shared_length(a: bytes, b: bytes) -> int:
    """How many bytes two keys have in common at their start."""
    limit = min(len(a), len(b))
    for i in range(limit):
        if a[i] != b[i]:
            return i
    return limit


def _separator(low: bytes, high: bytes) -> bytes:
    """A short key that is at least `low` and less than `high`."""
    at = shared_length(low, high)
    if at < min(len(low), len(high)) and low[at] < 0xFF and low[at] + 1 < high[at]:
        return low[:at] + bytes([low[at] + 1])
    return low


def _successor(key: bytes) -> bytes:
    """A short key that is at least `key`."""
    for i, byte in enumerate(key):
        if byte != 0xFF:
            return key[:i] + bytes([byte + 1])
    return key


def write_table(file: BinaryIO, items: Iterable[tuple[bytes, bytes]]) -> None:
    """Writes `items`, whose keys must ascend, as a table; byte for byte as TensorFlow does."""
    _TableWriter(file).write(items)


class _TableWriter:
    def __init__(self, file: BinaryIO) -> None:
        self.file, self.offset = file, 0
        self.block, self.index = _Block(_RESTART_INTERVAL), _Block(1)
        self.last_key = b""
        # The handle of a finished block whose index key waits for the first key after it.
        self.pending = b""

    def write(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        for key, value in items:
            self._add(key, value)
        self._flush()
        meta = self._write_block(_Block(_RESTART_INTERVAL))
        if self.pending:
            self.index.add(_successor(self.last_key), self.pending)
        footer = meta + self._write_block(self.index)
        self.file.write(footer.ljust(_FOOTER_SIZE - 8, b"\0") + struct.pack("<Q", _MAGIC))

    def _add(self, key: bytes, value: bytes) -> None:
        if len(key) + len(value) >= 2 * _BLOCK_SIZE:
            self._flush()
        if self.pending:
            self.index.add(_separator(self.last_key, key), self.pending)
            self.pending = b""
        self.block.add(key, value)
        self.last_key = key
        if self.block.size() >= _BLOCK_SIZE:
            self._flush()

    def _flush(self) -> None:
        if self.block.data:
            self.pending = self._write_block(self.block)
            self.block = _Block(_RESTART_INTERVAL)

    def _write_block(self, block: _Block) -> bytes:
        """Writes a block; returns its handle: where it is and how long."""
        content = block.finish() + bytes([_PLAIN])
        self.file.write(content + struct.pack("<I", mask(crc32c_extend(0, content))))
        handle = varint(self.offset) + varint(len(content) - 1)
        self.offset += len(content) + 4
        return handle


# ---- reading ------------------------------------------------------------------------------------


class Table:
    """A table in an open file; blocks are read as they are needed."""

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self.file, self.name, self.size = file, name, size
        if size < _FOOTER_SIZE:
            raise self._broken("file is too short to be an sstable")
        footer = self._read(size - _FOOTER_SIZE, _FOOTER_SIZE)
        if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
            raise self._broken("not an sstable (bad magic number)")
        try:
            at = _read_handle(footer, 0)[1]
            where = _read_handle(footer, at)[0]
            index = [(key, _read_handle(value, 0)[0]) for key, value in self._block(*where)]
        except IndexError:
            raise self._broken("bad block handle") from None
        if any(a + b > c for (_, (a, b)), (_, (c, _)) in pairwise(index)):
            raise self._broken("blocks overlap")
        self._keys = [key for key, _ in index]
        self._handles = [handle for _, handle in index]
        self._cached: tuple[tuple[int, int], dict[bytes, bytes]] = ((-1, -1), {})

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values in ascending order of keys."""
        for handle in self._handles:
            yield from self._block(*handle)

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        i = bisect.bisect_left(self._keys, key)
        if i == len(self._keys):
            return None
        if self._cached[0] != self._handles[i]:
            self._cached = self._handles[i], dict(self._block(*self._handles[i]))
        return self._cached[1].get(key)

    def _broken(self, why: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"Unable to read table file {self.name}: {why}")

    def _read(self, offset: int, size: int) -> bytes:
        if size > self.size or offset > self.size - size:
            raise self._broken("truncated block read")
        self.file.seek(offset)
        data = self.file.read(size)
        if len(data) != size:
            raise self._broken("truncated block read")
        return data

    def _block(self, offset: int, size: int) -> list[tuple[bytes, bytes]]:
        data = self._read(offset, size + _TRAILER_SIZE)
        if mask(crc32c_extend(0, data[:-4])) != struct.unpack("<I", data[-4:])[0]:
            raise self._broken("block checksum mismatch")
        kind, content = data[size], data[:size]
        if kind == _SNAPPY:
            content = self._uncompressed(content)
        elif kind != _PLAIN:
            raise self._broken("bad block type")
        try:
            return list(_entries(content, self.name))
        except (IndexError, struct.error):
            raise self._broken("bad entry in block") from None

    def _uncompressed(self, content: bytes) -> bytes:
        import cramjam

        try:
            size = read_varint(content, 0)[0]
        except IndexError:
            raise self._broken("corrupted compressed block contents") from None
        if size > _SNAPPY_GROWTH * len(content):
            raise self._broken("corrupted compressed block contents")
        check_expansion(size, len(content), f"A block of table file {self.name}")
        try:
            return bytes(cramjam.snappy.decompress_raw(content))
        except cramjam.DecompressionError:
            raise self._broken("corrupted compressed block contents") from None


def _read_handle(data: bytes, at: int) -> tuple[tuple[int, int], int]:
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return (offset, size), at


def _entries(content: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    (restarts,) = struct.unpack("<I", content[-4:])
    end, most = len(content) - 4 * (restarts + 1), 2 * len(content)
    at, key, made = 0, b"", 0
    while at < end:
        shared, at = read_varint(content, at)
        own, at = read_varint(content, at)
        length, at = read_varint(content, at)
        key = key[:shared] + content[at : at + own]
        at += own
        made += len(key)
        if made > most:
            # Each may share all but a byte with the one before.
            check_expansion(made, len(content), f"The keys of a block of table file {name}")
        yield key, content[at : at + length]
        at += length
