"""Reading LMDB files: a B+ tree of pages with keys in order, as OpenLDAP's library writes them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from weft.core import errors
from weft.storage import file_io

_MAGIC = 0xBEEFC0DE
_PAGE = struct.Struct("<QHHHH")  # number, pad, flags, end of the node offsets, start of the nodes
_META = struct.Struct("<IIQQ")  # magic, version, address, map size
_TREE = struct.Struct("<IHHQQQQQ")  # page size, flags, depth, 3 page counts, entries, root page
_NODE = struct.Struct("<HHHH")  # size low, size high, flags, key length
_NO_PAGE = 0xFFFFFFFFFFFFFFFF
_BRANCH, _LEAF = 1, 2
_BIG_DATA, _SUB_DATA = 1, 2
_MOST_LEVELS = 32


class _Meta(NamedTuple):
    transaction: int
    page_size: int
    root: int


def _damaged(what: str) -> errors.OpError:
    return errors.DataLossError(None, None, f"LMDB file: {what}")


def records(path: Any) -> Iterator[tuple[bytes, bytes]]:
    """Every key with its value, in the order of the keys."""
    path = os.fsdecode(path)
    if file_io.isdir(path):
        path = os.path.join(path, "data.mdb")
    with file_io.open_binary(path) as file:
        data = file.read()
    first = _meta(data, 0)
    # Two transactions keep their roots in turn; the later one counts.
    meta = max(first, _meta(data, first.page_size))
    if meta.root != _NO_PAGE:
        try:
            yield from _Pages(data, meta.page_size).walk(meta.root)
        except struct.error:
            raise _damaged("a page leads out of it") from None


def _meta(data: bytes, start: int) -> _Meta:
    try:
        magic, version, _, _ = _META.unpack_from(data, start + _PAGE.size)
        at = start + _PAGE.size + _META.size
        page_size, *_ = _TREE.unpack_from(data, at)
        *_, root = _TREE.unpack_from(data, at + _TREE.size)
        _, transaction = struct.unpack_from("<QQ", data, at + 2 * _TREE.size)
    except struct.error as error:
        raise _damaged("it ends within its header") from error
    if magic != _MAGIC or version != 1:
        raise _damaged(f"wrong magic number {magic:#x} or version {version}")
    return _Meta(transaction, page_size, root)


class _Pages:
    """The pages of a file. A tree of them has each page once, and few levels."""

    def __init__(self, data: bytes, page_size: int) -> None:
        self._data, self._page_size = data, page_size
        self._seen: set[int] = set()

    def walk(self, page: int, depth: int = 0) -> Iterator[tuple[bytes, bytes]]:
        """The records of a page and of all below it."""
        data, start = self._data, page * self._page_size
        if start + self._page_size > len(data):
            raise _damaged(f"page {page} is missing")
        if page in self._seen or depth > _MOST_LEVELS:
            raise _damaged(f"page {page} is not part of a tree")
        self._seen.add(page)
        _, _, flags, lower, _ = _PAGE.unpack_from(data, start)
        for position in range(_PAGE.size, lower, 2):
            node = start + struct.unpack_from("<H", data, start + position)[0]
            if flags & _BRANCH:
                low, high, node_flags, _ = _NODE.unpack_from(data, node)
                yield from self.walk(low | high << 16 | node_flags << 32, depth + 1)
            else:
                yield self._record(node, flags)

    def _record(self, node: int, flags: int) -> tuple[bytes, bytes]:
        data = self._data
        low, high, node_flags, key_size = _NODE.unpack_from(data, node)
        if not flags & _LEAF or node_flags & _SUB_DATA:
            raise _damaged("several values for a key, or databases within it")
        key_start = node + _NODE.size
        at = value_start = key_start + key_size
        if node_flags & _BIG_DATA:  # the value has pages of its own
            at = struct.unpack_from("<Q", data, value_start)[0] * self._page_size + _PAGE.size
        return data[key_start:value_start], data[at : at + (low | high << 16)]
