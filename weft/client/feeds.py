"""Fed values -> the arrays that the step takes, with TensorFlow's checks."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft.client.tensor_handle import TensorHandle
from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant import _to_bytes
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


def to_feed(tensor: Tensor, value: Any) -> Any:
    """`value` as an array of the tensor's type, whose shape the tensor may have."""
    array = to_array(tensor, value)
    dims = tensor.dims
    if dims is not None and array.shape != dims and not fits(dims, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name!r}, which has"
            f" shape '{TensorShape.from_dims(dims)}'"
        )
    return array


def storage_of(tensor: Tensor) -> np.dtype | None:
    """The type of arrays that may be fed for a tensor as they are; None if there is none."""
    dtype = tensor.dtype.base_dtype
    return None if dtype.np_storage.hasobject else dtype.np_storage


def to_feeds(tensors: Sequence[Tensor], storage: Sequence[Any], values: Iterable[Any]) -> list[Any]:
    """As `to_feed`, for all that a step is fed; `storage` is what `storage_of` says of each."""
    fed = []
    for tensor, kind, value in zip(tensors, storage, values, strict=True):
        dims = tensor.dims
        if (
            type(value) is np.ndarray
            and value.dtype is kind
            and (dims is None or value.shape == dims or fits(dims, value.shape))
        ):
            array: Any = value.view()
            array.setflags(False)
            fed.append(array)
        else:
            fed.append(to_feed(tensor, value))
    return fed


def to_array(tensor: Tensor, value: Any) -> Any:
    """`value` as an array of the tensor's type, of whatever shape."""
    dtype = tensor.dtype.base_dtype
    if type(value) is np.ndarray and value.dtype == dtype.np_storage:
        # The array stays the user's: what keeps a value beyond the step copies such views.
        array: Any = value.view()
        array.setflags(False)  # not writable
        if dtype is dtypes.string:
            array = _to_bytes(array)
        return array
    if type(value) is float and dtype.is_floating:
        return np.asarray(value, dtype.np_storage)
    return _convert(tensor, dtype, value)


def as_given(tensor: Tensor, value: Any) -> Any:
    """The value of a fed tensor that is fetched: the user's own array, or one made of a scalar."""
    if isinstance(value, TensorHandle):
        value = value.eval()
    dtype = tensor.dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return value
    return np.asarray(value, dtype=object if dtype is dtypes.string else dtype.np_storage)


@functools.lru_cache(4096)
def fits(dims: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    """Whether a value of this shape can be fed for a tensor of those dimensions."""
    if len(dims) != len(shape):
        return False
    return all(w is None or w == given for w, given in zip(dims, shape, strict=True))


def _convert(tensor: Tensor, dtype: dtypes.DType, value: Any) -> Any:
    if isinstance(value, (Tensor, Operation)):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include"
            " Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the"
            f" tensor object was {value} which was passed to the feed with key {tensor}."
        )
    if isinstance(value, TensorHandle):
        value = value.eval()
    if dtype is dtypes.resource or dtype is dtypes.variant:
        return value
    if dtype is dtypes.string:
        if isinstance(value, (bool, int, float)):
            raise _wrong_type(tensor, dtype, value)
        return _to_bytes(np.asarray(value, dtype=object))
    if isinstance(value, int) and dtype.is_integer and not isinstance(value, bool):
        _check_range(tensor, dtype, value)
    if dtype.is_quantized and not isinstance(value, np.ndarray):
        value = np.asarray(value, dtype.as_numpy_dtype)  # where (21,) is one element
    if type(value) is np.ndarray and value.dtype.names:
        value = value.view(dtype.np_storage)
    try:
        return np.asarray(value, dtype=dtype.np_storage)
    except OverflowError:
        raise _wrong_type(tensor, dtype, value) from None


def _check_range(tensor: Tensor, dtype: dtypes.DType, value: int) -> None:
    info = np.iinfo(dtype.np_storage)
    if not info.min <= value <= info.max:
        raise _wrong_type(tensor, dtype, value)


def _wrong_type(tensor: Tensor, dtype: dtypes.DType, value: Any) -> TypeError:
    return TypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type"
        f" {dtype.np_storage}. Try explicitly setting the type of the feed tensor to a larger type"
        " (e.g. int64)."
    )
