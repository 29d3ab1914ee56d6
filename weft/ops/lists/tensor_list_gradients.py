"""Gradients of operations on lists of tensors: the gradient of a list is a list as long."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.op_def import raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.array.shape import shape


def _gradient(kind: str) -> Any:
    def keep(function: Any) -> Any:
        register_gradient(kind, function)
        return function

    return keep


def _rows(tensor: Tensor) -> Any:
    """The shape of an element of a stacked tensor."""
    return raw.StridedSlice(raw.Shape(tensor), [1], [0], [1], end_mask=1)


def _type(op: Operation) -> Any:
    return op.attrs["element_dtype"]


def _has_gradient(dtype: DType) -> bool:
    return dtype.is_floating or dtype.is_complex or dtype is dtypes.variant


@_gradient("TensorListPushBack")
def _(op: Operation, grad: Any) -> list[Any]:
    rest, element = raw.TensorListPopBack(grad, shape(op.inputs[1]), _type(op))
    return [rest, element if _has_gradient(_type(op)) else None]


@_gradient("TensorListPopBack")
def _(op: Operation, dlist: Any, delement: Any) -> list[Any]:
    if dlist is None:
        element = raw.TensorListElementShape(op.outputs[0], dtypes.int32)
        dlist = raw.EmptyTensorList(element, -1, _type(op))
    if delement is None:
        delement = raw.ZerosLike(op.outputs[1])
    return [raw.TensorListPushBack(dlist, delement), None]


@_gradient("TensorListStack")
def _(op: Operation, grad: Any) -> list[Any]:
    return [raw.TensorListFromTensor(grad, _rows(grad)), None]


@_gradient("TensorListFromTensor")
def _(op: Operation, dlist: Any) -> list[Any]:
    tensor = op.inputs[0]
    count = (tensor.dims or [None])[0]
    rows = raw.TensorListStack(
        dlist, _rows(tensor), tensor.dtype.base_dtype, num_elements=-1 if count is None else count
    )
    return [rows, None]


@_gradient("TensorListGetItem")
def _(op: Operation, grad: Any) -> list[Any]:
    empty = raw.TensorListReserve(raw.Shape(grad), raw.TensorListLength(op.inputs[0]), _type(op))
    return [raw.TensorListSetItem(empty, op.inputs[1], grad), None, None]


@_gradient("TensorListSetItem")
def _(op: Operation, dlist: Any) -> list[Any]:
    _, index, item = op.inputs
    rest = raw.TensorListSetItem(dlist, index, raw.ZerosLike(item))
    if op.attrs["resize_if_index_out_of_bounds"]:
        rest = raw.TensorListResize(rest, raw.TensorListLength(op.inputs[0]))
    return [rest, None, raw.TensorListGetItem(dlist, index, raw.Shape(item), _type(op))]


@_gradient("TensorListResize")
def _(op: Operation, dlist: Any) -> list[Any]:
    return [raw.TensorListResize(dlist, raw.TensorListLength(op.inputs[0])), None]


@_gradient("TensorListGather")
def _(op: Operation, grad: Any) -> list[Any]:
    handle, indices, _ = op.inputs
    length = raw.TensorListLength(handle)
    return [raw.TensorListScatterV2(grad, indices, _rows(grad), length), None, None]


def _scattered(op: Operation, dlist: Any) -> list[Any]:
    tensor, indices = op.inputs[:2]
    rows = raw.TensorListGather(dlist, indices, _rows(tensor), tensor.dtype.base_dtype)
    return [rows, *[None] * (len(op.inputs) - 1)]


for _name in ("TensorListScatter", "TensorListScatterV2"):
    register_gradient(_name, _scattered)


@_gradient("TensorListScatterIntoExistingList")
def _(op: Operation, dlist: Any) -> list[Any]:
    _, tensor, indices = op.inputs
    rows = raw.TensorListGather(dlist, indices, _rows(tensor), tensor.dtype.base_dtype)
    rest = raw.TensorListScatterIntoExistingList(dlist, raw.ZerosLike(tensor), indices)
    return [rest, rows, None]


def _concatenated(op: Operation, grad: Any, _lengths: Any) -> list[Any]:
    split = raw.TensorListSplit(grad, -1, op.outputs[1])
    return [split, *[None] * (len(op.inputs) - 1)]


for _name in ("TensorListConcat", "TensorListConcatV2"):
    register_gradient(_name, _concatenated)


@_gradient("TensorListSplit")
def _(op: Operation, dlist: Any) -> list[Any]:
    tensor, _, lengths = op.inputs
    found = raw.TensorListConcatV2(dlist, -1, lengths, tensor.dtype.base_dtype)
    return [found[0], None, None]
