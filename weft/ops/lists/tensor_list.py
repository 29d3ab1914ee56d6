"""Lists of tensors as values: what `while` loops over functions keep their arrays and history in.

A list never changes; pushing and popping give new ones. Elements that were never set read as zeros.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import long
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, HOST_STATE, NO_GRADIENT
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import Variant, invalid


class TensorList(Variant):
    """The first `length` of `items`. Lists made by pushing share what they have in common."""

    __slots__ = ("dims", "dtype", "items", "length", "most")

    def __init__(
        self, dtype: DType, dims: Dims, items: list[Any], length: int | None = None, most: int = -1
    ) -> None:
        self.dtype, self.dims, self.items, self.most = dtype, dims, items, most
        self.length = len(items) if length is None else length

    def __len__(self) -> int:
        return self.length

    def values(self) -> list[Any]:
        return self.items[: self.length]

    def pushed(self, value: Any) -> TensorList:
        # A push onto the longest of the lists that share `items` need not copy them.
        items = self.items if len(self.items) == self.length else self.values()
        items.append(value)
        return TensorList(self.dtype, self.dims, items, self.length + 1, self.most)

    def shortened(self) -> TensorList:
        return TensorList(self.dtype, self.dims, self.items, self.length - 1, self.most)

    def with_items(self, items: list[Any]) -> TensorList:
        return TensorList(self.dtype, self.dims, items, None, self.most)

    def element(self, i: int, dims: Dims) -> Any:
        value = self.items[i]
        return self.zeros(dims) if value is None else value

    def zeros(self, dims: Dims) -> Any:
        """An element that was never set; its shape must be known by other means."""
        dims = self.element_dims(dims)
        if not s.known(dims):
            raise invalid(
                "Trying to read an uninitialized tensor but element_shape is not fully defined:"
                f" {s.show(dims)} and no list element is set."
            )
        return np.zeros(dims, self.dtype.np_storage)  # type: ignore[arg-type]

    def element_dims(self, dims: Dims) -> Dims:
        """The shape of the elements, as far as the list, its elements and the caller know it."""
        for known in (self.dims, *(v.shape for v in self.values() if v is not None)):
            dims = merged(dims, known)
        return dims

    def zeros_like(self) -> TensorList:
        def zero(value: Any) -> Any:
            known = hasattr(value, "zeros_like")
            return value.zeros_like() if known else value if value is None else np.zeros_like(value)

        return self.with_items([zero(value) for value in self.values()])

    def __add__(self, other: TensorList) -> TensorList:
        if len(self) != len(other):
            raise invalid(
                "Trying to add two lists of tensors with different lengths. One is"
                f" {len(self)} and the other is {len(other)}"
            )
        pairs = zip(self.values(), other.values(), strict=True)
        added = [a if b is None else b if a is None else a + b for a, b in pairs]
        return TensorList(self.dtype, merged(self.dims, other.dims), added)

    def check(self, dtype: DType) -> None:
        if dtype.base_dtype != self.dtype.base_dtype:
            raise invalid(
                f"Invalid data types; op elements {dtype.name} but list elements {self.dtype.name}"
            )


def merged(a: Dims, b: Dims) -> Dims:
    try:
        return s.merge(a, b)
    except ValueError:
        raise invalid(f"Incompatible shapes during merge: {s.show(a)} vs. {s.show(b)}") from None


def dims_from(value: Any) -> Dims:
    """An element shape given as a vector; a scalar -1 says nothing."""
    if np.ndim(value) == 0:
        return None
    return tuple(None if n < 0 else int(n) for n in value)


_ROW = 16  # how many words an array takes that holds nothing


def _listed(tensor: Any) -> list[Any]:
    check_room([len(tensor)], np.int64, times=_ROW)
    return [np.asarray(row) for row in long(tensor)]


# ---- shapes -----------------------------------------------------------------------------------


def _given(c: ShapeContext, i: int) -> Dims:
    """The element shape that input `i` gives."""
    if c.dims(i) == ():
        return None
    found = c.partial(i)
    return None if found is None else tuple(None if n is None or n < 0 else n for n in found)


def _element(i: int) -> Any:
    return lambda c: _given(c, i)


def _handle_and_element(c: ShapeContext) -> list[Dims]:
    return [(), _given(c, 1)]


def _stacked(c: ShapeContext) -> Dims:
    dims = _given(c, 1)
    count = c.attr("num_elements")
    return None if dims is None else (None if count < 0 else count, *dims)


def _gathered(c: ShapeContext) -> Dims:
    rows, dims = c.dims(1), _given(c, 2)
    if dims is None:
        return None
    count = None if rows is None or None in rows else math.prod(rows)  # type: ignore[arg-type]
    return (count, *dims)


def _concatenated(c: ShapeContext) -> list[Dims]:
    dims = _given(c, 1) if c.num_inputs > 1 else c.attr("element_shape")
    return [None if dims is None else (None, *dims[1:]), (None,)]


_SHAPE = "element_dtype: type, shape_type: {int32, int64}"


def _list_op(name: str, **declared: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declares an op whose first input is a list: also one that an array of no rank holds."""

    def declare(kernel: Callable[..., Any]) -> Any:
        def with_list(xp: Any, handle: Any, *inputs: Any, **attrs: Any) -> Any:
            held = handle.item() if type(handle) is np.ndarray else handle
            return kernel(xp, held, *inputs, **attrs)

        with_list.__signature__ = inspect.signature(kernel)  # type: ignore[attr-defined]
        return op(name, **declared)(with_list)

    return declare


