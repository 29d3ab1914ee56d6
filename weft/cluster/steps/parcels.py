"""Tensors with their keys, as weft's own processes send them to each other in every step.

A parcel is a number, a label and the tensors' bytes. The label says all that is the same from step
to step: where the parcel goes, the keys, types and shapes. Both ends keep the labels they see,
so a step looks them up instead of writing and reading them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weft.cluster.transport import wire
from weft.cluster.transport.wire import Chunk
from weft.core import dtypes
from weft.runtime.frames import DEAD

_FRONT = struct.Struct("<QI")  # the number, the length of the label
_ALIGNMENT = 64  # XLA uses memory in place that is aligned so
_DEAD, _PROTO = 0, -1  # in place of a data type: nothing, and a TensorProto
_MOST_LABELS, _LONGEST_KEPT = 2048, 1 << 16


class Parcel(NamedTuple):
    """Tensors that arrived together. `route` is as it was sent, as strings and lists of them."""

    number: int
    route: Any
    keys: list[str]
    values: list[Any]


@dataclass(frozen=True)
class _Layout:
    """The places of a parcel's tensors: (type, shape, where it starts, where it ends) each."""

    route: Any
    keys: list[str]
    places: list[tuple[Any, tuple[int, ...], int, int]]


_labels: dict[Hashable, tuple[bytes, list[bytes]]] = {}
_layouts: dict[bytes, _Layout] = {}


# ---- out --------------------------------------------------------------------------------------


def pack(number: int, route: Hashable, keys: Sequence[str], values: Sequence[Any]) -> list[Chunk]:
    """A parcel, in pieces to be joined: large arrays as the memory that they are in."""
    contents = [_content(value) for value in values]
    known = route, tuple(keys), tuple([(kind, shape, len(data)) for kind, shape, data in contents])
    found = _labels.get(known)
    if found is None:
        found = _keep(_labels, known, _written(*known))
    label, paddings = found
    chunks: list[Chunk] = [_FRONT.pack(number, len(label)), label]
    for padding, (_, _, data) in zip(paddings, contents, strict=True):
        chunks += (padding, data)
    return chunks


def _content(value: Any) -> tuple[Any, tuple[int, ...], Chunk]:
    """(data type, shape, bytes)."""
    if value is DEAD:
        return _DEAD, (), b""
    array = value if type(value) is np.ndarray else np.asarray(value)
    if array.dtype == object:
        return _PROTO, array.shape, b"".join(wire.tensor_chunks(array))
    if not array.size:
        return array.dtype, array.shape, b""
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return array.dtype, array.shape, array.reshape(-1).view(np.uint8).data


def _written(route: Any, keys: Sequence[str], contents: Sequence[Any]) -> tuple[bytes, list[bytes]]:
    """The label, and what goes before each tensor so that it is aligned."""
    places = [(_number(kind), shape, size) for kind, shape, size in contents]
    label = json.dumps([route, keys, places], separators=(",", ":")).encode()
    paddings, at = [], _FRONT.size + len(label)
    for _, _, size in contents:
        start = _aligned(at)
        paddings.append(bytes(start - at))
        at = start + size
    return label, paddings


def _number(kind: Any) -> int:
    if isinstance(kind, int):
        return kind
    number: int = dtypes.as_dtype(kind).as_datatype_enum
    return number


def _aligned(at: int) -> int:
    return -(-at // _ALIGNMENT) * _ALIGNMENT


def _keep(table: dict[Any, Any], key: Any, made: Any) -> Any:
    if len(table) >= _MOST_LABELS:
        table.clear()
    table[key] = made
    return made


# ---- in ---------------------------------------------------------------------------------------


def unpack(data: Chunk) -> Parcel:
    """The parcel; its arrays share memory with `data`."""
    try:
        number, length = _FRONT.unpack_from(data)
        view = memoryview(data)
        label = bytes(view[_FRONT.size : _FRONT.size + length])
        layout = _layouts.get(label)
        if layout is None:
            layout = _read(label)
            if length <= _LONGEST_KEPT:
                _keep(_layouts, label, layout)
        values = [_value(view, *place) for place in layout.places]
    except (struct.error, ValueError, TypeError, KeyError, RecursionError) as error:
        raise wire.Malformed(None, None, f"Cannot read a parcel: {error}") from None
    return Parcel(number, layout.route, layout.keys, values)


def _read(label: bytes) -> _Layout:
    route, keys, contents = json.loads(label)
    places, at = [], _FRONT.size + len(label)
    for kind, shape, size in contents:
        start = _aligned(at)
        at = start + size
        known = kind in (_DEAD, _PROTO)
        places.append((kind if known else _storage(kind, shape, size), tuple(shape), start, at))
    if len(keys) != len(places) or not all(isinstance(key, str) for key in keys):
        raise ValueError("its keys are not those of its tensors")
    return _Layout(route, keys, places)


def _storage(kind: int, shape: Sequence[int], size: int) -> np.dtype:
    dtype = np.dtype(dtypes.as_dtype(kind).np_storage)
    if dtype.hasobject or min(shape, default=0) < 0 or size != _bytes(dtype, shape):
        raise ValueError("a tensor is not of the size that it should have")
    return dtype


def _bytes(dtype: np.dtype, shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count * dtype.itemsize


def _value(view: memoryview, kind: Any, shape: tuple[int, ...], start: int, end: int) -> Any:
    if type(kind) is int:  # to compare a NumPy type with a number takes long
        return DEAD if kind == _DEAD else wire.read_tensor(view[start:end])
    if start == end:
        return np.zeros(shape, kind)
    return np.ndarray(shape, kind, view, start)
