"""Samples of operations that few graphs have: proto_codec, sdca, partial_updates and others."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2

from tests.ops.sample import Sample, b, f32, f64, i32, i64, s, skip, u64

# ---- messages ------------------------------------------------------------------------------------

_TYPES = (
    "double float int64 uint64 int32 fixed64 fixed32 bool string group message bytes uint32 enum"
    " sfixed32 sfixed64 sint32 sint64"
).split()
_ONE, _MANY = 1, 3


def _described() -> bytes:
    """A message that has a field of every type, once and repeated."""
    file = descriptor_pb2.FileDescriptorProto(name="all.proto", package="test", syntax="proto2")
    inner = file.message_type.add(name="Inner")
    inner.field.add(name="x", number=1, type=5, label=_ONE)
    kinds = file.enum_type.add(name="Kind")
    kinds.value.add(name="NONE", number=0)
    kinds.value.add(name="SOME", number=3)
    every = file.message_type.add(name="Every")
    for i, name in enumerate(_TYPES):
        if name == "group":
            continue
        named = {"message": ".test.Inner", "enum": ".test.Kind"}.get(name)
        for label, prefix, number in ((_ONE, "", i + 1), (_MANY, "many_", i + 101)):
            field = every.field.add(name=prefix + name, number=number, type=i + 1, label=label)
            if named:
                field.type_name = named
        if name in ("int32", "sint64", "float"):
            every.field[-1].options.packed = True
    every.field.add(name="nine", number=90, type=5, label=_ONE, default_value="9")
    every.field.add(name="text", number=91, type=9, label=_ONE, default_value="none")
    return b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


_ALL: dict[str, Any] = dict(message_type="test.Every", descriptor_source=_described())


def _decode(messages: list[Any], fields: str, types: list[str], **attrs: Any) -> Sample:
    return Sample(
        "DecodeProtoV2",
        s(messages),
        field_names=fields.split(),
        output_types=types,
        **_ALL,
        **attrs,
    )


# int32 7 (twice: the last counts), many_int32 packed [1, -1] and then 5, string "ab", float 1.5
_WIRE = (
    b"\x28\x07\x28\x08\xca\x06\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xc8\x06\x05"
    b"\x4a\x02ab\x15\x00\x00\xc0\x3f\x88\x01\x03\x40\x01"
)
_TEXT = 'int32: 4 many_string: "x" many_string: "yy" message { x: 3 } bool: true enum: SOME'

_MESSAGES = [
    _decode(
        [_WIRE, b""], "int32 many_int32 string float sint32 bool",
        ["int32", "int32", "string", "float32", "int32", "bool"],
    ),
    _decode(
        [[_WIRE[:4] + b"\xca\x06\x02\x01\x05"], [b""]], "many_int32 nine text",
        ["int64", "int64", "string"],
    ),
    _decode([_WIRE], "float nine", ["float64", "int32"], sanitize=True),
    _decode(
        [_TEXT, "nine: -2"], "many_string message int32 enum nine bool",
        ["string", "string", "int32", "int32", "int32", "bool"], message_format="text",
    ),
    Sample(
        "EncodeProto", i32([[1, 2, 1], [0, 3, 1]]),
        [i32([[7], [8]]), i32([[1, -1, 0], [1, 2, 300]]), s([["ab"], [""]])],
        field_names=["int32", "many_int32", "string"], **_ALL,
    ),
    Sample(
        "EncodeProto", i32([[1, 1, 2, 2]]),
        [f64([[1.5]]), b([[True]]), i64([[-3, 4]]), u64([[2**63, 1]])],
        field_names=["double", "bool", "many_sint64", "many_fixed64"], **_ALL,
    ),
    Sample(
        "EncodeProto", i32([[[2, 1]]]), [f32([[[1.5, -2]]]), s([[[b"\x08\x05"]]])],
        field_names=["many_float", "message"], **_ALL,
    ),
]  # fmt: skip


# ---- linear models -------------------------------------------------------------------------------


def _sdca(loss: str, labels: list[float], op: str = "SdcaOptimizer", **attrs: Any) -> Sample:
    """Examples share no features, so that the order they come in does not matter."""
    return Sample(
        op, [i64([0, 0, 1])], [i64([10, 30, 20])], [f32([1.0, 0.5, -2.0])],
        [f32([[1.0, 0.0], [0.0, -3.0]])], f32([1.0, 2.5]), f32(labels), [i64([10, 20, 30])],
        [f32([0.1, -0.2, 0.3])], [f32([[0.25], [0.5]])],
        f32([[0.2, 0, 0, 0], [0.0, 0, 0, 0]]), loss_type=loss, l1=0.1, l2=2.0,
        num_loss_partitions=2, num_inner_iterations=1, rtol=2e-6, **attrs,
    )  # fmt: skip


def _without_values(loss: str) -> Sample:
    return Sample(
        "SdcaOptimizer", [i64([1])], [i64([5])], [], [], f32([1.0, 1.0]), f32([0.0, 1.0]),
        [i64([4, 5])], [f32([0.5, 0.0])], [], f32([[0] * 4] * 2), loss_type=loss, l1=0.0, l2=1.0,
        num_loss_partitions=1, num_inner_iterations=1, rtol=2e-6,
    )  # fmt: skip


_MODELS = [
    *(
        _sdca(loss, [1.0, 0.0])
        for loss in ("logistic_loss", "hinge_loss", "smooth_hinge_loss", "squared_loss")
    ),
    _sdca("poisson_loss", [3.0, 1.0]),
    _sdca("squared_loss", [-1.0, 4.0], "SdcaOptimizerV2"),
    _without_values("logistic_loss"),
    _without_values("squared_loss"),
    Sample("SdcaFprint", s(["", "a", "abcdefgh", "x" * 16, "0123456789" * 5, "word " * 40])),
    Sample("SdcaFprint", s([chr(97 + n % 26) * n for n in range(0, 300, 13)])),
]


# ---- others --------------------------------------------------------------------------------------

_PARTS = [
    Sample("TensorStridedSliceUpdate", f32([[1, 2, 3], [4, 5, 6]]), i32([0, 1]), i32([2, 3]),
           i32([1, 1]), f32([[7, 8], [9, 10]])),
    Sample("TensorStridedSliceUpdate", i64([1, 2, 3, 4, 5]), i32([-1]), i32([0]), i32([-2]),
           i64([7, 8])),
    Sample("TensorStridedSliceUpdate", f64([[1, 2], [3, 4]]), i64([1]), i64([2]), i64([1]),
           f64([8, 9]), shrink_axis_mask=1),
]  # fmt: skip

_HERE = "checked in tests/ops/test_remaining.py"
_SKIPPED = [
    skip(name, f"waits for others, or has no value of its own: {_HERE}")
    for name in (
        "Abort Batch BatchFunction CollectiveBcastRecv CollectiveBcastSend CollectiveGather"
        " CollectiveReduce DebugGradientRefIdentity Fact HostConst ImmutableConst SdcaShrinkL1"
        " Unbatch UnbatchGrad"
    ).split()
]

SAMPLES = [*_MESSAGES, *_MODELS, *_PARTS, *_SKIPPED]
