"""Reads serialized tf.train.Example messages without making objects of them.

protobuf only splits an example into features, each still a string (weft/protos/example.py). The
features that are asked for are then decoded for a whole batch at once: the packed numbers of all
examples are joined and become one array.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
from google.protobuf.message import DecodeError

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import long
from weft.core.varint import varint
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import strings
from weft.protos.example import Feature, ShallowExample, ShallowSequenceExample

Fail = Callable[[int, str], NoReturn]  # the index of an example, and what is wrong with it

_DTYPES = {0x0A: dtypes.string, 0x12: dtypes.float32, 0x1A: dtypes.int64}  # by tag
TAGS = {dtype: bytes([tag]) for tag, dtype in _DTYPES.items()}
_KINDS = {"float_list": dtypes.float32, "int64_list": dtypes.int64}
_NAMES = {dtypes.float32: "float"}
UNREADABLE = "Can't parse serialized Example."


def type_name(dtype: DType) -> str:
    return _NAMES.get(dtype, dtype.name)


def split(serialized: Sequence[bytes], message: Any = ShallowExample) -> list[Any]:
    """Each string as a message whose features are still strings."""
    try:
        return [message.FromString(each) for each in long(serialized)]
    except DecodeError:
        for each in long(serialized):
            _check_readable(each, message)
        raise


def _check_readable(serialized: bytes, message: Any) -> None:
    try:
        message.FromString(serialized)
    except DecodeError:
        text = serialized.decode(errors="replace")
        raise invalid(f"Could not parse example input, value: '{text}'") from None


def split_sequences(serialized: Sequence[bytes]) -> list[Any]:
    return split(serialized, ShallowSequenceExample)


# ---- one feature ---------------------------------------------------------------------------------


def field_length(size: int) -> bytes | None:
    """The length that follows a field's tag, if the field is `size` bytes long with both."""
    for width in range(1, 6):
        length = size - 1 - width
        if length >= 0 and len(varint(length)) == width:
            return varint(length)
    return None


@lru_cache(maxsize=4096)
def list_header(size: int) -> bytes | None:
    """The bytes between the tag of a feature of `size` bytes and its values, as usually written.

    That is the length of the list, then a field 1 that takes the whole list.
    """
    outer = field_length(size)
    rest = size - 1 - len(outer or b"")
    inner = field_length(rest) if rest > 1 else None
    return None if outer is None or inner is None else outer + b"\x0a" + inner


class _Headers(dict[int, bytes | None]):
    """The first bytes, as usually written, of features of one type, by their size."""

    def __init__(self, tag: bytes) -> None:
        super().__init__()
        self.tag = tag

    def __missing__(self, size: int) -> bytes | None:
        rest = list_header(size)
        found = None if rest is None else self.tag + rest
        if len(self) < MOST_SIZES:
            self[size] = found
        return found


MOST_SIZES = 4096
_HEADERS = {dtype: _Headers(tag) for dtype, tag in TAGS.items()}


def _usual(features: Sequence[Any], dtype: DType) -> list[bytes] | None:
    """The packed values of features that are all written as usual; None if one is not."""
    try:
        first = list(map(_HEADERS[dtype].__getitem__, map(len, features)))
    except TypeError:  # one is missing
        return None
    return without_prefixes(features, first)


def without_prefixes(parts: Sequence[bytes], first: Sequence[Any]) -> list[bytes] | None:
    """What follows the first bytes of each, which are given; None if one does not have these."""
    try:
        if all(map(bytes.startswith, parts, first)):
            return list(map(bytes.removeprefix, parts, first))
    except TypeError:  # a part that has no usual first bytes
        pass
    return None


# A string that no example has, as an entry of a list, and as a feature with one string.
BETWEEN = secrets.token_bytes(16)
BETWEEN_ENTRY = bytes([0x0A, len(BETWEEN)]) + BETWEEN
_BETWEEN_FEATURES = bytes([0x0A, len(BETWEEN_ENTRY)]) + BETWEEN_ENTRY


def usual_texts(features: Sequence[Any]) -> tuple[Any, Any] | None:
    """All strings of features that have some, read as one feature, and how many each has."""
    try:
        joined = _BETWEEN_FEATURES.join([*features, b""])
        values = list(Feature.FromString(joined).bytes_list.value)
    except Exception:
        return None
    width = len(values) // max(len(features), 1)
    if width > 1 and values[width - 1 :: width] == [BETWEEN] * len(features):
        del values[width - 1 :: width]  # as many in each
        return strings(values), np.full(len(features), width - 1, np.int64)
    ends = [i for i, value in enumerate(values) if value == BETWEEN]
    counts = _gaps(np.array(ends, np.int64), -1) - 1
    if len(ends) != len(features) or not counts.all():
        return None
    return strings([value for value in values if value != BETWEEN]), counts


def _gaps(places: np.ndarray, start: int) -> np.ndarray:
    """How far each place is from the one before; `start` is that of the first."""
    found = places.copy()
    found[1:] -= places[:-1]
    found[:1] -= start
    return found


