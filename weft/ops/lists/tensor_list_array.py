"""tf.TensorArray where control flow is made of functions: a list of tensors, a value that flows.

Functional loops and conditionals carry the list itself, so there is no handle.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.lists.tensor_array import TensorArray


class ListTensorArray(TensorArray):
    """A TensorArray whose `flow` is a TensorList."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if size is not None and flow is not None:
            raise ValueError("Cannot provide both `flow` and size to constructor")
        if size is None and flow is None:
            raise ValueError("Size must be provided if flow is not provided")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size, self._infer_shape = dynamic_size or False, infer_shape
        self._element_shape = [as_shape(element_shape)]
        self._colocate_with = None
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            if flow is None:
                flow = raw.TensorListReserve(
                    self._shape_vector(), size, element_dtype=self._dtype, name=scope
                )
        self._flow = flow

    @property
    def handle(self) -> None:  # type: ignore[override]
        return None

    def _shape_vector(self) -> np.ndarray:
        return shape_vector(self.element_shape)

    def _after(self, flow: Tensor) -> ListTensorArray:
        return list_array_like(self, flow)

    # ---- writing ----

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._converted(value)
            self._check_type(value)
            self._learn_element_shape(value.shape)
            flow = self._flow
            if self._dynamic_size:
                size = raw.Maximum(raw.TensorListLength(flow), raw.AddV2(index, 1))
                flow = raw.TensorListResize(flow, size)
            return self._after(raw.TensorListSetItem(flow, index, value))

    def _check_type(self, value: Tensor) -> None:
        if value.dtype.base_dtype != self._dtype:
            raise ValueError(
                f"Invalid dtype: tried to write {value.dtype.name} to a TensorArray of"
                f" {self._dtype.name}"
            )

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._check_type(value)
            self._learn_element_shape(value.shape[1:])
            return self._after(raw.TensorListFromTensor(value, shape_vector(value.shape[1:])))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._converted(value)
            self._learn_element_shape(value.shape[1:])
            made = raw.TensorListScatterIntoExistingList(self._flow, value, indices)
            return self._after(made)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        from weft.ops.math import casts

        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            whole = convert_to_tensor(value, self._dtype, name="value")
            sizes = casts.cast(lengths, dtypes.int64)
            self._learn_split(whole, constant_value(sizes))
            piece = TensorShape([None]).concatenate(whole.shape[1:])
            return self._after(raw.TensorListSplit(whole, shape_vector(piece), sizes))

    # ---- reading ----

    def read(self, index: Any, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            found = raw.TensorListGetItem(
                self._flow, index, self._shape_vector(), element_dtype=self._dtype, name=name
            )
            found.set_shape(self.element_shape)
            return found

    def stack(self, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            found = raw.TensorListStack(self._flow, self._shape_vector(), element_dtype=self._dtype)
            found.set_shape(TensorShape([None]).concatenate(self.element_shape))
            return found

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        found = raw.TensorListGather(
            self._flow, indices, self._shape_vector(), element_dtype=self._dtype, name=name
        )
        found.set_shape(TensorShape([None]).concatenate(self.element_shape))
        return found

    def concat(self, name: str | None = None) -> Tensor:
        rest = TensorShape([None]).concatenate(self.element_shape[1:])
        known = rest if self.element_shape.ndims is not None else self.element_shape
        found, _ = raw.TensorListConcatV2(
            self._flow, shape_vector(known), constant([], dtypes.int64),
            element_dtype=self._dtype, name=name,
        )  # fmt: skip
        if known.ndims is not None:
            found.set_shape(known)
        return found

    def size(self, name: str | None = None) -> Tensor:
        found: Tensor = raw.TensorListLength(self._flow, name=name)
        return found

    # ---- the array as a whole ----

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> NoReturn:
        raise NotImplementedError("A list of tensors is differentiated as a value.")

    def close(self, name: str | None = None) -> Any:
        return raw.NoOp(name=name)


def list_array_like(array: TensorArray, flow: Tensor) -> ListTensorArray:
    """An array like `array` whose elements are those of a list."""
    new = object.__new__(ListTensorArray)
    new._dtype, new._flow = array._dtype, flow
    new._dynamic_size, new._infer_shape = array._dynamic_size, array._infer_shape
    new._element_shape, new._colocate_with = array._element_shape, None
    return new


def shape_vector(shape: TensorShape) -> np.ndarray:
    """A shape as operations on lists take it; -1 for what is not known."""
    dims = shape._dims_tuple
    return np.array(-1 if dims is None else [-1 if n is None else n for n in dims], np.int32)
