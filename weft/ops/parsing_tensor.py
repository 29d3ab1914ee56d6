"""Tensors as serialized messages, and examples written as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.tensor import Tensor
from weft.graph.tensor_proto import array_to_proto, proto_to_array
from weft.ops.kernels import as_array, invalid
from weft.ops.queue_objects import show_types
from weft.ops.string_arrays import mapped, string

_HOST: dict[str, Any] = dict(runs_on="host", differentiable=False)


@op(
    "SerializeTensor", inputs="tensor: T", outputs="serialized: string", attrs="T: type",
    shape=s.scalar, **_HOST,
)  # fmt: skip
def serialize_tensor_(xp: Any, tensor: Any, *, T: DType) -> Any:
    return np.array(array_to_proto(as_array(tensor), T).SerializeToString(), object)


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """The tensor as a serialized TensorProto."""
    return raw.SerializeTensor(tensor, name=name)


@op(
    "ParseTensor", inputs="serialized: string", outputs="output: out_type", attrs="out_type: type",
    shape=s.unknown, **_HOST,
)  # fmt: skip
def parse_tensor_(xp: Any, serialized: Any, *, out_type: DType) -> Any:
    from google.protobuf.message import DecodeError
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    if np.ndim(serialized):
        raise invalid(
            f"Expected `serialized` to be a scalar, got shape: {s.show(np.shape(serialized))}"
        )
    data = string(serialized)
    try:
        message = TensorProto.FromString(data)
    except DecodeError:
        text = data.decode(errors="replace")
        raise invalid(f"Could not parse `serialized` as TensorProto: '{text}'") from None
    found = dtypes.as_dtype(message.dtype)
    if found != out_type:
        raise invalid(
            f"Type mismatch between parsed tensor ({show_types([found])}) and dtype"
            f" ({show_types([out_type])})"
        )
    return proto_to_array(message)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor of a serialized TensorProto."""
    return raw.ParseTensor(serialized, out_type=out_type, name=name)


@op(
    "DecodeJSONExample", inputs="json_examples: string", outputs="binary_examples: string",
    shape=s.unchanged, **_HOST,
)  # fmt: skip
def decode_json_example_(xp: Any, json_examples: Any) -> Any:
    from google.protobuf import json_format

    from weft.protos.example import Example

    def serialized(text: bytes) -> bytes:
        try:
            return json_format.Parse(text, Example()).SerializeToString()
        except json_format.ParseError as error:
            raise invalid(f"Error while parsing JSON: {error}") from None

    return mapped(serialized, json_examples)


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Examples written as JSON, serialized."""
    return raw.DecodeJSONExample(json_examples, name=name)
