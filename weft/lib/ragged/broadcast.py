"""Two tensors, of which one is ragged at least, brought to one ragged shape.

Both are seen as partitioned at as many levels as either is. From the outermost level in, we keep
for every row of the result which row of x and which of y it comes from; at the end, the same for
values. A dimension of uniform size 1 fits any other; a ragged one only rows of the same lengths.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.ragged.rows import known_rank, lengths_to_splits, ranges
from weft.lib.ragged.tensor import RaggedTensor
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where
from weft.ops.control.control import Assert
from weft.ops.math import math


def broadcast(x: Any, y: Any, dtype: Any) -> tuple[Any, Any]:
    """x and y as ragged tensors with the same splits, of type `dtype`."""
    if _same_rows(x, y):
        return x, y
    if x.shape.ndims is None or y.shape.ndims is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(x.shape.ndims, y.shape.ndims)
    levels = max(_last_ragged_axis(x, rank), _last_ragged_axis(y, rank))
    a, b = (_operand(tensor, rank, levels, dtype) for tensor in (x, y))
    checks = [_sizes_fit(0, a.axes[0], b.axes[0])]
    with control_dependencies(checks):
        count = where(math.equal(a.axes[0].size, 1), b.axes[0].size, a.axes[0].size)
    rows_a, rows_b = (operand.axes[0].stepping(math.range(count)) for operand in (a, b))
    splits = []
    for axis in range(1, levels + 1):
        left, right = a.axes[axis], b.axes[axis]
        lengths, check = _lengths(axis, left, right, rows_a, rows_b)
        checks.append(check)
        splits.append(lengths_to_splits(lengths))
        rows_a, rows_b = left.below(rows_a, lengths), right.below(rows_b, lengths)
    with control_dependencies(checks):
        values = [gather(a.values, rows_a), gather(b.values, rows_b)]
        first, second = (
            RaggedTensor.from_nested_row_splits(v, splits, validate=False) for v in values
        )
    return first, second


def _same_rows(x: Any, y: Any) -> bool:
    if not (isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor)):
        return False
    mine, other = x.nested_row_splits, y.nested_row_splits
    return len(mine) == len(other) and all(a is b for a, b in zip(mine, other, strict=True))


def _last_ragged_axis(tensor: Any, rank: int) -> int:
    if not isinstance(tensor, RaggedTensor):
        return 0
    return tensor.ragged_rank + rank - known_rank(tensor)


# ---- operands -----------------------------------------------------------------------------------


class _Ragged(NamedTuple):
    """A dimension with rows of different lengths."""

    splits: Tensor

    def lengths(self, rows: Tensor) -> Tensor:
        return gather(self.splits, rows + 1) - gather(self.splits, rows)

    def below(self, rows: Tensor, lengths: Tensor) -> Tensor:
        """The elements of `rows`, one row after the other."""
        starts = gather(self.splits, rows)
        return ranges(starts, starts + lengths)


class _Uniform(NamedTuple):
    """A dimension of one size."""

    size: Tensor

    def stepping(self, offsets: Tensor) -> Tensor:
        """Offsets in this dimension; all 0 if it is the one element that fits everywhere."""
        known = constant_value(self.size)
        if known is not None:
            return offsets if known != 1 else array.zeros_like(offsets)
        return offsets * math.cast(math.not_equal(self.size, 1), offsets.dtype)

    def below(self, rows: Tensor, lengths: Tensor) -> Tensor:
        offsets = ranges(array.zeros_like(lengths), lengths)
        return array.repeat(rows * self.size, lengths, axis=0) + self.stepping(offsets)


class _Operand(NamedTuple):
    axes: list[Any]  # the outermost dimension and those that have splits in the result
    values: Tensor  # what is below these


def _operand(tensor: Any, rank: int, levels: int, dtype: Any) -> _Operand:
    added = rank - tensor.shape.ndims
    axes: list[Any] = [_Uniform(convert_to_tensor(1, dtype)) for _ in range(added)]
    flat = tensor
    if isinstance(tensor, RaggedTensor):
        flat = tensor.flat_values
        axes += [_Uniform(tensor.nrows()), *map(_Ragged, tensor.nested_row_splits)]
    merged = levels + 1 - len(axes)  # dimensions of `flat` that become levels
    shape = array.shape(flat, out_type=dtype)
    first = 1 if flat is not tensor else 0
    axes += [_Uniform(shape[first + i]) for i in range(merged)]
    if merged + first > 1:
        inner = array.concat([[-1], shape[first + merged :]], axis=0)
        flat = array.reshape(flat, inner)
    return _Operand(axes, flat)


# ---- do they fit? -------------------------------------------------------------------------------


def _check(holds: Any, axis: int, a: Any, b: Any) -> Any:
    message = "Unable to broadcast: dimension size mismatch in dimension"
    return Assert(holds, [message, axis, "lengths=", b, "dim_size=", a], summarize=10)


def _sizes_fit(axis: int, a: _Uniform, b: _Uniform) -> Any:
    one = math.logical_or(math.equal(a.size, 1), math.equal(b.size, 1))
    return _check(math.logical_or(math.equal(a.size, b.size), one), axis, a.size, b.size)


def _lengths(axis: int, a: Any, b: Any, rows_a: Tensor, rows_b: Tensor) -> tuple[Tensor, Any]:
    """The lengths of the result's rows, and an assertion that the operands' fit."""
    if isinstance(a, _Ragged) and isinstance(b, _Ragged):
        mine, other = a.lengths(rows_a), b.lengths(rows_b)
        return mine, _check(math.reduce_all(math.equal(mine, other)), axis, mine, other)
    if isinstance(a, _Ragged):
        mine = a.lengths(rows_a)
        return mine, _check(math.equal(b.size, 1), axis, mine, b.size)
    if isinstance(b, _Ragged):
        other = b.lengths(rows_b)
        return other, _check(math.equal(a.size, 1), axis, a.size, other)
    size = where(math.equal(a.size, 1), b.size, a.size)
    return array.fill(array.shape(rows_a), size), _sizes_fit(axis, a, b)
