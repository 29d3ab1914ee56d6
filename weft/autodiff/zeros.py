"""Zeros for outputs that no gradient came to."""

from __future__ import annotations

from weft.core import dtypes
from weft.graph.graph import Operation, Tensor, control_dependencies
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.control import routing
from weft.ops.control.control_flow_context import kind_of
from weft.ops.state.gather_nodes import variable_shape


def zeros_outside_loop(op: Operation, index: int) -> Tensor:
    """Zeros for output `index` of `op`, which is in no loop of this gradient call."""
    value = op.outputs[index]
    context = op._get_control_flow_context() if kind_of(op) == "switch" else None
    if context is None:
        return zeros_like_value(value)
    # Made only when the branch is not taken, from what the Switch got.
    other = routing.switch(op.inputs[0], context.pred)[1 - context.branch]
    untaken, is_handle = [raw.Identity(other)], value.dtype == dtypes.resource
    # The shape of a variable is read there too; that of a tensor can be known before.
    shape = None if is_handle else array.shape_internal(other, optimize=False)
    with control_dependencies(untaken):
        if shape is None:
            return array.zeros(variable_shape(other), _zeros_dtype(value))
        return array.zeros(shape, value.dtype)


def zeros_like_value(value: Tensor) -> Tensor:
    if value.dtype == dtypes.resource:
        return array.zeros(variable_shape(value), _zeros_dtype(value))
    return array.zeros_like(value, optimize=False)


def _zeros_dtype(handle: Tensor) -> dtypes.DType:
    """The type of the variable that `handle` stands for."""
    op = handle.op
    while True:
        if hasattr(op, "_captured"):
            op = op._captured.op
        elif op.inputs and "dtype" not in op.attrs:
            op = op.inputs[0].op
        else:
            break
    return op.attrs.get("dtype", dtypes.float32)
