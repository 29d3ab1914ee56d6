"""The largest entries of rows: which they are, whether a class is among them, the n-th in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.graph import Tensor
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import DEPRECATED, costs
from weft.ops.array.array import expand_dims, invalid, reshape, shape, size, stack, zeros
from weft.ops.kit.declare import cast_to, literal
from weft.ops.kit.target import target_platform
from weft.ops.math import sequence
from weft.ops.math.reduce import reduce_prod

Array = Any


def _top_dims(dims: Dims, k: int | None) -> list[Dims]:
    dims = s.with_rank_at_least(dims, 1)
    if k is not None and k < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {k}"
        )
    if dims is None:
        return [None, None]
    if k is not None and dims[-1] is not None and dims[-1] < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {dims[-1]}")
    return [(*dims[:-1], k)] * 2


def _scalar_value(c: ShapeContext, i: int) -> int | None:
    value, dims = c.value(i), c.dims(i)
    if dims is not None and len(dims) and value is not None:
        raise ValueError(f"Input must be scalar but has rank {len(dims)}")
    s.with_rank(dims, 0)
    return None if value is None else int(value)


def _top_k(xp: Any, x: Array, k: int) -> list[Array]:
    if x.ndim < 1:
        raise invalid(f"input must be >= 1-D, got shape {s.show(x.shape)}")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}")
    if x.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")
    return _largest(xp, x, k)


# On the CPU, sorting takes less time than looking for more of a row than this part.
_PART = 6


@by_library
def _largest(xp: Any, x: Array, k: int) -> list[Array]:
    from jax import lax

    sorts = target_platform() == "cpu" and x.dtype.itemsize <= 4 and 0 < x.shape[-1] < 2**31
    if sorts and k > x.shape[-1] // _PART:
        return _largest_sorted(xp, x, k)
    values, indices = lax.top_k(x, k)
    return [values, indices.astype(np.int32)]


def _largest_sorted(xp: Any, x: Array, k: int) -> list[Array]:
    """XLA sorts single integers several times faster than pairs: value and place go into one."""
    from jax import lax

    places = lax.broadcasted_iota(np.int64, x.shape, x.ndim - 1)
    packed = (~_ordered_as(xp, x) << 32) | places
    first = _sorted_rows(xp, packed)[..., :k]
    places = (first & 0xFFFFFFFF).astype(np.int32)
    return [xp.take_along_axis(x, places, axis=-1), places]


# XLA sorts on one core, but several sorts at once, if there are enough of them: the most parts of
# an array, the fewest, and the elements from which on that is worthwhile.
_SORTS, _FEWEST, _WORTHWHILE = 16, 4, 2**16


def _sorted_rows(xp: Any, x: Array) -> Array:
    """Sorts each row; of large arrays, several parts side by side."""
    from jax import lax

    rows = math.prod(x.shape[:-1])
    if rows < _FEWEST or x.size < _WORTHWHILE:
        return lax.sort(x, is_stable=False)
    parts = xp.array_split(x.reshape(rows, -1), min(rows, _SORTS))
    return xp.concatenate([lax.sort(part, is_stable=False) for part in parts]).reshape(x.shape)


def _ordered_as(xp: Any, x: Array) -> Array:
    """Integers of 32 bits, in 64, in the order of numbers; no number is larger than a NaN."""
    from jax import lax

    if not np.issubdtype(x.dtype, np.integer):
        x = x.astype(np.float32)
        x = xp.where(xp.isnan(x), np.float32(np.nan), xp.where(x == 0, np.float32(0), x))
        x = lax.bitcast_convert_type(x, np.int32)
        x = x ^ ((x >> 31) & np.int32(0x7FFFFFFF))
    return x.astype(np.int64)


@_largest.numpy
def _(xp: Any, x: Array, k: int) -> list[Array]:
    if not x.size:
        return [np.zeros((*x.shape[:-1], k), dtype) for dtype in (x.dtype, np.int32)]
    # Among equals the lower index comes first, so a stable ascending sort runs from the far end.
    ascending = np.argsort(x[..., ::-1], axis=-1, kind="stable")
    indices = (x.shape[-1] - 1 - ascending[..., ::-1][..., :k]).astype(np.int32)
    return [np.take_along_axis(x, indices, axis=-1), indices]


def _comparisons(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    """What sorting costs NumPy, in multiplications."""
    return 400.0 * math.prod(dims[0])


@op(
    "TopKV2",
    inputs="input: T, k: int32",
    outputs="values: T, indices: int32",
    attrs="sorted: bool = true, T: realnumbertype",
    shape=lambda c: _top_dims(c.dims(0), _scalar_value(c, 1)),
    static="k",
    traits=costs(_comparisons),
)
def top_k_v2_(xp: Any, input: Array, k: np.ndarray) -> list[Array]:
    if np.ndim(k):
        raise invalid(f"k must be scalar, got shape {s.show(k.shape)}")
    return _top_k(xp, input, int(k))


@op(
    "TopK",
    inputs="input: T",
    outputs="values: T, indices: int32",
    attrs="k: int >= 0, sorted: bool = true, T: realnumbertype",
    shape=lambda c: _top_dims(c.dims(0), c.attr("k")),
    traits=DEPRECATED,
)
def top_k_(xp: Any, input: Array, *, k: int) -> list[Array]:
    return _top_k(xp, input, k)


def _scattered(op: Operation, grad: Any) -> Tensor:
    """`grad` at the places its entries were taken from, zeros elsewhere."""
    in_dims, dims = shape(op.inputs[0]), shape(op.outputs[1])
    columns = raw.GatherV2(cast_to(dims, dtypes.int64), size(dims) - 1, 0)
    flat = reshape(op.outputs[1], stack([-1, columns]))
    in_columns = raw.GatherV2(cast_to(in_dims, dtypes.int64), size(in_dims) - 1, 0)
    rows = cast_to(shape(flat)[0], dtypes.int64)
    starts = sequence.range(0, rows * in_columns, in_columns)
    places = reshape(flat + cast_to(expand_dims(starts, -1), dtypes.int32), [-1])
    at, flat_grad = expand_dims(places, -1), reshape(grad, [-1])
    return reshape(raw.ScatterNd(at, flat_grad, [reduce_prod(in_dims)]), in_dims)


@top_k_v2_.gradient
def _(op: Operation, grad: Any, _: Any) -> Any:
    return _scattered(op, grad), zeros([], dtypes.int32)


@top_k_.gradient
def _(op: Operation, grad: Any, _: Any) -> Any:
    return _scattered(op, grad)


def _in_top(c: ShapeContext) -> Dims:
    predictions, targets = s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 1)
    return (s.merge_dim(predictions[0], targets[0]),)


def _is_in_top(xp: Any, predictions: Array, targets: Array, k: Any) -> Array:
    """Ties count for the target; a row that is not finite, or a target that is no class, is out."""
    if predictions.ndim != 2:
        raise invalid("predictions must be 2-dimensional")
    if targets.ndim != 1:
        raise invalid("targets must be 1-dimensional")
    if predictions.shape[0] != targets.shape[0]:
        raise invalid(
            f"First dimension of predictions {predictions.shape[0]} must match length of targets "
            f"{targets.shape[0]}"
        )
    classes = predictions.shape[1]
    exists = (targets >= 0) & (targets < classes)
    if not classes:
        return xp.zeros(targets.shape, bool)
    at = xp.where(exists, targets, literal(targets, 0))
    wanted = xp.take_along_axis(predictions, at[:, None], axis=1)
    ahead = xp.sum(predictions > wanted, axis=1)
    return exists & xp.all(xp.isfinite(predictions), axis=1) & (ahead < k)


@op(
    "InTopK",
    inputs="predictions: float, targets: T",
    outputs="precision: bool",
    attrs="k: int, T: {int32, int64} = int32",
    shape=_in_top,
)
def in_top_k_(xp: Any, predictions: Array, targets: Array, *, k: int) -> Array:
    return _is_in_top(xp, predictions, targets, k)


@op(
    "InTopKV2",
    inputs="predictions: float, targets: T, k: T",
    outputs="precision: bool",
    attrs="T: {int32, int64} = int32",
    shape=_in_top,
)
def in_top_k_v2_(xp: Any, predictions: Array, targets: Array, k: Array) -> Array:
    if k.ndim:
        raise invalid(f"k must be 0-D, got shape {s.show(k.shape)}")
    return _is_in_top(xp, predictions, targets, k)


def _without_last(c: ShapeContext) -> Dims:
    dims, n = s.with_rank_at_least(c.dims(0), 1), _scalar_value(c, 1)
    if dims is None:
        return None
    if n is not None and dims[-1] is not None and dims[-1] <= n:
        raise ValueError(f"Input must have last dimension > n = {n} but is {dims[-1]}")
    return dims[:-1]


@op(
    "NthElement",
    inputs="input: T, n: int32",
    outputs="values: T",
    attrs="reverse: bool = false, T: realnumbertype",
    shape=_without_last,
    static="n",
)
def nth_element_(xp: Any, input: Array, n: np.ndarray, *, reverse: bool) -> Array:
    if np.ndim(n):
        raise invalid(f"N must be scalar, got shape {s.show(n.shape)}")
    if input.ndim < 1:
        raise invalid(f"Input must be >= 1-D, got shape {s.show(input.shape)}")
    at = int(n)
    if at < 0:
        raise invalid(f"Need n >= 0, got {at}")
    if input.shape[-1] <= at:
        raise invalid("Input must have at least n+1 columns")
    if reverse:
        at = input.shape[-1] - 1 - at
    return _order(xp, input, at)[..., at]


@by_library
def _order(xp: Any, x: Array, at: int) -> Array:
    """`x` with the element at `at` of each row where it belongs."""
    return xp.sort(x, axis=-1)


@_order.numpy
def _(xp: Any, x: Array, at: int) -> Array:
    return np.partition(x, at, axis=-1)


@nth_element_.gradient
def _(op: Operation, grad: Any) -> Any:
    """Shared evenly among the entries equal to the one found."""
    x, y = op.inputs[0], op.outputs[0]
    equal = cast_to(raw.Equal(expand_dims(y, -1), x), grad.dtype)
    count = expand_dims(raw.Sum(equal, -1), -1)
    return raw.Div(equal, count) * expand_dims(grad, -1), None
