"""Lists that hold tensors, for functions converted with `Feature.LISTS`."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.autograph.values import is_symbolic
from weft.ops.lists.tensor_array import TensorArray


def _is_list(value: Any) -> bool:
    return is_symbolic(value) and value.dtype.base_dtype is dtypes.variant


def list_append(items: Any, value: Any) -> Any:
    """The list after `items.append(value)`."""
    if isinstance(items, TensorArray):
        return items.write(items.size(), value)
    if _is_list(items):
        return raw.TensorListPushBack(items, convert_to_tensor(value))
    items.append(value)
    return items


def list_pop(items: Any) -> tuple[Any, Any]:
    """The list after `items.pop()`, and what that gave."""
    if isinstance(items, TensorArray):
        raise NotImplementedError(
            "pop() of a tf.TensorArray: its elements cannot be taken away, read the last one"
        )
    if _is_list(items):
        known = _element_type(items) or dtypes.float32
        return raw.TensorListPopBack(items, constant(-1), element_dtype=known)  # type: ignore[no-any-return]
    return items, items.pop()


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """The elements of a list of tensors as one; a tensor as it is, and unless `strict` all else."""
    if isinstance(list_or_tensor, TensorArray):
        return list_or_tensor.stack()
    if _is_list(list_or_tensor):
        known = element_dtype or _element_type(list_or_tensor)
        if known is None:
            raise ValueError(
                "cannot stack a list without knowing its element type; use set_element_type to"
                " annotate it"
            )
        return raw.TensorListStack(list_or_tensor, constant(-1), element_dtype=known)
    if strict and not is_symbolic(list_or_tensor):
        raise ValueError(f"{list_or_tensor} must be stackable when strict=True")
    return list_or_tensor


def _element_type(items: Tensor) -> Any:
    """The type of a list's elements, by how it was made; None if that cannot be seen."""
    types = (op.attrs.get("element_dtype") for op in _history(items))
    return next((each for each in types if each is not None), None)


def _history(tensor: Tensor) -> list[Any]:
    found = [tensor.op]
    while found[-1].inputs:
        found.append(found[-1].inputs[0].op)
    return found


def set_item(items: Any, key: Any, value: Any) -> Any:
    """The value of `items` after `items[key] = value`."""
    if isinstance(items, TensorArray):
        return items.write(key, value)
    if _is_list(items):
        return raw.TensorListSetItem(items, key, convert_to_tensor(value))
    if is_symbolic(items):
        value = convert_to_tensor(value, dtype=items.dtype.base_dtype)
        return raw.TensorScatterUpdate(items, [[key]], raw.ExpandDims(value, 0))
    items[key] = value
    return items
