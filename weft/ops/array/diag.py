"""Diagonals and bands of matrices: the last two dimensions, all others are batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.graph import colocate_with
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import DEPRECATED
from weft.ops.array import array
from weft.ops.array.array import blank, invalid
from weft.ops.array.diag_bands import (
    check_matrix,
    matrix_diag_part_v2_,
    matrix_diag_v2_,
    matrix_set_diag_v2_,
    set_band,
)
from weft.ops.kit.value_checks import require

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
    mask = xp.eye(diagonal.shape[-1], dtype=bool)
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
    return raw.MatrixDiagPart(grad, name="diag_part")


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
    check_matrix(input)
    return xp.diagonal(input, axis1=-2, axis2=-1)


@matrix_diag_part_.gradient
def _(op: Operation, grad: Any) -> Any:
    input = op.inputs[0]
    sides = (None, None) if input.dims is None else input.dims[-2:]
    if s.known(sides) and sides[0] == sides[1]:
        return raw.MatrixDiag(grad, name="diag")
    return raw.MatrixSetDiag(array.zeros_like(input), grad, name="set_diag")


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
    return set_band(xp, input, diagonal, 0, 0)


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
            batch = raw.Slice(whole, [0], [count - 2])
            sides = raw.Slice(whole, [count - 2], [2])
            least = raw.Min(sides, constant([0], dtypes.int32))
            diagonal_shape = array.concat([batch, [least]], 0)
    zeros = array.zeros(diagonal_shape, dtype=grad.dtype)
    in_input = raw.MatrixSetDiag(grad, zeros, name="set_diag")
    return in_input, raw.MatrixDiagPart(grad, name="diag_part")


# ---- band part --------------------------------------------------------------------------------


@op(
    "MatrixBandPart",
    inputs="input: T, num_lower: Tindex, num_upper: Tindex",
    outputs="band: T",
    attrs="T: type, Tindex: {int32, int64} = int64",
    shape=s.unchanged,
)
def matrix_band_part_(xp: Any, input: Any, num_lower: Any, num_upper: Any) -> Any:
    check_matrix(input)
    rows, columns = input.shape[-2:]
    for what, value in (("num_lower", num_lower), ("num_upper", num_upper)):
        if np.ndim(value) != 0:
            raise invalid(f"{what} must be scalar, got shape {s.show(np.shape(value))}")
    wrong = "{} must be negative or less or equal to number of {} ({}) got: {}".format
    low = "num_lower", "rows", rows, num_lower
    high = "num_upper", "columns", columns, num_upper
    require(xp, num_lower <= rows, lambda: invalid(wrong(*low)))
    require(xp, num_upper <= columns, lambda: invalid(wrong(*high)))
    below = np.arange(rows)[:, None] - np.arange(columns)[None, :]
    kept = (num_lower < 0) | (below <= num_lower)
    kept &= (num_upper < 0) | (-below <= num_upper)
    return xp.where(kept, input, blank(input.dtype))


@matrix_band_part_.gradient
def _(op: Operation, grad: Any) -> Any:
    return matrix_band_part_(grad, *op.inputs[1:]), None, None


# ---- under the names of 2016 ------------------------------------------------------------------

for _name, _inputs, _output, _kernel in (
    ("Diag", "diagonal: T", "output: T", matrix_diag_.kernel),
    ("DiagPart", "input: T", "diagonal: T", matrix_diag_part_.kernel),
    ("SetDiag", "input: T, diagonal: T", "output: T", matrix_set_diag_.kernel),
    ("BandPart", "input: T, num_lower: int64, num_upper: int64", "band: T",
     matrix_band_part_.kernel),
):  # fmt: skip
    op(
        f"BatchMatrix{_name}", inputs=_inputs, outputs=_output, attrs="T: type", shape=s.unknown,
        traits=DEPRECATED,
    )(_kernel)  # fmt: skip


# ---- wrappers ---------------------------------------------------------------------------------


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank with `diagonal` where both halves of the index agree.

    Args:
        diagonal: a tensor of at least one dimension.
        name: of the operation.

    Returns:
        A tensor that is 0 off the diagonal.

    Raises:
        ValueError: `diagonal` is a scalar.

    Example:
        >>> session.run(tf.diag([1, 2]))
        array([[1, 0],
               [0, 2]], dtype=int32)
    """
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
