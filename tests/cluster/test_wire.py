"""Tensors and errors as bytes: what protobuf reads of ours, and we of its."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tensorboard.compat.proto.tensor_pb2 import TensorProto

import weft as tf
from weft.cluster.transport import wire
from weft.graph.tensor_proto import array_to_proto, proto_to_array
from weft.protos.cluster import message

ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.float64(3.5),
    np.array([b"a", b"", b"\xff\x00"], object),
    np.array(b"x", object),
    np.zeros((0, 3), np.int64),
    np.array(True),
    np.arange(300).astype(np.complex64),
    np.arange(4).astype(ml_dtypes.bfloat16),
    np.arange(4).astype(np.float16),
    np.arange(12, dtype=np.int16).reshape(3, 4).T,
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{np.asarray(a).dtype}{np.shape(a)}")
def test_tensors_are_tensor_protos(array: np.ndarray) -> None:
    data = b"".join(wire.tensor_chunks(array))
    for read in (proto_to_array(TensorProto.FromString(data)), wire.read_tensor(memoryview(data))):
        assert read.dtype == np.asarray(array).dtype and read.shape == np.shape(array)
        np.testing.assert_array_equal(read, array)


@pytest.mark.parametrize("array", ARRAYS[:7], ids=lambda a: f"{np.asarray(a).dtype}{np.shape(a)}")
def test_tensor_protos_are_tensors(array: np.ndarray) -> None:
    data = array_to_proto(np.asarray(array)).SerializeToString()
    np.testing.assert_array_equal(wire.read_tensor(memoryview(data)), array)


def test_packed_strings_as_tensorflow_writes_them() -> None:
    packed = TensorProto(dtype=tf.string.as_datatype_enum, tensor_content=b"\x01\x00\x02abc")
    packed.tensor_shape.dim.add().size = 3
    read = wire.read_tensor(memoryview(packed.SerializeToString()))
    assert read.tolist() == [b"a", b"", b"bc"]


def test_named_tensors_travel_next_to_small_fields() -> None:
    request = message("RunStepRequest")(session_handle="s", fetch=["y:0"])
    sent = [("x:0", np.ones(3)), ("z:0", np.int32(4))]
    data = wire.joined(wire.with_named(request.SerializeToString(), 2, sent))
    parsed = message("RunStepRequest").FromString(data)
    assert [f.name for f in parsed.feed] == ["x:0", "z:0"] and parsed.fetch == ["y:0"]
    rest, views = wire.split(parsed.SerializeToString(), 2)
    assert message("RunStepRequest").FromString(rest) == request
    for (name, value), (wanted, array) in zip(wire.read_named(views), sent, strict=True):
        assert name == wanted and (value == array).all()


@pytest.mark.parametrize("size", [1, 7, 1000, 100_000])
def test_a_received_array_is_a_view_that_is_aligned(size: int) -> None:
    data = wire.joined(wire.received(np.arange(size, dtype=np.float64), False))
    value, is_dead = wire.read_received(data)
    assert not is_dead and value[-1] == size - 1
    assert not value.flags.owndata and value.flags.aligned


def test_a_dead_tensor() -> None:
    assert wire.read_received(wire.joined(wire.received(np.ones(3), True)))[1]


@pytest.mark.parametrize("data", [b"\x0a\xff", b"\xff", b"\x0b\x01", b"\x0a\x05ab"])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not be parsed"):
        wire.split(data, 1)


def test_objects_stay_in_their_process() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="cannot leave its process"):
        wire.tensor_chunks(np.array(object(), object))


def test_errors_keep_class_message_and_node() -> None:
    error = tf.errors.OutOfRangeError(None, None, "end\n\t [[{{node a/b}}]]")
    again = wire.from_status(*wire.to_status(error))
    assert type(again) is tf.errors.OutOfRangeError
    assert again.message == error.message and again.node_def.name == "a/b"
    assert wire.to_status(ValueError("no"))[0] == tf.errors.INVALID_ARGUMENT
