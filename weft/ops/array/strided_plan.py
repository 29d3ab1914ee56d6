"""The extent of a strided slice, worked out from its bounds and masks; no ops here."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.ops.kit.shared import invalid, is_concrete, known_numbers
from weft.ops.kit.value_checks import must_be_within

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
MASK_ATTRS = ", ".join(f"{mask}: int = 0" for mask in MASKS)


@dataclass(frozen=True)
class StridedPlan:
    """The part of each input dimension that a strided slice takes, and the shape of the result.

    `sizes[i]` elements from `begins[i]` on, `strides[i]` apart; None where not known.
    """

    begins: tuple[int | None, ...]
    strides: tuple[int, ...]
    sizes: tuple[int | None, ...]
    shrunk: tuple[bool, ...]
    final: tuple[int | None, ...]


# Of one dimension: first element, stride, how many, and whether the dimension goes.
Piece = tuple[int | None, int, int | None, bool]


def strided_plan(
    dims: tuple[int | None, ...],
    begin: Sequence[int | None] | np.ndarray | None,
    end: Sequence[int | None] | np.ndarray | None,
    strides: Sequence[int] | np.ndarray,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> StridedPlan:
    """Works out a slice spec against `dims`; ValueError when it cannot fit.

    None for `begin` or `end`, or for a number of theirs, means that it is not known.
    """
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError("Multiple ellipses in slice spec not allowed")
    count = len(strides)
    if not ellipsis_mask:
        # Dimensions that the spec does not mention are taken whole, as by an ellipsis at its end.
        ellipsis_mask = 1 << count
        count += 1
    taken: list[Piece] = []
    final: list[int | None] = []
    for i in range(count):
        bit = 1 << i
        if bit & ellipsis_mask:
            mentioned = sum(not (new_axis_mask >> j) & 1 for j in range(i + 1, len(strides)))
            rest = dims[len(taken) : max(len(taken), len(dims) - mentioned)]
            taken += [(0, 1, d, False) for d in rest]
            final += rest
        elif bit & new_axis_mask:
            final.append(1)
        else:
            piece = _piece(
                dims,
                len(taken),
                _number(begin, i),
                _number(end, i),
                int(strides[i]),
                bool(bit & begin_mask),
                bool(bit & end_mask),
                bool(bit & shrink_axis_mask),
            )
            taken.append(piece)
            final += [] if piece[3] else [piece[2]]
    begins, steps, sizes, shrunk = zip(*taken, strict=True) if taken else ((), (), (), ())
    return StridedPlan(begins, steps, sizes, shrunk, tuple(final))


def _number(bounds: Sequence[int | None] | np.ndarray | None, i: int) -> int | None:
    number = None if bounds is None else bounds[i]
    return None if number is None else int(number)


def _piece(
    dims: tuple[int | None, ...],
    axis: int,
    begin: int | None,
    end: int | None,
    stride: int,
    open_begin: bool,
    open_end: bool,
    shrink: bool,
) -> Piece:
    if axis == len(dims):
        raise ValueError(f"Index out of range using input dim {axis}; input has only {axis} dims")
    if stride == 0:
        raise ValueError(f"strides[{axis}] must be non-zero")
    length = dims[axis]
    if shrink:
        return _single(axis, length, begin, stride)
    if length is None:
        return None, stride, None, False
    low, high = (0, length) if stride > 0 else (-1, length - 1)
    first, last = (low, high) if stride > 0 else (high, low)
    if not open_begin:
        if begin is None:
            return None, stride, None, False
        first = min(max(begin + length if begin < 0 else begin, low), high)
    if not open_end:
        if end is None:
            return None, stride, None, False
        last = min(max(end + length if end < 0 else end, low), high)
    return first, stride, max(0, -((first - last) // stride)), False


def _single(axis: int, length: int | None, index: int | None, stride: int) -> Piece:
    """One element, of a dimension that goes."""
    if length is not None and stride < 0:
        raise ValueError("only stride 1 allowed on non-range indexing.")
    if index is None or length is None:
        return None, stride, 1, True
    at = index + length if index < 0 else index
    if not 0 <= at < length:
        raise ValueError(f"slice index {at} of dimension {axis} out of bounds.")
    return at, stride, 1, True


def checked_plan(
    dims: tuple[int, ...], begin: Any, end: Any, strides: Any, masks: Any
) -> StridedPlan:
    """As `strided_plan`, for a kernel: the bounds are arrays, or traced."""
    shapes = [np.shape(v) for v in (begin, end, strides)]
    if len(shapes[0]) != 1 or len(set(shapes)) != 1 or shapes[0][0] >= 32:
        begin_shape, end_shape, strides_shape = map(s.show, shapes)
        raise invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes"
            f" {begin_shape}, {end_shape}, and {strides_shape} instead."
        )
    try:
        return strided_plan(
            dims, known_numbers(begin), known_numbers(end), strides.tolist(), *masks
        )
    except ValueError as error:
        raise invalid(str(error)) from None


def traced_rows(
    xp: Any, plan: StridedPlan, dims: tuple[int, ...], begin: Any, masks: Any
) -> tuple[list[Any], StridedPlan]:
    """The starts of single rows whose indices are traced, and the ranges taken of the rest."""
    if None in plan.sizes:
        raise NotImplementedError("how much a slice takes only shows when it runs")
    _, _, ellipsis_mask, new_axis_mask, shrink_mask = masks
    starts: list[Any] = [0] * len(dims)
    shrunk = [axis for axis, gone in enumerate(plan.shrunk) if gone]
    entries = [i for i in range(begin.shape[0]) if (shrink_mask & ~new_axis_mask) >> i & 1]
    entries = [i for i in entries if not ellipsis_mask >> i & 1]
    for axis, i in zip(shrunk, entries, strict=True):
        index = begin[i]
        if not is_concrete(index):
            must_be_within(index, dims[axis], -dims[axis])
        starts[axis] = xp.where(index < 0, index + dims[axis], index)
    begins = tuple(0 if gone else b for b, gone in zip(plan.begins, plan.shrunk, strict=True))
    return [xp.asarray(start, begin.dtype) for start in starts], replace(plan, begins=begins)


def with_rows(dims: tuple[int, ...], plan: StridedPlan) -> tuple[int, ...]:
    """`dims`, but 1 where a single row is taken."""
    return tuple(1 if gone else d for d, gone in zip(dims, plan.shrunk, strict=True))


def ascending_slices(plan: StridedPlan) -> tuple[tuple[builtins.slice, ...], list[int]]:
    """Ascending slices of each dimension, and the axes to reverse afterwards."""
    slices, reversed_axes = [], []
    for axis, (b, step, n) in enumerate(zip(plan.begins, plan.strides, plan.sizes, strict=True)):
        assert b is not None and n is not None
        if n == 0:
            slices.append(builtins.slice(0, 0, 1))
            continue
        far = b + (n - 1) * step
        slices.append(builtins.slice(min(b, far), max(b, far) + 1, abs(step)))
        if step < 0 and n > 1:
            reversed_axes.append(axis)
    return tuple(slices), reversed_axes


def python_index(
    begin: list[int], end: list[int], strides: list[int],
    begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> tuple[Any, ...] | None:  # fmt: skip
    """The slice as Python writes it, for any array; None for what would be an error there."""
    index: list[Any] = []
    for i, (first, stop, step) in enumerate(zip(begin, end, strides, strict=False)):
        if ellipsis_mask >> i & 1:
            index.append(Ellipsis)
        elif new_axis_mask >> i & 1:
            index.append(None)
        elif not step or (shrink_axis_mask >> i & 1 and step != 1):
            return None
        elif shrink_axis_mask >> i & 1:
            index.append(first)
        else:
            index.append(
                builtins.slice(
                    None if begin_mask >> i & 1 else first,
                    None if end_mask >> i & 1 else stop,
                    step,
                )
            )
    fine = len(begin) == len(end) == len(strides) and index.count(Ellipsis) <= 1
    return tuple(index) if fine else None
