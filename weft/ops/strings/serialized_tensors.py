"""Tensors as serialized messages, and examples written as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.expansion import check_expansion
from weft.core.shapes import sizes_in
from weft.graph import packed_strings
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.tensor import Tensor
from weft.graph.tensor_proto import array_to_proto, proto_to_array
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import as_array, invalid
from weft.ops.kit.string_arrays import elements, mapped, string, strings
from weft.ops.queues.queue_values import show_types


def as_content(array: Any, dtype: DType) -> Any:
    """The TensorProto that holds all of the elements as bytes, unlike those in a graph."""
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    message = TensorProto(dtype=dtype.as_datatype_enum)
    message.tensor_shape.SetInParent()
    for extent in array.shape:
        message.tensor_shape.dim.add().size = extent
    texts = dtype == dtypes.string
    message.tensor_content = packed_strings.pack(elements(array)) if texts else array.tobytes()
    return message


def from_content(message: Any) -> np.ndarray:
    """The array of a TensorProto that may not hold more than it has bytes for."""
    array = proto_to_array(message)
    shape = sizes_in(message.tensor_shape)
    check_expansion(array.nbytes, message.ByteSize(), f"A tensor of shape {list(shape)}")
    return array


@op(
    "SerializeTensor", inputs="tensor: T", outputs="serialized: string", attrs="T: type",
    shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def serialize_tensor_(xp: Any, tensor: Any, *, T: DType) -> Any:
    array = as_array(tensor)
    message = array_to_proto(array, T) if T == dtypes.string else as_content(array, T)
    return strings([message.SerializeToString()], ())


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """The tensor as a serialized TensorProto."""
    return raw.SerializeTensor(tensor, name=name)


@op(
    "ParseTensor", inputs="serialized: string", outputs="output: out_type", attrs="out_type: type",
    shape=s.unknown, traits=HOST | NO_GRADIENT,
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
    return from_content(message)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor of a serialized TensorProto."""
    return raw.ParseTensor(serialized, out_type=out_type, name=name)


@op(
    "DecodeJSONExample", inputs="json_examples: string", outputs="binary_examples: string",
    shape=s.unchanged, traits=HOST,
)  # fmt: skip
def decode_json_example_(xp: Any, json_examples: Any) -> Any:
    from google.protobuf import json_format

    from weft.protos.example import Example

    def serialized(text: bytes) -> bytes:
        try:
            if not isinstance(json.loads(text), dict):
                raise invalid("Error while parsing JSON: : Root element must be a message.")
        except ValueError:
            pass  # the parser of messages says what is wrong
        try:
            return json_format.Parse(text, Example()).SerializeToString()
        except json_format.ParseError as error:
            raise invalid(f"Error while parsing JSON: {error}") from None

    return mapped(serialized, json_examples)


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Examples written as JSON, serialized."""
    return raw.DecodeJSONExample(json_examples, name=name)
