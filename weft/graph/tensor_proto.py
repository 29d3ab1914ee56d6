"""NumPy arrays <-> TensorProto."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.core import dtypes, errors, machine
from weft.core.dtypes import DType
from weft.core.expansion import check_expansion
from weft.core.shapes import TensorShape, sizes_in
from weft.graph import packed_strings
from weft.graph.constant import check_has_values, check_shape, filler, shaped, sized_array

# Which repeated field holds the elements of a type when they are not in tensor_content.
_FIELDS: dict[str, str] = {
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val",
    "int32": "int_val", "int16": "int_val", "int8": "int_val", "uint8": "int_val",
    "uint16": "int_val", "qint8": "int_val", "quint8": "int_val", "qint16": "int_val",
    "quint16": "int_val", "qint32": "int_val", "uint32": "uint32_val", "uint64": "uint64_val",
    "float16": "half_val", "bfloat16": "half_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "string": "string_val",
}  # fmt: skip


# The types whose arrays TensorFlow writes as bytes; others are lists of numbers at any size.
_AS_BYTES = frozenset(
    "float32 float64 int8 int16 int32 int64 uint8 uint32 uint64 qint8 quint8 qint16 quint16"
    " qint32".split()
)


def array_to_proto(
    array: np.ndarray, dtype: DType | None = None, every_element: bool = False
) -> Any:
    """The message as TensorFlow writes it: single elements are never written as bytes.

    An array that repeats one element in memory is written as that element. `every_element`: no
    bytes and no repetition, but each element in the field of its type.
    """
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    dtype = (dtype or dtypes.as_dtype(array.dtype)).base_dtype
    message = TensorProto(dtype=dtype.as_datatype_enum)
    message.tensor_shape.SetInParent()
    for extent in array.shape:
        message.tensor_shape.dim.add().size = extent
    if array.size > 1 and not any(array.strides) and not every_element:
        array = array[(slice(0, 1),) * array.ndim]
    if dtype is dtypes.string:
        message.string_val.extend(array.ravel().tolist())
    elif every_element or array.size == 1 or dtype.name not in _AS_BYTES:
        getattr(message, _FIELDS[dtype.name]).extend(_to_field(array.ravel(), dtype))
    elif array.size:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        message.tensor_content = np.ascontiguousarray(little).tobytes()
    return message


def _to_field(flat: np.ndarray, dtype: DType) -> list[Any]:
    if dtype.name in ("float16", "bfloat16"):
        return list(flat.view(np.uint16).tolist())
    if dtype.is_complex:
        return [part for value in flat.tolist() for part in (value.real, value.imag)]
    return list(flat.tolist())


def proto_to_array(message: Any) -> np.ndarray:
    """The array a TensorProto stands for; a short value list repeats its last element."""
    dtype = dtypes.as_dtype(message.dtype)
    shape = sizes_in(message.tensor_shape)
    _check_size(shape, dtype)
    if message.tensor_content:
        if dtype is dtypes.string:
            return packed_strings.unpack(message.tensor_content, shape)
        array = np.frombuffer(message.tensor_content, dtype=dtype.np_storage)
        return array.reshape(shape).copy()
    if dtype.name not in _FIELDS:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    values = getattr(message, _FIELDS[dtype.name])
    flat = _from_field(list(values), dtype)
    if flat.size == 0:
        # One element in memory, however many there are.
        return np.broadcast_to(filler(np.dtype(dtype.np_storage)), shape)
    if flat.size > 1:
        check_expansion(_byte_count(shape, dtype), flat.nbytes, _described(shape, dtype))
    return shaped(flat, shape)


def _byte_count(shape: tuple[int, ...], dtype: DType) -> int:
    return math.prod(shape) * int(np.dtype(dtype.np_storage).itemsize)


def _described(shape: tuple[int, ...], dtype: DType) -> str:
    return f"A tensor of shape {list(shape)} and type {dtype.name}"


def _check_size(shape: tuple[int, ...], dtype: DType) -> None:
    """A few bytes may ask for any number of elements: no more than there could ever be."""
    if min(shape, default=0) < 0:
        raise ValueError(f"Shape {list(shape)} of a tensor has negative dimensions")
    size = _byte_count(shape, dtype)
    if size > machine.memory():
        raise errors.ResourceExhaustedError(
            None, None, f"{_described(shape, dtype)} takes {size} bytes, more than the"
            f" {machine.memory()} bytes of memory that the machine has",
        )  # fmt: skip


def _from_field(values: list[Any], dtype: DType) -> np.ndarray:
    if dtype.name in ("float16", "bfloat16"):
        return np.array(values, dtype=np.uint16).view(dtype.np_storage)
    if dtype.is_complex:
        pairs = np.array(values, dtype=np.float64).reshape(-1, 2)
        return (pairs[:, 0] + 1j * pairs[:, 1]).astype(dtype.np_storage)
    array = np.empty(len(values), dtype=dtype.np_storage)
    array[:] = values
    return array


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """A TensorProto of `values`, converted as `tf.constant` converts them.

    Where `shape` has more elements, the message holds those that there are, and readers repeat the
    last; with `allow_broadcast` there may only be one then.
    """
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    check_has_values(dtype, values)
    array = sized_array(values, dtype, shape)
    kind = dtypes.as_dtype(array.dtype if dtype is None else dtype)
    if array.dtype.names:
        array = array.view(kind.np_storage)
    if shape is None:
        return array_to_proto(array, kind)
    whole = shaped(array, shape)
    if verify_shape or (allow_broadcast and array.size != whole.size and array.shape not in _ONE):
        check_shape(array, shape)
    if array.size == whole.size:
        return array_to_proto(whole, kind)
    message = array_to_proto(array, kind, every_element=True)
    message.tensor_shape.CopyFrom(TensorShape(whole.shape).as_proto())
    return message


# The shapes of what is taken for a single element.
_ONE = ((), (1,))


def make_ndarray(tensor: Any) -> np.ndarray:
    """The NumPy array that a TensorProto holds."""
    array = proto_to_array(tensor)
    kind = dtypes.as_dtype(tensor.dtype)
    if kind.is_quantized:
        array = array.view(kind.as_numpy_dtype)
    if array.flags.writeable:
        return array
    what = _described(array.shape, kind)
    check_expansion(array.nbytes, tensor.ByteSize(), what)  # a repeated element is written out
    return array.copy()
