"""Slots: variables that an optimizer or a moving average keeps beside each variable it works on.

A slot of variable `w` made for `Adam` is called `w/Adam` and has the shape of `w`.
"""

from __future__ import annotations

from typing import Any

from weft.ops.array import array
from weft.ops.kit.replicas import beside
from weft.ops.state.initializers import Zeros
from weft.ops.state.ref_variable import RefVariable
from weft.ops.state.resource_variable import is_resource_variable
from weft.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope
from weft.ops.state.variables import SaveSliceInfo, Variable


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A slot of `primary` that starts as the tensor `val`."""
    return _create(primary, val, name, colocate_with_primary, val.shape.is_fully_defined())


def create_slot_with_initializer(
    primary: Any,
    initializer: Any,
    shape: Any,
    dtype: Any,
    name: str,
    colocate_with_primary: bool = True,
) -> Any:
    """A slot of `primary` with a shape and type of its own."""
    fully_defined = shape.is_fully_defined()
    return _create(primary, initializer, name, colocate_with_primary, fully_defined, shape, dtype)


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Any:
    """A slot like `primary` that starts as zeros."""
    dtype = primary.dtype if dtype is None else dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, Zeros(), shape, dtype, name, colocate_with_primary
        )
    model = primary.initialized_value() if isinstance(primary, Variable) else primary
    zeros = array.zeros(array.shape(model), dtype=dtype)
    return create_slot(primary, zeros, name, colocate_with_primary)


def _create(
    primary: Any,
    val: Any,
    name: str,
    colocate: bool,
    validate_shape: bool,
    shape: Any = None,
    dtype: Any = None,
) -> Any:
    # Of a variable with copies, the name of the first is that of all.
    base = getattr(primary, "primary", primary).op.name
    with variable_scope(None, f"{base}/{name}"):
        if not colocate:
            return _slot_variable(primary, val, validate_shape, shape, dtype)
        with beside(primary):
            return _slot_variable(primary, val, validate_shape, shape, dtype)


def _slot_variable(primary: Any, val: Any, validate_shape: bool, shape: Any, dtype: Any) -> Any:
    scope = get_variable_scope()
    # A slot of one part of a partitioned variable is not itself cut up.
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    use_resource = True if is_resource_variable(primary) else None
    if isinstance(primary, RefVariable):
        use_resource = False
    slot = get_variable(
        "",
        initializer=val,
        trainable=False,
        use_resource=use_resource,
        shape=shape if callable(val) else None,
        dtype=dtype,
        validate_shape=validate_shape,
    )
    scope.set_partitioner(partitioner)
    info = primary._save_slice_info if isinstance(primary, Variable) else None
    if info is not None:
        own_name = slot.op.name[len(primary.op.name) + 1 :]
        slot._set_save_slice_info(
            SaveSliceInfo(
                f"{info.full_name}/{own_name}",
                list(info.full_shape),
                list(info.var_offset),
                list(info.var_shape),
            )
        )
    return slot
