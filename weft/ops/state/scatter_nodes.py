"""Ops that update parts of variables: rows, slices by coordinates, strided slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import NO_GRADIENT, STATEFUL, UPDATES_ROWS
from weft.ops.kit.row_updates import check_range, update_rows
from weft.ops.kit.shared import invalid, taking_attrs
from weft.ops.kit.value_checks import are_within, must_hold, write_parts
from weft.ops.state.variable_nodes import Array, Cell, checked_only, shape_text, variable_input

# ---- scatters ---------------------------------------------------------------------------------


Update = Callable[[Any], list[Array]]  # see `write_parts`


def scatter(xp: Any, how: str, value: Array, indices: Array, updates: Array) -> Update:
    """`value` with rows `indices` combined with `updates`, which may be one scalar for all."""
    rows = indices.reshape(-1)
    wanted = indices.shape + value.shape[1:]
    if value.ndim < 1 or (updates.ndim != 0 and updates.shape != wanted):
        raise invalid(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
            f"got updates.shape {shape_text(updates)}, indices.shape {shape_text(indices)}, "
            f"params.shape {shape_text(value)}",
        )
    check_range(xp, indices, value.shape[0], _not_in_range)
    updates = xp.broadcast_to(updates, wanted).reshape(rows.shape + value.shape[1:])
    return lambda void: [_combine(xp, how, value, (rows,), updates, void)]


def _not_in_range(index: int, position: tuple[int, ...], limit: int) -> str:
    place = "[" + ",".join(map(str, position)) + "]" if position else ""
    return f"indices{place} = {index} is not in [0, {limit})"


def scatter_nd(xp: Any, how: str, value: Array, indices: Array, updates: Array) -> Update:
    """`value` with the slices that the vectors along the last axis of `indices` name combined with
    `updates`."""
    depth = indices.shape[-1] if indices.ndim else 1
    if value.ndim < 1:
        raise invalid("Output must be at least 1-D, got shape: []")
    if value.size == 0 and indices.size and updates.size:
        raise invalid(
            "Indices and updates specified for empty output.  indices shape: "
            f"{shape_text(indices)}",
        )
    if depth > value.ndim or updates.shape != indices.shape[:-1] + value.shape[depth:]:
        raise invalid(
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got "
            f"updates.shape: {shape_text(updates)}, indices.shape: {shape_text(indices)}, "
            f"params_shape: {shape_text(value)}, slice_dim: {depth}, and batch_dim: "
            f"{max(indices.ndim - 1, 0)}",
        )
    flat = indices.reshape(-1, depth)
    _check_nd(xp, flat, indices.shape, value.shape)
    updates = updates.reshape((flat.shape[0], *value.shape[depth:]))
    index = tuple(flat[:, k] for k in range(depth))
    return lambda void: [_combine(xp, how, value, index, updates, void)]


@by_library
def _check_nd(xp: Any, flat: Array, within: Sizes, shape: Sizes) -> None:
    must_hold(are_within(flat, shape[: flat.shape[1]]))


@_check_nd.numpy
def _(xp: Any, flat: Array, within: Sizes, shape: Sizes) -> None:
    bad = ((flat < 0) | (flat >= np.array(shape[: flat.shape[1]], flat.dtype))).any(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        position = ",".join(map(str, np.unravel_index(first, within[:-1] or (1,))))
        index = ", ".join(map(str, flat[first]))
        raise invalid(
            f"indices[{position}] = [{index}] does not index into shape "
            f"[{','.join(map(str, shape))}]",
        )


_NUMPY_AT = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Min": np.minimum,
    "Max": np.maximum,
}
_JAX_AT = {"Update": "set", "Add": "add", "Mul": "multiply", "Min": "min", "Max": "max"}


def _combine(
    xp: Any, how: str, value: Array, index: tuple[Array, ...], updates: Array, void: Any
) -> Array:
    if how == "Div":
        # Neither library divides at repeated indices the way a loop would.
        def step(rows: Any, divisors: Array) -> list[Array]:
            return [_divide(xp, rows[0], divisors)]

        return update_rows(xp, [value], index[0], (updates,), step, void)[0]
    return _join(xp, how, value, index, updates, void)


@by_library
def _join(
    xp: Any, how: str, value: Array, index: tuple[Array, ...], updates: Array, void: Any
) -> Array:
    # JAX counts negative indices from the end; here they are out of range, hence dropped.
    sizes = zip(index, value.shape, strict=False)
    index = tuple(xp.where((i < 0) | void, size, i) for i, size in sizes)
    if not index:
        index, value = (xp.zeros(updates.shape[0], int),), value[None]
        return _join(xp, how, value, index, updates, void)[0]
    if how == "Sub":
        return value.at[index].add(-updates, mode="drop")
    return getattr(value.at[index], _JAX_AT[how])(updates, mode="drop")


@_join.numpy
def _(
    xp: Any, how: str, value: Array, index: tuple[Array, ...], updates: Array, void: Any
) -> Array:
    result = np.array(value)
    if how == "Update":
        result[index] = updates if index else updates[-1:].reshape(result.shape)
    elif index:
        _NUMPY_AT[how].at(result, index, updates)
    else:
        for update in updates:
            result = _NUMPY_AT[how](result, update)
    return result


def _divide(xp: Any, a: Array, b: Array) -> Array:
    if np.issubdtype(a.dtype, np.integer):
        return (xp.sign(a) * xp.sign(b) * (xp.abs(a) // xp.abs(b))).astype(a.dtype)
    return a / b


def _scatter_dims(c: ShapeContext) -> Dims:
    dims, indices, updates = s.with_rank_at_least(variable_input(c), 1), c.dims(1), c.dims(2)
    if updates != () and dims is not None:
        s.merge(updates, s.concat(indices, dims[1:]))
    return dims


def _scatter_nd_dims(c: ShapeContext) -> Dims:
    dims, indices, updates = variable_input(c), c.dims(1), c.dims(2)
    if dims is None or indices is None or updates is None:
        return dims
    depth, outer = indices[-1] if indices else None, len(indices) - 1
    if depth is None:
        return dims
    try:
        s.merge(indices[:-1], updates[:outer])
    except ValueError:
        raise ValueError(
            f"The outer {outer} dimensions of indices.shape={s.show(indices)} must match the outer "
            f"{outer} dimensions of updates.shape={s.show(updates)}"
        ) from None
    try:
        s.merge(dims[depth:], updates[outer:])
    except ValueError:
        raise ValueError(
            f"The inner {len(dims) - depth} dimensions of input.shape={s.show(dims)} must match the"
            f" inner {len(updates) - outer} dimensions of updates.shape={s.show(updates)}"
        ) from None
    return dims


Sizes = tuple[int, ...]
_Combine = Callable[[Any, str, Array, Array, Array], Update]


def _declare(
    how: str, types: str, family: str, combine: _Combine, rule: Callable[[ShapeContext], Dims],
    resource: str, resource_attrs: str,
) -> None:  # fmt: skip
    """An update of parts, of reference variables and of resources; `resource` is the input."""

    def on_ref(xp: Any, ref: Cell, indices: Array, updates: Array) -> Cell:
        write_parts([ref], combine(xp, how, ref.read(), indices, updates))
        return ref

    def on_resource(xp: Any, *inputs: Any) -> None:
        cell, indices, updates = inputs
        write_parts([cell], combine(xp, how, cell.read(), indices, updates))

    # TensorFlow says of these alone that they have no gradient.
    updates = STATEFUL | UPDATES_ROWS
    flat = family == "ScatterNd" or how in ("Add", "Sub", "Mul", "Div")
    locking = "true" if how == "Update" else "false"
    op(
        family + how,
        inputs="ref: ref(T), indices: Tindices, updates: T",
        outputs="output_ref: ref(T)",
        attrs=f"T: {types}, Tindices: indextype, use_locking: bool = {locking}",
        shape=rule,
        traits=updates | NO_GRADIENT if flat else updates,
    )(on_ref)
    op(
        f"Resource{family}{how}",
        inputs=resource,
        attrs=resource_attrs,
        shape=checked_only(rule),
        traits=updates,
    )(on_resource)


_ORDERED = "{half, bfloat16, float, double, int32, int64}"
_TYPES = {
    "Update": "type",
    "Add": "numbertype",
    "Sub": "numbertype",
    "Mul": "numbertype",
    "Div": "numbertype",
    "Min": _ORDERED,
    "Max": _ORDERED,
}
for _how, _types in _TYPES.items():
    _declare(
        _how, _types, "Scatter", scatter, _scatter_dims,
        "resource: resource, indices: Tindices, updates: dtype",
        f"dtype: {'type' if _how == 'Update' else 'numbertype'}, Tindices: indextype",
    )  # fmt: skip
for _how in ("Update", "Add", "Sub"):
    _declare(
        _how, _TYPES[_how], "ScatterNd", scatter_nd, _scatter_nd_dims,
        "ref: resource, indices: Tindices, updates: T",
        "T: type, Tindices: indextype, use_locking: bool = true",
    )  # fmt: skip


# ---- assignment to slices ---------------------------------------------------------------------

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_MASK_ATTRS = ", ".join(f"{mask}: int = 0" for mask in _MASKS)


def _with_slice(
    xp: Any, old: Array, begin: Array, end: Array, strides: Array, value: Array, masks: list[int]
) -> Array:
    """`old` with the elements that a strided slice takes replaced by `value`."""
    from weft.ops.array.strided_plan import strided_plan

    try:
        plan = strided_plan(old.shape, begin.tolist(), end.tolist(), strides.tolist(), *masks)
    except ValueError as error:
        raise invalid(str(error)) from None
    if 0 in plan.sizes:
        return old
    if plan.final != value.shape:
        raise errors.UnimplementedError(
            None,
            None,
            f"sliced l-value shape {s.show(plan.final)} does not match r-value shape "
            f"{shape_text(value)}. Automatic broadcasting not yet implemented.",
        )
    index = []
    for start, step, count in zip(plan.begins, plan.strides, plan.sizes, strict=True):
        stop = start + count * step  # type: ignore[operator]
        index.append(slice(start, None if stop < 0 else stop, step))
    value = value.reshape(plan.sizes)
    return _put(xp, old, tuple(index), value)


@by_library
def _put(xp: Any, old: Array, index: tuple[Any, ...], value: Array) -> Array:
    return old.at[index].set(value)


@_put.numpy
def _(xp: Any, old: Array, index: tuple[Any, ...], value: Array) -> Array:
    result = np.array(old)
    result[index] = value
    return result


_ASSIGNED: dict[str, Any] = {
    "attrs": f"T: type, Index: indextype, {_MASK_ATTRS}",
    "static": "begin, end, strides",
    "traits": STATEFUL,
}


def _assign_slice(
    xp: Any, ref: Cell, begin: Array, end: Array, strides: Array, value: Array, **masks: int
) -> Cell:
    given = [masks[mask] for mask in _MASKS]
    ref.write(_with_slice(xp, ref.read(), begin, end, strides, value, given))
    return ref


def _assign_slice_of_resource(xp: Any, *inputs: Any, **masks: int) -> None:
    _assign_slice(xp, *inputs, **masks)


strided_slice_assign = op(
    "StridedSliceAssign",
    inputs="ref: ref(T), begin: Index, end: Index, strides: Index, value: T",
    outputs="output_ref: ref(T)",
    shape=variable_input,
    **_ASSIGNED,
)(taking_attrs(_assign_slice, _MASKS))

resource_strided_slice_assign = op(
    "ResourceStridedSliceAssign",
    inputs="ref: resource, begin: Index, end: Index, strides: Index, value: T",
    shape=s.none,
    **_ASSIGNED,
)(taking_attrs(_assign_slice_of_resource, _MASKS))
