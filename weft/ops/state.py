"""Ops on variables: creating, reading, assigning and scattering into them.

A reference (`ref(T)`) or resource input reaches a kernel as the variable's cell, which it reads and
writes; ops with a reference output hand the cell on. Each kind of update is declared once, from a
table, for reference and for resource variables.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.graph import shape_fn as s
from weft.graph.convert import IndexedSlices, constant
from weft.graph.op_def import OpDef, lookup, op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.rows import check_range, update_rows

Array = Any
Cell = Any

# Ops that hand a resource on unchanged, as far as its static shape is concerned.
_FORWARDING = {"Identity", "Enter", "Switch", "Merge", "Exit", "NextIteration", "StopGradient"}


def variable_dims(tensor: Any) -> Dims:
    """What is known of the shape of the variable that a reference or resource tensor names."""
    if tensor.dtype.base_dtype is not dtypes.resource:
        return tensor.dims
    seen = set()
    op = tensor.op
    while op.type in _FORWARDING and op not in seen and op.inputs:
        seen.add(op)
        op = op.inputs[0].op
    if (captured := getattr(op, "_captured", None)) is not None:
        return variable_dims(captured)  # a function's argument that stands for it
    return op.attrs["shape"] if op.type == "VarHandleOp" else None


def _variable(c: ShapeContext, i: int) -> Dims:
    """The static shape of variable input `i`, whose type must be that of the op."""
    tensor = c.op.inputs[i]
    found = tensor.op.attrs.get("dtype") if tensor.op.type == "VarHandleOp" else None
    wanted = c.attrs.get("dtype", c.attrs.get("T"))
    if found is not None and wanted is not None and found != wanted:
        raise ValueError(
            f"Trying to access variable with wrong dtype. Expected {found.name} got {wanted.name}"
        )
    return variable_dims(tensor)


# ---- the variables themselves -----------------------------------------------------------------


def _legacy_variable_dims(c: ShapeContext) -> Dims:
    # Graphs from before unknown shapes could be written say [] for them.
    return c.attr("shape") or None


@op(
    "Variable",
    outputs="ref: ref(dtype)",
    attrs='shape: shape, dtype: type, container: string = "", shared_name: string = ""',
    shape=_legacy_variable_dims,
    stateful=True,
    deprecated=True,
)
def variable(
    xp: Any, ctx: Any, *, shape: Dims, dtype: Any, container: str, shared_name: str
) -> Cell:
    return ctx.resources.variable(container, shared_name or ctx.node.name, dtype, shape or None)


@op(
    "VariableV2",
    outputs="ref: ref(dtype)",
    attrs='shape: shape, dtype: type, container: string = "", shared_name: string = ""',
    shape=s.from_attr("shape"),
    stateful=True,
)
def variable_v2(
    xp: Any, ctx: Any, *, shape: Dims, dtype: Any, container: str, shared_name: str
) -> Cell:
    return ctx.resources.variable(container, shared_name or ctx.node.name, dtype, shape)


@op(
    "VarHandleOp",
    outputs="resource: resource",
    attrs='container: string = "", shared_name: string = "", dtype: type, shape: shape',
    shape=s.scalar,
    stateful=True,
)
def var_handle_op(
    xp: Any, ctx: Any, *, container: str, shared_name: str, dtype: Any, shape: Dims
) -> Cell:
    name = shared_name or ctx.node.name
    return ctx.resources.variable(container, name, dtype, shape, reference=False)


_TEMPORARY = "__temporary_variables"


@op(
    "TemporaryVariable",
    outputs="ref: ref(dtype)",
    attrs='shape: shape, dtype: type, var_name: string = ""',
    shape=s.from_attr("shape"),
    stateful=True,
)
def temporary_variable(xp: Any, ctx: Any, *, shape: Dims, dtype: Any, var_name: str) -> Cell:
    node = ctx.node.name
    owner = ctx.resources.get_or_make(_TEMPORARY, "name", var_name or node, lambda: node)
    if owner != node:
        raise errors.AlreadyExistsError(
            None, None, f"TemporaryVariable {var_name} was already created by {owner}"
        )
    cell = ctx.resources.variable(_TEMPORARY, node, dtype, shape)
    if not cell.initialized:
        # Its memory is there from the start; what is in it is nobody's business.
        cell.write(np.zeros(tuple(d or 0 for d in shape or ()), dtype.np_storage))
    return cell


@op(
    "DestroyTemporaryVariable",
    inputs="ref: ref(T)",
    outputs="value: T",
    attrs="T: type, var_name: string",
    shape=s.unchanged,
    stateful=True,
    runs_on="host",
)
def destroy_temporary_variable(xp: Any, ctx: Any, ref: Cell, *, var_name: str) -> Array:
    ctx.resources.lookup(_TEMPORARY, "name", var_name)
    return ref.read()


@op(
    "IsVariableInitialized",
    inputs="ref: ref(dtype)",
    outputs="is_initialized: bool",
    attrs="dtype: type",
    shape=s.scalar,
    stateful=True,
    reads_only=True,
    allows_uninitialized=True,
    differentiable=False,
)
def is_variable_initialized_op(xp: Any, ref: Cell) -> Array:
    return xp.asarray(ref.initialized)


@op(
    "VarIsInitializedOp",
    inputs="resource: resource",
    outputs="is_initialized: bool",
    shape=s.scalar,
    stateful=True,
    reads_only=True,
    allows_uninitialized=True,
    differentiable=False,
)
def var_is_initialized_op(xp: Any, resource: Cell) -> Array:
    return xp.asarray(resource.initialized)


def _read_dims(c: ShapeContext) -> Dims:
    return _variable(c, 0)


@op(
    "ReadVariableOp",
    inputs="resource: resource",
    outputs="value: dtype",
    attrs="dtype: type",
    shape=_read_dims,
    stateful=True,
    reads_only=True,
)
def read_variable_op(xp: Any, resource: Cell) -> Array:
    return resource.read()


@read_variable_op.gradient
def _(op: Any, grad: Any) -> Any:
    return grad


def _shape_dims(c: ShapeContext) -> Dims:
    dims = _variable(c, 0)
    return (None if dims is None else len(dims),)


@op(
    "VariableShape",
    inputs="input: resource",
    outputs="output: out_type",
    attrs="out_type: indextype = int32",
    shape=_shape_dims,
    stateful=True,
    reads_only=True,
    differentiable=False,
)
def variable_shape_op(xp: Any, input: Cell, *, out_type: Any) -> Array:
    return np.array(input.read().shape, out_type.as_numpy_dtype)


@op(
    "DestroyResourceOp",
    inputs="resource: resource",
    attrs="ignore_lookup_error: bool = true",
    shape=s.none,
    stateful=True,
    runs_on="host",
    allows_uninitialized=True,
)
def destroy_resource_op(xp: Any, ctx: Any, resource: Cell, *, ignore_lookup_error: bool) -> None:
    if not resource.initialized and not ignore_lookup_error:
        raise errors.NotFoundError(None, None, f"Resource {resource.name} does not exist.")
    ctx.resources.remove(resource)


# ---- whole-variable updates -------------------------------------------------------------------


def _shape_text(value: Array) -> str:
    return "[" + ",".join(map(str, value.shape)) + "]"


def _assigned_dims(c: ShapeContext) -> Dims:
    if not c.attr("validate_shape"):
        return c.dims(1)
    return s.merge(c.dims(0), c.dims(1))


@op(
    "Assign",
    inputs="ref: ref(T), value: T",
    outputs="output_ref: ref(T)",
    attrs="T: type, validate_shape: bool = true, use_locking: bool = true",
    shape=_assigned_dims,
    stateful=True,
    allows_uninitialized=True,
    differentiable=False,
)
def assign_op(xp: Any, ref: Cell, value: Array, *, validate_shape: bool) -> Cell:
    if validate_shape and not _fits(ref, value):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Assign requires shapes of both tensors to match. lhs shape= "
            f"{s.show(_held_dims(ref))} rhs shape= {_shape_text(value)}",
        )
    ref.write(value)
    return ref


def _held_dims(ref: Cell) -> Dims:
    """The shape of what the variable holds; what it was declared with while it holds nothing."""
    return ref.read().shape if ref.initialized else getattr(ref, "dims", None)


def _fits(ref: Cell, value: Array) -> bool:
    try:
        s.merge(_held_dims(ref), value.shape)
    except ValueError:
        return False
    return True


def _merged_dims(c: ShapeContext) -> Dims:
    return s.merge(_variable(c, 0), c.dims(1))


def _merged_none(c: ShapeContext) -> list[Dims]:
    _merged_dims(c)
    return []


@op(
    "AssignVariableOp",
    inputs="resource: resource, value: dtype",
    attrs="dtype: type",
    shape=_merged_none,
    stateful=True,
    allows_uninitialized=True,
)
def assign_variable_op(xp: Any, resource: Cell, value: Array) -> None:
    resource.write(value)


def _declare_update(name: str, combine: Callable[[Array, Array], Array]) -> tuple[OpDef, OpDef]:
    """`name` on reference variables and `nameVariableOp` on resources."""

    def update_ref(xp: Any, ref: Cell, value: Array) -> Cell:
        old = ref.read()
        if old.shape != value.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{name} requires shapes of both tensors to match. lhs shape= "
                f"{_shape_text(old)} rhs shape= {_shape_text(value)}",
            )
        ref.update(combine(old, value))
        return ref

    def update_resource(xp: Any, resource: Cell, value: Array) -> None:
        old = resource.read()
        if old.shape != value.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Cannot update variable with shape {_shape_text(old)} using a Tensor with shape "
                f"{_shape_text(value)}, shapes must be equal.",
            )
        resource.update(combine(old, value))

    on_ref = op(
        name,
        inputs="ref: ref(T), value: T",
        outputs="output_ref: ref(T)",
        attrs="T: numbertype, use_locking: bool = false",
        shape=_merged_dims,
        stateful=True,
        differentiable=False,
    )(update_ref)
    on_resource = op(
        name + "VariableOp",
        inputs="resource: resource, value: dtype",
        attrs="dtype: type",
        shape=_merged_none,
        stateful=True,
    )(update_resource)
    return on_ref, on_resource


_declare_update("AssignAdd", operator.add)
_declare_update("AssignSub", operator.sub)


def _count(cell: Cell, limit: int) -> Array:
    value = cell.read()
    if value >= limit:
        raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
    cell.write(np.asarray(value + 1, value.dtype))
    return value


def _scalar_variable(c: ShapeContext) -> Dims:
    return s.with_rank(_variable(c, 0), 0)


@op(
    "CountUpTo",
    inputs="ref: ref(T)",
    outputs="output: T",
    attrs="limit: int, T: indextype",
    shape=_scalar_variable,
    stateful=True,
    runs_on="host",
)
def count_up_to_op(xp: Any, ref: Cell, *, limit: int) -> Array:
    return _count(ref, limit)


@op(
    "ResourceCountUpTo",
    inputs="resource: resource",
    outputs="output: T",
    attrs="limit: int, T: indextype",
    shape=_scalar_variable,
    stateful=True,
    runs_on="host",
)
def resource_count_up_to_op(xp: Any, resource: Cell, *, limit: int) -> Array:
    return _count(resource, limit)


# ---- gathers ----------------------------------------------------------------------------------


def _gathered(c: ShapeContext) -> Dims:
    params, indices = _variable(c, 0), c.dims(1)
    batch_dims = c.attr("batch_dims")
    if batch_dims < 0 and indices is not None:
        batch_dims += len(indices)
    params = s.with_rank_at_least(params, batch_dims + 1)
    return s.concat(indices, None if params is None else params[batch_dims + 1 :])


@op(
    "ResourceGather",
    inputs="resource: resource, indices: Tindices",
    outputs="output: dtype",
    attrs="batch_dims: int = 0, validate_indices: bool = true, dtype: type, Tindices: indextype",
    shape=_gathered,
    stateful=True,
    reads_only=True,
)
def resource_gather(xp: Any, resource: Cell, indices: Array, *, batch_dims: int) -> Array:
    axis = np.array(batch_dims % indices.ndim if indices.ndim else 0, np.int32)
    gather = lookup("GatherV2").kernel
    assert gather is not None
    return gather(xp, resource.read(), indices, axis, batch_dims=batch_dims)


@resource_gather.gradient
def _(op: Any, grad: Any) -> Any:
    from weft.ops import array

    handle, indices = op.inputs
    dense_shape = variable_shape(handle)
    count = array.expand_dims(array.size(indices), 0)
    values = array.reshape(grad, array.concat([count, dense_shape[1:]], 0))
    return IndexedSlices(values, array.reshape(indices, count), dense_shape), None


def variable_shape(handle: Any, out_type: Any = dtypes.int32) -> Any:
    """The shape of the variable behind `handle`: a constant when the graph tells it."""
    dims = variable_dims(handle)
    if s.known(dims):
        return constant(list(dims or ()), dtype=out_type)
    return variable_shape_op(handle, out_type=out_type)


def _gathered_nd(c: ShapeContext) -> Dims:
    params, indices = _variable(c, 0), s.with_rank_at_least(c.dims(1), 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {s.show(indices)}"
            f" and params shape: {s.show(params)}"
        )
    return indices[:-1] + params[indices[-1] :]


@op(
    "ResourceGatherNd",
    inputs="resource: resource, indices: Tindices",
    outputs="output: dtype",
    attrs="dtype: type, Tindices: indextype",
    shape=_gathered_nd,
    stateful=True,
    reads_only=True,
)
def resource_gather_nd(xp: Any, resource: Cell, indices: Array) -> Array:
    gather = lookup("GatherNd").kernel
    assert gather is not None
    return gather(xp, resource.read(), indices)


@resource_gather_nd.gradient
def _(op: Any, grad: Any) -> Any:
    from weft.ops import array

    handle, indices = op.inputs
    dense_shape = variable_shape(handle, out_type=indices.dtype)
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return IndexedSlices(grad, array.squeeze(indices, axis=-1), dense_shape), None
    return raw.ScatterNd(indices, grad, dense_shape), None


# ---- scatters ---------------------------------------------------------------------------------


def scatter(xp: Any, how: str, value: Array, indices: Array, updates: Array) -> Array:
    """`value` with rows `indices` combined with `updates`, which may be one scalar for all."""
    rows = indices.reshape(-1)
    wanted = indices.shape + value.shape[1:]
    if value.ndim < 1 or (updates.ndim != 0 and updates.shape != wanted):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
            f"got updates.shape {_shape_text(updates)}, indices.shape {_shape_text(indices)}, "
            f"params.shape {_shape_text(value)}",
        )
    if xp is np:
        check_range(indices, value.shape[0], _not_in_range)
    updates = xp.broadcast_to(updates, wanted).reshape(rows.shape + value.shape[1:])
    return _combine(xp, how, value, (rows,), updates)


def _not_in_range(index: int, position: tuple[int, ...], limit: int) -> str:
    place = "[" + ",".join(map(str, position)) + "]" if position else ""
    return f"indices{place} = {index} is not in [0, {limit})"


def scatter_nd(xp: Any, how: str, value: Array, indices: Array, updates: Array) -> Array:
    """`value` with the slices that the vectors along the last axis of `indices` name combined with
    `updates`."""
    depth = indices.shape[-1] if indices.ndim else 1
    if value.ndim < 1:
        raise errors.InvalidArgumentError(None, None, "Output must be at least 1-D, got shape: []")
    if value.size == 0 and indices.size and updates.size:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Indices and updates specified for empty output.  indices shape: "
            f"{_shape_text(indices)}",
        )
    if depth > value.ndim or updates.shape != indices.shape[:-1] + value.shape[depth:]:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got "
            f"updates.shape: {_shape_text(updates)}, indices.shape: {_shape_text(indices)}, "
            f"params_shape: {_shape_text(value)}, slice_dim: {depth}, and batch_dim: "
            f"{max(indices.ndim - 1, 0)}",
        )
    flat = indices.reshape(-1, depth)
    if xp is np:
        _check_nd(flat, indices.shape, value.shape)
    updates = updates.reshape((flat.shape[0], *value.shape[depth:]))
    return _combine(xp, how, value, tuple(flat[:, k] for k in range(depth)), updates)


def _check_nd(flat: np.ndarray, indices_shape: tuple[int, ...], shape: tuple[int, ...]) -> None:
    bad = ((flat < 0) | (flat >= np.array(shape[: flat.shape[1]], flat.dtype))).any(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        position = ",".join(map(str, np.unravel_index(first, indices_shape[:-1] or (1,))))
        index = ", ".join(map(str, flat[first]))
        raise errors.InvalidArgumentError(
            None,
            None,
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


def _combine(xp: Any, how: str, value: Array, index: tuple[Array, ...], updates: Array) -> Array:
    if how == "Div":
        # Neither library divides at repeated indices the way a loop would.
        return update_rows(xp, [value], index[0], (updates,), lambda r, u: [_divide(xp, r[0], u)])[
            0
        ]
    if xp is np:
        result = np.array(value)
        if how == "Update":
            result[index] = updates if index else updates[-1:].reshape(result.shape)
        elif index:
            _NUMPY_AT[how].at(result, index, updates)
        else:
            for update in updates:
                result = _NUMPY_AT[how](result, update)
        return result
    # JAX counts negative indices from the end; here they are out of range, hence dropped.
    index = tuple(xp.where(i < 0, size, i) for i, size in zip(index, value.shape, strict=False))
    if not index:
        index, value = (xp.zeros(updates.shape[0], int),), value[None]
        return _combine(xp, how, value, index, updates)[0]
    if how == "Sub":
        return value.at[index].add(-updates, mode="drop")
    return getattr(value.at[index], _JAX_AT[how])(updates, mode="drop")


def _divide(xp: Any, a: Array, b: Array) -> Array:
    if np.issubdtype(a.dtype, np.integer):
        return (xp.sign(a) * xp.sign(b) * (xp.abs(a) // xp.abs(b))).astype(a.dtype)
    return a / b


def _scatter_dims(c: ShapeContext) -> Dims:
    dims, indices, updates = s.with_rank_at_least(_variable(c, 0), 1), c.dims(1), c.dims(2)
    if updates != () and dims is not None:
        s.merge(updates, s.concat(indices, dims[1:]))
    return dims


def _scatter_nd_dims(c: ShapeContext) -> Dims:
    dims, indices, updates = _variable(c, 0), c.dims(1), c.dims(2)
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


def _no_outputs(rule: Callable[[ShapeContext], Any]) -> Callable[[ShapeContext], list[Dims]]:
    """`rule` for its checks alone."""

    def checked(c: ShapeContext) -> list[Dims]:
        rule(c)
        return []

    return checked


def _declare_scatter(how: str, types: str, locking: str) -> None:
    def on_ref(xp: Any, ref: Cell, indices: Array, updates: Array) -> Cell:
        ref.write(scatter(xp, how, ref.read(), indices, updates))
        return ref

    def on_resource(xp: Any, resource: Cell, indices: Array, updates: Array) -> None:
        resource.write(scatter(xp, how, resource.read(), indices, updates))

    op(
        "Scatter" + how,
        inputs="ref: ref(T), indices: Tindices, updates: T",
        outputs="output_ref: ref(T)",
        attrs=f"T: {types}, Tindices: indextype, use_locking: bool = {locking}",
        shape=_scatter_dims,
        stateful=True,
        differentiable=False,
    )(on_ref)
    op(
        "ResourceScatter" + how,
        inputs="resource: resource, indices: Tindices, updates: dtype",
        attrs=f"dtype: {'type' if how == 'Update' else 'numbertype'}, Tindices: indextype",
        shape=_no_outputs(_scatter_dims),
        stateful=True,
    )(on_resource)


_ORDERED = "{half, bfloat16, float, double, int32, int64}"
_declare_scatter("Update", "type", "true")
_declare_scatter("Add", "numbertype", "false")
_declare_scatter("Sub", "numbertype", "false")
_declare_scatter("Mul", "numbertype", "false")
_declare_scatter("Div", "numbertype", "false")
_declare_scatter("Min", _ORDERED, "false")
_declare_scatter("Max", _ORDERED, "false")


def _declare_scatter_nd(how: str, types: str, locking: str) -> None:
    def on_ref(xp: Any, ref: Cell, indices: Array, updates: Array) -> Cell:
        ref.write(scatter_nd(xp, how, ref.read(), indices, updates))
        return ref

    def on_resource(xp: Any, ref: Cell, indices: Array, updates: Array) -> None:
        ref.write(scatter_nd(xp, how, ref.read(), indices, updates))

    op(
        "ScatterNd" + how,
        inputs="ref: ref(T), indices: Tindices, updates: T",
        outputs="output_ref: ref(T)",
        attrs=f"T: {types}, Tindices: indextype, use_locking: bool = {locking}",
        shape=_scatter_nd_dims,
        stateful=True,
        differentiable=False,
    )(on_ref)
    op(
        "ResourceScatterNd" + how,
        inputs="ref: resource, indices: Tindices, updates: T",
        attrs="T: type, Tindices: indextype, use_locking: bool = true",
        shape=_no_outputs(_scatter_nd_dims),
        stateful=True,
    )(on_resource)


_declare_scatter_nd("Update", "type", "true")
_declare_scatter_nd("Add", "numbertype", "false")
_declare_scatter_nd("Sub", "numbertype", "false")


# ---- assignment to slices ---------------------------------------------------------------------

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_MASK_ATTRS = ", ".join(f"{mask}: int = 0" for mask in _MASKS)


def assign_slice(
    xp: Any,
    old: Array,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    masks: tuple[int, ...],
) -> Array:
    """`old` with the elements that a strided slice takes replaced by `value`."""
    from weft.ops.indexing import strided_plan

    try:
        plan = strided_plan(old.shape, begin.tolist(), end.tolist(), strides.tolist(), *masks)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    if 0 in plan.sizes:
        return old
    if plan.final != value.shape:
        raise errors.UnimplementedError(
            None,
            None,
            f"sliced l-value shape {s.show(plan.final)} does not match r-value shape "
            f"{_shape_text(value)}. Automatic broadcasting not yet implemented.",
        )
    index = []
    for start, step, count in zip(plan.begins, plan.strides, plan.sizes, strict=True):
        stop = start + count * step  # type: ignore[operator]
        index.append(slice(start, None if stop < 0 else stop, step))
    value = value.reshape(plan.sizes)
    if xp is not np:
        return old.at[tuple(index)].set(value)
    result = np.array(old)
    result[tuple(index)] = value
    return result


def _sliced_dims(c: ShapeContext) -> Dims:
    return _variable(c, 0)


@op(
    "StridedSliceAssign",
    inputs="ref: ref(T), begin: Index, end: Index, strides: Index, value: T",
    outputs="output_ref: ref(T)",
    attrs=f"T: type, Index: indextype, {_MASK_ATTRS}",
    shape=_sliced_dims,
    static="begin, end, strides",
    stateful=True,
)
def strided_slice_assign(
    xp: Any,
    ref: Cell,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Cell:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    ref.write(assign_slice(xp, ref.read(), begin, end, strides, value, masks))
    return ref


@op(
    "ResourceStridedSliceAssign",
    inputs="ref: resource, begin: Index, end: Index, strides: Index, value: T",
    attrs=f"T: type, Index: indextype, {_MASK_ATTRS}",
    shape=s.none,
    static="begin, end, strides",
    stateful=True,
)
def resource_strided_slice_assign(
    xp: Any,
    ref: Cell,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> None:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    ref.write(assign_slice(xp, ref.read(), begin, end, strides, value, masks))
