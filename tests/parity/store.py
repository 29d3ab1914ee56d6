"""Where recorded TensorFlow results are kept: per family a JSON index and one packed array.

An array is `[dtype, shape, offset]` in the index, its bytes lie in the `.npz` beside it. Packing
them keeps thousands of tiny arrays in a few hundred kilobytes. NumPy only: both libraries use it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.sample import DTYPES, SHAPE_MODES

DATA = Path(__file__).parent / "data"

Dims = tuple[int | None, ...] | None
# Quantized values are kept as the plain integers that hold them.
STORAGE = DTYPES | {
    "qint8": np.dtype(np.int8),
    "quint8": np.dtype(np.uint8),
    "qint16": np.dtype(np.int16),
    "quint16": np.dtype(np.uint16),
    "qint32": np.dtype(np.int32),
}


@dataclass
class Value:
    """An array with the name of its TensorFlow dtype."""

    dtype: str
    array: np.ndarray


@dataclass
class Record:
    """What TensorFlow made of one sample.

    `missing` says why TensorFlow could not be asked at all. `build_error` is the error class raised
    while building with known shapes, `error` the one raised by the kernel. `shapes` has the static
    output shapes by shape mode (None where building failed). `grads` and `grads2` (the gradient
    of the gradients) hold one entry per inexact flat input: a value or None.
    """

    id: str
    missing: str | None = None
    build_error: str | None = None
    error: str | None = None
    message: str | None = None
    outputs: list[Value] | None = None
    state: list[Value | None] | None = None
    shapes: dict[str, list[Dims] | None] = field(default_factory=dict)
    grads: list[Value | None] | None = None
    grads2: list[Value | None] | None = None
    grad_error: str | None = None


_ARRAYS = ("outputs", "state", "grads", "grads2")
_TEXTS = ("missing", "build_error", "error", "message", "grad_error")


def load(family: str) -> dict[str, Record]:
    """The records of a family by sample key; empty when nothing was recorded."""
    index = DATA / f"{family}.json"
    if not index.exists():
        return {}
    with np.load(DATA / f"{family}.npz") as packed:
        data = packed["data"].tobytes()
    return {key: _decode(entry, data) for key, entry in json.loads(index.read_text()).items()}


def save(family: str, records: dict[str, Record]) -> None:
    data = bytearray()
    lines = [
        f"{json.dumps(key)}: {json.dumps(_encode(record, data), separators=(',', ':'))}"
        for key, record in records.items()
    ]
    DATA.mkdir(exist_ok=True)
    (DATA / f"{family}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    np.savez_compressed(DATA / f"{family}.npz", data=np.frombuffer(bytes(data), np.uint8))


def _encode(record: Record, data: bytearray) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": record.id}
    entry |= {name: text for name in _TEXTS if (text := getattr(record, name)) is not None}
    for name in _ARRAYS:
        values = getattr(record, name)
        if values is not None:
            entry[name] = [None if v is None else pack(v, data) for v in values]
    if record.shapes:
        entry["shapes"] = [show_shapes(record.shapes[mode]) for mode in SHAPE_MODES]
    return entry


def _decode(entry: dict[str, Any], data: bytes) -> Record:
    record = Record(**{name: entry[name] for name in ("id", *_TEXTS) if name in entry})
    for name in _ARRAYS:
        if name in entry:
            values = [None if v is None else unpack(*v, data) for v in entry[name]]
            setattr(record, name, values)
    shapes = map(parse_shapes, entry.get("shapes", ()))
    record.shapes = dict(zip(SHAPE_MODES, shapes, strict=False))
    return record


def pack(value: Value, data: bytearray) -> list[Any]:
    offset = len(data)
    if value.dtype == "string":
        items = [bytes(item) for item in value.array.ravel()]
        data += np.array([len(item) for item in items], np.int32).tobytes() + b"".join(items)
    else:
        array = value.array.astype(STORAGE[value.dtype])
        data += array.tobytes()
    return [value.dtype, list(value.array.shape), offset]


def unpack(dtype: str, shape: list[int], offset: int, data: bytes) -> Value:
    count = int(np.prod(shape, dtype=np.int64))
    if dtype != "string":
        array = np.frombuffer(data, STORAGE[dtype], count, offset)
        return Value(dtype, array.reshape(shape))
    array = np.empty(count, object)
    position = offset + 4 * count
    for i, length in enumerate(np.frombuffer(data, np.int32, count, offset)):
        array[i] = data[position : position + length]
        position += length
    return Value(dtype, array.reshape(shape))


def show_shapes(shapes: list[Dims] | None) -> str | None:
    """`[2,?] * []`: one word per output, `*` for unknown rank."""
    if shapes is None:
        return None
    return " ".join(
        "*" if dims is None else "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"
        for dims in shapes
    )


def parse_shapes(text: str | None) -> list[Dims] | None:
    if text is None:
        return None

    def dims(word: str) -> Dims:
        if word == "*":
            return None
        return tuple(None if d == "?" else int(d) for d in word[1:-1].split(",") if d)

    return [dims(word) for word in text.split()]
