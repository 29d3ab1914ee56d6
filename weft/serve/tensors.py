"""Tensors in the requests and answers of a model server.

Answers have their elements in the fields by type (`float_val`, ...), where clients of TensorFlow
Serving look for them.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from weft.cluster.transport import wire
from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.core.shapes import sizes_in
from weft.graph.tensor_proto import array_to_proto

# Types whose packed elements are the bytes of the array: their field in TensorProto, and order.
_AS_THEY_ARE: dict[str, tuple[int, np.dtype[Any]]] = {
    "float32": (5, np.dtype("<f4")),
    "float64": (6, np.dtype("<f8")),
}
_SMALL = 1 << 16  # bytes
# Types whose elements are bytes in memory as they are in `tensor_content`, by number; and where
# they are if not there.
_NUMBERS = {
    kind.as_datatype_enum: (np.dtype(kind.np_storage), field)
    for kind, field in (
        (dtypes.float32, "float_val"),
        (dtypes.float64, "double_val"),
        (dtypes.int32, "int_val"),
        (dtypes.int64, "int64_val"),
    )
}
_type_of = functools.lru_cache(64)(dtypes.as_dtype)
NUMBERS = frozenset(dtype for dtype, _ in _NUMBERS.values())
"""Types of arrays whose bytes are those of a TensorProto, or may be."""


def read(alias: str, data: bytes) -> np.ndarray:
    """The array of a serialized TensorProto. InvalidArgumentError if it is none."""
    try:
        if len(data) < _SMALL:
            return _read_small(TensorProto.FromString(data), data)
        return wire.read_tensor(memoryview(data))
    except errors.ResourceExhaustedError:
        raise
    except Exception:
        # What is wrong with it is told by TensorFlow Serving as little.
        raise errors.InvalidArgumentError(None, None, f"tensor parsing error: {alias}") from None


def _read_small(message: Any, data: bytes) -> np.ndarray:
    """Where copying costs less than avoiding it does."""
    dtype, field = _NUMBERS.get(message.dtype, (None, ""))
    if dtype is None:
        return wire.read_tensor(memoryview(data))
    shape = sizes_in(message.tensor_shape)
    if message.tensor_content:
        return np.frombuffer(message.tensor_content, dtype).reshape(shape)
    values = getattr(message, field)
    if min(shape, default=0) < 0 or len(values) != math.prod(shape):
        return wire.read_tensor(memoryview(data))  # a value may stand for many
    return np.array(values, dtype).reshape(shape)


def to_array(value: Any, dtype: DType) -> np.ndarray:
    """What a step gave for a fetch, as an array: also scalars and single strings."""
    if isinstance(value, np.ndarray):
        return value
    return np.asarray(value, dtype=object if dtype is dtypes.string else dtype.np_storage)


def entry(alias: str, array: np.ndarray, dtype: DType, as_content: bool = False) -> bytes:
    """An output of a response, serialized: its alias, and the array as a TensorProto."""
    packed = None if as_content else _AS_THEY_ARE.get(dtype.name)
    if packed is None:
        tensor = _write(array, dtype, as_content)
        return wire.as_field(1, wire.as_field(1, alias.encode()) + wire.as_field(2, tensor))
    field, little = packed
    numbers = array.astype(little, copy=False).tobytes()
    return _before(alias, dtype.as_datatype_enum, field, array.shape, len(numbers)) + numbers


@functools.lru_cache(1024)
def _before(alias: str, kind: int, field: int, shape: tuple[int, ...], size: int) -> bytes:
    """All of an entry that stands before its numbers, which are so many bytes."""
    tensor = wire.skeleton(kind, shape) + (wire.head(field, size) if size else b"")
    inside = wire.as_field(1, alias.encode()) + wire.head(2, len(tensor) + size) + tensor
    return wire.head(1, len(inside) + size) + inside


def _write(array: np.ndarray, dtype: DType, as_content: bool) -> bytes:
    """A serialized TensorProto."""
    if as_content:
        return wire.joined(wire.tensor_chunks(array))
    return bytes(array_to_proto(array, dtype, every_element=True).SerializeToString())


def type_name(dtype: DType) -> str:
    """A type as TensorFlow's C++ spells it."""
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def check_type(position: int, array: np.ndarray, wanted: DType) -> None:
    """InvalidArgumentError if the tensor is of another type than the signature says."""
    given = _type_of(array.dtype)
    if given is not wanted and given != wanted:
        raise errors.InvalidArgumentError(
            None, None,
            f"Expects arg[{position}] to be {type_name(wanted)} but {type_name(given)} is provided",
        )  # fmt: skip
