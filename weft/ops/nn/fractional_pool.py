"""Pooling over regions of varying size, so that an image shrinks by a ratio that is no integer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.step_limits import looking_up
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit import philox
from weft.ops.kit.shared import invalid

Array = np.ndarray
# First and last row (or column) of each region.
Bounds = list[tuple[int, int]]

_POOL: dict[str, Any] = {
    "inputs": "value: T",
    "outputs": "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
    "attrs": "pooling_ratio: list(float) >= 4, pseudo_random: bool = false,"
    " overlapping: bool = false, deterministic: bool = false, seed: int = 0, seed2: int = 0,"
    " T: {float, double, int32, int64}",
    "traits": HOST,
}
_GRAD: dict[str, Any] = {
    "outputs": "output: T",
    "attrs": "overlapping: bool = false, T: {float, double, int32, int64}",
    "traits": HOST,
}


# ---- regions ------------------------------------------------------------------------------------


def _pooled_dims(c: ShapeContext) -> list[Dims]:
    dims, ratios = s.with_rank(c.dims(0), 4), c.attr("pooling_ratio")
    if len(ratios) != 4:
        raise ValueError("pooling_ratio field must specify 4 dimensions")
    _check_ratios(ratios, ValueError)
    out = [_pooled(d, r) for d, r in zip(dims, ratios, strict=True)]
    rows, columns = (None if d is None else d + 1 for d in out[1:3])
    return [tuple(out), (rows,), (columns,)]


def _pooled(size: int | None, ratio: float) -> int | None:
    return None if size is None else int(np.floor(np.float32(size) / np.float32(ratio)))


def _check_ratios(ratios: Sequence[float], kind: Any) -> None:
    for ratio in ratios:
        if ratio < 1:
            raise kind(f"pooling_ratio cannot be smaller than 1, got: {ratio:g}")


def _check_pool(value: Array, ratios: Sequence[float], deterministic: bool, seeded: bool) -> None:
    if value.ndim != 4:
        raise invalid("tensor_in must be 4-dimensional")
    _check_ratios(ratios, invalid)
    if ratios[0] != 1 and ratios[3] != 1:
        raise errors.UnimplementedError(
            None,
            None,
            "Fractional pooling is not yet supported on the batch nor channel dimension.",
        )
    if seeded and not deterministic:
        raise invalid("Both seed and seed2 should be 0 if deterministic is false.")
    for i, (size, ratio) in enumerate(zip(value.shape, ratios, strict=True)):
        if size < ratio:
            raise invalid(
                f"Pooling ratio is higher than input dimension size for dimension {i}. Input dim"
                f" size: {size} pooling ratio: {ratio:g}"
            )


def _words(rng: Array, count: int) -> tuple[list[int], Array]:
    """`count` random words, and the generator after them."""
    blocks = -(-count // 4)
    words = np.stack(philox.blocks(np, rng, blocks), axis=1).ravel()
    return words[:count].tolist(), philox.advance(rng, blocks)


def _sequence(rng: Array, size: int, count: int, pseudo_random: bool) -> tuple[Array, Array]:
    """The starts of `count` regions of `size` rows, and the end; and the generator after."""
    if pseudo_random:
        return _evenly(rng, size, count)
    lengths = [size // count + (i < size % count) for i in range(count)]
    words, rng = _words(rng, count)
    for i, word in enumerate(words[: count - 1]):
        j = i + word % (count - i)
        lengths[i], lengths[j] = lengths[j], lengths[i]
    return np.concatenate([[0], np.cumsum(lengths)]), rng


def _evenly(rng: Array, size: int, count: int) -> tuple[Array, Array]:
    """One offset for all regions, as in Graham's paper; bounded so that none is too long."""
    alpha, k = size / count, size // count
    limit = min((k + 2) / alpha - 1, (size + 1 - k) / alpha - (count - 1))
    (high, low), rng = _words(rng, 2)
    offset = ((high & 0xFFFFF) << 32 | low) / 2.0**52 * limit
    inner = [int(np.ceil(alpha * (i + offset))) - 1 for i in range(1, count)]
    return np.array([0, *inner, size]), rng


def _bounds(sequence: Array, size: int, overlapping: bool) -> Bounds:
    ends = sequence[1:] if overlapping else sequence[1:] - 1
    return [(int(a), min(int(b), size - 1)) for a, b in zip(sequence[:-1], ends, strict=True)]


def _pool(value: Array, rows: Bounds, columns: Bounds, reduce: Any) -> Array:
    """Reduces rows, then columns."""
    bands = np.stack([reduce(value[:, a : b + 1], axis=1) for a, b in rows], axis=1)
    return np.stack([reduce(bands[:, :, a : b + 1], axis=2) for a, b in columns], axis=2)


def _sizes(rows: Bounds, columns: Bounds) -> Array:
    heights, widths = (np.array([b - a + 1 for a, b in part]) for part in (rows, columns))
    return (heights[:, None] * widths)[..., None]


