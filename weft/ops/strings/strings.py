"""tf.strings, element by element: length, case, pieces, and formatting."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.kit.shared import as_array, c_escaped, invalid
from weft.ops.kit.string_arrays import (
    byte_lengths,
    elements,
    flat_parts,
    mapped,
    scalar,
    string,
    strings,
)
from weft.ops.strings.cuts import cut_all

_UNIT = 'unit: {"BYTE", "UTF8_CHAR"} = "BYTE"'
_SPACE = b" \t\n\v\f\r"


@op("StringStrip", inputs="input: string", outputs="output: string", shape=s.unchanged, traits=HOST)
def string_strip_(xp: Any, input: Any) -> Any:
    return mapped(lambda text: text.strip(_SPACE), input)


def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Each string without the white space at its ends."""
    return raw.StringStrip(input, name=name)


def _case_op(name: str, of_bytes: Callable[[bytes], bytes], of_text: Callable[[str], str]) -> OpDef:
    def kernel(xp: Any, input: Any, *, encoding: str) -> Any:
        if encoding not in ("", "utf-8"):
            raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
        if not encoding:
            return mapped(of_bytes, input)
        return mapped(lambda text: of_text(text.decode(errors="replace")).encode(), input)

    return op(
        name, inputs="input: string", outputs="output: string", attrs='encoding: string = ""',
        shape=s.unchanged, traits=HOST,
    )(kernel)  # fmt: skip


_case_op("StringLower", bytes.lower, str.lower)
_case_op("StringUpper", bytes.upper, str.upper)


def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in lower case: its ASCII letters, or with `encoding` "utf-8" all."""
    return raw.StringLower(input, encoding=encoding, name=name)


def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in upper case: its ASCII letters, or with `encoding` "utf-8" all."""
    return raw.StringUpper(input, encoding=encoding, name=name)


# ---- characters ----------------------------------------------------------------------------------


def _starts(text: bytes) -> list[int]:
    """The starts of the UTF-8 characters: every byte that does not continue one."""
    return [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]


@op(
    "StringLength", inputs="input: string", outputs="output: int32", attrs=_UNIT,
    shape=s.unchanged, traits=HOST,
)  # fmt: skip
def string_length_(xp: Any, input: Any, *, unit: str) -> Any:
    if unit == "BYTE" and not np.ndim(input):
        return np.int32(len(string(input)))
    texts = as_array(input)
    if unit == "BYTE":
        return byte_lengths(texts).astype(np.int32)
    lengths = [len(_starts(text)) for text in elements(texts)]
    return np.array(lengths, np.int32).reshape(texts.shape)


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """How many bytes, or characters, each string has."""
    return raw.StringLength(input, unit=unit, name=name)


def _substr_dims(c: ShapeContext) -> Dims:
    _check_pieces(c.dims(1), c.dims(2))
    return s.broadcast_dims(c.dims(0), c.dims(1))


def _check_pieces(pos: Dims, length: Dims) -> None:
    if pos is None or length is None:
        return
    s.with_rank(pos, len(length))
    for ours, theirs in zip(pos, length, strict=True):
        if None not in (ours, theirs) and ours != theirs:
            raise ValueError(f"pos and len shapes must match: {s.show(pos)} vs. {s.show(length)}")


def _in_bytes(text: bytes, pos: int, length: int) -> bytes | None:
    pos = pos + len(text) if pos < 0 else pos
    if not 0 <= pos <= len(text):
        return None
    return text[pos : pos + length] if length >= 0 else text[pos:]


def _all_cut(texts: np.ndarray, pos: int, length: int) -> np.ndarray | None:
    """The same bytes of every string; None if one is too short."""
    found = []
    for part in flat_parts(texts):
        pieces = cut_all(part, pos, length)
        if pieces is None and (pieces := _cut_each(part, pos, length)) is None:
            return None
        found.append(pieces)
    return (found[0] if len(found) == 1 else np.concatenate(found)).reshape(texts.shape)


def _cut_each(texts: np.ndarray, pos: int, length: int) -> np.ndarray | None:
    reach = pos if pos >= 0 else -pos
    if not texts.size or byte_lengths(texts).min() < reach:
        return None
    end = pos + length
    is_rest = length < 0 or (pos < 0 <= end)
    piece = slice(pos, None if is_rest else end)
    return strings(list(map(operator.itemgetter(piece), texts.tolist())))


def _in_characters(text: bytes, pos: int, length: int) -> bytes | None:
    starts = _starts(text)
    if text and starts[:1] != [0]:
        starts.insert(0, 0)  # a text begins with a character, whatever its first byte is
    if pos < 0:
        pos = pos + len(starts) if length >= 0 else -1
    if not 0 <= pos <= len(starts):
        return None
    starts.append(len(text))
    return text[starts[pos] : starts[min(pos + max(0, length), len(starts) - 1)]]


def _out_of_range(text: bytes, pos: int, index: int, unit: str) -> errors.InvalidArgumentError:
    shown = f"string b'{text.decode(errors='replace')}'" if unit == "BYTE" else "string"
    return invalid(f"pos {pos} out of range for {shown} at index {index}")


