"""tf.decode_csv: lines of comma-separated fields into a tensor for each column."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import long, looking_up
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.kit.shared import as_array, invalid
from weft.ops.kit.string_arrays import flat, strings
from weft.ops.strings.numbers import numbers, type_name

_QUOTE = b'"'


def fields(record: bytes, delimiter: bytes, quotes: bool, most: int | None = None) -> list[bytes]:
    """The fields of one record; what comes after the first `most` need not be fields."""
    if not (quotes and _QUOTE in record) and b"\n" not in record and b"\r" not in record:
        return record.split(delimiter) if record else []
    found: list[bytes] = []
    at = 0
    while at < len(record):
        if record[at] in b"\r\n":
            at += 1
            continue
        if quotes and record.startswith(_QUOTE, at):
            field, at = _quoted(record, at + 1, delimiter)
        else:
            field, at = _unquoted(record, at, delimiter, quotes)
        found.append(field)
        if len(found) == most:
            return found
    if record.endswith(delimiter):
        found.append(b"")
    return found


def _unquoted(record: bytes, at: int, delimiter: bytes, quotes: bool) -> tuple[bytes, int]:
    end = record.find(delimiter, at)
    end = len(record) if end < 0 else end
    field = record[at:end]
    if (quotes and _QUOTE in field) or b"\n" in field or b"\r" in field:
        raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
    return field, end + 1


def _quoted(record: bytes, at: int, delimiter: bytes) -> tuple[bytes, int]:
    """The field whose content begins at `at`, and where the next field begins."""
    parts = []
    while True:
        end = record.find(_QUOTE, at)
        follows = record[end + 1 : end + 2]
        if end < 0:
            raise invalid("Quoted field has to end with quote followed by delim or end")
        parts.append(record[at:end])
        if follows in (b"", delimiter):
            return b"".join(parts), end + 2
        if follows != _QUOTE:
            raise invalid("Quote inside a string has to be escaped by another quote")
        parts.append(_QUOTE)
        at = end + 2


def _plain_columns(lines: list[bytes], delimiter: bytes, quotes: bool) -> list[Any] | None:
    """The columns of lines of equally many fields without quotes, split as one text."""
    joined = delimiter.join(lines)
    odd = (quotes and _QUOTE in joined) or b"\n" in joined or b"\r" in joined
    if odd or not all(lines) or len(counts := {line.count(delimiter) for line in long(lines)}) != 1:
        return None
    width = counts.pop() + 1
    values = joined.split(delimiter)
    return [values[f::width] for f in range(width)]


_USUAL = (b",", b";", b"|", b"\t")
_MOST_DIGITS = 10**18  # numbers below it surely have 64 bits


def _whole_numbers(
    lines: list[bytes], delimiter: bytes, types: list[DType], missing: bytes
) -> np.ndarray | None:
    """The columns of lines of digits, no field of which is missing, read as one text."""
    if not lines or delimiter not in _USUAL or not all(dtype.is_integer for dtype in types):
        return None
    joined = b"\n".join(lines)
    line = delimiter * (len(types) - 1)
    if joined.translate(None, b"0123456789") != b"\n".join([line] * len(lines)):
        return None
    text = joined.replace(b"\n", delimiter)
    if missing and missing in text:
        return None
    octets = np.frombuffer(delimiter + text + delimiter, np.uint8)
    ends = np.flatnonzero(octets == delimiter[0])
    if np.diff(ends).min() < 2:  # a field is empty
        return None
    numbers = np.fromstring(text, np.int64, sep=delimiter.decode())
    columns = numbers.reshape(len(lines), len(types)).T
    limits = [min(dtype.max, _MOST_DIGITS) for dtype in types]
    return columns if (columns.max(axis=1) <= limits).all() else None


def _rows(
    lines: list[bytes], delimiter: bytes, quotes: bool, chosen: list[int], width: int
) -> list[list[bytes]]:
    """The fields of each line, of which there must be `width`."""
    rows = []
    most = chosen[-1] + 1 if chosen else None
    for i, line in enumerate(long(lines)):
        row = fields(line, delimiter, quotes, most)
        if chosen:
            row = [row[j] for j in chosen if j < len(row)]
        if len(row) != width:
            raise invalid(f"Expect {width} fields but have {len(row)} in record {i}")
        rows.append(row)
    return rows


def _column(values: list[bytes], dtype: DType, default: Any, f: int, missing: bytes) -> np.ndarray:
    """Field `f` of all records."""
    gaps: list[int] = []
    if b"" in values or missing in values:
        gaps = [i for i, value in enumerate(values) if not value or value == missing]
    if gaps:
        if not np.size(default):
            raise invalid(f"Field {f} is required but missing in record {gaps[0]}!")
        values = list(values)
    if dtype == dtypes.string:
        out = strings(values)
    else:
        for i in gaps:
            values[i] = b"0"
        out = _numbers(values, dtype, f)
    if gaps:
        out[gaps] = np.ravel(default)[0]
    return out


def _numbers(values: list[bytes], dtype: DType, f: int) -> np.ndarray:
    found, wrong = numbers(strings(values), dtype)
    if wrong >= 0:
        text = values[wrong].decode(errors="replace")
        raise invalid(f"Field {f} in record {wrong} is not a valid {type_name(dtype)}: {text}")
    return found


def _shapes(c: ShapeContext) -> list[Dims]:
    for i in range(1, c.num_inputs):
        dims = s.with_rank_at_most(c.dims(i), 1)
        if dims and dims[0] is not None and dims[0] > 1:
            raise ValueError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    return [c.dims(0)] * c.num_outputs


@op(
    "DecodeCSV",
    inputs="records: string, record_defaults: list(OUT_TYPE)",
    outputs="output: list(OUT_TYPE)",
    attrs="OUT_TYPE: list({float, double, int32, int64, string}) >= 1,"
    ' field_delim: string = ",", use_quote_delim: bool = true, na_value: string = "",'
    " select_cols: list(int) = []",
    shape=_shapes,
    traits=HOST,
)
def decode_csv_(
    xp: Any, records: Any, record_defaults: list[Any], *, OUT_TYPE: list[DType], field_delim: str,
    use_quote_delim: bool, na_value: str, select_cols: list[int],
) -> list[np.ndarray]:  # fmt: skip
    if len(field_delim) != 1:
        raise invalid("field_delim should be only 1 char")
    _check_columns(select_cols, len(OUT_TYPE))
    delimiter, lines = field_delim.encode(), flat(records)
    if not select_cols:
        found = _whole_numbers(lines, delimiter, OUT_TYPE, na_value.encode())
        if found is not None:
            shape = np.shape(as_array(records))
            return [
                column.astype(dtype.np_storage).reshape(shape)
                for column, dtype in zip(found, OUT_TYPE, strict=True)
            ]
    columns = _plain_columns(lines, delimiter, use_quote_delim)
    if select_cols and columns is not None:
        enough = select_cols[-1] < len(columns)
        columns = [columns[j] for j in select_cols] if enough else None
    if columns is None or len(columns) != len(OUT_TYPE):
        rows = _rows(lines, delimiter, use_quote_delim, select_cols, len(OUT_TYPE))
        columns = [[row[f] for row in rows] for f in range(len(OUT_TYPE))]
    return [
        _column(column, dtype, default, f, na_value.encode()).reshape(np.shape(as_array(records)))
        for f, (column, dtype, default) in enumerate(
            looking_up(zip(columns, OUT_TYPE, record_defaults, strict=True))
        )
    ]


def _check_columns(columns: list[int], count: int) -> None:
    if columns and len(columns) != count:
        raise invalid("select_cols should match output size")
    if any(before >= after for before, after in itertools.pairwise(columns)):
        raise invalid("select_cols should be strictly increasing indices")
    if columns and columns[0] < 0:
        raise invalid("select_cols should be non-negative indices")


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Any = None,
) -> list[Tensor]:
    """A tensor for each column of the lines `records`; its type is that of its default.

    Args:
        records: strings, in any shape: a line each.
        record_defaults: for each column, a list with the value for empty fields, or an empty list.
        field_delim: what separates fields.
        use_quote_delim: whether "..." may hold separators.
        name: of the operation.
        na_value: a text that counts as empty.
        select_cols: the numbers of the columns to take; None: all.

    Returns:
        A list of tensors of the shape of `records`.

    Raises:
        tf.errors.InvalidArgumentError: from the step: a field is missing or has another type.

    Example:
        >>> session.run(tf.decode_csv(["1,a", "2,"], [[0], ["none"]]))
        [array([1, 2], dtype=int32), array([b'a', b'none'], dtype=object)]
    """
    if select_cols is not None:
        if any(a >= b for a, b in itertools.pairwise(select_cols)):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return raw.DecodeCSV(
        records, record_defaults, field_delim=field_delim, use_quote_delim=use_quote_delim,
        na_value=na_value, select_cols=list(select_cols or []), name=name,
    )  # fmt: skip
