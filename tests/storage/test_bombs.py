"""Files that say they hold far more than they do: refused before there is memory for it."""

from __future__ import annotations

import gzip
import io
import itertools
import struct
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.core import dtypes, errors, flags
from weft.core.expansion import inflate
from weft.core.varint import varint
from weft.protos.checkpoint import BundleEntryProto
from weft.storage import table
from weft.storage.bundle import BundleWriter
from weft.storage.bundle_reader import BundleReader
from weft.storage.table import Table, write_table
from weft.storage.tensor_slice import covers, to_proto
from weft.storage.tf_record import RecordReader, TFRecordWriter, _header

MB = 1 << 20


@pytest.fixture
def one_megabyte() -> Any:
    with flags.MAX_EXPANDED.override(1):
        yield


# ---- slices ----


def boxes() -> Any:
    part = st.tuples(st.integers(0, 3), st.integers(1, 4)).filter(lambda p: sum(p) <= 4)
    return st.lists(st.tuples(part, part), max_size=6)


@settings(deadline=None)
@given(boxes())
def test_slices_cover_a_tensor_if_each_element_is_in_one(stored: list[Any]) -> None:
    count = np.zeros((4, 4), int)
    for (a, rows), (b, columns) in stored:
        count[a : a + rows, b : b + columns] += 1
    for wanted in (None, None), ((1, 2), (0, 3)):
        part = count if wanted[0] is None else count[1:3, 0:3]
        assert covers((4, 4), stored, wanted) == bool((part == 1).all())


