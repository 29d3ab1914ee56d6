"""Arrays as text in which every element can be found again."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft.lib.debug.inconvertible import InconvertibleTensorProto
from weft.lib.debug.text import RichLine, RichTextLines, rich_text_lines_from_rich_line_list

BEGIN_INDICES_KEY = "i0"
OMITTED_INDICES_KEY = "omitted"
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"
_TOKEN = re.compile(r"\[|\]|\.\.\.|[^\s\[\],()]+")


class HighlightOptions:
    """Which elements are marked: those where `criterion(array)` is true."""

    def __init__(
        self, criterion: Callable[[Any], Any], description: str | None = None,
        font_attr: Any = DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR,
    ) -> None:  # fmt: skip
        self.criterion, self.description, self.font_attr = criterion, description, font_attr


def format_tensor(
    tensor: Any, tensor_label: str | None, include_metadata: bool = False,
    auxiliary_message: RichTextLines | None = None, include_numeric_summary: bool = False,
    np_printoptions: dict[str, Any] | None = None,
    highlight_options: HighlightOptions | None = None,
) -> RichTextLines:  # fmt: skip
    """An array under a label, with type and shape if `include_metadata` says so."""
    head = RichTextLines([])
    if tensor_label is not None:
        head.append_rich_line(_label(tensor_label))
    if not isinstance(tensor, np.ndarray):
        is_message = isinstance(tensor, InconvertibleTensorProto)
        blank = [""] if head.lines else []
        text = str(tensor) if is_message else repr(tensor)
        return RichTextLines([*head.lines, *blank, *text.split("\n")])
    if include_metadata:
        head.extend(RichTextLines([f"  dtype: {tensor.dtype}", f"  shape: {tensor.shape}"]))
    if head.lines:
        head.append("")
    if auxiliary_message:
        head.extend(auxiliary_message)
    if include_numeric_summary:
        head.append("Numeric summary:")
        head.extend(numeric_summary(tensor))
        head.append("")
    head.extend(_array_text(tensor, np_printoptions or {}))
    if highlight_options is not None:
        _highlight(head, tensor, highlight_options)
    return head


def _label(text: str) -> RichLine:
    """The name in bold; a debug operation behind it in yellow."""
    name, colon, last = text.rpartition(":")
    line = RichLine('Tensor "')
    if last.isdigit():
        line += RichLine(text, "bold")
    else:
        line = line + RichLine(name, "bold") + colon + RichLine(last, "yellow")
    return line + '":'


def _array_text(tensor: np.ndarray, options: dict[str, Any]) -> RichTextLines:
    with np.printoptions(**options):
        lines = repr(tensor).split("\n")
    if tensor.dtype.kind in "SUO":  # brackets of strings would be taken for the array's
        return RichTextLines(lines)
    notes: dict[Any, Any] = {"tensor_metadata": {"dtype": tensor.dtype, "shape": tensor.shape}}
    for piece in _pieces(lines, tensor.shape):
        key = BEGIN_INDICES_KEY if piece.end else OMITTED_INDICES_KEY
        notes.setdefault(piece.row, {key: piece.place})
    if tensor.ndim:
        notes.setdefault(0, {BEGIN_INDICES_KEY: [0] * tensor.ndim})
    return RichTextLines(lines, annotations=notes)


class _Piece(NamedTuple):
    """An element and the columns it takes; or an ellipsis, which has no end."""

    row: int
    place: list[int]
    start: int
    end: int


def _pieces(lines: Sequence[str], dims: Sequence[int]) -> Iterator[_Piece]:
    """The elements of an array in its text, and ellipses.

    NumPy leaves out the middle: behind an ellipsis come as many as before it.
    """
    index, depth = [0] * len(dims), 0
    for row, line in enumerate(lines):
        for token in _TOKEN.finditer(line):
            if token[0] == "[":
                depth += 1
            elif token[0] == "]":
                depth -= 1
                index[depth:] = [0] * (len(dims) - depth)
                if depth:
                    index[depth - 1] += 1
            elif token[0] == "..." and depth:
                yield _Piece(row, index.copy(), token.start(), 0)
                index[depth - 1] = dims[depth - 1] - index[depth - 1]
            elif depth == len(dims) and depth:
                yield _Piece(row, index.copy(), token.start(), token.end())
                index[-1] += 1


def locate_tensor_element(formatted: RichTextLines, indices: Sequence[Any]) -> Any:
    """(whether it was left out, row, first column, column after it) of an element.

    Of a list of elements in ascending order, four lists.
    """
    if "tensor_metadata" not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    dims = formatted.annotations["tensor_metadata"]["shape"]
    many = isinstance(indices[0], list)
    asked = [list(each) for each in indices] if many else [list(indices)]
    _check_indices(asked, dims)
    rows = sorted(row for row in formatted.annotations if isinstance(row, int))
    first = rows[0] if rows else 0
    columns = {
        tuple(piece.place): (piece.start, piece.end)
        for piece in _pieces(formatted.lines[first:], dims) if piece.end
    }  # fmt: skip
    notes = [formatted.annotations[row] for row in rows]
    begins = [next(iter(note.values())) for note in notes]
    found = []
    for index in asked:
        at = bisect.bisect_right(begins, index) - 1
        start, end = columns.get(tuple(index), (None, None))
        found.append((OMITTED_INDICES_KEY in notes[at], rows[at], start, end))
    return tuple(map(list, zip(*found, strict=True))) if many else found[0]


def _check_indices(asked: list[list[int]], dims: Sequence[int]) -> None:
    for index in asked:
        if len(index) != len(dims):
            raise ValueError(f"Dimensions mismatch: requested: {len(index)}; actual: {len(dims)}")
        if any(i >= extent for i, extent in zip(index, dims, strict=True)):
            raise ValueError("Indices exceed tensor dimensions.")
        if min(index, default=0) < 0:
            raise ValueError("Indices contain negative value(s).")
    if asked != sorted(asked):
        raise ValueError("Input indices sets are not in ascending order.")


def _highlight(formatted: RichTextLines, tensor: np.ndarray, options: HighlightOptions) -> None:
    marked = np.argwhere(options.criterion(tensor)).tolist()
    share = len(marked) / max(tensor.size, 1) * 100.0
    described = f"({options.description})" if options.description else ""
    formatted.lines[0] += (
        f" Highlighted{described}: {len(marked)} of {tensor.size} element(s) ({share:.2f}%)"
    )
    if not marked or "tensor_metadata" not in formatted.annotations or not tensor.ndim:
        return
    for left_out, row, start, end in zip(*locate_tensor_element(formatted, marked), strict=True):
        if not left_out and start is not None:
            segments = formatted.font_attr_segs.setdefault(row, [])
            segments.append((start, end, options.font_attr))


# ---- counts --------------------------------------------------------------------------------------


def numeric_summary(tensor: Any) -> RichTextLines:
    """How many elements are NaN, infinite, negative, zero, positive; and their range."""
    if not isinstance(tensor, np.ndarray) or not tensor.size:
        return RichTextLines(["No numeric summary available due to empty tensor."])
    if tensor.dtype == np.bool_:
        trues = int(np.sum(tensor))
        return _table([("False", tensor.size - trues), ("True", trues)], tensor.size)
    if tensor.dtype.kind not in "fiu" and not _is_small_float(tensor.dtype):
        return RichTextLines([f"No numeric summary available due to tensor dtype: {tensor.dtype}."])
    wide = tensor.astype(np.float64)
    finite = np.isfinite(wide)
    kinds = {
        "nan": np.isnan(wide), "-inf": np.isneginf(wide), "-": finite & (wide < 0),
        "0": wide == 0, "+": finite & (wide > 0), "+inf": np.isposinf(wide),
    }  # fmt: skip
    found = _table([(name, int(each.sum())) for name, each in kinds.items()], tensor.size)
    valid = tensor[finite]
    if valid.size:
        measures: dict[str, Any] = {"min": np.min, "max": np.max, "mean": np.mean, "std": np.std}
        rows = [(name, measure(valid)) for name, measure in measures.items()]
        found.extend(_table(rows, None, skip_zeros=False))
    return found


def _is_small_float(dtype: Any) -> bool:
    """Whether it is a type such as bfloat16, which NumPy does not know by itself."""
    from weft.core import dtypes

    return bool(dtypes.as_dtype(dtype).is_floating)


def _table(
    counts: list[tuple[str, Any]], total: int | None, skip_zeros: bool = True
) -> RichTextLines:
    """Names above numbers, in columns of one width; the total in a column of its own."""
    shown = [(name, str(value)) for name, value in counts if value or not skip_zeros]
    width = max((len(text) + 1 for pair in shown for text in pair), default=0)
    names, values = ("|" + "".join(t.rjust(width) for t in row) + " |" for row in _columns(shown))
    if total is not None:
        last = max(len("total") + 1, len(str(total)))
        names += "total".rjust(last) + " |"
        values += str(total).rjust(last) + " |"
    return rich_text_lines_from_rich_line_list([names, values])


def _columns(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [name for name, _ in pairs], [value for _, value in pairs]