def _regions(
    value: Array,
    pooling_ratio: Any,
    pseudo_random: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[Array, Array]:
    """The row and the column sequence for a pooling of `value`."""
    _check_pool(value, pooling_ratio, deterministic, bool(seed or seed2))
    rng = philox.initial_state(seed, seed2)
    counts = [_pooled(n, r) for n, r in zip(value.shape, pooling_ratio, strict=True)]
    rows, rng = _sequence(rng, value.shape[1], counts[1] or 0, pseudo_random)
    columns, _ = _sequence(rng, value.shape[2], counts[2] or 0, pseudo_random)
    return rows, columns


# ---- operations ---------------------------------------------------------------------------------


@op("FractionalMaxPool", shape=_pooled_dims, **_POOL)
def fractional_max_pool_(
    xp: Any, value: Array, *, pooling_ratio: Any, pseudo_random: bool, overlapping: bool,
    deterministic: bool, seed: int, seed2: int,
) -> list[Array]:  # fmt: skip
    rows, columns = _regions(value, pooling_ratio, pseudo_random, deterministic, seed, seed2)
    height, width = value.shape[1:3]
    over = _bounds(rows, height, overlapping), _bounds(columns, width, overlapping)
    return [_pool(value, *over, np.max), rows, columns]


@op("FractionalAvgPool", shape=_pooled_dims, **_POOL)
def fractional_avg_pool_(
    xp: Any, value: Array, *, pooling_ratio: Any, pseudo_random: bool, overlapping: bool,
    deterministic: bool, seed: int, seed2: int,
) -> list[Array]:  # fmt: skip
    rows, columns = _regions(value, pooling_ratio, pseudo_random, deterministic, seed, seed2)
    height, width = value.shape[1:3]
    over = _bounds(rows, height, overlapping), _bounds(columns, width, overlapping)
    total, sizes = _pool(value, *over, np.sum), _sizes(*over)
    if value.dtype.kind == "i":  # as C++ divides: towards zero
        mean = np.sign(total) * (np.abs(total) // sizes)
    else:
        mean = total / sizes
    return [mean.astype(value.dtype), rows, columns]


@op(
    "FractionalMaxPoolGrad",
    inputs="orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64,"
    " col_pooling_sequence: int64",
    shape=lambda c: s.with_rank(c.dims(0), 4),
    **_GRAD,
)
def fractional_max_pool_grad_(
    xp: Any, orig_input: Array, orig_output: Array, out_backprop: Array,
    row_pooling_sequence: Array, col_pooling_sequence: Array, *, overlapping: bool,
) -> Array:  # fmt: skip
    """A gradient goes to the first of the largest elements of its region."""
    if out_backprop.shape != orig_output.shape:
        raise invalid(
            f"The gradient {s.show(out_backprop.shape)} is not of the shape of the output"
            f" {s.show(orig_output.shape)}"
        )
    batch, height, width, depth = orig_input.shape
    result = np.zeros_like(orig_input)
    items, channels = np.ogrid[:batch, :depth]
    for i, (top, bottom) in enumerate(_bounds(row_pooling_sequence, height, overlapping)):
        for j, (left, right) in enumerate(_bounds(col_pooling_sequence, width, overlapping)):
            region = orig_input[:, top : bottom + 1, left : right + 1]
            best = region.reshape(batch, -1, depth).argmax(axis=1)
            row, column = np.divmod(best, region.shape[2])
            result[items, top + row, left + column, channels] += out_backprop[:, i, j]
    return result


@op(
    "FractionalAvgPoolGrad",
    inputs="orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64,"
    " col_pooling_sequence: int64",
    shape=lambda c: c.partial(0) or (None,) * 4,
    **_GRAD,
)
def fractional_avg_pool_grad_(
    xp: Any, orig_input_tensor_shape: Array, out_backprop: Array, row_pooling_sequence: Array,
    col_pooling_sequence: Array, *, overlapping: bool,
) -> Array:  # fmt: skip
    shape = _checked_shape(orig_input_tensor_shape)
    rows = _bounds(row_pooling_sequence, shape[1], overlapping)[: out_backprop.shape[1]]
    columns = _bounds(col_pooling_sequence, shape[2], overlapping)[: out_backprop.shape[2]]
    for what, bounds in (("Row", rows), ("Column", columns)):
        if any(a < 0 or b < 0 for a, b in bounds):
            raise invalid(f"{what} sequence tensor values must not be negative, got {bounds}")
    result = np.zeros(shape)
    shares = out_backprop / _sizes(rows, columns)
    for i, (top, bottom) in enumerate(looking_up(rows)):
        for j, (left, right) in enumerate(columns):
            result[:, top : bottom + 1, left : right + 1] += shares[:, i : i + 1, j : j + 1]
    return result.astype(out_backprop.dtype)


def _checked_shape(shape: Array) -> tuple[int, ...]:
    if shape.shape != (4,):
        raise invalid("original input tensor shape must be1-dimensional and 4 elements")
    for what, size in zip(("Batch", "Rows", "Columns", "Depth"), shape, strict=True):
        if size == 0:
            raise invalid(f"{what} dimension of input must not be 0")
    return tuple(shape.tolist())


@fractional_max_pool_.gradient
def _(op: Any, grad: Any, *_: Any) -> Any:
    return raw.FractionalMaxPoolGrad(
        op.inputs[0], op.outputs[0], grad, op.outputs[1], op.outputs[2],
        overlapping=op.get_attr("overlapping"),
    )  # fmt: skip


@fractional_avg_pool_.gradient
def _(op: Any, grad: Any, *_: Any) -> Any:
    return raw.FractionalAvgPoolGrad(
        raw.Shape(op.inputs[0], out_type="int64"), grad, op.outputs[1], op.outputs[2],
        overlapping=op.get_attr("overlapping"),
    )  # fmt: skip


def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The largest element of each region; also, where the regions' rows and columns begin."""
    return raw.FractionalMaxPool(
        value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name
    )


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The mean of each region; also, where the regions' rows and columns begin."""
    return raw.FractionalAvgPool(
        value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name
    )