@pytest.mark.parametrize(("rows", "columns"), [(4, 1), (1, 4), (2, 2)])
def test_slices_of_a_grid_cover_it(rows: int, columns: int) -> None:
    parts = itertools.product(
        [(i * 4 // rows, 4 // rows) for i in range(rows)],
        [(i * 4 // columns, 4 // columns) for i in range(columns)],
    )
    assert covers((4, 4), list(parts), (None, None))


def partitioned(folder: Path) -> tuple[str, dict[bytes, bytes]]:
    """A checkpoint of a tensor in two parts, and the items of its index."""
    prefix = str(folder / "m")
    with BundleWriter(prefix) as writer:
        for start in (0, 2):
            part = np.full((2, 3), start, np.float32)
            writer.add_slice(b"t", (4, 3), ((start, 2), None), part, dtypes.float32)
    return prefix, items_of(prefix)


def items_of(prefix: str) -> dict[bytes, bytes]:
    data = Path(f"{prefix}.index").read_bytes()
    return dict(Table(io.BytesIO(data), len(data), prefix))


def rewrite(prefix: str, items: dict[bytes, bytes]) -> None:
    with open(f"{prefix}.index", "wb") as file:
        write_table(file, sorted(items.items()))


def test_one_part_twice_leaves_no_element_without_a_value(tmp_path: Path) -> None:
    prefix, items = partitioned(tmp_path)
    entry = BundleEntryProto.FromString(items[b"t"])
    entry.slices[1].CopyFrom(entry.slices[0])
    rewrite(prefix, items | {b"t": entry.SerializeToString()})
    with (
        BundleReader(prefix) as reader,
        pytest.raises(errors.InvalidArgumentError, match="sufficient slices"),
    ):
        reader.read(b"t")


def test_a_part_must_be_what_the_tensor_says(tmp_path: Path) -> None:
    prefix, items = partitioned(tmp_path)
    entry = BundleEntryProto.FromString(items[b"t"])
    for slice_ in entry.slices:
        slice_.extent[1].start, slice_.extent[1].length = 0, 3
        to_proto((), slice_)
    changed = {key: value for key, value in items.items() if key not in (b"", b"t")}
    for key, value in changed.items():
        part = BundleEntryProto.FromString(value)
        part.dtype = dtypes.int32.as_datatype_enum
        changed[key] = part.SerializeToString()
    rewrite(prefix, items | changed)
    with BundleReader(prefix) as reader, pytest.raises(errors.DataLossError, match="not a part of"):
        reader.read(b"t")


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.string])
def test_tensors_that_are_not_in_the_file(dtype: Any, tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    value = np.array([b"a"], object) if dtype is dtypes.string else np.ones(1, np.float32)
    with BundleWriter(prefix) as writer:
        writer.add(b"t", value, dtype)
    items = items_of(prefix)
    entry = BundleEntryProto.FromString(items[b"t"])
    entry.shape.dim[0].size, entry.size = 1 << 40, 1 << 42
    rewrite(prefix, items | {b"t": entry.SerializeToString()})
    with BundleReader(prefix) as reader, pytest.raises(errors.OutOfRangeError, match="ends within"):
        reader.read(b"t")


def test_more_strings_than_bytes(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    with BundleWriter(prefix) as writer:
        writer.add(b"t", np.array([b"a"], object), dtypes.string)
    items = items_of(prefix)
    entry = BundleEntryProto.FromString(items[b"t"])
    entry.shape.dim[0].size = 1 << 40
    rewrite(prefix, items | {b"t": entry.SerializeToString()})
    with BundleReader(prefix) as reader, pytest.raises(errors.DataLossError, match="longer than"):
        reader.read(b"t")


# ---- tables ----


def table_of(content: bytes, kind: int = 0, handles: int = 1) -> Table:
    """A table with one block, which its index may name several times."""
    out = io.BytesIO()

    def write(data: bytes, kind: int) -> bytes:
        handle = varint(out.tell()) + varint(len(data))
        data += bytes([kind])
        out.write(data + struct.pack("<I", table.mask(table.crc32c_extend(0, data))))
        return handle

    handle = write(content, kind)
    index = table._Block(1)
    for i in range(handles):
        index.add(b"z%d" % i, handle)
    empty = write(table._Block(1).finish(), 0)
    footer = empty + write(index.finish(), 0)
    out.write(footer.ljust(40, b"\0") + struct.pack("<Q", table._MAGIC))
    return Table(out, out.tell(), "table")


def test_a_block_that_claims_to_be_large() -> None:
    with pytest.raises(errors.DataLossError, match="corrupted compressed"):
        list(table_of(varint(1 << 40) + b"\0abc", kind=1))
    with pytest.raises(errors.DataLossError, match="corrupted compressed"):
        list(table_of(b"\xff", kind=1))


def test_a_block_that_is_large(one_megabyte: None) -> None:
    import cramjam

    data = bytes(cramjam.snappy.compress_raw(bytes(4 * MB)))
    with pytest.raises(errors.ResourceExhaustedError, match="WEFT_MAX_EXPANDED"):
        list(table_of(data, kind=1))


def test_keys_that_share_all_but_a_byte(one_megabyte: None) -> None:
    first = varint(0) + varint(4000) + varint(0) + b"k" * 4000
    more = (varint(4000) + varint(0) + varint(0)) * 3000
    content = first + more + struct.pack("<II", 0, 1)
    with pytest.raises(errors.ResourceExhaustedError, match="keys of a block"):
        list(table_of(content))


def test_a_block_is_named_once() -> None:
    block = table._Block(16)
    block.add(b"key", b"value")
    assert list(table_of(block.finish())) == [(b"key", b"value")]
    with pytest.raises(errors.DataLossError, match="overlap"):
        table_of(block.finish(), handles=2)


# ---- compressed data ----


@given(st.binary(max_size=300), st.sampled_from([15, 31]))
def test_inflate_is_decompress(data: bytes, bits: int) -> None:
    packed = zlib.compressobj(wbits=bits)
    whole = packed.compress(data) + packed.flush()
    assert inflate(whole, bits, "data") == data
    with pytest.raises(zlib.error):
        inflate(whole[:-1], bits, "data")


def test_inflate_stops(one_megabyte: None) -> None:
    assert inflate(zlib.compress(bytes(MB)), 15, "data") == bytes(MB)
    with pytest.raises(errors.ResourceExhaustedError, match="data makes more than"):
        inflate(zlib.compress(bytes(4 * MB)), 15, "data")


def test_a_record_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(_header(1 << 60) + b"abc")
    with closing(RecordReader(path)) as reader:
        with pytest.raises(errors.DataLossError, match="truncated"):
            reader.read()


def test_a_record_that_grows(tmp_path: Path, one_megabyte: None) -> None:
    path = tmp_path / "records"
    with TFRecordWriter(path, "GZIP") as writer:
        writer.write(bytes(40 * MB))
    with closing(RecordReader(path, "GZIP")) as reader:
        with pytest.raises(errors.ResourceExhaustedError, match="A record"):
            reader.read()


def test_many_records_of_a_small_file_are_read(tmp_path: Path, one_megabyte: None) -> None:
    path = tmp_path / "records"
    with TFRecordWriter(path, "ZLIB") as writer:
        for _ in range(40):
            writer.write(bytes(MB // 8))
    with closing(RecordReader(path, "ZLIB")) as reader:
        assert sum(1 for _ in iter(reader.read, None)) == 40


@pytest.mark.parametrize("kind", ["line", "piece", "string"])
def test_what_datasets_and_ops_read(kind: str, tmp_path: Path, one_megabyte: None) -> None:
    import weft as tf

    path = str(tmp_path / "data.gz")
    with gzip.open(path, "wb") as file:
        file.write(bytes(40 * MB))
    if kind == "string":
        fetch = tf.io.decode_compressed(tf.io.read_file(path), "GZIP")
    else:
        source = {
            "line": lambda: tf.data.TextLineDataset(path, "GZIP"),
            "piece": lambda: tf.data.FixedLengthRecordDataset(path, 8, compression_type="GZIP"),
        }[kind]
        fetch = tf.data.make_one_shot_iterator(source()).get_next()
    with tf.Session() as session, pytest.raises(tf.errors.ResourceExhaustedError):
        session.run(fetch)
