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
        yield from _walk(data, meta.page_size, meta.root)


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


def _walk(data: bytes, page_size: int, page: int) -> Iterator[tuple[bytes, bytes]]:
    start = page * page_size
    if start + page_size > len(data):
        raise _damaged(f"page {page} is missing")
    _, _, flags, lower, _ = _PAGE.unpack_from(data, start)
    for position in range(_PAGE.size, lower, 2):
        node = start + struct.unpack_from("<H", data, start + position)[0]
        low, high, node_flags, key_size = _NODE.unpack_from(data, node)
        size = low | high << 16
        if flags & _BRANCH:
            yield from _walk(data, page_size, size | node_flags << 32)
            continue
        if not flags & _LEAF or node_flags & _SUB_DATA:
            raise _damaged("several values for a key, or databases within it")
        key_start = node + _NODE.size
        at = value_start = key_start + key_size
        if node_flags & _BIG_DATA:  # the value has pages of its own
            at = struct.unpack_from("<Q", data, value_start)[0] * page_size + _PAGE.size
        yield data[key_start:value_start], data[at : at + size]
