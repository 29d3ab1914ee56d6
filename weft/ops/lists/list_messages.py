"""Lists of tensors as bytes, in the form that TensorFlow's checkpoints have them in."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import sizes_in
from weft.core.varint import read_varint, varint
from weft.graph.shape_fn import Dims
from weft.graph.tensor_proto import make_ndarray, make_tensor_proto
from weft.ops.kit.shared import as_array
from weft.ops.lists.tensor_list import TensorList

_TYPE = "tensorflow::TensorList"
_NO_LIMIT = (1 << 64) - 1


def encoded(variants: Any) -> np.ndarray:
    """Variants as bytes: lists as messages, bytes as they are; what was never set is empty."""
    elements = as_array(variants)
    found = np.empty(elements.shape, object)
    for place, element in np.ndenumerate(elements):
        found[place] = _message(element) if isinstance(element, TensorList) else element or b""
    return found


def decoded(variants: np.ndarray) -> Any:
    """The inverse of `encoded`."""
    found = np.empty(variants.shape, object)
    for place, element in np.ndenumerate(variants):
        found[place] = _variant(element)
    return found


def _message(value: TensorList) -> bytes:
    from tensorboard.compat.proto.tensor_pb2 import VariantTensorDataProto

    items = value.values()
    unset = [i for i, item in enumerate(items) if item is None]
    limit = _NO_LIMIT if value.most < 0 else value.most
    numbers = len(unset), *unset, value.dtype.as_datatype_enum, limit
    metadata = b"".join(map(varint, numbers)) + _shape(value.dims).SerializeToString()
    tensors = [make_tensor_proto(item, value.dtype) for item in items if item is not None]
    return VariantTensorDataProto(
        type_name=_TYPE, metadata=metadata, tensors=tensors
    ).SerializeToString()


def _shape(dims: Dims) -> Any:
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

    if dims is None:
        return TensorShapeProto(unknown_rank=True)
    sizes = (-1 if size is None else size for size in dims)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _variant(text: bytes) -> Any:
    """A list, or what else the bytes are."""
    from google.protobuf.message import DecodeError
    from tensorboard.compat.proto.tensor_pb2 import VariantTensorDataProto

    try:
        message = VariantTensorDataProto.FromString(text)
    except DecodeError:
        return text
    return _list(message) if message.type_name == _TYPE else text


def _list(message: Any) -> TensorList:
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

    data, (count, at) = message.metadata, read_varint(message.metadata, 0)
    unset = set()
    for _ in range(count):
        position, at = read_varint(data, at)
        unset.add(position)
    dtype, at = read_varint(data, at)
    limit, at = read_varint(data, at)
    shape = TensorShapeProto.FromString(data[at:])
    sizes = [None if size < 0 else size for size in sizes_in(shape)]
    tensors = map(make_ndarray, message.tensors)
    length = len(message.tensors) + count
    items = [None if i in unset else next(tensors) for i in range(length)]
    return TensorList(
        dtypes.as_dtype(dtype),
        None if shape.unknown_rank else tuple(sizes),
        items,
        most=-1 if limit == _NO_LIMIT else limit,
    )