# ---- making -----------------------------------------------------------------------------------


@op(
    "EmptyTensorList", inputs="element_shape: shape_type, max_num_elements: int32",
    outputs="handle: variant", attrs=_SHAPE, shape=s.scalar, traits=HOST,
)  # fmt: skip
def empty_tensor_list(
    xp: Any, element_shape: Any, max_num_elements: Any, *, element_dtype: DType
) -> Any:
    return TensorList(element_dtype, dims_from(element_shape), [], most=int(max_num_elements))


@op(
    "TensorListReserve", inputs="element_shape: shape_type, num_elements: int32",
    outputs="handle: variant", attrs=_SHAPE, shape=s.scalar, traits=HOST,
)  # fmt: skip
def tensor_list_reserve(
    xp: Any, element_shape: Any, num_elements: Any, *, element_dtype: DType
) -> Any:
    if num_elements < 0:
        raise invalid(f"num_elements must be non-negative, got {int(num_elements)}")
    return TensorList(element_dtype, dims_from(element_shape), [None] * int(num_elements))


@op(
    "TensorListFromTensor", inputs="tensor: element_dtype, element_shape: shape_type",
    outputs="output_handle: variant", attrs=_SHAPE, shape=s.scalar, traits=HOST,
)  # fmt: skip
def tensor_list_from_tensor(
    xp: Any, tensor: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    if not np.ndim(tensor):
        raise invalid("Tensor must be at least a vector, but saw shape: []")
    dims = merged(dims_from(element_shape), tensor.shape[1:])
    return TensorList(element_dtype, dims, _listed(tensor))


def _scattered(base: list[Any], tensor: Any, indices: Any) -> list[Any]:
    indices = indices.ravel()
    if len(indices) != len(tensor):
        raise invalid(
            f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: "
            f"{len(tensor)}"
        )
    if len(indices) and int(np.min(indices)) < 0:
        raise invalid("Indices in TensorListScatter must all be non-negative.")
    size = max(len(base), int(np.max(indices, initial=-1)) + 1)
    check_room([size], np.int64, times=3)  # what is behind the base, the list, a copy
    items = base + [None] * (size - len(base))
    for row, i in zip(_listed(tensor), indices, strict=True):
        items[int(i)] = row
    return items


_SCATTER = "tensor: element_dtype, indices: int32, element_shape: shape_type"


@op(
    "TensorListScatter", inputs=_SCATTER, outputs="output_handle: variant", attrs=_SHAPE,
    shape=s.scalar, traits=HOST,
)  # fmt: skip
def tensor_list_scatter(
    xp: Any, tensor: Any, indices: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    return TensorList(element_dtype, dims_from(element_shape), _scattered([], tensor, indices))


@op(
    "TensorListScatterV2", inputs=f"{_SCATTER}, num_elements: int32",
    outputs="output_handle: variant", attrs=_SHAPE, shape=s.scalar, traits=HOST,
)  # fmt: skip
def tensor_list_scatter_v2(
    xp: Any, tensor: Any, indices: Any, element_shape: Any, num_elements: Any, *,
    element_dtype: DType,
) -> Any:  # fmt: skip
    base: list[Any] = [None] * max(0, int(num_elements))
    return TensorList(element_dtype, dims_from(element_shape), _scattered(base, tensor, indices))


@_list_op(
    "TensorListScatterIntoExistingList",
    inputs="input_handle: variant, tensor: element_dtype, indices: int32",
    outputs="output_handle: variant", attrs="element_dtype: type", shape=s.scalar, traits=HOST,
)  # fmt: skip
def tensor_list_scatter_into(xp: Any, input_handle: Any, tensor: Any, indices: Any) -> Any:
    return input_handle.with_items(_scattered(input_handle.values(), tensor, indices))


@op(
    "TensorListSplit",
    inputs="tensor: element_dtype, element_shape: shape_type, lengths: int64",
    outputs="output_handle: variant", attrs=_SHAPE, shape=s.scalar, traits=HOST,
)  # fmt: skip
def tensor_list_split(
    xp: Any, tensor: Any, element_shape: Any, lengths: Any, *, element_dtype: DType
) -> Any:
    if int(np.sum(lengths)) != len(tensor):
        raise invalid(
            f"Values given by 'lengths' do not sum up to {len(tensor)}, the length of the tensor"
        )
    parts = np.split(np.asarray(tensor), np.cumsum(lengths)[:-1]) if len(lengths) else []
    return TensorList(element_dtype, dims_from(element_shape), list(parts))


# ---- reading ----------------------------------------------------------------------------------


@_list_op(
    "TensorListLength", inputs="input_handle: variant", outputs="length: int32", shape=s.scalar,
    traits=HOST | NO_GRADIENT,
)  # fmt: skip
def tensor_list_length(xp: Any, input_handle: Any) -> Any:
    return np.int32(input_handle.length)


@_list_op(
    "TensorListElementShape", inputs="input_handle: variant", outputs="element_shape: shape_type",
    attrs="shape_type: {int32, int64}", shape=s.unknown, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def tensor_list_element_shape(xp: Any, input_handle: Any, *, shape_type: DType) -> Any:
    dims = input_handle.dims
    known = -1 if dims is None else [-1 if n is None else n for n in dims]
    return np.asarray(known, shape_type.np_storage)


def _index(handle: TensorList, index: Any, verb: str) -> int:
    if not 0 <= index < len(handle):
        raise invalid(
            f"Trying to {verb} element {int(index)} in a list with {len(handle)} elements."
        )
    return int(index)


@_list_op(
    "TensorListGetItem",
    inputs="input_handle: variant, index: int32, element_shape: int32",
    outputs="item: element_dtype", attrs="element_dtype: type", shape=_element(2), traits=HOST,
)  # fmt: skip
def tensor_list_get_item(
    xp: Any, input_handle: Any, index: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    input_handle.check(element_dtype)
    return input_handle.element(_index(input_handle, index, "access"), dims_from(element_shape))


@_list_op(
    "TensorListStack", inputs="input_handle: variant, element_shape: int32",
    outputs="tensor: element_dtype", attrs="element_dtype: type, num_elements: int = -1",
    shape=_stacked, traits=HOST,
)  # fmt: skip
def tensor_list_stack(
    xp: Any, input_handle: Any, element_shape: Any, *, element_dtype: DType, num_elements: int
) -> Any:
    input_handle.check(element_dtype)
    if num_elements not in (-1, len(input_handle)):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with"
            f" {len(input_handle)} elements."
        )
    return _stack(input_handle, range(len(input_handle)), dims_from(element_shape))


def _stack(handle: TensorList, indices: Sequence[int], dims: Dims) -> Any:
    dims = handle.element_dims(dims)
    if not len(indices):
        if not s.known(dims):
            raise invalid(
                "Tried to stack elements of an empty list with non-fully-defined element_shape:"
                f" {s.show(dims)}"
            )
        return np.zeros((0, *dims), handle.dtype.np_storage)  # type: ignore[misc]
    return np.stack([np.asarray(handle.element(i, dims)) for i in indices])


@_list_op(
    "TensorListGather",
    inputs="input_handle: variant, indices: int32, element_shape: int32",
    outputs="values: element_dtype", attrs="element_dtype: type", shape=_gathered, traits=HOST,
)  # fmt: skip
def tensor_list_gather(
    xp: Any, input_handle: Any, indices: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    input_handle.check(element_dtype)
    chosen = [_index(input_handle, i, "gather") for i in indices.ravel()]
    return _stack(input_handle, chosen, dims_from(element_shape))


def _concat(handle: TensorList, dims: Dims, leading: Sequence[int]) -> list[Any]:
    parts = []
    for i in range(len(handle)):
        own = (leading[i], *dims[1:]) if dims and i < len(leading) else dims
        parts.append(np.asarray(handle.element(i, own)))
    lengths = np.asarray([len(part) for part in parts], np.int64)
    if parts:
        return [np.concatenate(parts), lengths]
    rest = merged(dims, handle.dims)
    if rest is None or None in rest[1:]:
        raise invalid(
            "All except the first dimension must be fully defined when concating an empty tensor"
            f" list. element_shape: {s.show(rest)}"
        )
    return [np.zeros((0, *rest[1:]), handle.dtype.np_storage), lengths]  # type: ignore[misc]


@_list_op(
    "TensorListConcatV2",
    inputs="input_handle: variant, element_shape: shape_type, leading_dims: int64",
    outputs="tensor: element_dtype, lengths: int64", attrs=_SHAPE, shape=_concatenated,
    traits=HOST,
)  # fmt: skip
def tensor_list_concat_v2(
    xp: Any, input_handle: Any, element_shape: Any, leading_dims: Any, *, element_dtype: DType
) -> Any:
    input_handle.check(element_dtype)
    return _concat(input_handle, dims_from(element_shape), [int(n) for n in leading_dims])


@_list_op(
    "TensorListConcat", inputs="input_handle: variant",
    outputs="tensor: element_dtype, lengths: int64",
    attrs="element_dtype: type, element_shape: shape = None", shape=_concatenated, traits=HOST,
)  # fmt: skip
def tensor_list_concat(
    xp: Any, input_handle: Any, *, element_dtype: DType, element_shape: Dims
) -> Any:
    input_handle.check(element_dtype)
    return _concat(input_handle, element_shape, [])


# ---- changing ---------------------------------------------------------------------------------


@_list_op(
    "TensorListPushBack", inputs="input_handle: variant, tensor: element_dtype",
    outputs="output_handle: variant", attrs="element_dtype: type", shape=s.scalar, traits=HOST,
)  # fmt: skip
def tensor_list_push_back(xp: Any, input_handle: Any, tensor: Any, *, element_dtype: DType) -> Any:
    input_handle.check(element_dtype)
    if 0 <= input_handle.most <= len(input_handle):
        raise invalid(
            f"Tried to push item into a full list list size: {len(input_handle)}"
            f" max_num_elements: {input_handle.most}"
        )
    if element_dtype is not dtypes.variant:
        tensor = np.asarray(tensor)
        merged(input_handle.dims, tensor.shape)
    return input_handle.pushed(tensor)


@_list_op(
    "TensorListPopBack", inputs="input_handle: variant, element_shape: int32",
    outputs="output_handle: variant, tensor: element_dtype", attrs="element_dtype: type",
    shape=_handle_and_element, traits=HOST,
)  # fmt: skip
def tensor_list_pop_back(
    xp: Any, input_handle: Any, element_shape: Any, *, element_dtype: DType
) -> Any:
    input_handle.check(element_dtype)
    if not len(input_handle):
        raise invalid("Trying to pop from an empty list.")
    value = input_handle.element(len(input_handle) - 1, dims_from(element_shape))
    return [input_handle.shortened(), value]


@_list_op(
    "TensorListSetItem",
    inputs="input_handle: variant, index: int32, item: element_dtype",
    outputs="output_handle: variant",
    attrs="element_dtype: type, resize_if_index_out_of_bounds: bool = false", shape=s.scalar,
    traits=HOST,
)  # fmt: skip
def tensor_list_set_item(
    xp: Any, input_handle: Any, index: Any, item: Any, *, element_dtype: DType,
    resize_if_index_out_of_bounds: bool,
) -> Any:  # fmt: skip
    input_handle.check(element_dtype)
    if resize_if_index_out_of_bounds:
        input_handle = _at_least(input_handle, int(index) + 1)
    position = _index(input_handle, index, "modify")
    items = input_handle.values()
    items[position] = item if element_dtype is dtypes.variant else np.asarray(item)
    return input_handle.with_items(items)


@_list_op(
    "TensorListResize", inputs="input_handle: variant, size: int32",
    outputs="output_handle: variant", shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def tensor_list_resize(xp: Any, input_handle: Any, size: Any) -> Any:
    items = input_handle.values()[: int(size)]
    return input_handle.with_items(items + [None] * (int(size) - len(items)))


def _at_least(handle: Any, size: int) -> Any:
    items = handle.values()
    return handle.with_items(items + [None] * (size - len(items)))
