"""The position of an iterator, as bytes: plain values and arrays, in JSON."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from weft.core.errors import UnimplementedError
from weft.ops.dataset.objects import Dataset


def encode(state: Any) -> bytes:
    return json.dumps(_plain(state), separators=(",", ":")).encode()


def decode(data: bytes) -> Any:
    return _restored(json.loads(data))


def _plain(value: Any) -> Any:
    """`value` as JSON has it: what JSON does not know is a list that begins with its kind."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return ["bytes", base64.b64encode(value).decode()]
    if isinstance(value, (list, tuple, range)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return [kind, *map(_plain, value)]
    if isinstance(value, dict):
        return ["dict", *([_plain(key), _plain(each)] for key, each in value.items())]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain_array(np.asarray(value), isinstance(value, np.generic))
    kind = "dataset" if isinstance(value, Dataset) else type(value).__name__
    raise UnimplementedError(None, None, f"An iterator that holds a {kind} cannot be saved.")


def _plain_array(array: np.ndarray, scalar: bool) -> Any:
    if array.dtype == object:
        return ["objects", list(array.shape), *map(_plain, array.ravel().tolist())]
    content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return ["scalar" if scalar else "array", array.dtype.name, list(array.shape), content]


def _restored(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    kind, *rest = value
    if kind == "bytes":
        return base64.b64decode(rest[0])
    if kind == "dict":
        return {_restored(key): _restored(each) for key, each in rest}
    if kind == "objects":
        found = np.empty(len(rest) - 1, object)
        for i, each in enumerate(rest[1:]):
            found[i] = _restored(each)
        return found.reshape(rest[0])
    if kind in ("array", "scalar"):
        return _array(kind, *rest)
    items = [_restored(each) for each in rest]
    return tuple(items) if kind == "tuple" else items


def _array(kind: str, name: str, shape: list[int], content: str) -> Any:
    from weft.core.dtypes import as_dtype

    flat = np.frombuffer(base64.b64decode(content), as_dtype(name).np_storage)
    found = flat.reshape(shape).copy()
    return found[()] if kind == "scalar" else found
