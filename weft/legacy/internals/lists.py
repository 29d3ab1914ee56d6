"""Names of `tensorflow.python.ops.list_ops`: lists of tensors, with element shapes as programs
write them."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft.graph.op_def import raw


def _as_vector(shape: Any) -> Any:
    """An element shape as operations take it: -1 for what is not known."""
    if isinstance(shape, tf.Tensor):
        return shape
    known = tf.TensorShape(shape)
    sizes = -1 if known.ndims is None else [-1 if n is None else n for n in known.as_list()]
    return tf.constant(sizes, tf.int32)


def empty_tensor_list(
    element_shape: Any, element_dtype: Any, max_num_elements: Any = None, name: str | None = None
) -> Any:
    """A list without elements."""
    most = -1 if max_num_elements is None else max_num_elements
    shape = _as_vector(element_shape)
    return raw.EmptyTensorList(shape, most, element_dtype=element_dtype, name=name)


def tensor_list_reserve(
    element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None
) -> Any:
    """A list of elements that are yet to be set."""
    shape = _as_vector(element_shape)
    return raw.TensorListReserve(shape, num_elements, element_dtype=element_dtype, name=name)


def tensor_list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Any:
    """The rows of a tensor."""
    return raw.TensorListFromTensor(tensor, _as_vector(element_shape), name=name)


def tensor_list_get_item(
    input_handle: Any, index: Any, element_dtype: Any, element_shape: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """One element."""
    shape = _as_vector(element_shape)
    return raw.TensorListGetItem(input_handle, index, shape, element_dtype=element_dtype, name=name)


def tensor_list_pop_back(input_handle: Any, element_dtype: Any, name: str | None = None) -> Any:
    """The list without its last element, and this."""
    shape = _as_vector(None)
    return raw.TensorListPopBack(input_handle, shape, element_dtype=element_dtype, name=name)


def tensor_list_gather(
    input_handle: Any, indices: Any, element_dtype: Any, element_shape: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Some elements, as one tensor."""
    shape = _as_vector(element_shape)
    return raw.TensorListGather(
        input_handle, indices, shape, element_dtype=element_dtype, name=name
    )


def tensor_list_stack(
    input_handle: Any, element_dtype: Any, num_elements: int = -1, element_shape: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """All elements, as one tensor."""
    return raw.TensorListStack(
        input_handle, _as_vector(element_shape), element_dtype=element_dtype,
        num_elements=num_elements, name=name,
    )  # fmt: skip


def tensor_list_concat(
    input_handle: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Any:
    """All elements, joined along their first dimension."""
    shape = _as_vector(element_shape)
    none = tf.constant([], tf.int64)
    return raw.TensorListConcatV2(
        input_handle, shape, none, element_dtype=element_dtype, name=name
    ).tensor


def tensor_list_set_item(
    input_handle: Any, index: Any, item: Any, resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The list with another element at `index`."""
    if resize_if_index_out_of_bounds:
        size = tf.maximum(raw.TensorListLength(input_handle), index + 1)
        input_handle = raw.TensorListResize(input_handle, size)
    return raw.TensorListSetItem(input_handle, index, item, name=name)
