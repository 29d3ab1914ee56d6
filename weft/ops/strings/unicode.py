"""Unicode: strings into code points and back, and from one encoding into another."""

from __future__ import annotations

import codecs
import functools
import re
from typing import Any

import numpy as np

from weft.core.step_limits import long
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import elements, mapped, strings

_ERRORS = 'errors: {"strict", "replace", "ignore"} = "replace", replacement_char: int = 65533'
_SPLITS = "Tsplits: {int32, int64} = int64"
_OUTPUTS = 'output_encoding: {"UTF-8", "UTF-16-BE", "UTF-32-BE"}'
_NOT_A_CHARACTER = -1
_SURROGATE = re.compile("[\ud800-\udfff]")


class Decoder:
    """Reads strings in one encoding as code points and where in the string each begins."""

    def __init__(self, encoding: str, errors: str, replacement: int, replace_control: bool) -> None:
        try:
            self.encoding = codecs.lookup(encoding).name
        except LookupError:
            raise invalid(f"Could not create converter for input encoding: {encoding}") from None
        if not 0 <= replacement <= 0x10FFFF:
            raise invalid("replacement_char out of unicode codepoint range")
        self.errors, self.replacement, self.replace_control = errors, replacement, replace_control

    def _read(self, text: bytes) -> list[tuple[int, int]]:
        """(code point, start) of everything in `text`; what is no character is -1."""
        encoding, found, at = self.encoding, [], 0
        if encoding in ("utf-16", "utf-32"):  # the mark at the beginning tells the byte order
            width = 2 if encoding == "utf-16" else 4
            marks = {"\ufeff".encode(f"{encoding}-{order}"): order for order in ("be", "le")}
            at = width if text[:width] in marks else 0
            encoding = f"{encoding}-{marks.get(text[:width], 'be')}"
        while at < len(text):
            try:
                part, end, bad = text[at:].decode(encoding), len(text), 0
            except UnicodeDecodeError as error:
                part, end = text[at : at + error.start].decode(encoding), at + error.start
                bad = error.end - error.start
            for char in part:
                found.append((ord(char), at))
                at += len(char.encode(encoding))
            if bad:
                found.append((_NOT_A_CHARACTER, end))
            at = end + bad
        return found

    def __call__(self, text: bytes) -> list[tuple[int, int]]:
        result = []
        for code, start in self._read(text):
            if code == _NOT_A_CHARACTER:
                if self.errors == "strict":
                    raise invalid("Invalid formatting on input string")
            elif not (self.replace_control and code <= 0x1F):
                result.append((code, start))
                continue
            if self.errors != "ignore":
                result.append((self.replacement, start))
        return result


def _decoded(input: Any, decoder: Decoder, splits: Any) -> list[Any]:
    rows = [decoder(text) for text in elements(input)]
    ends = np.cumsum([0, *map(len, rows)])
    pairs = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
    return [ends.astype(splits.np_storage), pairs[:, 0].astype(np.int32), pairs[:, 1].copy()]


def _decoded_dims(c: ShapeContext) -> list[Dims]:
    count = s.size(c.dims(0))
    rest: list[Dims] = [(None,)] * (c.num_outputs - 1)
    return [(None if count is None else count + 1,), *rest]


_DECODE_ATTRS = (
    f"input_encoding: string, {_ERRORS}, replace_control_characters: bool = false, {_SPLITS}"
)