def contents(feature: bytes) -> tuple[DType | None, Any]:
    """The type of a feature's values, and they: strings as a list, numbers as packed bytes.

    The type is None where the feature has no list.
    """
    header = list_header(len(feature))
    if header is not None and feature.startswith(header, 1):
        found = _DTYPES.get(feature[0])
        if found is not None:
            body = feature[1 + len(header) :]
            return found, [body] if found is dtypes.string else body
    return _unusual(feature)


def _unusual(feature: bytes) -> tuple[DType | None, Any]:
    """As `contents`, for lists of any form: of several strings, empty, not packed, in pieces."""
    if len(feature) == 2 and feature[1] == 0 and feature[0] in _DTYPES:
        return _DTYPES[feature[0]], b""
    message = Feature.FromString(feature)
    kind = message.WhichOneof("kind")
    if kind is None:
        return None, b""
    values = getattr(message, kind)
    if kind == "bytes_list":
        return dtypes.string, list(values.value)
    data = values.SerializeToString()
    return _KINDS[kind], data[1 + len(field_length(len(data)) or b"") :]


# ---- one feature of many examples ----------------------------------------------------------------


def column(
    features: Sequence[bytes | None],
    dtype: DType,
    fail: Fail,
    mismatch: Callable[[DType], str],
) -> tuple[Any, Any, list[int]]:
    """All values in a flat array, how many each example has, and which examples have none.

    `mismatch` says what is wrong with values of another type.
    """
    if dtype is dtypes.string:
        texts = usual_texts(features)
        if texts is not None:
            return (*texts, [])
    elif (usual := _usual(features, dtype)) is not None:
        return (*decoded(usual, dtype, fail), [])
    found: list[Any] = []
    missing: list[int] = []
    for i, feature in enumerate(features):
        actual, values = _checked(i, feature, dtype, fail, mismatch) if feature else (None, b"")
        if actual is None:
            missing.append(i)
        found.append(values)
    return (*decoded(found, dtype, fail), missing)


def _checked(
    i: int, feature: bytes, dtype: DType, fail: Fail, mismatch: Callable[[DType], str]
) -> tuple[DType | None, Any]:
    try:
        actual, values = contents(feature)
    except Exception:
        fail(i, UNREADABLE)
    if actual is not None and actual is not dtype:
        fail(i, mismatch(actual))
    return actual, values


def single(
    feature: bytes | None, dtype: DType, fail: Fail, mismatch: Callable[[DType], str]
) -> Any:
    """The values of one example's feature in a flat array; None where it has none."""
    if not feature:
        return None
    try:
        actual, values = contents(feature)
    except Exception:
        fail(0, UNREADABLE)
    if actual is None:
        return None
    if actual is not dtype:
        fail(0, mismatch(actual))
    if dtype is dtypes.float32 and not len(values) % 4:
        return np.frombuffer(values, "<f4")
    if dtype is dtypes.int64 and values.isascii():
        return np.array(list(values), np.int64) if len(values) < 64 else _octets(values)
    return strings(values) if dtype is dtypes.string else decoded([values], dtype, fail)[0]


def _octets(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8).astype(np.int64)


def decoded(found: list[Any], dtype: DType, fail: Fail) -> tuple[Any, Any]:
    if dtype is dtypes.string:
        flat = strings([each for values in found for each in values])
        return flat, np.fromiter(map(len, found), np.int64, len(found))
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    data = found[0] if len(found) == 1 else b"".join(found)
    if dtype is dtypes.float32:
        if np.any(sizes % 4):
            fail(int(np.flatnonzero(sizes % 4)[0]), UNREADABLE)
        return np.frombuffer(data, "<f4"), sizes // 4
    return _varints(data, sizes, fail)


def _varints(data: bytes, sizes: Any, fail: Fail) -> tuple[Any, Any]:
    """Base-128 numbers, which may be any number of bytes long, and how many there are in each."""
    if data.isascii():  # every number is below 128: a byte for each
        return _octets(data), sizes
    octets = np.frombuffer(data, np.uint8)
    ends = np.cumsum(sizes)
    cut_off = octets[ends - 1] >= 0x80  # an empty one shows the byte before it, too
    if cut_off.any() and (cut_off := cut_off & (sizes > 0)).any():
        fail(int(np.flatnonzero(cut_off)[0]), UNREADABLE)
    last = np.flatnonzero(octets < 0x80)
    one_each = len(last) == len(ends) and bool(sizes.all())
    widths = sizes if one_each else _gaps(last, -1)
    numbers = octets[last].astype(np.int64)
    for back in range(1, int(widths.max())):
        more = octets[last - back] & 0x7F
        numbers = np.where(widths > back, numbers << 7 | more, numbers)
    return numbers, np.ones_like(sizes) if one_each else _gaps(np.searchsorted(last, ends), 0)
