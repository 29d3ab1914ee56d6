"""Strings into numbers and numbers into strings."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import long
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import deprecated_alias, invalid
from weft.ops.kit.string_arrays import in_parts, scalar, strings
from weft.ops.strings.decimals import decimals
from weft.ops.strings.fixed_point import fixed_point

_INTEGER = re.compile(rb"\s*-?\d+\s*")
_HEXADECIMAL = re.compile(rb"\s*([+-]?)0x([0-9a-f]+)\s*", re.IGNORECASE)
_INFINITY = b"infinity"  # which Python reads; TensorFlow knows "inf"
_MOST_DIGITS = 18  # of a number that surely has 64 bits
_TYPE_NAMES = {"float32": "float", "float64": "double"}


def type_name(dtype: DType) -> str:
    return _TYPE_NAMES.get(dtype.name, dtype.name)


def _integer(text: bytes, dtype: DType) -> Any:
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if dtype.min <= value <= dtype.max else None


def _real(text: bytes) -> Any:
    if found := _HEXADECIMAL.fullmatch(text):
        return float(int(found[1] + found[2], 16))
    if b"_" in text or _INFINITY in text.lower():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def number(text: bytes, dtype: DType) -> Any:
    """The number that `text` writes, or None."""
    return _integer(text, dtype) if dtype.is_integer else _real(text)


def numbers(array: np.ndarray, dtype: DType) -> tuple[Any, int]:
    """The numbers that strings write, and -1; or None, and which of the strings is none."""
    found = decimals(array) if dtype.is_floating else None
    wide, wrong = _each(array, dtype) if found is None else _with_others(array, dtype, *found)
    if wrong >= 0:
        return None, wrong
    with np.errstate(over="ignore"):
        return wide.astype(dtype.np_storage, copy=False), -1


def _with_others(
    array: np.ndarray, dtype: DType, values: np.ndarray, are_other: np.ndarray
) -> tuple[Any, int]:
    """As `_each`, where the numbers of all but some strings are known."""
    places = np.flatnonzero(are_other)
    others, wrong = _each(array[places], dtype)
    if wrong >= 0:
        return None, int(places[wrong])
    values[places] = others
    return values, -1


def _each(array: np.ndarray, dtype: DType) -> tuple[Any, int]:
    """As `numbers`, in 64 bits."""
    texts = array.tolist()
    values = _plain(texts, dtype, array)
    if values is None:
        values = [number(each, dtype) for each in long(texts)]
        for i, value in enumerate(values):
            if value is None:
                return None, i
    return np.asarray(values, np.float64 if dtype.is_floating else np.int64), -1


def _digits(texts: Sequence[bytes]) -> np.ndarray | None:
    """The integers of strings of few digits and nothing else, read as one text."""
    joined = b",".join(texts)
    if joined.translate(None, b"0123456789") != b"," * (len(texts) - 1):
        return None
    if not texts or not all(texts) or max(map(len, texts)) > _MOST_DIGITS:
        return None
    return np.fromstring(joined.decode(), np.int64, sep=",")


def _plain(texts: Sequence[bytes], dtype: DType, array: np.ndarray) -> Any:
    """As Python reads them, where it agrees with TensorFlow about all of them."""
    if dtype.is_integer and (digits := _digits(texts)) is not None:
        return digits if not len(digits) or digits.max() <= dtype.max else None
    joined = b"".join(texts)
    if b"_" in joined or _INFINITY in joined.lower() or (dtype.is_integer and b"+" in joined):
        return None
    try:
        if dtype.is_floating:  # NumPy asks Python for each
            return array.astype(np.float64)
        values = list(map(int, long(texts)))
    except ValueError:
        return None
    within = not values or (dtype.min <= min(values) and max(values) <= dtype.max)
    return values if within else None


@op(
    "StringToNumber",
    inputs="string_tensor: string",
    outputs="output: out_type",
    attrs="out_type: {float, double, int32, int64} = float",
    shape=s.unchanged,
    traits=HOST | NO_GRADIENT,
)
def string_to_number_(xp: Any, string_tensor: Any, *, out_type: DType) -> Any:
    return in_parts(lambda texts: _read(texts, out_type), string_tensor)


def _read(array: np.ndarray, dtype: DType) -> Any:
    values, wrong = numbers(array, dtype)
    if wrong >= 0:
        text = array[wrong].decode(errors="replace")
        raise invalid(f"StringToNumberOp could not correctly convert string: {text}")
    return values


def string_to_number(
    string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None,
    input: Any = None,
) -> Tensor:  # fmt: skip
    """Each string as the number it writes."""
    given = deprecated_alias("input", input, "string_tensor", string_tensor)
    return raw.StringToNumber(given, out_type=out_type, name=name)


# ---- numbers into strings ------------------------------------------------------------------------


def _format(dtype: DType, precision: int, letter: str, width: int, fill: str) -> str:
    """The C format for one number."""
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if fill and fill not in " +-0#":
        raise invalid(f'Fill argument not supported: "{fill}"')
    return (
        f"%{fill}{width if width > -1 else ''}{f'.{precision}' if precision > -1 else ''}{letter}"
    )


@op(
    "AsString",
    inputs="input: T",
    outputs="output: string",
    attrs="T: {int8, int16, int32, int64, complex64, complex128, float, double, bool},"
    " precision: int = -1, scientific: bool = false, shortest: bool = false, width: int = -1,"
    ' fill: string = ""',
    shape=s.unchanged,
    traits=HOST | NO_GRADIENT,
)
def as_string_(
    xp: Any, input: Any, *, T: DType, precision: int, scientific: bool, shortest: bool, width: int,
    fill: str,
) -> Any:  # fmt: skip
    if T.is_integer or T == dtypes.bool:
        for given, what in ((scientific or shortest, "scientific and shortest format"),
                            (precision >= 0, "precision")):  # fmt: skip
            if given:
                raise invalid(f"{what} not supported for datatype {type_name(T)}")
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    letter = "d" if T.is_integer else "g" if shortest else "e" if scientific else "f"
    form = _format(T, precision, letter, width, fill)
    return in_parts(lambda part: _written(part, T, form), input)


def _written(numbers: np.ndarray, dtype: DType, form: str) -> np.ndarray:
    """Each of a vector by the format."""
    if dtype == dtypes.float32 and (plain := fixed_point(numbers, form)) is not None:
        return plain
    values = numbers.tolist()
    if not values:
        return np.empty(0, object)
    if form.startswith("%0") and not np.isfinite(numbers).all():
        return strings([_padded(value, form) for value in values])
    if dtype == dtypes.bool:
        texts = [b"true" if value else b"false" for value in values]
    elif dtype.is_complex:
        texts = [f"({form % v.real},{form % v.imag})".encode() for v in values]
    else:  # all by one format: that takes half the time of one for each
        texts = ("\n".join([form] * len(values)) % tuple(values)).encode().split(b"\n")
    return strings(texts)


def _padded(value: float | complex, form: str) -> bytes:
    """By a format that fills with zeros: C puts blanks before what is no number."""
    if isinstance(value, complex):
        return b"(%b,%b)" % (_padded(value.real, form), _padded(value.imag, form))
    blank = form if math.isfinite(value) else form.replace("%0", "%", 1)
    return (blank % value).encode()


@as_string_.prepared
def _(c: Any) -> Any:
    dtype, width, fill = c.attr("T"), c.attr("width"), c.attr("fill")
    odd = c.attr("precision") >= 0 or c.attr("scientific") or c.attr("shortest") or len(fill) > 1
    if c.dims(0) != () or not dtype.is_integer or odd or fill not in " +-0#":
        return None
    form = _format(dtype, -1, "d", width, fill)
    return lambda value: scalar((form % int(value)).encode())


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Each number as a string."""
    return raw.AsString(
        input, precision=precision, scientific=scientific, shortest=shortest, width=width,
        fill=fill, name=name,
    )  # fmt: skip