@op(
    "UnicodeDecode", inputs="input: string", outputs="row_splits: Tsplits, char_values: int32",
    attrs=_DECODE_ATTRS, shape=_decoded_dims, traits=HOST,
)  # fmt: skip
def unicode_decode_(
    xp: Any, input: Any, *, input_encoding: str, errors: str, replacement_char: int,
    replace_control_characters: bool, Tsplits: Any,
) -> list[Any]:  # fmt: skip
    decoder = Decoder(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded(input, decoder, Tsplits)[:2]


@op(
    "UnicodeDecodeWithOffsets", inputs="input: string",
    outputs="row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    attrs=_DECODE_ATTRS, shape=_decoded_dims, traits=HOST,
)  # fmt: skip
def unicode_decode_with_offsets_(
    xp: Any, input: Any, *, input_encoding: str, errors: str, replacement_char: int,
    replace_control_characters: bool, Tsplits: Any,
) -> list[Any]:  # fmt: skip
    decoder = Decoder(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded(input, decoder, Tsplits)


def _encoded(codes: list[int], encoding: str, errors: str, replacement: int) -> bytes:
    kept = []
    for code in codes:
        if not 0 <= code <= 0x10FFFF:
            if errors == "strict":
                raise invalid("Code point value out of valid Unicode range.")
            if errors == "ignore":
                continue
            code = replacement
        kept.append(chr(code))
    text = "".join(kept)
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return _with_surrogates(text, encoding)


def _with_surrogates(text: str, encoding: str) -> bytes:
    """Two surrogates that belong together are a character, and one alone is none in UTF-8."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if encoding == "UTF-8":
        return _SURROGATE.sub("\ufffd", whole).encode()
    return whole.encode(encoding, "surrogatepass")


@op(
    "UnicodeEncode",
    inputs="input_values: int32, input_splits: Tsplits",
    outputs="output: string",
    attrs='errors: {"ignore", "replace", "strict"} = "replace",'
    f" {_OUTPUTS}, replacement_char: int = 65533, {_SPLITS}",
    shape=lambda c: (_one_less(s.with_rank(c.dims(1), 1)[0]),),
    traits=HOST,
)
def unicode_encode_(
    xp: Any, input_values: Any, input_splits: Any, *, errors: str, output_encoding: str,
    replacement_char: int,
) -> Any:  # fmt: skip
    values, ends = input_values.tolist(), input_splits.tolist()
    return strings(
        [
            _encoded(values[ends[i] : ends[i + 1]], output_encoding, errors, replacement_char)
            for i in long(range(len(ends) - 1))
        ]
    )


def _one_less(size: int | None) -> int | None:
    return None if size is None else size - 1


@op(
    "UnicodeTranscode",
    inputs="input: string",
    outputs="output: string",
    attrs=f"input_encoding: string, {_OUTPUTS}, {_ERRORS},"
    " replace_control_characters: bool = false",
    shape=s.unchanged,
    traits=HOST,
)
def unicode_transcode_(
    xp: Any, input: Any, *, input_encoding: str, output_encoding: str, errors: str,
    replacement_char: int, replace_control_characters: bool,
) -> Any:  # fmt: skip
    decoder = Decoder(input_encoding, errors, replacement_char, replace_control_characters)

    def transcoded(text: bytes) -> bytes:
        codes = [code for code, _ in decoder(text)]
        return _encoded(codes, output_encoding, errors, replacement_char)

    return mapped(transcoded, input)


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Each string from one encoding into another."""
    return raw.UnicodeTranscode(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )


@functools.lru_cache(1)
def _scripts() -> tuple[np.ndarray, np.ndarray]:
    """(where runs of code points with one script begin, the script of each)"""
    from weft.ops.kit.unicode_scripts import RUNS

    pairs = [run.split(":") for run in RUNS.split()]
    starts = np.array([int(start, 16) for start, _ in pairs])
    return starts, np.array([int(script) for _, script in pairs], np.int32)


@op(
    "UnicodeScript", inputs="input: int32", outputs="output: int32", shape=s.unchanged, traits=HOST,
)  # fmt: skip
def unicode_script_(xp: Any, input: Any) -> Any:
    starts, scripts = _scripts()
    input = np.asarray(input)
    found = scripts[np.maximum(np.searchsorted(starts, input, side="right") - 1, 0)]
    inside = (input >= 0) & (input <= 0x10FFFF)
    return np.where(inside, found, np.int32(-1))


def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The script of each code point, in ICU's numbers; -1 for what is no code point."""
    return raw.UnicodeScript(input, name=name)
