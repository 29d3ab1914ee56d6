"""Ops on variables: creating, reading and assigning them.

A reference (`ref(T)`) or resource input reaches a kernel as the variable's cell, which it reads and
writes; ops with a reference output hand the cell on. Each kind of update is declared once, from a
table, for reference and for resource variables. Updates of parts are in scatter_nodes.py, gathers
in gather_nodes.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import (
    ASSIGNS,
    DEPRECATED,
    HOST_STATE,
    NO_GRADIENT,
    OF_SHAPES,
    ON_DEVICE,
    READS_ONLY,
    READS_VARIABLE,
    STATEFUL,
    UNINITIALIZED,
    VARIABLE,
)
from weft.ops.kit.shared import invalid

Array = Any
Cell = Any

# Ops that hand a resource on unchanged, as far as its static shape is concerned.
_FORWARDING = {
    "Identity", "IdentityN", "Enter", "Switch", "Merge", "Exit", "NextIteration", "StopGradient",
}  # fmt: skip


def variable_dims(tensor: Any) -> Dims:
    """The known shape of the variable that a reference or resource tensor names."""
    if tensor.dtype.base_dtype is not dtypes.resource:
        return tensor.dims
    seen = set()
    op = tensor.op
    while op.type in _FORWARDING and op not in seen and op.inputs:
        seen.add(op)
        tensor = op.inputs[tensor.value_index if op.type == "IdentityN" else 0]
        op = tensor.op
    if (captured := getattr(op, "_captured", None)) is not None:
        return variable_dims(captured)  # a function's argument that stands for it
    return op.attrs["shape"] if op.type == "VarHandleOp" else None


def variable_input(c: ShapeContext, i: int = 0) -> Dims:
    """The static shape of variable input `i`, whose type must be that of the op."""
    tensor = c.op.inputs[i]
    found = tensor.op.attrs.get("dtype") if tensor.op.type == "VarHandleOp" else None
    wanted = c.attrs.get("dtype", c.attrs.get("T"))
    if found is not None and wanted is not None and found != wanted:
        raise ValueError(
            f"Trying to access variable with wrong dtype. Expected {found.name} got {wanted.name}"
        )
    return variable_dims(tensor)


def checked_only(rule: Callable[[ShapeContext], Any]) -> Callable[[ShapeContext], list[Dims]]:
    """`rule` for its checks alone."""

    def checked(c: ShapeContext) -> list[Dims]:
        rule(c)
        return []

    return checked


# ---- the variables themselves -----------------------------------------------------------------


def _legacy_variable_dims(c: ShapeContext) -> Dims:
    # Graphs from before unknown shapes could be written say [] for them.
    return c.attr("shape") or None


@op(
    "Variable",
    outputs="ref: ref(dtype)",
    attrs='shape: shape, dtype: type, container: string = "", shared_name: string = ""',
    shape=_legacy_variable_dims,
    traits=VARIABLE | DEPRECATED,
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
    traits=VARIABLE,
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
    traits=VARIABLE,
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
    traits=STATEFUL | ON_DEVICE,
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
        # Its memory is there from the start; its contents are undefined.
        cell.write(np.zeros(tuple(d or 0 for d in shape or ()), dtype.np_storage))
    return cell


@op(
    "DestroyTemporaryVariable",
    inputs="ref: ref(T)",
    outputs="value: T",
    attrs="T: type, var_name: string",
    shape=s.unchanged,
    traits=HOST_STATE,
)
def destroy_temporary_variable(xp: Any, ctx: Any, ref: Cell, *, var_name: str) -> Array:
    ctx.resources.lookup(_TEMPORARY, "name", var_name)
    return ref.read()


def _initialized(xp: Any, *cells: Cell) -> Array:
    (cell,) = cells
    return xp.asarray(cell.initialized)


# Operations that look at a variable and leave it as it is.
READS = STATEFUL | READS_ONLY
_TESTS = READS | UNINITIALIZED
_TESTED: dict[str, Any] = {"outputs": "is_initialized: bool", "shape": s.scalar}
op(
    "IsVariableInitialized", inputs="ref: ref(dtype)", attrs="dtype: type", traits=_TESTS, **_TESTED
)(_initialized)
op("VarIsInitializedOp", inputs="resource: resource", traits=_TESTS | NO_GRADIENT, **_TESTED)(
    _initialized
)


@op(
    "ReadVariableOp",
    inputs="resource: resource",
    outputs="value: dtype",
    attrs="dtype: type",
    shape=variable_input,
    traits=READS | READS_VARIABLE,
)
def read_variable_op(xp: Any, resource: Cell) -> Array:
    return resource.read()


@read_variable_op.gradient
def _(op: Any, grad: Any) -> Any:
    return grad


def _shape_dims(c: ShapeContext) -> Dims:
    dims = variable_input(c)
    return (None if dims is None else len(dims),)


@op(
    "VariableShape",
    inputs="input: resource",
    outputs="output: out_type",
    attrs="out_type: indextype = int32",
    shape=_shape_dims,
    traits=READS | OF_SHAPES | NO_GRADIENT,
)
def variable_shape_op(xp: Any, input: Cell, *, out_type: Any) -> Array:
    return np.array(input.read().shape, out_type.as_numpy_dtype)


@op(
    "DestroyResourceOp",
    inputs="resource: resource",
    attrs="ignore_lookup_error: bool = true",
    shape=s.none,
    traits=HOST_STATE | UNINITIALIZED,
)
def destroy_resource_op(xp: Any, ctx: Any, resource: Cell, *, ignore_lookup_error: bool) -> None:
    if not resource.initialized and not ignore_lookup_error:
        raise errors.NotFoundError(None, None, f"Resource {resource.name} does not exist.")
    ctx.resources.remove(resource)


@op(
    "DisableCopyOnRead",
    inputs="resource: resource",
    shape=s.none,
    traits=HOST_STATE | UNINITIALIZED | NO_GRADIENT,
)
def disable_copy_on_read_(xp: Any, resource: Cell) -> None:
    """Nothing: a read is a snapshot here, and never a copy."""


# ---- whole-variable updates -------------------------------------------------------------------


def shape_text(value: Array) -> str:
    """An array's shape, as messages show it."""
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
    traits=STATEFUL | UNINITIALIZED | ASSIGNS | NO_GRADIENT,
)
def assign_op(xp: Any, ref: Cell, value: Array, *, validate_shape: bool) -> Cell:
    if validate_shape and not _fits(ref, value):
        raise invalid(
            "Assign requires shapes of both tensors to match. lhs shape= "
            f"{s.show(_held_dims(ref))} rhs shape= {shape_text(value)}",
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
    return s.merge(variable_input(c), c.dims(1))


@op(
    "AssignVariableOp",
    inputs="resource: resource, value: dtype",
    attrs="dtype: type",
    shape=checked_only(_merged_dims),
    traits=STATEFUL | UNINITIALIZED | ASSIGNS,
)
def assign_variable_op(xp: Any, resource: Cell, value: Array) -> None:
    resource.write(value)


def not_found(cell: Any) -> errors.NotFoundError:
    """The error of an update of a resource that does not exist."""
    known = getattr(cell, "cell", cell)  # behind the stand-in of a trace
    where = f"{known.container}/{known.name}"
    return errors.NotFoundError(None, None, f"Resource {where}/N10tensorflow3VarE does not exist.")


def _declare_update(name: str, combine: Callable[[Array, Array], Array]) -> tuple[OpDef, OpDef]:
    """`name` on reference variables and `nameVariableOp` on resources."""

    # Both are called for every variable of a step: a call less is worth the lines.
    def update_ref(xp: Any, ref: Cell, value: Array) -> Cell:
        old = ref.read()
        if old.shape != value.shape:
            raise invalid(
                f"{name} requires shapes of both tensors to match. lhs shape= "
                f"{shape_text(old)} rhs shape= {shape_text(value)}",
            )
        ref.update(combine(old, value))
        return ref

    def update_resource(xp: Any, resource: Cell, value: Array) -> None:
        try:
            old = resource.read()
        except errors.FailedPreconditionError:  # only reads call it that
            raise not_found(resource) from None
        if old.shape != value.shape:
            raise invalid(
                f"Cannot update variable with shape {shape_text(old)} using a Tensor with shape "
                f"{shape_text(value)}, shapes must be equal.",
            )
        resource.update(combine(old, value))

    on_ref = op(
        name,
        inputs="ref: ref(T), value: T",
        outputs="output_ref: ref(T)",
        attrs="T: numbertype, use_locking: bool = false",
        shape=_merged_dims,
        traits=STATEFUL | NO_GRADIENT,
    )(update_ref)
    on_resource = op(
        name + "VariableOp",
        inputs="resource: resource, value: dtype",
        attrs="dtype: type",
        shape=checked_only(_merged_dims),
        traits=STATEFUL,
    )(update_resource)
    return on_ref, on_resource


_declare_update("AssignAdd", operator.add)
_declare_update("AssignSub", operator.sub)


def _scalar_variable(c: ShapeContext) -> Dims:
    return s.with_rank(variable_input(c), 0)


def _declare_count(name: str, variable: str) -> None:
    def count(xp: Any, *cells: Cell, limit: int) -> Array:
        (cell,) = cells
        value = cell.read()
        if np.ndim(value):
            raise invalid(f"input is not a scalar: {s.show(np.shape(value))}")
        if value >= limit:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
        cell.write(np.asarray(value + 1, value.dtype))
        return value

    op(
        name,
        inputs=variable,
        outputs="output: T",
        attrs="limit: int, T: indextype",
        shape=_scalar_variable,
        traits=HOST_STATE,
    )(count)


_declare_count("CountUpTo", "ref: ref(T)")
_declare_count("ResourceCountUpTo", "resource: resource")
