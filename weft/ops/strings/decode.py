"""The bytes of strings: as numbers (tf.decode_raw), decompressed, as base64."""

from __future__ import annotations

import base64
import binascii
import builtins
import functools
import re
import zlib
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.core.expansion import inflate
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import as_array, deprecated_alias, divide, invalid
from weft.ops.kit.string_arrays import mapped
from weft.storage.tf_record import what_failed

_TYPE_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


@op(
    "DecodeRaw",
    inputs="bytes: string",
    outputs="output: out_type",
    attrs="out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64,"
    " complex128, bool}, little_endian: bool = true",
    shape=lambda c: s.concat(c.dims(0), (None,)),
    traits=HOST | NO_GRADIENT,
)
def decode_raw_(xp: Any, bytes: Any, *, out_type: DType, little_endian: bool) -> np.ndarray:
    strings = as_array(bytes).ravel().tolist()
    length = len(strings[0]) if strings else 0
    for i, each in enumerate(strings):
        if len(each) != length:
            raise invalid(
                "DecodeRaw requires input strings to all be the same size, but element"
                f" {i} has size {length} != {len(each)}"
            )
    stored, dtype = _stored(out_type, little_endian)
    count, rest = divmod(length, dtype.itemsize)
    if rest:
        raise invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {dtype.itemsize},"
            f" the size of {_TYPE_NAMES.get(out_type.name, out_type.name)}"
        )
    flat = np.frombuffer(strings[0] if len(strings) == 1 else b"".join(strings), stored)
    if stored is not dtype:
        flat = flat.astype(dtype)
    return flat.reshape((*np.shape(bytes), count))


@functools.cache
def _stored(out_type: DType, little_endian: bool) -> tuple[np.dtype, np.dtype]:
    """How the bytes are to be read, and the type of the result; one object if these are equal."""
    dtype = np.dtype(out_type.np_storage)
    stored = dtype.newbyteorder("<" if little_endian else ">")
    return (dtype if stored == dtype else stored), dtype


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Tensor:
    r"""Each string of `input_bytes`, all of one length, as a row of numbers.

    Args:
        input_bytes: strings, in any shape.
        out_type: the type of the numbers.
        little_endian: the order of the bytes of a number.
        name: of the operation.
        bytes: an older name of `input_bytes`.

    Returns:
        A tensor with one dimension more.

    Raises:
        tf.errors.InvalidArgumentError: from the step: a length is no multiple of a number's.

    Example:
        >>> session.run(tf.decode_raw(b"\x01\x00\x02\x00", tf.uint16))
        array([1, 2], dtype=uint16)
    """
    given = deprecated_alias("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return raw.DecodeRaw(given, out_type=out_type, little_endian=little_endian, name=name)


@op(
    "DecodePaddedRaw",
    inputs="input_bytes: string, fixed_length: int32",
    outputs="output: out_type",
    attrs="out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64},"
    " little_endian: bool = true",
    shape=lambda c: s.concat(c.dims(0), (_width(c),)),
    traits=HOST | NO_GRADIENT,
)
def decode_padded_raw_(
    xp: Any, input_bytes: Any, fixed_length: Any, *, out_type: DType, little_endian: bool
) -> np.ndarray:
    if np.ndim(fixed_length):
        raise invalid(f"k must be scalar, got shape {s.show(np.shape(fixed_length))}")
    length, size = int(fixed_length), np.dtype(out_type.np_storage).itemsize
    if length % size:
        raise invalid(
            f"fixed_length ({length}) must be a multiple of the size of out_type ({size})"
        )
    if length <= 0:
        raise invalid(f"fixed_length ({length}) must be greater than zero.")
    strings = as_array(input_bytes)
    padded = b"".join(each[:length].ljust(length, b"\0") for each in strings.ravel())
    stored = np.dtype(out_type.np_storage).newbyteorder("<" if little_endian else ">")
    flat = np.frombuffer(padded, stored).astype(out_type.np_storage)
    return flat.reshape((*strings.shape, length // size))


def _width(c: ShapeContext) -> int | None:
    s.with_rank(c.dims(1), 0)
    length = c.value(1)
    if length is None:
        return None
    count = divide(int(length), np.dtype(c.attr("out_type").np_storage).itemsize)
    return count if length > 0 else None


@op(
    "DecodeCompressed",
    inputs="bytes: string",
    outputs="output: string",
    attrs='compression_type: string = ""',
    shape=s.unchanged,
    traits=HOST,
)
def decode_compressed_(xp: Any, bytes: Any, *, compression_type: str) -> np.ndarray:
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise invalid("Only ZLIB, GZIP or NONE are supported compressions")
    if not compression_type:
        return as_array(bytes)
    bits = zlib.MAX_WBITS + (16 if compression_type == "GZIP" else 0)

    def decompress(data: builtins.bytes) -> builtins.bytes:
        try:
            return inflate(data, bits, "A compressed string")
        except zlib.error as error:
            raise errors.DataLossError(
                None, None, f"inflate() failed with {what_failed(error)}"
            ) from None

    return mapped(decompress, bytes)


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Decompresses each string, which is in the format "GZIP", "ZLIB" or "" (none)."""
    return raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)


# ---- base64, with the alphabet that is safe in addresses ---------------------------------------


@op(
    "EncodeBase64",
    inputs="input: string",
    outputs="output: string",
    attrs="pad: bool = false",
    shape=s.unchanged,
    traits=HOST | NO_GRADIENT,
)
def encode_base64_(xp: Any, input: Any, *, pad: bool) -> np.ndarray:
    encode = base64.urlsafe_b64encode
    return mapped(encode if pad else lambda data: encode(data).rstrip(b"="), input)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in base64 with "-" and "_"; padded with "=" if `pad`."""
    return raw.EncodeBase64(input, pad=pad, name=name)


_BASE64 = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


@op(
    "DecodeBase64",
    inputs="input: string",
    outputs="output: string",
    shape=s.unchanged,
    traits=HOST | NO_GRADIENT,
)
def decode_base64_(xp: Any, input: Any) -> np.ndarray:
    def decode(text: builtins.bytes) -> builtins.bytes:
        if not _BASE64.fullmatch(text):
            raise invalid("Invalid character found in base64.")
        if text.endswith(b"=") and len(text) % 4:
            raise invalid("Invalid padding in base64.")
        try:
            return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
        except binascii.Error:
            raise invalid("Base64 string length cannot be 1 modulo 4.") from None

    return mapped(decode, input)


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The bytes behind base64 with "-" and "_", padded or not."""
    return raw.DecodeBase64(input, name=name)
