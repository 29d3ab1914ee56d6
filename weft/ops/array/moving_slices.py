"""Slices whose place is a value: XLA's, sums over ranges of rows, and periodic resampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid

_XLA: dict[str, Any] = {
    "outputs": "output: T", "attrs": "T: type, Tindices: {int32, int64}", "traits": NO_GRADIENT,
}  # fmt: skip


def _check_places(places: Any, rank: int) -> None:
    if np.shape(places) != (rank,):
        shape = s.show(np.shape(places))
        raise invalid(f"start indices must be a vector of {rank} numbers, but have shape {shape}")


def _starts(xp: Any, places: Any, room: tuple[int, ...]) -> list[Any]:
    """Places moved so far that a slice which leaves `room` lies inside."""
    _check_places(places, len(room))
    return [xp.clip(places[i], 0, most) for i, most in enumerate(room)]


@op("XlaDynamicUpdateSlice", inputs="input: T, update: T, indices: Tindices", shape=s.unchanged,
    **_XLA)  # fmt: skip
def xla_dynamic_update_slice_(xp: Any, input: Any, update: Any, indices: Any) -> Any:
    from jax import lax

    _check_places(indices, input.ndim)
    return lax.dynamic_update_slice(input, update, [indices[i] for i in range(input.ndim)])


@xla_dynamic_update_slice_.numpy
def _(xp: Any, input: Any, update: Any, indices: Any) -> Any:
    room = tuple(a - b for a, b in zip(input.shape, update.shape, strict=True))
    found = np.array(input)
    starts = _starts(xp, indices, room)
    found[tuple(slice(i, i + n) for i, n in zip(starts, update.shape, strict=True))] = update
    return found


def _slice_sizes(c: ShapeContext) -> Dims:
    dims, sizes = c.dims(0), c.value(2)
    if sizes is not None:
        return tuple(int(n) for n in sizes)
    return None if dims is None else (None,) * len(dims)


@op("XlaDynamicSlice", inputs="input: T, start_indices: Tindices, size_indices: Tindices",
    shape=_slice_sizes, static="size_indices", **_XLA)  # fmt: skip
def xla_dynamic_slice_(xp: Any, input: Any, start_indices: Any, size_indices: Any) -> Any:
    from jax import lax

    _check_places(start_indices, input.ndim)
    starts = [start_indices[i] for i in range(input.ndim)]
    return lax.dynamic_slice(input, starts, [int(n) for n in size_indices])


@xla_dynamic_slice_.numpy
def _(xp: Any, input: Any, start_indices: Any, size_indices: Any) -> Any:
    room = tuple(a - int(b) for a, b in zip(input.shape, size_indices, strict=True))
    starts = _starts(xp, start_indices, room)
    return input[tuple(slice(i, i + n) for i, n in zip(starts, size_indices, strict=True))]


# ---- reductions over ranges of rows --------------------------------------------------------------


def _ranges_shape(c: ShapeContext) -> Dims:
    dims, indices, axis = c.dims(0), c.dims(1), c.value(2)
    s.with_rank(c.dims(2), 0)
    if dims is None or axis is None:
        return None if dims is None else (None,) * len(dims)
    count = None
    if indices is not None:
        if len(indices) not in (1, 2):
            raise ValueError(f"Shape must be rank 1 or 2 but is rank {len(indices)}")
        count = indices[0]
        if len(indices) == 1 and count is not None:
            count = max(count, 1) - 1
    return tuple(count if i == int(axis) else n for i, n in enumerate(dims))


def _lowest(dtype: Any) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


# Operation -> the function of NumPy, and what an empty range gives.
_REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "ReduceSliceSum": (np.sum, lambda dtype: 0),
    "ReduceSliceProd": (np.prod, lambda dtype: 1),
    "ReduceSliceMax": (np.max, _lowest),
    "ReduceSliceMin": (np.min, _highest),
}


def _reduced_ranges(data: Any, indices: Any, axis: Any, reduction: Any, empty: Any) -> Any:
    """One row for each [start, end) of `indices`, or for each pair of neighbours in a vector."""
    flat = indices.reshape(-1)
    pairs = np.stack([flat[:-1], flat[1:]], -1) if indices.ndim == 1 else indices
    rows = np.moveaxis(data, int(axis), 0)
    found = np.full((len(pairs), *rows.shape[1:]), empty(data.dtype), data.dtype)
    for i, (start, end) in enumerate(pairs):
        if start < min(end, len(rows)):
            found[i] = reduction(rows[start:end], axis=0)
    return np.moveaxis(found, 0, int(axis))


def _declare(name: str, reduction: Any, empty: Any) -> None:
    types = "numbertype" if name in ("ReduceSliceSum", "ReduceSliceProd") else "realnumbertype"

    @op(name, inputs="data: T, indices: Tindices, axis: int64", outputs="output: T",
        attrs=f"T: {types}, Tindices: {{int32, int64}}", shape=_ranges_shape,
        traits=HOST | NO_GRADIENT)  # fmt: skip
    def kernel(xp: Any, data: Any, indices: Any, axis: Any) -> Any:
        return _reduced_ranges(data, indices, axis, reduction, empty)


for _name, _rule in _REDUCTIONS.items():
    _declare(_name, *_rule)


# ---- periodic resampling -------------------------------------------------------------------------

_RESAMPLED = "periodic_resample expects"


def _resampled_dims(dims: tuple[int, ...], shape: Any) -> tuple[tuple[int, ...], int]:
    """The shape of a result, and which of its sizes follows from the others."""
    if len(dims) != len(shape):
        raise invalid(
            f"{_RESAMPLED} the rank of the input tensor, {len(dims)}, to be the same as the length"
            f" of the desired shape, {len(shape)}."
        )
    free = [i for i, n in enumerate(shape) if n is None or n < 1]
    if len(free) > 1:
        raise invalid(f"{_RESAMPLED} only one index to be marked as adjustable.")
    for i, (old, new) in enumerate(zip(dims, shape, strict=True)):
        if i not in free and new < old:
            raise invalid(
                f"{_RESAMPLED} the size of non-adjustable dimensions be at least as large as size"
                f" of input tensor. Dimension {i} input tensor has size {old}, desired shape has"
                f" size {new}."
            )
    if not free:
        raise invalid(f"{_RESAMPLED} at least one index to be marked as adjustable.")
    others = int(np.prod([n for i, n in enumerate(shape) if i not in free]))
    size = int(np.prod(dims)) // others
    if size <= 0:
        raise invalid(
            f"periodic_resample found that the adjustable dimension, {free[0]}, isn't greater than"
            f" zero, {size}."
        )
    return tuple(size if i in free else n for i, n in enumerate(shape)), free[0]


def _origins(dims: tuple[int, ...], shape: Any) -> tuple[Any, ...]:
    """For each element of the result, its place in the input."""
    out, free = _resampled_dims(dims, shape)
    places = np.indices(out, sparse=True)
    factors = [-(-new // old) for new, old in zip(out, dims, strict=True)]
    phase: Any = 0
    stride, found = 1, []
    for i, (place, factor) in enumerate(zip(places, factors, strict=True)):
        if i != free:
            phase = phase + stride * (place % factor)
        stride *= factor
        found.append(place // factor)
    found[free] = phase * out[free] + places[free]
    if int(np.max(found[free])) >= dims[free]:
        raise invalid(
            f"{_RESAMPLED} every element of the result, of shape {list(out)}, to have a place in"
            f" the input, of shape {list(dims)}."
        )
    return tuple(found)


def _resampled_shape(c: ShapeContext) -> Dims:
    dims, shape = c.dims(0), c.attr("shape")
    wanted = getattr(shape, "as_list", lambda: shape)()
    if dims is None or None in dims or len(dims) != len(wanted):
        return tuple(None if n is None or n < 1 else n for n in wanted)
    known = int(np.prod([n for n in wanted if n is not None and n >= 1]))
    size = int(np.prod(dims)) // known  # type: ignore[arg-type]
    return tuple(size if n is None or n < 1 else n for n in wanted)


@op("PeriodicResample", inputs="values: T", outputs="output: T",
    attrs="T: numbertype, shape: shape", shape=_resampled_shape)  # fmt: skip
def periodic_resample_(xp: Any, values: Any, *, shape: Any) -> Any:
    return values[_origins(values.shape, _plain(shape))]


@periodic_resample_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.PeriodicResampleOpGrad(
        grad, original_shape=op.inputs[0].shape, desired_shape=op.get_attr("shape")
    )


@op("PeriodicResampleOpGrad", inputs="grad: T", outputs="grad_values: T",
    attrs="T: numbertype, original_shape: shape, desired_shape: shape",
    shape=lambda c: tuple(_plain(c.attr("original_shape"))), traits=HOST | NO_GRADIENT)  # fmt: skip
def periodic_resample_op_grad_(
    xp: Any, grad: Any, *, original_shape: Any, desired_shape: Any
) -> Any:
    dims = tuple(_plain(original_shape))
    found = np.zeros(dims, grad.dtype)
    found[_origins(dims, _plain(desired_shape))] = grad
    return found


def _plain(shape: Any) -> list[Any]:
    return list(getattr(shape, "as_list", lambda: shape)())
