"""Bands of diagonals of matrices: the second versions of the ops on diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.array import invalid


def check_matrix(x: Any) -> None:
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {s.show(x.shape)}")


# ---- bands of diagonals -----------------------------------------------------------------------
# Diagonal d holds the elements at columns row + d. A band from `lower` to `upper` is stored with
# its uppermost diagonal first, every one starting at the left and padded at the right. In the third
# versions, of newer clients, `align` says on which side those above and below the main one start.
_LEFT = "LEFT_LEFT"
_ALIGN = 'align: {"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"} = "RIGHT_LEFT"'


def _band(k: Any) -> tuple[int, int]:
    """(lower, upper) from the value of `k`: one number or two."""
    entries = [int(d) for d in np.ravel(k)]
    if np.ndim(k) > 1:
        raise ValueError(
            f"diag_index must be a scalar or vector, received shape: {s.show(np.shape(k))}"
        )
    if len(entries) not in (1, 2):
        raise ValueError(
            f"diag_index must be a vector with one or two elements. It has {len(entries)} elements."
        )
    lower, upper = entries[0], entries[-1]
    if lower > upper:
        raise ValueError("lower_diag_index is greater than upper_diag_index")
    return lower, upper


def _kernel_band(k: Any) -> tuple[int, int]:
    try:
        return _band(k)
    except ValueError as error:
        if "greater" in str(error):
            lower, upper = np.ravel(k)
            raise invalid(
                f"lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}"
            ) from None
        raise invalid(str(error)) from None


def _check_band(x: Any, lower: int, upper: int) -> None:
    rows, columns = x.shape[-2:]
    for what, d in (("lower", lower), ("upper", upper)):
        if d != 0 and not -rows < d < columns:
            raise invalid(
                f"{what}_diag_index is out of bound: {d}. It must be between {-rows} and {columns}"
            )


def _band_length(rows: int, columns: int, lower: int, upper: int) -> int:
    return min(rows + min(upper, 0), columns - max(lower, 0))


def _check_band_rule(dims: Dims, lower: int, upper: int) -> None:
    if dims is None or dims[-2] is None or dims[-1] is None:
        return
    for what, d in (("lower", lower), ("upper", upper)):
        if d != 0 and not -dims[-2] < d < dims[-1]:
            raise ValueError(f"{what}_diag_index is out of bound.")


def _band_taken(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 2)
    s.with_rank_at_most(c.dims(1), 1)
    s.with_rank(c.dims(2), 0)
    k = c.value(1)
    if dims is None or k is None:
        return None
    lower, upper = _band(k)
    _check_band_rule(dims, lower, upper)
    rows, columns = dims[-2:]
    length = None
    if rows is not None and columns is not None:
        length = _band_length(rows, columns, lower, upper)
    band = (upper - lower + 1,) if lower < upper else ()
    return (*dims[:-2], *band, length)


@op(
    "MatrixDiagPartV2",
    inputs="input: T, k: int32, padding_value: T",
    outputs="diagonal: T",
    attrs="T: type",
    shape=_band_taken,
    static="k",
)
def matrix_diag_part_v2_(xp: Any, input: Any, k: Any, padding_value: Any) -> Any:
    return _take_band(xp, input, k, padding_value, _LEFT)


def _take_band(xp: Any, input: Any, k: Any, padding_value: Any, align: str) -> Any:
    check_matrix(input)
    if np.ndim(padding_value) != 0:
        raise invalid("Padding must be scalar.")
    lower, upper = _kernel_band(k)
    _check_band(input, lower, upper)
    rows, columns = input.shape[-2:]
    length = _band_length(rows, columns, lower, upper)
    d = np.arange(upper, lower - 1, -1)[:, None]
    step = np.arange(length)[None, :] - _shift(d, rows, columns, length, align)
    row, column = step + np.maximum(-d, 0), step + np.maximum(d, 0)
    inside = (step >= 0) & (row < rows) & (column < columns)
    found = input[..., np.where(inside, row, 0), np.where(inside, column, 0)]
    out = xp.where(inside, found, padding_value)
    return out if lower < upper else xp.reshape(out, (*input.shape[:-2], length))


def _shift(d: np.ndarray, rows: int, columns: int, length: int, align: str) -> np.ndarray:
    """How far to the right each diagonal of a band is stored."""
    above, _, below = align.partition("_")
    lengths = np.minimum(rows + np.minimum(d, 0), columns - np.maximum(d, 0))
    right = np.where(d >= 0, above == "RIGHT", below == "RIGHT")
    return np.where(right, length - lengths, 0)


@matrix_diag_part_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, k, _ = op.inputs
    sides = (None, None) if input.dims is None else input.dims[-2:]
    if s.known(sides):
        spread = raw.MatrixDiagV2(grad, k, sides[0], sides[1], _zero(grad))
        return spread, None, None
    return raw.MatrixSetDiagV2(array.zeros_like(input), grad, k), None, None


def _zero(like: Tensor) -> Any:
    return array.zeros([], like.dtype)


def _sides(length: int, rows: int, columns: int, lower: int, upper: int) -> tuple[int, int]:
    """The size of the matrix that diagonals of `length` go into; -1 where it is left open."""
    least_rows, least_columns = length - min(upper, 0), length + max(lower, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows < least_rows:
        raise ValueError("num_rows is too small")
    if columns < least_columns:
        raise ValueError("num_cols is too small.")
    if rows != least_rows and columns != least_columns:
        raise ValueError(
            "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and"
            " the length of the given diagonals.\n"
            f"num_rows = {rows} != min_num_rows = {least_rows}, num_cols = {columns} !="
            f" min_num_cols = {least_columns}"
        )
    return rows, columns


def _band_spread(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    s.with_rank_at_most(c.dims(1), 1)
    for i in (2, 3, 4):
        s.with_rank(c.dims(i), 0)
    k, rows, columns = c.value(1), c.value(2), c.value(3)
    if dims is None or k is None:
        return None
    lower, upper = _band(k)
    if lower < upper:
        s.with_rank_at_least(dims, 2)
        if dims[-2] is not None and dims[-2] != upper - lower + 1:
            raise ValueError(
                "The number of rows of `diagonal` doesn't match the number of diagonals implied"
                f" from `d_lower` and `d_upper`.\nnum_diags = {dims[-2]}, d_lower = {lower},"
                f" d_upper = {upper}"
            )
    lead = dims[:-1] if lower == upper else dims[:-2]
    if dims[-1] is None or rows is None or columns is None:
        asked = (None if n is None or n == -1 else int(n) for n in (rows, columns))
        return (*lead, *asked)
    return (*lead, *_sides(dims[-1], int(rows), int(columns), lower, upper))


@op(
    "MatrixDiagV2",
    inputs="diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T",
    outputs="output: T",
    attrs="T: type",
    shape=_band_spread,
    static="k, num_rows, num_cols",
)
def matrix_diag_v2_(
    xp: Any, diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any
) -> Any:
    return _spread_band(xp, diagonal, k, num_rows, num_cols, padding_value, _LEFT)


def _spread_band(
    xp: Any, diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any, align: str
) -> Any:
    if diagonal.ndim < 1:
        raise invalid(f"diagonal must be at least 1-dim, received shape: {s.show(diagonal.shape)}")
    lower, upper = _kernel_band(k)
    if lower == upper:
        diagonal = diagonal[..., None, :]
    elif diagonal.ndim < 2 or diagonal.shape[-2] != upper - lower + 1:
        raise invalid(
            "The number of diagonals provided in the input does not match the lower_diag_index"
            " and upper_diag_index range."
        )
    try:
        sides = _sides(diagonal.shape[-1], int(num_rows), int(num_cols), lower, upper)
    except ValueError as error:
        raise invalid(str(error)) from None
    inside, values = _spread(xp, diagonal, sides, lower, upper, align)
    return xp.where(inside, values, padding_value)


def _spread(
    xp: Any, diagonal: Any, sides: tuple[int, int], lower: int, upper: int, align: str
) -> tuple[np.ndarray, Any]:
    """The elements of a matrix that lie in the band, and the value of each of them."""
    rows, columns = sides
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    d = column - row
    inside = (d >= lower) & (d <= upper)
    which = np.where(inside, upper - d, 0)
    shift = _shift(d, rows, columns, diagonal.shape[-1], align)
    step = np.where(inside, np.minimum(row, column) + shift, 0)
    if 0 in diagonal.shape[-2:]:
        return inside, xp.zeros((*diagonal.shape[:-2], rows, columns), diagonal.dtype)
    return inside, diagonal[..., which, step]


@matrix_diag_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    part = raw.MatrixDiagPartV2(grad, op.inputs[1], _zero(grad))
    return part, None, None, None, None


def _band_set(c: ShapeContext) -> Dims:
    dims, diagonal = s.with_rank_at_least(c.dims(0), 2), s.with_rank_at_least(c.dims(1), 1)
    s.with_rank_at_most(c.dims(2), 1)
    k = c.value(2)
    if k is None:
        if dims is not None:
            s.with_rank_at_least(diagonal, len(dims) - 1)
            s.with_rank_at_most(diagonal, len(dims))
        return dims
    lower, upper = _band(k)
    if dims is not None:
        diagonal = s.with_rank(diagonal, len(dims) - (lower == upper))
        _check_band_rule(dims, lower, upper)
    if diagonal is None:
        return dims
    lead = diagonal[:-1] if lower == upper else diagonal[:-2]
    return s.merge(dims, (*lead, None, None))


@op(
    "MatrixSetDiagV2",
    inputs="input: T, diagonal: T, k: int32",
    outputs="output: T",
    attrs="T: type",
    shape=_band_set,
    static="k",
)
def matrix_set_diag_v2_(xp: Any, input: Any, diagonal: Any, k: Any) -> Any:
    return set_band(xp, input, diagonal, *_kernel_band(k))


def set_band(xp: Any, input: Any, diagonal: Any, lower: int, upper: int, align: str = _LEFT) -> Any:
    check_matrix(input)
    if diagonal.ndim < 1:
        raise invalid(f"diagonal must be at least 1-dim, received shape: {s.show(diagonal.shape)}")
    _check_band(input, lower, upper)
    rows, columns = input.shape[-2:]
    band = (upper - lower + 1,) if lower < upper else ()
    expected = (*input.shape[:-2], *band, _band_length(rows, columns, lower, upper))
    if diagonal.shape != expected:
        raise invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or"
            " diagonal.shape[:-1] is not equal to the longests diagonal in range"
            f" [lower_diag_index:upper_diag_index].\nInput shape: {s.show(input.shape)}\nDiagonal"
            f" shape: {s.show(diagonal.shape)}\nExpected diagonal shape: {s.show(expected)}"
        )
    if lower == upper:
        diagonal = diagonal[..., None, :]
    inside, values = _spread(xp, diagonal, (rows, columns), lower, upper, align)
    return xp.where(inside, values, input)


@matrix_set_diag_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, diagonal, k = op.inputs
    # The diagonal has the shape of what is taken out again, known or not.
    taken = raw.MatrixDiagPartV2(grad, k, _zero(grad))
    if s.known(diagonal.dims):
        zeros = array.zeros(diagonal.shape, dtype=grad.dtype)
    else:
        zeros = array.zeros_like(taken)
    return raw.MatrixSetDiagV2(grad, zeros, k), taken, None


# ---- the third versions --------------------------------------------------------------------------


@op(
    "MatrixDiagPartV3",
    inputs="input: T, k: int32, padding_value: T",
    outputs="diagonal: T",
    attrs=f"T: type, {_ALIGN}",
    shape=_band_taken,
    static="k",
)
def matrix_diag_part_v3_(xp: Any, input: Any, k: Any, padding_value: Any, *, align: str) -> Any:
    return _take_band(xp, input, k, padding_value, align)


@matrix_diag_part_v3_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, k, _ = op.inputs
    align = op.get_attr("align")
    return raw.MatrixSetDiagV3(array.zeros_like(input), grad, k, align=align), None, None


@op(
    "MatrixDiagV3",
    inputs="diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T",
    outputs="output: T",
    attrs=f"T: type, {_ALIGN}",
    shape=_band_spread,
    static="k, num_rows, num_cols",
)
def matrix_diag_v3_(
    xp: Any, diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any, *, align: str
) -> Any:
    return _spread_band(xp, diagonal, k, num_rows, num_cols, padding_value, align)


@matrix_diag_v3_.gradient
def _(op: Operation, grad: Any) -> Any:
    part = raw.MatrixDiagPartV3(grad, op.inputs[1], _zero(grad), align=op.get_attr("align"))
    return part, None, None, None, None


@op(
    "MatrixSetDiagV3",
    inputs="input: T, diagonal: T, k: int32",
    outputs="output: T",
    attrs=f"T: type, {_ALIGN}",
    shape=_band_set,
    static="k",
)
def matrix_set_diag_v3_(xp: Any, input: Any, diagonal: Any, k: Any, *, align: str) -> Any:
    return set_band(xp, input, diagonal, *_kernel_band(k), align)


@matrix_set_diag_v3_.gradient
def _(op: Operation, grad: Any) -> Any:
    k, align = op.inputs[2], op.get_attr("align")
    taken = raw.MatrixDiagPartV3(grad, k, _zero(grad), align=align)
    return raw.MatrixSetDiagV3(grad, array.zeros_like(taken), k, align=align), taken, None
