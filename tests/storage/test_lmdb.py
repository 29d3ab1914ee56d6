"""LMDB files, built here page by page."""

from __future__ import annotations

import struct

import pytest

import weft as tf
from weft.storage import lmdb

PAGE = 4096
NO_PAGE = 2**64 - 1


def header(number, flags, lower=16, upper=PAGE):
    return struct.pack("<QHHHH", number, 0, flags, lower, upper)


def meta(number, root, transaction):
    free = struct.pack("<IHHQQQQQ", PAGE, 0, 0, 0, 0, 0, 0, NO_PAGE)
    main = struct.pack("<IHHQQQQQ", 0, 0, 1, 0, 1, 0, 0, root)
    body = struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 0) + free + main
    return (header(number, 8) + body + struct.pack("<QQ", 9, transaction)).ljust(PAGE, b"\0")


def page(number, flags, nodes):
    """A page with its nodes at the end, as the library puts them."""
    data = bytearray(PAGE)
    end, offsets = PAGE, []
    for node in nodes:
        node += b"\0" * (len(node) % 2)
        end -= len(node)
        data[end : end + len(node)] = node
        offsets.append(end)
    data[:16] = header(number, flags, 16 + 2 * len(nodes), end)
    data[16 : 16 + 2 * len(nodes)] = struct.pack(f"<{len(nodes)}H", *offsets)
    return bytes(data)


def leaf_node(key, value, flags=0, size=None):
    size = len(value) if size is None else size
    return struct.pack("<HHHH", size & 0xFFFF, size >> 16, flags, len(key)) + key + value


def branch_node(key, child):
    low, high = child & 0xFFFF, child >> 16
    return struct.pack("<HHHH", low, high & 0xFFFF, child >> 32, len(key)) + key


@pytest.fixture
def path(tmp_path):
    big = bytes(range(256)) * 30
    pages = [
        meta(0, 5, transaction=1),  # an older root, which must not be used
        meta(1, 2, transaction=2),
        page(2, 1, [branch_node(b"", 3), branch_node(b"c", 4)]),
        page(3, 2, [leaf_node(b"a", b"1"), leaf_node(b"b", b"")]),
        page(4, 2, [leaf_node(b"c", struct.pack("<Q", 5), flags=1, size=len(big))]),
        (header(5, 4) + big).ljust(3 * PAGE, b"\0"),
    ]
    path = tmp_path / "data.mdb"
    path.write_bytes(b"".join(pages))
    return path


def test_all_records_in_order(path):
    found = list(lmdb.records(path))
    assert found[:2] == [(b"a", b"1"), (b"b", b"")]
    assert found[2] == (b"c", bytes(range(256)) * 30)
    assert list(lmdb.records(path.parent)) == found  # a directory means the file in it


def test_a_reader_reads_them(path, sess):
    queue = tf.FIFOQueue(1, tf.string, shapes=[()])
    key, value = tf.LMDBReader().read(queue)
    sess.run(queue.enqueue(str(path)))
    assert sess.run([key, value]) == [b"a", b"1"]


def test_an_empty_database(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(meta(0, NO_PAGE, 1) + meta(1, NO_PAGE, 0))
    assert list(lmdb.records(path)) == []


@pytest.mark.parametrize("content", [b"", b"\0" * 2 * PAGE])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(tf.errors.DataLossError):
        list(lmdb.records(path))


@pytest.mark.parametrize("children", [[2], [2, 2], [3, 3], [99]])
def test_pages_that_are_no_tree(tmp_path, children):
    """A page below itself, or twice: each level would double what is read."""
    nodes = [branch_node(b"k", child) for child in children]
    leaf = page(3, 2, [leaf_node(b"k", b"v")])
    path = tmp_path / "data.mdb"
    path.write_bytes(meta(0, 2, 1) + meta(1, 2, 2) + page(2, 1, nodes) + leaf)
    with pytest.raises(tf.errors.DataLossError, match=r"part of a tree|is missing"):
        list(lmdb.records(path))


def test_pages_that_are_deep(tmp_path):
    pages = [page(i, 1, [branch_node(b"k", i + 1)]) for i in range(2, 3000)]
    path = tmp_path / "data.mdb"
    path.write_bytes(meta(0, 2, 1) + meta(1, 2, 2) + b"".join(pages))
    with pytest.raises(tf.errors.DataLossError, match="part of a tree"):
        list(lmdb.records(path))
