"""Tensors with a slice replaced."""

from __future__ import annotations

from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.ops.kit.shared import taking_attrs
from weft.ops.state.scatter_nodes import _MASK_ATTRS, _MASKS, _with_slice


def _updated(
    xp: Any, input: Any, begin: Any, end: Any, strides: Any, value: Any, **masks: int
) -> Any:
    return _with_slice(xp, input, begin, end, strides, value, [masks[mask] for mask in _MASKS])


tensor_strided_slice_update_ = op(
    "TensorStridedSliceUpdate",
    inputs="input: T, begin: Index, end: Index, strides: Index, value: T", outputs="output: T",
    attrs=f"T: type, Index: indextype, {_MASK_ATTRS}", static="begin, end, strides",
    shape=s.unchanged,
)(taking_attrs(_updated, _MASKS))  # fmt: skip


@tensor_strided_slice_update_.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    _, begin, end, strides, value = op.inputs
    masks = {mask: op.attrs[mask] for mask in _MASKS}
    kept = raw.TensorStridedSliceUpdate(grad, begin, end, strides, raw.ZerosLike(value), **masks)
    return [kept, None, None, None, raw.StridedSlice(grad, begin, end, strides, **masks)]
