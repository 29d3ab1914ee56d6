"""tf.string_split and tf.strings.split, as far as they make sparse tensors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import deprecated_alias, invalid, positions
from weft.ops.kit.string_arrays import byte_lengths, flat_parts, string, strings

_SPACE = b" \t\n\v\f\r"
# Up to so many rows and values, numbers of values keep coming back.
_FEW_ROWS, _FEW_VALUES = 4, 64
_MANY_ROWS = 64


def _shapes(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 1)
    s.with_rank(c.dims(1), 0)
    return [(None, 2), (None,), (2,)]


_Counts = tuple[int, ...] | np.ndarray


class _Split:
    """What comes of some strings: the pieces of all, and how many each has."""

    __slots__ = ("counts", "values")

    def __init__(self, counts: _Counts, values: list[bytes]) -> None:
        self.counts, self.values = counts, strings(values)


def _of_rows(rows: list[list[bytes]]) -> _Split:
    return _Split(tuple(map(len, rows)), [each for row in rows for each in row])


def _sparse(found: list[_Split]) -> list[Any]:
    """Rows of different lengths as the parts of a sparse matrix."""
    first = found[0]
    counts, values = first.counts, first.values
    if len(found) > 1:
        counts = np.concatenate([part.counts for part in found])
        values = np.concatenate([part.values for part in found])
    few = len(counts) <= _FEW_ROWS and len(values) <= _FEW_VALUES
    indices, shape = _common_places(tuple(counts)) if few else _places(counts)
    return [indices, values, shape]


def _places(counts: _Counts) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the values in the sparse matrix, and its shape."""
    counts = np.asarray(counts, np.int64)
    indices = positions(counts)
    shape = np.array([len(counts), counts.max(initial=0)], np.int64)
    indices.flags.writeable = shape.flags.writeable = False  # they may be given out again
    return indices, shape


_common_places = functools.lru_cache(256)(_places)


def _check(input: Any, name: str, separator: Any) -> None:
    if type(input) is np.ndarray and input.ndim == 1 and not np.ndim(separator):
        return
    if np.ndim(input) != 1:
        raise invalid(f"input must be a vector, got shape: {s.show(np.shape(input))}")
    if np.ndim(separator):
        raise invalid(f"{name} must be a scalar, got shape: {s.show(np.shape(separator))}")


def _at_any(text: bytes, delimiters: bytes) -> list[bytes]:
    """Split at each byte that is one of `delimiters`; into bytes if there are none."""
    if not text:
        return []  # not even an empty piece
    if not delimiters:
        return [text[i : i + 1] for i in range(len(text))]
    if len(delimiters) > 1:
        first = delimiters[:1]
        text = text.translate(bytes.maketrans(delimiters, first * len(delimiters)))
    return text.split(delimiters[:1])


def _all_at_once(texts: list[bytes], delimiter: bytes, skip_empty: bool) -> _Split | None:
    """The texts split as one; None where they are few, or empty pieces have to be left out."""
    if len(texts) <= _FEW_ROWS or not all(texts):
        return None
    joined = delimiter.join(texts)
    if skip_empty and delimiter * 2 in delimiter + joined + delimiter:
        return None
    return _Split(tuple([text.count(delimiter) + 1 for text in texts]), joined.split(delimiter))


def _many_at_once(texts: np.ndarray, delimiter: bytes, skip_empty: bool) -> _Split | None:
    """As `_all_at_once`, of so many texts that NumPy counts their pieces sooner."""
    lengths = byte_lengths(texts)
    if not lengths.all():
        return None
    joined = delimiter.join([*texts.tolist(), b""])
    ends = np.flatnonzero(np.frombuffer(joined, np.uint8) == delimiter[0])  # of all pieces
    if skip_empty and np.diff(ends, prepend=-1).min() == 1:
        return None
    last = np.searchsorted(ends, np.cumsum(lengths + 1) - 1)  # of each text
    values = joined.split(delimiter)
    values.pop()  # what is behind the last end
    return _Split(np.diff(last, prepend=-1), values)


def _split_at_any(texts: np.ndarray, delimiters: bytes, skip_empty: bool) -> _Split:
    if len(texts) >= _MANY_ROWS and len(delimiters) == 1:
        found = _many_at_once(texts, delimiters, skip_empty)
        if found is not None:
            return found
    return _split_few(texts.tolist(), delimiters, skip_empty)


def _split_few(texts: list[bytes], delimiters: bytes, skip_empty: bool) -> _Split:
    if len(delimiters) == 1 and (found := _all_at_once(texts, delimiters, skip_empty)):
        return found
    rows = [_at_any(text, delimiters) for text in texts]
    return _of_rows([list(filter(None, row)) for row in rows] if skip_empty else rows)


@op(
    "StringSplit",
    inputs="input: string, delimiter: string",
    outputs="indices: int64, values: string, shape: int64",
    attrs="skip_empty: bool = true",
    shape=_shapes,
    traits=HOST | NO_GRADIENT,
)
def string_split_(xp: Any, input: Any, delimiter: Any, *, skip_empty: bool) -> list[Any]:
    _check(input, "delimiter", delimiter)
    delimiters, parts = string(delimiter), flat_parts(input)
    return _sparse([_split_at_any(part, delimiters, skip_empty) for part in parts])


@op(
    "StringSplitV2",
    inputs="input: string, sep: string",
    outputs="indices: int64, values: string, shape: int64",
    attrs="maxsplit: int = -1",
    shape=_shapes,
    traits=HOST,
)
def string_split_v2_(xp: Any, input: Any, sep: Any, *, maxsplit: int) -> list[Any]:
    _check(input, "sep", sep)
    separator = string(sep)
    return _sparse(
        [
            _of_rows([_split(text, separator, maxsplit) for text in part.tolist()])
            for part in flat_parts(input)
        ]
    )


def _split(text: bytes, separator: bytes, most: int) -> list[bytes]:
    """As Python splits, but what is left after the last split at spaces counts even if empty."""
    if most == 0:
        return [text]
    words = text.split(separator or None, most)
    return [*words, b""] if not separator and len(words) == most else words


def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    name: str | None = None,
) -> SparseTensor:
    """Splits each string of a vector at any of the bytes of `sep`, by default at spaces."""
    given = deprecated_alias("sep", sep, "delimiter", delimiter)
    given = convert_to_tensor(" " if given is None else given, dtypes.string)
    source = convert_to_tensor(source, dtypes.string)
    return SparseTensor(*raw.StringSplit(source, given, skip_empty=skip_empty, name=name))


def string_split_v2(
    input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None
) -> SparseTensor:
    """Splits each string of a vector at the string `sep`, by default at white space."""
    given = convert_to_tensor(input, dtypes.string, name="input")
    if given.shape.ndims == 0:
        given = raw.ExpandDims(given, 0)
    sep = convert_to_tensor("" if sep is None else sep, dtypes.string)
    return SparseTensor(*raw.StringSplitV2(given, sep, maxsplit=maxsplit, name=name))
