"""Fields of protocol messages by name: where they are described, and their values on the wire."""

from __future__ import annotations

import os
import struct
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import DataLossError
from weft.core.varint import read_varint, varint
from weft.ops.kit.shared import invalid
from weft.storage.confinement import permitted

_DEEPEST = 100  # groups in groups
VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)
_BITS = 2**64 - 1


# ---- types of fields -----------------------------------------------------------------------------


class Kind:
    """How values of a type of field are written: as what on the wire, read and written how."""

    def __init__(
        self, wire: int, types: tuple[DType, ...], read: Callable[[Any], Any],
        write: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        self.wire, self.types, self.read, self.write = wire, types, read, write


def _signed(bits: int) -> Callable[[int], int]:
    half, full = 1 << bits - 1, 1 << bits

    def read(number: int) -> int:
        number &= full - 1
        return number - full if number >= half else number

    return read


def _unsigned(bits: int) -> Callable[[Any], int]:
    mask = (1 << bits) - 1
    return lambda number: int(number) & mask


def _extended(number: Any) -> int:
    """The lower 32 bits as the wire has them, where signs reach over 64."""
    return _signed(32)(int(number)) & _BITS


def _zigzag(bits: int) -> tuple[Callable[[int], int], Callable[[Any], int]]:
    """To read and to write numbers whose sign is their last bit."""
    signed, unsigned = _signed(bits), _unsigned(bits)

    def read(number: int) -> int:
        number = unsigned(number)
        return number >> 1 ^ -(number & 1)

    def write(number: Any) -> int:
        number = signed(int(number))
        return unsigned(number << 1 ^ number >> 63)

    return read, write


def _packed(
    form: str, kind: Callable[[Any], Any]
) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    return lambda data: struct.unpack(form, data)[0], lambda v: struct.pack(form, kind(v))


_INT32, _INT64 = (dtypes.int32, dtypes.int64), (dtypes.int64,)
_UINT32, _UINT64 = (dtypes.uint32, dtypes.uint64), (dtypes.uint64,)
_FLOATS = (dtypes.float32, dtypes.float64)
_BYTES = Kind(DELIMITED, (dtypes.string,), bytes, bytes)
# By the numbers that descriptors have for types.
KINDS = {
    1: Kind(FIXED64, (dtypes.float64,), *_packed("<d", float)),
    2: Kind(FIXED32, _FLOATS, *_packed("<f", float)),
    3: Kind(VARINT, _INT64, _signed(64), _unsigned(64)),
    4: Kind(VARINT, _UINT64, _unsigned(64), _unsigned(64)),
    5: Kind(VARINT, _INT32, _signed(32), _extended),
    6: Kind(FIXED64, _UINT64, *_packed("<Q", _unsigned(64))),
    7: Kind(FIXED32, _UINT32, *_packed("<I", _unsigned(32))),
    8: Kind(VARINT, (dtypes.bool,), bool, int),
    9: _BYTES,
    10: Kind(START_GROUP, (dtypes.string,), bytes, bytes),
    11: _BYTES,
    12: _BYTES,
    13: Kind(VARINT, _UINT32, _unsigned(32), _unsigned(32)),
    14: Kind(VARINT, (dtypes.int32,), _signed(32), _extended),
    15: Kind(FIXED32, _INT32, *_packed("<i", lambda n: _signed(32)(int(n)))),
    16: Kind(FIXED64, _INT64, *_packed("<q", int)),
    17: Kind(VARINT, _INT32, *_zigzag(32)),
    18: Kind(VARINT, _INT64, *_zigzag(64)),
}
_NAMES = (
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group",
    "message", "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64",
)  # fmt: skip


class Field:
    """A field of a message: the parts of its descriptor that are needed."""

    def __init__(self, descriptor: Any) -> None:
        self.name, self.number = descriptor.full_name, descriptor.number
        self.kind, self.type = KINDS[descriptor.type], _NAMES[descriptor.type - 1]
        self.is_repeated = _is_repeated(descriptor)
        self.is_packed = self.is_repeated and descriptor.is_packed
        self.default = self._default(descriptor)

    def _default(self, descriptor: Any) -> Any:
        if self.kind.types == (dtypes.string,):
            is_whole = self.type in ("group", "message")
            value = b"" if self.is_repeated or is_whole else descriptor.default_value
            return value.encode() if isinstance(value, str) else value
        return 0 if self.is_repeated else descriptor.default_value


def _is_repeated(descriptor: Any) -> bool:
    repeated = getattr(descriptor, "is_repeated", None)
    return descriptor.label == 3 if repeated is None else bool(repeated)


# ---- descriptors ---------------------------------------------------------------------------------


def _pool(source: str | bytes) -> Any:
    """A pool of descriptors: of this process, of a file, or of the string itself."""
    from google.protobuf import descriptor_pool

    if source in ("", "local://"):
        return descriptor_pool.Default()
    prefix = b"bytes://"
    data = source.encode() if isinstance(source, str) else source
    if not data.startswith(prefix):
        if not os.path.exists(permitted(os.fsdecode(source))):
            raise invalid(
                "Source does not represent serialized file descriptor set proto. This may be due to"
                " a missing dependency on the file containing"
                f' REGISTER_DESCRIPTOR_POOL("{data.decode(errors="replace")}", ...);'
            )
        with open(source, "rb") as file:
            return _pool_of(file.read(), f": {source!r}")
    return _pool_of(data[len(prefix) :], "")


@lru_cache(maxsize=16)
def _pool_of(serialized: bytes, where: str) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.message import DecodeError

    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(serialized)
    except DecodeError:
        raise invalid(f"descriptor_source contains invalid FileDescriptorSet{where}") from None
    pool = descriptor_pool.DescriptorPool()
    for each in files.file:
        pool.Add(each)
    return pool


def message_descriptor(source: str | bytes, name: str) -> Any:
    try:
        return _pool(source).FindMessageTypeByName(name)
    except KeyError:
        found = _known_here(name)
    if found is None:
        raise invalid(f"No descriptor found for message type {name}")
    return found


def _known_here(name: str) -> Any:
    """TensorFlow's own messages: those that are declared here, or come with tensorboard."""
    from google.protobuf import descriptor_pool

    from weft.protos import example

    package, _, rest = name.partition(".")
    if package != "tensorflow":
        return None
    if hasattr(example, rest):
        return getattr(example, rest).DESCRIPTOR
    try:
        return descriptor_pool.Default().FindMessageTypeByName(f"tensorboard.{rest}")
    except KeyError:
        return None


def fields_of(source: str | bytes, message_type: str, names: list[str]) -> list[Field]:
    descriptor = message_descriptor(source, message_type)
    found = []
    for name in names:
        field = descriptor.fields_by_name.get(name) or _extension(source, descriptor, name)
        if field is None:
            raise invalid(f"Unknown field: {name} in message type {message_type}")
        found.append(Field(field))
    return found


def _extension(source: str | bytes, descriptor: Any, name: str) -> Any:
    every = _pool(source).FindAllExtensions(descriptor)
    return next((field for field in every if field.full_name == name), None)


# ---- reading -------------------------------------------------------------------------------------


def _take(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(data):
        raise IndexError("message ends early")
    return data[at : at + size], at + size


def _value(data: bytes, at: int, wire: int, number: int, depth: int = 0) -> tuple[Any, int]:
    """The value at `at`, and where it ends; `depth`: in how many groups it is."""
    if wire == VARINT:
        return read_varint(data, at)
    if wire in (FIXED64, FIXED32):
        return _take(data, at, 8 if wire == FIXED64 else 4)
    if wire == DELIMITED:
        size, at = read_varint(data, at)
        return _take(data, at, size)
    if wire == START_GROUP:
        return _group(data, at, number, depth + 1)
    raise IndexError("no such wire type")


def _group(data: bytes, at: int, number: int, depth: int) -> tuple[bytes, int]:
    start = at
    if depth > _DEEPEST:
        raise IndexError("groups are too deep")
    while True:
        before = at
        tag, at = read_varint(data, at)
        if tag == number << 3 | END_GROUP:
            return data[start:before], at
        _, at = _value(data, at, tag & 7, tag >> 3, depth)


def _unpacked(data: bytes, kind: Kind) -> list[Any]:
    found, at = [], 0
    while at < len(data):
        value, at = _value(data, at, kind.wire, 0)
        found.append(kind.read(value))
    return found


def read_fields(data: bytes, fields: list[Field]) -> list[list[Any]]:
    """The values of each of the fields in a message; others are skipped."""
    wanted = {field.number: field for field in fields}
    values: dict[int, list[Any]] = defaultdict(list)
    at = 0
    try:
        while at < len(data):
            tag, at = read_varint(data, at)
            number, wire = tag >> 3, tag & 7
            if not number:
                raise IndexError("no field has number 0")
            value, at = _value(data, at, wire, number)
            field = wanted.get(number)
            if field is not None:
                values[number] += _read(field.kind, wire, value)
    except (IndexError, struct.error):
        raise DataLossError(None, None, "Failed to consume entire buffer") from None
    return [_kept(field, values[field.number]) for field in fields]


def _read(kind: Kind, wire: int, value: Any) -> list[Any]:
    if wire == kind.wire:
        return [kind.read(value)]
    # Numbers of a repeated field may stand side by side; anything else is not of this field.
    return _unpacked(value, kind) if wire == DELIMITED else []


def _kept(field: Field, values: list[Any]) -> list[Any]:
    return values if field.is_repeated else values[-1:]


# ---- writing -------------------------------------------------------------------------------------


def _content(kind: Kind, value: Any) -> bytes:
    written = kind.write(value)
    if kind.wire == VARINT:
        return varint(written)
    if kind.wire == DELIMITED:
        return varint(len(written)) + written
    content: bytes = written
    return content


def write_field(field: Field, values: list[Any]) -> bytes:
    contents = [_content(field.kind, value) for value in values]
    if field.is_packed:
        joined = b"".join(contents)
        return varint(field.number << 3 | DELIMITED) + varint(len(joined)) + joined
    before = varint(field.number << 3 | field.kind.wire)
    after = varint(field.number << 3 | END_GROUP) if field.kind.wire == START_GROUP else b""
    return b"".join(before + content + after for content in contents)
