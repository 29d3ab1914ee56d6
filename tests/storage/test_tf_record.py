"""Record files: what is written comes back, and damage is noticed."""

from __future__ import annotations

import gzip
import zlib

import pytest

import weft as tf
from weft.storage.tf_record import RecordReader, masked_crc

RECORDS = [b"", b"a", b"x" * 1000, b"y" * 300_000, b"end"]


def written(path, records, options=None):
    with tf.python_io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


@pytest.mark.parametrize("options", [None, "ZLIB", "GZIP", tf.python_io.TFRecordOptions("GZIP")])
def test_records_come_back(tmp_path, options):
    path = written(tmp_path / "records", RECORDS, options)
    assert list(tf.python_io.tf_record_iterator(path, options)) == RECORDS


def test_the_bytes_are_tensorflows(tmp_path):
    # Recorded from TensorFlow.
    path = written(tmp_path / "records", [b"weft", ""])
    expected = bytes.fromhex(
        "0400000000000000" "42455204" "77656674" "b7f7298a" "0000000000000000" "29039807" "d8ea82a2"
    )  # fmt: skip
    with open(path, "rb") as file:
        assert file.read() == expected


def test_checksums_are_masked():
    assert masked_crc(b"") == 0xA282EAD8


def test_offsets_are_where_records_begin(tmp_path):
    reader = RecordReader(written(tmp_path / "records", RECORDS))
    offsets = []
    while (offsets.append(reader.offset), reader.read())[1] is not None:
        pass
    reader.close()
    assert offsets[:3] == [0, 16, 33]
    again = RecordReader(tmp_path / "records", offset=offsets[3])
    assert again.read() == RECORDS[3]
    again.close()


@pytest.mark.parametrize(
    ("position", "message"),
    [(0, "corrupted record at 0"), (13, "corrupted record at 12"), (27, "corrupted record at 21")],
)
def test_damage_is_noticed(tmp_path, position, message):
    path = tmp_path / "records"
    written(path, [b"first", b"second"])
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=message):
        list(tf.python_io.tf_record_iterator(str(path)))


def test_a_cut_off_file_gives_what_is_whole(tmp_path):
    path = tmp_path / "records"
    written(path, [b"first", b"second"])
    for cut in (1, 8):
        path.write_bytes(path.read_bytes()[:-cut])
        records = tf.python_io.tf_record_iterator(str(path))
        assert next(records) == b"first"
        with pytest.raises(tf.errors.DataLossError, match="truncated record at 21"):
            next(records)
        written(path, [b"first", b"second"])


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_a_length_that_is_cut_off_is_the_end(tmp_path, compression):
    path = tmp_path / "records"
    written(path, [b"first", b"second"])
    whole = path.read_bytes()
    for left in (1, 8, 11):
        content = whole[: 21 + left]
        path.write_bytes(gzip.compress(content) if compression else content)
        assert list(tf.python_io.tf_record_iterator(str(path), compression)) == [b"first"]


def test_what_is_not_compressed_is_noticed(tmp_path):
    path = written(tmp_path / "records", [b"first"])
    with pytest.raises(tf.errors.DataLossError):
        list(tf.python_io.tf_record_iterator(path, "ZLIB"))


def test_compressed_streams_may_follow_one_another(tmp_path):
    path = tmp_path / "records"
    written(path, [b"one"], "GZIP")
    first = path.read_bytes()
    written(path, [b"two"], "GZIP")
    path.write_bytes(first + path.read_bytes())
    assert list(tf.python_io.tf_record_iterator(str(path), "GZIP")) == [b"one", b"two"]


def test_flushed_records_can_be_read(tmp_path):
    for options in (None, "ZLIB"):
        path = str(tmp_path / f"records{options}")
        writer = tf.python_io.TFRecordWriter(path, options)
        writer.write(b"one")
        writer.flush()
        records = tf.python_io.tf_record_iterator(path, options)
        assert next(records) == b"one"
        records.close()
        writer.close()
        with pytest.raises(tf.errors.FailedPreconditionError):
            writer.write(b"two")
        writer.close()


def test_options_reach_zlib(tmp_path):
    data = [bytes(range(256)) * 20] * 20
    kind = tf.python_io.TFRecordCompressionType.ZLIB
    sizes = {}
    for level in (1, 9):
        options = tf.python_io.TFRecordOptions(kind, compression_level=level)
        sizes[level] = tf.gfile.Stat(written(tmp_path / str(level), data, options)).length
    assert sizes[9] < sizes[1]
    raw = tf.python_io.TFRecordOptions(kind, window_bits=-15)
    path = written(tmp_path / "raw", [b"x"], raw)
    with open(path, "rb") as file:
        assert zlib.decompress(file.read(), -15)[12:13] == b"x"


def test_unknown_compression_is_refused(tmp_path):
    with pytest.raises(ValueError, match='Not a valid compression_type: "BZIP"'):
        tf.python_io.TFRecordWriter(str(tmp_path / "x"), "BZIP")
    with pytest.raises(tf.errors.NotFoundError):
        next(tf.python_io.tf_record_iterator(str(tmp_path / "missing")))


def test_remote_records():
    path = "memory://records"
    written(path, RECORDS, "ZLIB")
    assert list(tf.python_io.tf_record_iterator(path, "ZLIB")) == RECORDS
    tf.gfile.Remove(path)
