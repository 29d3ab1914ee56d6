"""Tensors and errors as they travel.

A message that carries tensors is written as the bytes of its small fields, then the tensors one by
one; protobuf lets fields come in any order. So a tensor is copied once on its way out and not at
all on its way in: it is a view into the bytes that arrived.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from weft.core import dtypes, errors
from weft.core.exceptions import kind_of, message_of
from weft.core.expansion import check_expansion
from weft.core.shapes import sizes_of
from weft.core.varint import read_varint, varint
from weft.graph import packed_strings
from weft.graph.tensor_proto import proto_to_array

Chunk = bytes | memoryview
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8  # fields of TensorProto
_PADDING = 1000  # an unknown field, which every reader skips
_ALIGNMENT = 16


# ---- fields -----------------------------------------------------------------------------------


def head(field: int, length: int) -> bytes:
    """The tag and length that precede `length` bytes of a field."""
    return varint(field << 3 | _BYTES) + varint(length)


def as_field(number: int, data: bytes) -> bytes:
    """Bytes, or a message inside of another, with what precedes them."""
    return head(number, len(data)) + data


def fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """(number, where it starts, value) of each field: a number, or a view of bytes."""
    at, end = 0, len(data)
    try:
        while at < end:
            start = at
            tag, at = read_varint(data, at)
            kind = tag & 7
            value: Any
            if kind == _BYTES:
                length, at = read_varint(data, at)
                value, at = data[at : at + length], at + length
            elif kind == _VARINT:
                value, at = read_varint(data, at)
            elif kind in (_FIXED64, _FIXED32):
                length = 8 if kind == _FIXED64 else 4
                value, at = int.from_bytes(data[at : at + length], "little"), at + length
            else:
                raise _malformed()
            if at > end:
                raise _malformed()
            yield tag >> 3, start, value
    except IndexError:
        raise _malformed() from None


class Malformed(errors.InvalidArgumentError):
    """A message that is none."""


def _malformed() -> Malformed:
    return Malformed(None, None, "A message could not be parsed")


def _view(value: Any) -> memoryview:
    """A field of bytes, which a number in its place is not."""
    if type(value) is not memoryview:
        raise _malformed()
    return value


def split(data: Chunk, number: int) -> tuple[bytes, list[memoryview]]:
    """A message without its fields `number`, and those fields."""
    view = memoryview(data)
    taken: list[memoryview] = []
    rest: list[memoryview] = []
    skipping, start = False, 0
    for field, at, value in fields(view):
        if (field == number) != skipping:
            if not skipping:
                rest.append(view[start:at])
            skipping, start = not skipping, at
        if skipping:
            taken.append(_view(value))
    if not taken:
        return bytes(data), taken
    if not skipping:
        rest.append(view[start:])
    return b"".join(rest), taken


# ---- tensors ----------------------------------------------------------------------------------


def tensor_chunks(value: Any) -> list[Chunk]:
    """A TensorProto, in pieces to be joined: the last one may be the memory of the array itself."""
    array = np.asarray(value)
    if array.dtype == object:
        return _string_chunks(array)
    kind = dtypes.as_dtype(array.dtype)
    chunks: list[Chunk] = [skeleton(kind.as_datatype_enum, array.shape)]
    if array.size:
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        chunks += [head(_CONTENT, flat.nbytes), flat.data]
    return chunks


@functools.lru_cache(1024)
def skeleton(kind: int, shape: tuple[int, ...]) -> bytes:
    """Type and shape of a TensorProto; the elements come after them."""
    dims = b"".join(_dim(extent) for extent in shape)
    return varint(_DTYPE << 3) + varint(kind) + head(_SHAPE, len(dims)) + dims


def _dim(extent: int) -> bytes:
    size = b"\x08" + varint(extent)
    return head(2, len(size)) + size


def _string_chunks(array: np.ndarray) -> list[Chunk]:
    parts = [skeleton(dtypes.string.as_datatype_enum, array.shape)]
    for item in array.ravel():
        if not isinstance(item, (bytes, str)):
            raise errors.UnimplementedError(
                None, None, f"A value of type {type(item).__name__} cannot leave its process"
            )
        text = item.encode() if isinstance(item, str) else item
        parts += [head(_STRINGS, len(text)), text]
    return [b"".join(parts)]


def length(chunks: Iterable[Chunk]) -> int:
    return sum(map(len, chunks))


def read_tensor(data: memoryview) -> np.ndarray:
    """The array of a TensorProto; it shares memory with `data` where that is possible."""
    kind, content = 0, None
    shape: tuple[int, ...] = ()
    try:
        for field, _, value in fields(data):
            if field == _DTYPE:
                kind = value
            elif field == _SHAPE:
                shape = _read_shape(value)
            elif field == _CONTENT:
                content = value
            elif field != 3:
                return _parsed(data)
        if content is None or not kind:
            return _parsed(data)
        dtype = dtypes.as_dtype(kind)
        if dtype is dtypes.string:
            return packed_strings.unpack(content, shape)
        array = np.frombuffer(content, dtype=dtype.np_storage).reshape(shape)
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        raise Malformed(None, None, f"Cannot parse a tensor: {error}") from None
    return array if array.flags.aligned else array.copy()


def _read_shape(data: memoryview) -> tuple[int, ...]:
    dims = (dim for field, _, dim in fields(data) if field == 2)
    return sizes_of(next((v for f, _, v in fields(dim) if f == 1), 0) for dim in dims)


def _parsed(data: memoryview) -> np.ndarray:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    try:
        proto = TensorProto.FromString(bytes(data))
    except DecodeError as error:
        raise Malformed(None, None, f"Cannot parse a tensor: {error}") from None
    array = proto_to_array(proto)
    check_expansion(array.nbytes, len(data), f"A tensor of shape {list(array.shape)}")
    return array


# ---- tensors in messages ----------------------------------------------------------------------


def joined(data: bytes | list[Chunk]) -> bytes:
    """A message that may be in pieces, in one."""
    return data if isinstance(data, bytes) else b"".join(data)


def with_named(small: bytes, field: int, tensors: Iterable[tuple[str, Any]]) -> list[Chunk]:
    """A message, in pieces: its small fields, and tensors with names in field `field`."""
    chunks: list[Chunk] = [small]
    for name, value in tensors:
        tensor = tensor_chunks(value)
        label = name.encode()
        front = head(1, len(label)) + label + head(2, length(tensor))
        chunks += [head(field, len(front) + length(tensor)), front, *tensor]
    return chunks


def read_named(views: Iterable[memoryview]) -> list[tuple[str, np.ndarray]]:
    found = []
    for view in views:
        name, tensor = "", memoryview(b"")
        for field, _, value in fields(view):
            if field == 1:
                name = bytes(_view(value)).decode()
            elif field == 2:
                tensor = _view(value)
        found.append((name, read_tensor(tensor)))
    return found


def with_tensors(small: bytes, field: int, values: Iterable[Any]) -> list[Chunk]:
    """A message, in pieces: its small fields, and tensors in field `field`."""
    chunks: list[Chunk] = [small]
    for value in values:
        tensor = tensor_chunks(value)
        chunks += [head(field, length(tensor)), *tensor]
    return chunks


def received(value: Any, is_dead: bool) -> list[Chunk]:
    """A RecvTensorResponse, in pieces; in the memory of the receiver, the array is aligned."""
    if is_dead:
        return with_tensors(b"\x10\x01", 1, [np.zeros(0, np.float32)])
    tensor = tensor_chunks(value)
    size = length(tensor)
    before = len(head(1, size)) + size - len(tensor[-1])
    missing = -(before + len(head(_PADDING, 0))) % _ALIGNMENT
    padding = head(_PADDING, missing) + bytes(missing)
    return [padding, head(1, size), *tensor]


def read_received(data: Chunk) -> tuple[np.ndarray, bool]:
    """The tensor of a RecvTensorResponse, and whether it is dead."""
    tensor, dead = memoryview(b""), False
    for field, _, value in fields(memoryview(data)):
        if field == 1:
            tensor = _view(value)
        elif field == 2:
            dead = bool(value)
    return (np.zeros(0, np.float32) if dead else read_tensor(tensor)), dead


# ---- errors -----------------------------------------------------------------------------------

_NODE = re.compile(r"\[\[(?:\{\{)?node ([^\s\]}]+)")


def to_status(error: BaseException) -> tuple[int, str]:
    """The code and message that an error travels as."""
    if isinstance(error, errors.OpError):
        return error.error_code, error.message
    if isinstance(error, (ValueError, TypeError, KeyError)):
        return errors.INVALID_ARGUMENT, str(error)
    return kind_of(error)(None, None, "").error_code, message_of(error)


def from_status(code: int, message: str) -> errors.OpError:
    """The error again. Where the message names a node, so does the error."""
    name = node_named(message)
    node_def = None
    if name is not None:
        from tensorboard.compat.proto.node_def_pb2 import NodeDef

        node_def = NodeDef(name=name)
    return errors.make_error(node_def, None, message, code)


def node_named(message: str) -> str | None:
    found = _NODE.search(message)
    return found.group(1) if found is not None else None