@op(
    "Substr",
    inputs="input: string, pos: T, len: T",
    outputs="output: string",
    attrs=f"T: {{int32, int64}}, {_UNIT}",
    shape=_substr_dims,
    traits=HOST,
)
def substr_(xp: Any, input: Any, pos: Any, len: Any, *, unit: str) -> Any:
    texts = as_array(input)
    if unit == "BYTE" and not np.ndim(pos) and not np.ndim(len):
        pieces = _all_cut(texts, int(pos), int(len))
        if pieces is not None:
            return pieces
    if np.size(pos) != np.size(len):
        raise invalid(
            "pos and len should have the same shape, got:"
            f" {s.show(np.shape(pos))} vs. {s.show(np.shape(len))}"
        )
    # As many lengths as positions are taken in their order, whatever their shape.
    lengths = np.reshape(len, np.shape(pos))
    try:
        texts, pos, lengths = np.broadcast_arrays(texts, pos, lengths)
    except ValueError:
        raise invalid(
            f"Incompatible shapes: {s.show(texts.shape)} vs. {s.show(np.shape(pos))}"
        ) from None
    cut = _in_bytes if unit == "BYTE" else _in_characters
    found = []
    for i, each in enumerate(zip(elements(texts), elements(pos), elements(lengths), strict=True)):
        piece = cut(*each)
        if piece is None:
            raise _out_of_range(each[0], each[1], i, unit)
        found.append(piece)
    return strings(found, texts.shape)


@substr_.prepared
def _(c: Any) -> Any:
    unit, pos, length = c.attr("unit"), c.value(1), c.value(2)
    if c.dims(0) != () or np.ndim(pos) or np.ndim(length):
        return None
    cut, start, size = _in_bytes if unit == "BYTE" else _in_characters, int(pos), int(length)

    def call(text: Any) -> Any:
        text = string(text)
        piece = cut(text, start, size)
        if piece is None:
            raise _out_of_range(text, start, 0, unit)
        return scalar(piece)

    return call


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Of each string the `len` bytes, or characters, from `pos`; all bytes if `len` is negative."""
    return raw.Substr(input, pos, len, unit=unit, name=name)


# ---- formatting ----------------------------------------------------------------------------------


def _parts(template: str | bytes, placeholder: str | bytes) -> list[str]:
    """What is around the placeholders; bytes are those that are not UTF-8."""
    texts = [
        x if isinstance(x, str) else x.decode(errors="surrogateescape")
        for x in (template, placeholder)
    ]
    return texts[0].split(texts[1])


def _formatted_dims(c: ShapeContext) -> Dims:
    wanted = len(_parts(c.attr("template"), c.attr("placeholder"))) - 1
    if wanted != c.num_inputs:
        raise ValueError(
            f"num placeholders in template and num inputs must match: {wanted} vs. {c.num_inputs}"
        )
    return ()


@op(
    "StringFormat",
    inputs="inputs: list(T)",
    outputs="output: string",
    attrs='T: list(type) >= 0, template: string = "%s", placeholder: string = "%s",'
    " summarize: int = 3",
    shape=_formatted_dims,
    traits=HOST,
)
def string_format_(
    xp: Any, inputs: list[Any], *, T: list[DType], template: str, placeholder: str, summarize: int
) -> Any:
    parts = _parts(template, placeholder)
    shown = [
        _summary(as_array(value), summarize) if dtype not in _NOT_SHOWN
        else _questions(np.size(value), summarize)
        for value, dtype in zip(inputs, T, strict=True)
    ]  # fmt: skip
    text = parts[0] + "".join(a + b for a, b in zip(shown, parts[1:], strict=True))
    return strings([text.encode(errors="surrogateescape")], ())


@string_format_.prepared
def _(c: Any) -> Any:
    parts, count = _parts(c.attr("template"), c.attr("placeholder")), c.attr("summarize")
    if c.num_inputs != 1 or len(parts) != 2 or c.attr("T")[0] in _NOT_SHOWN:
        return None
    before, after = parts

    def call(value: Any) -> Any:
        text = before + _summary(as_array(value), count) + after
        return scalar(text.encode(errors="surrogateescape"))

    return call


# TensorFlow does not write the numbers of these types.
_NOT_SHOWN = (dtypes.complex64, dtypes.complex128, dtypes.bfloat16)


def _questions(size: int, count: int) -> str:
    shown = size if count < 0 else min(size, count)
    return f"[{' '.join('?' * shown)}{'...' * (shown < size)}]"


def _summary(value: Any, count: int, depth: int = 1) -> str:
    """The first and last `count` elements along each axis."""
    array = np.asarray(value)
    if not array.ndim:
        return _element(array[()]) if count else "..."
    shortened = 0 <= count and len(array) > 2 * count
    rows = [*array[:count], *array[len(array) - count :]] if shortened else list(array)
    shown = [_summary(row, count, depth + 1) for row in rows]
    if shortened:
        shown.insert(count, "...")
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    # What is left out follows what comes before it, even if that is nothing.
    return "[" + between * (shortened and not count) + between.join(shown) + "]"


def _element(value: Any) -> str:
    if not isinstance(value, np.floating):
        if isinstance(value, bytes):
            return '"' + c_escaped(value.decode(errors="surrogateescape")) + '"'
        return str(int(value) if isinstance(value, (bool, np.bool_)) else value)
    few, many = (15, 17) if isinstance(value, np.float64) else (6, 9)
    number = float(value)  # which formats faster
    short = f"{number:.{few}g}"
    return short if type(value)(short) == value else f"{number:.{many}g}"


def string_format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`template` with each `placeholder` replaced by a tensor's elements."""
    if isinstance(inputs, Tensor):
        inputs = [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(
            f"{template.count(placeholder)} placeholder(s) in template does not match"
            f" {len(inputs)} tensor(s) provided as input"
        )
    return raw.StringFormat(
        inputs, template=template, placeholder=placeholder, summarize=summarize, name=name
    )
