"""Answers as JSON, laid out and with numbers written as TensorFlow Serving does."""

from __future__ import annotations

import base64
import itertools
import json
from array import array as packed
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.serve.errors import invalid
from weft.serve.tensors import type_name

_INDENT = 4
_MOST_SHOWN = 256  # characters of a value that a complaint repeats
_INTEGERS = ("int32", "int16", "int8", "uint8", "int64", "uint32", "uint64")
_DIGITS = {"float32": ("f", "%.9g"), "float64": ("d", "%.17g")}  # the letter, and all digits
FLOATS = frozenset(_DIGITS)


# ---- values in complaints -----------------------------------------------------------------------


def kind_of(value: Any) -> str:
    """What a value of JSON is, in a word."""
    if value is None:
        return "Null"
    if isinstance(value, bool):
        return str(value)
    kinds: tuple[tuple[type, str], ...] = ((dict, "Object"), (list, "Array"), (str, "String"))
    return next((word for kind, word in kinds if isinstance(value, kind)), "Number")


def described(value: Any) -> str:
    """A value of JSON as text, cut where it gets long."""
    made: list[str] = []
    _describe(value, 0, made)
    return "".join(made)


def _describe(value: Any, depth: int, made: list[str]) -> None:
    """Writes until there is enough; a value may be nested deeper, and be larger, than is shown."""
    if sum(map(len, made)) >= _MOST_SHOWN:
        return
    if isinstance(value, dict) and value:
        made.append("{")
        for number, (key, each) in enumerate(value.items()):
            lead = ("," if number else "") + "\n" + " " * _INDENT * (depth + 1)
            made.append(f"{lead}{_quoted(key[:_MOST_SHOWN])}: ")
            _describe(each, depth + 1, made)
            if sum(map(len, made)) >= _MOST_SHOWN:
                return
        made.append("\n" + " " * _INDENT * depth + "}")
    elif isinstance(value, list) and value:
        made.append("[")
        for number, each in enumerate(value):
            made.append(", " if number else "")
            _describe(each, depth + 1, made)
            if sum(map(len, made)) >= _MOST_SHOWN:
                return
        made.append("]")
    elif isinstance(value, str):
        made.append(_quoted(value[:_MOST_SHOWN]))
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 64:
        made.append(repr(float(value)) if abs(value) < 1 << 1000 else "a large number")
    else:
        made.append(json.dumps(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# ---- numbers and strings ------------------------------------------------------------------------


def tokens(array: np.ndarray, dtype: DType, as_bytes: bool) -> list[str]:
    """Each element as text. InvalidArgumentError for types that JSON has no words for."""
    flat = array.reshape(-1)
    if dtype.name in _DIGITS:
        return _decimals(flat, dtype)
    if dtype.name in _INTEGERS:
        return list(map(str, flat.tolist()))
    if dtype is dtypes.bool:
        return ["true" if each else "false" for each in flat.tolist()]
    if dtype is dtypes.string:
        return [_string(each, as_bytes) for each in flat.tolist()]
    raise invalid(f"Failed to write JSON value for tensor type: {type_name(dtype)}")


def _string(value: bytes, as_bytes: bool) -> str:
    if as_bytes:
        coded = base64.b64encode(value).decode("ascii")
        return f'{{\n    "b64": "{coded}"\n}}'
    return _quoted(value.decode("utf-8", "surrogateescape"))


def _decimals(flat: np.ndarray, dtype: DType) -> list[str]:
    """Six digits where they say it all, else as many as it takes."""
    exact = flat.tolist()
    made = [*map("%.6g".__mod__, exact)]
    code, long = _DIGITS[dtype.name]
    for i, again in enumerate(packed(code, map(float, made))):
        text = made[i] if again == exact[i] else long % exact[i]
        if "." not in text and "e" not in text:
            text = _SPECIAL.get(text) or f"{text}.0"
        made[i] = text
    return made


_SPECIAL = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


# ---- layout -------------------------------------------------------------------------------------


def _line(texts: Sequence[str], shape: Sequence[int]) -> str:
    """Nested lists on one line."""
    if not shape:
        return texts[0]
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // shape[0] if shape[0] else 0
    parts = [_line(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
    return f"[{', '.join(parts)}]"


def _lines(texts: Sequence[str], shape: Sequence[int], depth: int) -> str:
    """Nested lists with a line for each element."""
    if not shape:
        return texts[0].replace("\n", "\n" + " " * _INDENT * depth)
    if not shape[0]:
        return "[]"
    step, lead = len(texts) // shape[0], "\n" + " " * _INDENT * (depth + 1)
    parts = [
        lead + _lines(texts[i * step : (i + 1) * step], shape[1:], depth + 1)
        for i in range(shape[0])
    ]
    return f"[{','.join(parts)}\n{' ' * _INDENT * depth}]"


Answer = Sequence[tuple[str, np.ndarray, DType]]


def _texts(answer: Answer) -> list[tuple[str, np.ndarray, list[str]]]:
    return [
        (name, value, tokens(value, dtype, name.endswith("_bytes")))
        for name, value, dtype in answer
    ]


def rows(answer: Answer) -> str:
    """The outputs of a Predict, a row for each instance."""
    batch = _batch_size(answer)
    lists = [*itertools.starmap(_row_texts, answer)]
    if len(lists) == 1:
        inside = ", ".join(lists[0])
    else:
        names = [_quoted(name) for name, _, _ in answer]
        inside = ",".join(
            "\n        {"
            + ",".join(f"\n            {n}: {row}" for n, row in zip(names, each, strict=True))
            + "\n        }"
            for each in zip(*lists, strict=True)
        )
    end = "\n    ]" if batch else "]"
    return f'{{\n    "predictions": [{inside}{end}\n}}'


def matrix(value: np.ndarray, dtype: DType) -> str:
    """As `rows`, of one output that is rows of floats."""
    texts, size = _decimals(value.reshape(-1), dtype), value.shape[1]
    lines = [f"[{', '.join(texts[i : i + size])}]" for i in range(0, len(texts), size)]
    return f'{{\n    "predictions": [{", ".join(lines)}\n    ]\n}}'


def _batch_size(answer: Answer) -> int:
    """How many rows all outputs have."""
    batch = -1
    for name, value, _ in answer:
        if not value.ndim:
            raise invalid(f"Tensor name: {name} has no shape information ")
        if batch not in (-1, len(value)):
            raise invalid(
                f"Tensor name: {name} has inconsistent batch size: {len(value)} expecting: {batch}"
            )
        batch = len(value)
    return batch


def _row_texts(name: str, value: np.ndarray, dtype: DType) -> list[str]:
    """Each row of an output on one line."""
    texts, inner = tokens(value, dtype, name.endswith("_bytes")), value.shape[1:]
    if not inner or not texts:
        return texts or [_line((), inner)] * len(value)
    size = len(texts) // len(value)
    return [_line(texts[i : i + size], inner) for i in range(0, len(texts), size)]


def columns(answer: Answer) -> str:
    """The outputs of a Predict, whole."""
    made = _texts(answer)
    if len(made) == 1:
        _, value, texts = made[0]
        inside = _lines(texts, value.shape, 1)
    else:
        inside = (
            "{"
            + ",".join(
                f"\n        {_quoted(name)}: {_lines(texts, value.shape, 2)}"
                for name, value, texts in made
            )
            + "\n    }"
        )
    return f'{{\n    "outputs": {inside}\n}}'


def classes(found: Sequence[Sequence[tuple[bytes, float]]]) -> str:
    """The results of a Classify: pairs of label and score."""
    if not found:
        raise invalid("Cannot convert empty ClassificationResults to JSON")
    parts = []
    for row in found:
        scores = tokens(np.array([score for _, score in row], np.float32), dtypes.float32, False)
        pairs = [
            f"[{_string(label, False)}, {score}]"
            for (label, _), score in zip(row, scores, strict=True)
        ]
        parts.append(f"[{', '.join(pairs)}]")
    return f'{{\n    "results": [{", ".join(parts)}\n    ]\n}}'


def numbers(found: np.ndarray) -> str:
    """The results of a Regress."""
    if not len(found):
        raise invalid("Cannot convert empty RegressionResults to JSON")
    return f'{{\n    "results": [{", ".join(tokens(found, dtypes.float32, False))}]\n}}'


def error(text: str) -> str:
    return json.dumps({"error": text}, indent=_INDENT, ensure_ascii=False)
