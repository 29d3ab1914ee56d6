"""Messages of all kinds of fields, well formed or not. Recorded from TensorFlow 2.21 with the same
descriptor and inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2

import weft as tf
from weft.core.varint import varint
from weft.graph.op_def import raw

FIELDS = {
    "si": 17, "s64": 18, "i": 5, "u": 13, "r": 5, "s": 9, "b": 8, "f": 2, "e32": 15,
}  # fmt: skip


def source() -> bytes:
    file = descriptor_pb2.FileDescriptorProto(name="codec.proto", package="codec", syntax="proto2")
    message = file.message_type.add(name="M")
    for number, (name, kind) in enumerate(FIELDS.items(), 1):
        message.field.add(name=name, number=number, type=kind, label=3 if name == "r" else 1)
    return b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def decoded(data: bytes, name: str, dtype: Any) -> list[Any]:
    found = raw.DecodeProtoV2(
        [data], message_type="codec.M", field_names=[name], output_types=[dtype],
        descriptor_source=source(),
    )  # fmt: skip
    with tf.Session() as session:
        _, (values,) = session.run(found)
    assert values.dtype == dtype.as_numpy_dtype
    return values.tolist()[0]


def encoded(sizes: list[int], names: list[str], *values: Any) -> bytes:
    made = raw.EncodeProto(
        [sizes], [np.asarray([value]) for value in values], field_names=names,
        message_type="codec.M", descriptor_source=source(),
    )  # fmt: skip
    with tf.Session() as session:
        return session.run(made)[0]


@pytest.mark.parametrize(
    ("data", "name", "dtype", "wanted"),
    [
        (varint(1 << 3) + varint(2**64 - 1), "si", tf.int32, -(2**31)),
        (varint(1 << 3) + varint(2**64 - 1), "si", tf.int64, -(2**31)),
        (varint(3 << 3) + varint(2**64 - 5), "i", tf.int32, -5),
        (varint(3 << 3) + varint(2**35 + 3), "i", tf.int64, 3),
        (varint(4 << 3) + varint(2**35 + 3), "u", tf.uint32, 3),
        (varint(4 << 3) + varint(2**32 - 1), "u", tf.uint64, 2**32 - 1),
        (b"\x45\x00\x00\x80\x3f", "f", tf.float64, 1.0),
        (b"\x4d\xff\xff\xff\xff", "e32", tf.int64, -1),
        (b"\x0b" * 50 + b"\x0c" * 50, "i", tf.int32, 0),
    ],
)
def test_numbers_have_the_bits_of_their_fields(
    data: bytes, name: str, dtype: Any, wanted: float
) -> None:
    assert decoded(data, name, dtype) == [wanted]


@pytest.mark.parametrize(
    "data",
    [
        b"\x0b" * 20000,  # groups in groups
        b"\x18" + b"\xff" * 11 + b"\x01",  # a number of more than 64 bits
        b"\x18" + b"\xff" * 1_000_000,
        b"\x32\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01abc",  # a length beyond the end
        b"\x2a\x03\x01\x02\x83", b"\x00\x01", b"\x0c", b"\x0f", b"\x08",
    ],
)  # fmt: skip
def test_messages_that_are_broken(data: bytes) -> None:
    with pytest.raises(tf.errors.DataLossError):
        decoded(data, "r", tf.int32)


def test_types_are_named() -> None:
    for name, dtype, words in (
        ("s", tf.int32, "Unexpected output type for codec.M.s: string to DT_INT32"),
        ("u", tf.int64, "Unexpected output type for codec.M.u: uint32 to DT_INT64"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            decoded(b"", name, dtype)
    words = "Incompatible type for field i.  Saw dtype: float but field type is: int32"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        encoded([1], ["i"], np.float32([1]))


def test_numbers_are_written_with_the_bits_of_their_fields() -> None:
    assert encoded([1], ["i"], np.int64([2**40 + 1])) == b"\x18\x01"
    assert encoded([1], ["e32"], np.int64([2**31])) == b"M\x00\x00\x00\x80"
    assert encoded([1], ["i"], np.int32([-7])) == b"\x18" + varint(2**64 - 7)
    smallest = np.int32([-(2**31)]), np.int64([-(2**63)])
    wanted = b"\x08" + varint(2**32 - 1) + b"\x10" + varint(2**64 - 1)
    assert encoded([1, 1], ["si", "s64"], *smallest) == wanted


def test_fewer_values_than_none_are_none() -> None:
    assert encoded([-1, 1], ["r", "i"], np.int32([1, 2, 3]), np.int32([7])) == b"\x18\x07"


@pytest.mark.parametrize(
    "sizes, values, wanted",
    [
        ([[1], [0]], [[5], [6]], [b"\x08\x05", b""]),
        ([[0], [0]], np.zeros((2, 0)), [b"", b""]),
        (np.zeros((0, 1)), np.zeros((0, 3)), []),
        (np.zeros((0, 1)), np.zeros((0, 0)), []),
    ],
)
def test_messages_inside_of_others_and_no_values(sizes: Any, values: Any, wanted: Any) -> None:
    given = np.asarray(sizes, np.int32), [np.asarray(values, np.int64)], ["size"]
    made = tf.io.encode_proto(*given, "tensorflow.TensorShapeProto.Dim")
    with tf.Session() as session:
        assert session.run(made).tolist() == wanted
