"""Requests as JSON: rows or columns of values become arrays, objects become tf.Examples.

What is refused, and with which words, is TensorFlow Serving's; a value counts as an integer only
if it is written as one.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import math
from array import array as packed
from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.protos.example import Example
from weft.serve.errors import invalid
from weft.serve.json_text import described, kind_of
from weft.serve.signatures import Slot
from weft.serve.tensors import type_name

_LARGEST_UNSIGNED = (1 << 64) - 1
_INT32 = -(1 << 31), (1 << 31) - 1
# The values a type takes, as JSON says them.
_RANGES = {
    **{name: _INT32 for name in ("int32", "int16", "int8", "uint8")},
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, _LARGEST_UNSIGNED),
}
_FLOATS = {"float32": "f", "float64": "d"}  # as `array` calls them
_FLOAT = {float}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of several members with one name, the first counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        found = {}
        for name, value in pairs:
            found.setdefault(name, value)
    return found


# Python's words for what is wrong with a text -> those of the parser in TensorFlow Serving.
_COMPLAINTS = {
    "Expecting value": "Invalid value.",
    "Expecting ',' delimiter": "Missing a comma or } after an object member.",
    "Expecting ':' delimiter": "Missing a colon after a name of object member.",
    "Expecting property name enclosed in double quotes": "Missing a name for object member.",
    "Unterminated string starting at": "Missing a closing quotation mark in string.",
    "Invalid \\escape": "Invalid escape character in string.",
    "Invalid \\uXXXX escape": "Incorrect hex digit after \\u escape in string.",
    "Invalid control character at": "Invalid encoding in string.",
}


def parse(body: bytes) -> dict[str, Any]:
    """The object that the text begins with."""
    if not body:
        raise invalid("JSON Parse error: The document is empty")
    try:
        text = body.removeprefix(codecs.BOM_UTF8).decode().lstrip(" \t\r\n")
        found, _ = _scan(text, 0)
        if "\\u" in text:  # escapes can make halves of characters, which nothing can be done with
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid(
            f"JSON Parse error: Invalid encoding in string. at offset: {error.start}"
        ) from None
    except UnicodeEncodeError:
        raise invalid("JSON Parse error: The surrogate pair in string is invalid.") from None
    except StopIteration as error:
        raise _parse_error(json.JSONDecodeError("Expecting value", text, error.value)) from None
    except json.JSONDecodeError as error:
        raise _parse_error(error) from None
    except RecursionError:
        raise invalid("JSON Parse error: The document is nested too deeply") from None
    except ValueError as error:  # numbers of more digits than Python reads
        raise invalid(f"JSON Parse error: {error}") from None
    if not isinstance(found, dict):
        raise invalid(f"JSON Value: {described(found)} Is not object")
    return found


_scan: Any = json.JSONDecoder(object_pairs_hook=_object).scan_once  # type: ignore[attr-defined]


def _parse_error(error: json.JSONDecodeError) -> errors.OpError:
    return invalid(f"JSON Parse error: {_complaint(error)} at offset: {error.pos}")


def _complaint(error: json.JSONDecodeError) -> str:
    if error.msg == "Expecting ',' delimiter" and _is_in_array(error.doc[: error.pos]):
        return "Missing a comma or ] after an array element."
    if not error.doc[error.pos :].strip() and error.pos == 0:
        return "The document is empty."
    return next((ours for theirs, ours in _COMPLAINTS.items() if error.msg.startswith(theirs)),
                "Invalid value.")  # fmt: skip


def _is_in_array(text: str) -> bool:
    depth = {"[": 0, "{": 0}
    for character in reversed(text):
        if character in "]}":
            depth["[" if character == "]" else "{"] += 1
        elif character in "[{":
            if not depth[character]:
                return character == "["
            depth[character] -= 1
    return False


def signature_of(document: dict[str, Any]) -> str:
    """The signature that a request names, or ""."""
    name = document.get("signature_name", "")
    if not isinstance(name, str):
        raise invalid(
            f"JSON Value: {described(document)} not formatted correctly. 'signature_name' key must"
            " be a string value."
        )
    return name


# ---- predict ------------------------------------------------------------------------------------


def inputs_of(
    document: dict[str, Any], slots: Mapping[str, Slot]
) -> tuple[dict[str, np.ndarray], bool]:
    """Alias -> array, and whether the request is by rows."""
    has_rows, has_columns = "instances" in document, "inputs" in document
    if has_rows and has_columns:
        raise _malformed(
            document, "Not formatted correctly expecting only one of 'inputs' or 'instances' keys"
            " to exist ",
        )  # fmt: skip
    if has_rows:
        rows = document["instances"]
        if not isinstance(rows, list):
            raise _malformed(document, "Expecting 'instances' to be an list/array")
        if not rows:
            raise _malformed(document, "No values in 'instances' array")
        return _from_rows(rows, slots), True
    if has_columns:
        return _from_columns(document["inputs"], slots), False
    raise invalid("Missing 'inputs' or 'instances' key")


def _malformed(document: Any, text: str) -> errors.OpError:
    return invalid(f"JSON Value: {described(document)} {text}")


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and not _is_base64(value)


def _is_base64(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get("b64"), str)


def _from_rows(rows: list[Any], slots: Mapping[str, Slot]) -> dict[str, np.ndarray]:
    if isinstance(rows[0], dict):
        if not _is_base64(rows[0]):
            return _from_records(rows, slots)
    elif len(slots) > 1:
        raise invalid(
            "instances is a plain list, but expecting list of objects as multiple input tensors"
            " required as per tensorinfo_map"
        )
    slot = next(iter(slots.values()))
    plain = matrix(rows, slot.dtype)
    if plain is not None:
        return {slot.alias: plain}
    for number, row in enumerate(rows):
        if _is_record(row):
            raise invalid(f"Expecting value/list but got object at item {number} of input list")
    column = _Column(slot)
    for number, row in enumerate(rows):
        try:
            column.add(row)
        except errors.OpError as error:
            raise _failed(f"element: {number}", error) from None
    return {slot.alias: column.array()}


def _from_records(rows: list[Any], slots: Mapping[str, Slot]) -> dict[str, np.ndarray]:
    columns = {alias: _Column(slot) for alias, slot in slots.items()}
    for number, row in enumerate(rows):
        if not _is_record(row):
            raise invalid(f"Expecting object but got list at item {number} of input list")
        for name, value in row.items():
            try:
                if name not in columns:
                    raise invalid(f"JSON object: does not have named input: {name}")
                columns[name].add(value)
            except errors.OpError as error:
                raise _failed(f"element: {number} key: {name}", error) from None
        if row.keys() != slots.keys():
            raise invalid(
                f"Failed to process element: {number} of 'instances' list. JSON object:"
                f" {described(row)} keys must be equal to: {','.join(sorted(slots))}"
            )
    return {alias: column.array() for alias, column in columns.items()}


def _failed(where: str, error: errors.OpError) -> errors.OpError:
    kind = "Unimplemented" if error.error_code == errors.UNIMPLEMENTED else "INVALID_ARGUMENT"
    return invalid(f"Failed to process {where} of 'instances' list. Error: {kind}: {error.message}")


class _Column:
    """The values of one input, row by row; all rows are of one shape."""

    def __init__(self, slot: Slot) -> None:
        self._slot, self._values = slot, []  # type: Slot, list[Any]
        self._shape: tuple[int, ...] | None = None
        self._rows = 0

    def add(self, value: Any) -> None:
        before = len(self._values)
        shape = fill(value, self._slot.dtype, self._values)
        if self._shape is None:
            self._shape = shape
        size, expected = len(self._values) - before, math.prod(self._shape)
        if size != expected:
            raise invalid(f"Expecting tensor size: {expected} but got: {size}")
        if shape != self._shape:
            raise invalid(f"Expecting shape {_listed(self._shape)} but got: {_listed(shape)}")
        self._rows += 1

    def array(self) -> np.ndarray:
        return _made(self._values, (self._rows, *(self._shape or ())), self._slot.dtype)


def _listed(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _from_columns(value: Any, slots: Mapping[str, Slot]) -> dict[str, np.ndarray]:
    if not _is_record(value):
        if len(slots) > 1:
            raise invalid(
                "inputs is a plain value/list, but expecting an object as multiple input tensors"
                " required as per tensorinfo_map"
            )
        return {alias: _whole(value, slot.dtype) for alias, slot in slots.items()}
    for alias in slots:
        if alias not in value:
            raise invalid(f"Missing named input: {alias} in 'inputs' object.")
    return {alias: _whole(value[alias], slot.dtype) for alias, slot in slots.items()}


def _whole(value: Any, dtype: DType) -> np.ndarray:
    values: list[Any] = []
    return _made(values, fill(value, dtype, values), dtype)


# ---- values -------------------------------------------------------------------------------------


def fill(value: Any, dtype: DType, values: list[Any]) -> tuple[int, ...]:
    """Adds what is in nested lists to `values`; returns their shape."""
    shape = []
    inner = value
    while isinstance(inner, list):
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]
    _fill(value, 0, tuple(shape), dtype, values)
    return tuple(shape)


def _fill(value: Any, level: int, shape: tuple[int, ...], dtype: DType, values: list[Any]) -> None:
    if not isinstance(value, list):
        if level != len(shape):
            raise invalid(
                f"JSON Value: {described(value)} found at incorrect level: {level + 1} in the JSON"
                f" DOM. Expected at level: {len(shape)}"
            )
        values.append(_element(value, dtype))
        return
    if level >= len(shape):
        raise invalid(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
    if len(value) != shape[level]:
        raise invalid(
            f"Encountered list at unexpected size: {len(value)} at level: {level} expected size:"
            f" {shape[level]}"
        )
    if level == len(shape) - 1 and _are_plain(value, dtype):
        values.extend(value)
        return
    for each in value:
        _fill(each, level + 1, shape, dtype, values)


def _are_plain(values: list[Any], dtype: DType) -> bool:
    """Whether these are numbers that need no second look."""
    return dtype.name in _FLOATS and set(map(type, values)) == _FLOAT


def matrix(rows: list[Any], dtype: DType) -> np.ndarray | None:
    """The array of rows that are nothing but lists of floats, and need no second look."""
    letter = _FLOATS.get(dtype.name)
    if letter is None or type(rows[0]) is not list:
        return None
    values, width = [], len(rows[0])  # type: list[Any], int
    for row in rows:
        if type(row) is not list or len(row) != width:
            return None
        values += row
    if set(map(type, values)) != _FLOAT:
        return None
    return np.ndarray((len(rows), width), dtype.np_storage, packed(letter, values))


def _element(value: Any, dtype: DType) -> Any:
    if dtype is dtypes.string:
        return _string(value, dtype)
    if isinstance(value, (dict, str)) or value is None:
        raise _wrong_type(value, dtype)
    if dtype is dtypes.bool:
        if not isinstance(value, bool):
            raise _wrong_type(value, dtype)
        return value
    if isinstance(value, bool):
        raise _wrong_type(value, dtype)
    if dtype.name in _FLOATS:
        return _float(value)
    if dtype.name not in _RANGES:
        raise errors.UnimplementedError(
            None, None, f"Conversion of JSON Value: {described(value)} to type: {type_name(dtype)}"
        )
    least, most = _RANGES[dtype.name]
    if not isinstance(value, int) or not least <= value <= most:
        raise _wrong_type(value, dtype)
    return value


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _string(value: Any, dtype: DType) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if not isinstance(value, dict):
        raise _wrong_type(value, dtype)
    if not _is_base64(value):
        raise invalid(f"JSON Value: {described(value)} not formatted correctly for base64 data")
    return _decoded(value["b64"])


def _decoded(text: str) -> bytes:
    """Base64 with its padding or without."""
    try:
        data = text.strip().encode("ascii")
        return base64.b64decode(data + b"=" * (-len(data) % 4), validate=True)
    except (ValueError, binascii.Error):
        raise invalid("Unable to base64 decode") from None


def _wrong_type(value: Any, dtype: DType) -> errors.OpError:
    return invalid(
        f"JSON Value: {described(value)} Type: {kind_of(value)} is not of expected type:"
        f" {type_name(dtype)}"
    )


def _made(values: list[Any], shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    if dtype is dtypes.string:
        made = np.empty(len(values), object)
        made[:] = values
        return made.reshape(shape)
    if dtype.name == "float32":  # what is too large is infinite, about which NumPy would warn
        return np.ndarray(shape, dtype.np_storage, packed("f", values))
    if dtype.name in ("int16", "int8", "uint8"):  # what does not fit wraps
        return np.array(values, np.int64).astype(dtype.np_storage).reshape(shape)
    return np.array(values, dtype.np_storage).reshape(shape)


# ---- examples -----------------------------------------------------------------------------------


def examples_of(document: dict[str, Any]) -> np.ndarray:
    """The serialized tf.Examples of a request to classify or regress."""
    context = _example(document["context"]) if "context" in document else b""
    if "examples" not in document:
        raise _malformed(
            document, "When method is classify, key 'examples' is expected and was not found"
        )
    given = document["examples"]
    if not isinstance(given, list):
        raise _malformed(document, "Expecting 'examples' value to be an list/array")
    if not given:
        raise _malformed(document, "'examples' value is an empty array")
    found = np.empty(len(given), object)
    found[:] = [context + _example(each) for each in given]
    return found


def _example(value: Any) -> bytes:
    if not isinstance(value, dict):
        raise invalid(f"Example must be JSON object but got JSON {kind_of(value)}")
    made = Example()
    made.features.SetInParent()
    for name, content in value.items():
        feature = made.features.feature[name]
        for each in content if isinstance(content, list) else [content]:
            _add(feature, name, each)
    return bytes(made.SerializeToString())


def _add(feature: Any, name: str, value: Any) -> None:
    kind, item = _feature_value(name, value)
    known = feature.WhichOneof("kind")
    if known not in (None, kind):
        raise invalid(
            f"Unexpected element type in feature: {name} expecting type:"
            f" {known.removesuffix('_list')}"
        )
    getattr(feature, kind).value.append(item)


def _feature_value(name: str, value: Any) -> tuple[str, Any]:
    """The list of a feature that a value goes to, and how."""
    if isinstance(value, bool):
        return "int64_list", int(value)
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return "int64_list", value
    if isinstance(value, int) and 0 <= value <= _LARGEST_UNSIGNED:
        raise invalid(f"Feature: {name} has uint64_t element. Only int64_t is supported.")
    if isinstance(value, (int, float)):
        with np.errstate(over="ignore"):
            return "float_list", float(np.float32(_float(value)))
    if isinstance(value, str):
        return "bytes_list", value.encode("utf-8")
    if _is_base64(value):
        return "bytes_list", _decoded(value["b64"])
    raise invalid(f"Feature: {name} has element with unexpected JSON type: {kind_of(value)}")
