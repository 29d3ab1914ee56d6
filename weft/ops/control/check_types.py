"""Assertions about types, which the graph knows: they fail, or not, when they are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.graph import Tensor
from weft.graph.slices import SparseTensor
from weft.ops.control.control import no_op
from weft.ops.kit.operands import operands

NUMERIC_TYPES = frozenset(
    (
        dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
        dtypes.uint8, dtypes.qint8, dtypes.qint32, dtypes.quint8, dtypes.complex64,
    )
)  # fmt: skip


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Asserts that x is of an integer type."""
    with operands(name, "assert_integer", x=x) as (_, x):
        if x.dtype.is_integer:
            return no_op("statically_determined_was_integer")
        found = f"Found: {x.name} of dtype {x.dtype}"
        raise TypeError(f'{message or ""}  Expected "x" to be integer type.  {found}')


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Any:
    """Asserts that `tensor` is of type `tf_type`."""
    with operands(name, "assert_type", tensor=tensor) as (_, tensor):
        if tensor.dtype != tf_type:
            raise TypeError(f"{message or ''}  {tensor.name} must be of type {tf_type}")
        return no_op("statically_determined_correct_type")


def assert_same_float_dtype(tensors: Any = None, dtype: DType | None = None) -> DType:
    """The one floating-point type that all of `tensors` and `dtype` have; float32 without any."""
    if tensors:
        dtype = _same_base_type(tensors, dtype)
    if not dtype:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def _same_base_type(items: Any, expected: DType | None) -> DType | None:
    model = ""
    for item in items:
        if item is None:
            continue
        found, shown = item.dtype.base_dtype, getattr(item, "name", str(item))
        if not expected:
            expected, model = found, f" as {shown}"
        elif found != expected:
            raise ValueError(
                f"{shown}, type={found}, must be of the same type ({expected}){model}."
            )
    return expected


def assert_proper_iterable(values: Any) -> None:
    """Raises unless `values` is a collection: tensors, arrays and strings do not count as one."""
    if isinstance(values, Tensor | SparseTensor | np.ndarray | str | bytes):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a Tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype in NUMERIC_TYPES
