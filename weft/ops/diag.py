"""Diagonals and bands of matrices: the last two dimensions, all others are batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.graph import colocate_with
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops import array
from weft.ops.array import blank, invalid

_NUMBERS = "{bfloat16, half, float, double, int32, int64, complex64, complex128}"


# ---- tensors whose two halves of dimensions are one matrix ------------------------------------


def _doubled(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    return s.concat(dims, dims)


@op("Diag", inputs="diagonal: T", outputs="output: T", attrs=f"T: {_NUMBERS}", shape=_doubled)
def diag_(xp: Any, diagonal: Any) -> Any:
    if diagonal.ndim < 1:
        raise invalid("Input must be at least rank 1, got 0")
    flat = xp.reshape(diagonal, (-1,))
    matrix = _on_diagonal(xp, flat)
    return xp.reshape(matrix, diagonal.shape * 2)


@diag_.gradient
def _(op: Operation, grad: Any) -> Any:
    return diag_part(grad)


def _halved(c: ShapeContext) -> Dims:
    dims = c.dims(0)
    if dims is None:
        return None
    if len(dims) % 2 or not dims:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {len(dims)}")
    half = len(dims) // 2
    return tuple(s.merge_dim(a, b) for a, b in zip(dims[:half], dims[half:], strict=True))


@op("DiagPart", inputs="input: T", outputs="diagonal: T", attrs=f"T: {_NUMBERS}", shape=_halved)
def diag_part_(xp: Any, input: Any) -> Any:
    if input.ndim % 2 or input.ndim == 0:
        raise invalid(
            f"The rank of the tensor should be even and positive, got shape {s.show(input.shape)}"
        )
    half = input.ndim // 2
    for i in range(half):
        if input.shape[i] != input.shape[i + half]:
            raise invalid(
                f"Invalid shape {s.show(input.shape)}: dimensions {i} and {i + half} do not match."
            )
    side = s.size(input.shape[:half]) or 0
    matrix = xp.reshape(input, (side, side))
    return xp.reshape(xp.diagonal(matrix), input.shape[:half])


@diag_part_.gradient
def _(op: Operation, grad: Any) -> Any:
    return diag(grad)


# ---- main diagonals ---------------------------------------------------------------------------


def _on_diagonal(xp: Any, diagonal: Any) -> Any:
    """Square matrices that are zero apart from their diagonals."""
    mask = np.eye(diagonal.shape[-1], dtype=bool)
    return xp.where(mask, diagonal[..., None], blank(diagonal.dtype))


def _with_columns(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    return None if dims is None else (*dims, dims[-1])


@op("MatrixDiag", inputs="diagonal: T", outputs="output: T", attrs="T: type", shape=_with_columns)
def matrix_diag_(xp: Any, diagonal: Any) -> Any:
    if diagonal.ndim < 1:
        raise invalid(f"diagonal must be at least 1-dim, received shape: {s.show(diagonal.shape)}")
    return _on_diagonal(xp, diagonal)


@matrix_diag_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.MatrixDiagPart(grad)


def _smaller(a: int | None, b: int | None) -> int | None:
    if 0 in (a, b):
        return 0
    return None if a is None or b is None else min(a, b)


def _diagonal_length(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 2)
    return None if dims is None else (*dims[:-2], _smaller(dims[-2], dims[-1]))


@op(
    "MatrixDiagPart",
    inputs="input: T",
    outputs="diagonal: T",
    attrs="T: type",
    shape=_diagonal_length,
)
def matrix_diag_part_(xp: Any, input: Any) -> Any:
    _check_matrix(input)
    return xp.diagonal(input, axis1=-2, axis2=-1)


def _check_matrix(x: Any) -> None:
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {s.show(x.shape)}")


@matrix_diag_part_.gradient
def _(op: Operation, grad: Any) -> Any:
    input = op.inputs[0]
    sides = (None, None) if input.dims is None else input.dims[-2:]
    if s.known(sides) and sides[0] == sides[1]:
        return raw.MatrixDiag(grad)
    return raw.MatrixSetDiag(array.zeros_like(input), grad)


def _diagonal_set(c: ShapeContext) -> Dims:
    dims, diagonal = s.with_rank_at_least(c.dims(0), 2), s.with_rank_at_least(c.dims(1), 1)
    if dims is None:
        return None if diagonal is None else (*diagonal[:-1], None, None)
    diagonal = s.with_rank(diagonal, len(dims) - 1)
    s.merge_dim(_smaller(dims[-2], dims[-1]), diagonal[-1])
    return s.merge(dims, (*diagonal[:-1], None, None))


@op(
    "MatrixSetDiag",
    inputs="input: T, diagonal: T",
    outputs="output: T",
    attrs="T: type",
    shape=_diagonal_set,
)
def matrix_set_diag_(xp: Any, input: Any, diagonal: Any) -> Any:
    return _set_band(xp, input, diagonal, 0, 0)


@matrix_set_diag_.gradient
def _(op: Operation, grad: Any) -> Any:
    dims = s.merge(op.inputs[0].dims, grad.dims)
    diagonal = op.inputs[1].dims
    if dims is not None and diagonal is not None:
        dims = (*s.merge(dims[:-2], diagonal[:-1]), *dims[-2:])  # type: ignore[misc]
    if s.known(dims):
        assert dims is not None
        diagonal_shape: Any = [*dims[:-2], min(dims[-2:])]  # type: ignore[type-var]
    else:
        with colocate_with(grad):
            whole, count = array.shape(grad), array.rank(grad)
            batch = raw.Slice(whole, [0], array.stack([count - 2]))
            sides = raw.Slice(whole, array.stack([count - 2]), [2])
            diagonal_shape = array.concat([batch, [raw.Min(sides, [0])]], 0)
    zeros = array.zeros(diagonal_shape, dtype=grad.dtype)
    return raw.MatrixSetDiag(grad, zeros), raw.MatrixDiagPart(grad)


# ---- bands of diagonals -----------------------------------------------------------------------
# Diagonal d holds the elements at columns row + d. A band from `lower` to `upper` is stored with
# its uppermost diagonal first, every one starting at the left and padded at the right.


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
    _check_matrix(input)
    if np.ndim(padding_value) != 0:
        raise invalid("Padding must be scalar.")
    lower, upper = _kernel_band(k)
    _check_band(input, lower, upper)
    rows, columns = input.shape[-2:]
    length = _band_length(rows, columns, lower, upper)
    d = np.arange(upper, lower - 1, -1)[:, None]
    step = np.arange(length)[None, :]
    row, column = step + np.maximum(-d, 0), step + np.maximum(d, 0)
    inside = (row < rows) & (column < columns)
    found = input[..., np.where(inside, row, 0), np.where(inside, column, 0)]
    out = xp.where(inside, found, padding_value)
    return out if lower < upper else xp.reshape(out, (*input.shape[:-2], length))


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
    inside, values = _spread(xp, diagonal, sides, lower, upper)
    return xp.where(inside, values, padding_value)


def _spread(
    xp: Any, diagonal: Any, sides: tuple[int, int], lower: int, upper: int
) -> tuple[np.ndarray, Any]:
    """Which elements of a matrix lie in the band, and for each of these its value."""
    rows, columns = sides
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    d = column - row
    inside = (d >= lower) & (d <= upper)
    which = np.where(inside, upper - d, 0)
    step = np.where(inside, np.minimum(row, column), 0)
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
    return _set_band(xp, input, diagonal, *_kernel_band(k))


def _set_band(xp: Any, input: Any, diagonal: Any, lower: int, upper: int) -> Any:
    _check_matrix(input)
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
    inside, values = _spread(xp, diagonal, (rows, columns), lower, upper)
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


# ---- band part --------------------------------------------------------------------------------


@op(
    "MatrixBandPart",
    inputs="input: T, num_lower: Tindex, num_upper: Tindex",
    outputs="band: T",
    attrs="T: type, Tindex: {int32, int64} = int64",
    shape=s.unchanged,
)
def matrix_band_part_(xp: Any, input: Any, num_lower: Any, num_upper: Any) -> Any:
    _check_matrix(input)
    rows, columns = input.shape[-2:]
    for what, value in (("num_lower", num_lower), ("num_upper", num_upper)):
        if np.ndim(value) != 0:
            raise invalid(f"{what} must be scalar, got shape {s.show(np.shape(value))}")
    if xp is np:
        for what, value, of, limit in (
            ("num_lower", num_lower, "rows", rows),
            ("num_upper", num_upper, "columns", columns),
        ):
            if value > limit:
                raise invalid(
                    f"{what} must be negative or less or equal to number of {of} ({limit}) got:"
                    f" {value}"
                )
    below = np.arange(rows)[:, None] - np.arange(columns)[None, :]
    low = (num_lower < 0) | (below <= num_lower)
    high = (num_upper < 0) | (-below <= num_upper)
    return xp.where(low & high, input, blank(input.dtype))


@matrix_band_part_.gradient
def _(op: Operation, grad: Any) -> Any:
    return matrix_band_part_(grad, *op.inputs[1:]), None, None


# ---- wrappers ---------------------------------------------------------------------------------


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank with `diagonal` where both halves of the index agree."""
    return diag_(diagonal, name=name)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The elements of `input` at which both halves of the index agree."""
    return diag_part_(input, name=name)


def _is_zero(k: Any) -> bool:
    value = constant_value(k) if isinstance(k, Tensor) else k
    return value is not None and np.ndim(value) == 0 and int(value) == 0


def _is_default(value: Any, default: int) -> bool:
    return not isinstance(value, Tensor) and np.ndim(value) == 0 and bool(value == default)


def _padding(value: Any, like: Any) -> Any:
    if getattr(like, "dtype", None) == dtypes.bool and not isinstance(value, Tensor):
        return bool(value)
    return value


def matrix_diag(
    diagonal: Any,
    name: str | None = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
) -> Tensor:
    """Matrices with the given diagonals, `k` of them counted from the main one."""
    defaults = (_is_default(num_rows, -1), _is_default(num_cols, -1), _is_default(padding_value, 0))
    if _is_zero(k) and all(defaults):
        return matrix_diag_(diagonal, name=name)
    padding = _padding(padding_value, diagonal)
    return matrix_diag_v2_(diagonal, k, num_rows, num_cols, padding, name=name)


def matrix_diag_part(
    input: Any, name: str | None = "diag_part", k: Any = 0, padding_value: Any = 0
) -> Tensor:
    """The diagonals of matrices: the main one, or those that `k` names."""
    if _is_zero(k):
        return matrix_diag_part_(input, name=name)
    return matrix_diag_part_v2_(input, k, _padding(padding_value, input), name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str | None = "set_diag", k: Any = 0) -> Tensor:
    """Matrices with their diagonals replaced."""
    if _is_zero(k):
        return matrix_set_diag_(input, diagonal, name=name)
    return matrix_set_diag_v2_(input, diagonal, k, name=name)


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices with everything outside a band set to zero; a negative count keeps that side."""
    return matrix_band_part_(input, num_lower, num_upper, name=name)
