"""The features of a batch of examples that are all written alike, one column for each feature.

Messages of protobuf that follow each other are one message with the fields of all. So a whole batch
is split at once into entries: a key and a feature, still as a string. Writers mostly give every
example the same features, and write them in the shortest form; then the size of an entry tells all
its bytes before the values, and a column takes a few steps of Python for each example.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import PART, limits, long, parts
from weft.core.varint import varint
from weft.ops.kit import native
from weft.ops.kit.string_arrays import strings
from weft.ops.strings.example_wire import (
    BETWEEN,
    BETWEEN_ENTRY,
    MOST_SIZES,
    TAGS,
    Fail,
    decoded,
    field_length,
    list_header,
    usual_texts,
    without_prefixes,
)
from weft.protos.example import ShallowBatch

# An example that no batch has: a single entry, which is no feature.
_BETWEEN_EXAMPLES = bytes([0x0A, len(BETWEEN_ENTRY)]) + BETWEEN_ENTRY
_KEY, _VALUE = b"\x0a", b"\x12"
_KINDS = {dtype: tag[0] >> 3 for dtype, tag in TAGS.items()}


class Columns:
    """The entries of each feature, in the order of the examples."""

    def __init__(self, entries: dict[bytes, list[bytes]]) -> None:
        self._entries = entries

    def values(self, key: str, dtype: DType, fail: Fail) -> tuple[Any, Any] | None:
        """All values of a feature, and how many each example has; None if it takes more to tell."""
        encoded = key.encode()
        entries = self._entries.get(encoded)
        if entries is None:
            return None
        limits.check()
        headers, sizes = _headers(encoded, dtype), list(map(len, entries))
        if dtype is not dtypes.string and sizes.count(sizes[0]) == len(sizes):
            found = _of_one_size(headers[sizes[0]], entries, dtype)
            if found is not None:
                return found
        parts = without_prefixes(entries, list(map(headers.__getitem__, sizes)))
        if parts is None:
            return None
        return usual_texts(parts) if dtype is dtypes.string else decoded(parts, dtype, fail)


def _of_one_size(first: bytes | None, entries: list[bytes], dtype: DType) -> tuple[Any, Any] | None:
    """The numbers of entries that are a table of bytes; None if they may begin otherwise.

    Also if some numbers take more than a byte, of those that may.
    """
    table = np.frombuffer(b"".join(entries), np.uint8).reshape(len(entries), -1)
    start = len(first or b"")
    if first is None or (table[:, :start] != np.frombuffer(first, np.uint8)).any():
        return None
    values = table[:, start:]
    count = values.shape[1]
    if dtype is dtypes.float32:
        if count % 4:
            return None
        count //= 4
        flat = np.frombuffer(values.tobytes(), "<f4")
    else:
        if (values >= 0x80).any():
            return None
        flat = values.astype(np.int64).ravel()
    return flat, np.full(len(entries), count, np.int64)


def read_columns(
    serialized: list[bytes], wanted: Sequence[tuple[str, DType]]
) -> dict[str, tuple[Any, Any]]:
    """All values of each feature, and how many each example has; none if it takes more to tell."""
    read, types = native.function("read_columns"), dict(wanted)
    is_clear = len(types) == len(set(wanted))  # no feature is wanted as two types
    if read is None or not is_clear or not 0 < len(serialized) <= PART:
        return {}
    keys, kinds = [key.encode() for key in types], bytes(_KINDS[each] for each in types.values())
    found = read(serialized, keys, kinds) or []
    return {
        key: (_values(values, dtype), np.frombuffer(counts, np.int64))
        for (key, dtype), (values, counts) in zip(types.items(), found, strict=False)
    }


def _values(values: Any, dtype: DType) -> np.ndarray:
    return strings(values) if dtype is dtypes.string else np.frombuffer(values, dtype.np_storage)


def columns(serialized: Sequence[bytes]) -> Columns | None:
    """The features of a batch, if all examples have the same, each of them once."""
    entries, count = _entries(serialized), len(serialized)
    width = len(entries) // max(count, 1)
    if (
        width < 2
        or len(entries) != width * count
        or entries[width - 1 :: width] != [BETWEEN] * count
    ):
        return None
    if _keys(entries[: width - 1]) != _keys(entries[-width:-1]):
        entries = _in_one_order(entries, width)
    keys = _keys(entries[: width - 1])
    if len(set(keys)) < len(keys):
        return None
    return Columns({key: entries[i::width] for i, key in enumerate(keys)})


def _entries(serialized: Sequence[bytes]) -> list[bytes]:
    """The entries of all examples, with BETWEEN behind those of each; none if one is unreadable."""
    found: list[bytes] = []
    for part in parts(len(serialized)):
        joined = _BETWEEN_EXAMPLES.join([*serialized[part], b""])
        try:
            found += ShallowBatch.FromString(joined).features.feature
        except DecodeError:
            return []
    return found


def _in_one_order(entries: list[bytes], width: int) -> list[bytes]:
    """Those of each example sorted: they begin with the length of the key, and the key."""
    rows = (entries[i : i + width - 1] for i in long(range(0, len(entries), width)))
    return [entry for row in rows for entry in (*sorted(row), BETWEEN)]


def _keys(entries: list[bytes]) -> list[bytes]:
    """The keys of entries that begin with them, and whatever of others."""
    return [entry[2 : 2 + entry[1]] if len(entry) > 1 else b"" for entry in entries]


# ---- the bytes before the values -----------------------------------------------------------------


class _Headers(dict[int, bytes | None]):
    """The first bytes of entries of one key and type, by the size of the entry.

    That is up to the numbers; of strings, up to the feature that has them.
    """

    def __init__(self, key: bytes, dtype: DType) -> None:
        super().__init__()
        self._start = _KEY + varint(len(key)) + key + _VALUE
        self._tag = b"" if dtype is dtypes.string else TAGS[dtype]

    def __missing__(self, size: int) -> bytes | None:
        made = self._made(size)
        if len(self) < MOST_SIZES:
            self[size] = made
        return made

    def _made(self, size: int) -> bytes | None:
        field = size - len(self._start) + len(_VALUE)
        length = field_length(field)
        if length is None:
            return None
        inside = list_header(field - len(_VALUE) - len(length)) if self._tag else b""
        return None if inside is None else self._start + length + self._tag + inside


@lru_cache(maxsize=256)
def _headers(key: bytes, dtype: DType) -> _Headers:
    return _Headers(key, dtype)
