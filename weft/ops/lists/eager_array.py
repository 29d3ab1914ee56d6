"""tf.TensorArray in eager execution: a list of Python, whose elements tapes follow as any tensor.

Writing changes the array itself and gives it back. Elements may be written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from weft.core import dtypes
from weft.core.errors import OutOfRangeError
from weft.core.shapes import TensorShape, as_shape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.ops.kit.eager import EagerTensor
from weft.ops.kit.shared import invalid
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.lists.tensor_list_array import ListTensorArray, list_array_like, shape_vector


class EagerTensorArray(TensorArray):
    """A TensorArray that holds its elements."""

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
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled."
            )
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size, self._infer_shape = dynamic_size or False, infer_shape
        self._element_shape, self._colocate_with = [as_shape(element_shape)], None
        self._clear_after_read = True if clear_after_read is None else clear_after_read
        self._elements: list[Tensor | None] = [None] * int(_now(size))
        self._cleared: set[int] = set()

    @property
    def handle(self) -> None:  # type: ignore[override]
        return None

    @property
    def flow(self) -> Tensor:
        """The elements as a TensorList, in which form functions take them."""
        return raw.TensorListFromTensor(self.stack(), shape_vector(self.element_shape))

    def _after(self, flow: Tensor) -> ListTensorArray:
        return list_array_like(self, flow)

    # ---- writing ----

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        index = int(_now(index))
        self._make_room(index)
        value = self._fitting(value)
        self._elements[index] = value
        return self

    def _make_room(self, index: int) -> None:
        size = len(self._elements)
        if index < 0:
            raise _outside(f"Writing to negative indices (index {index}) is not allowed.")
        if index >= size and not self._dynamic_size:
            raise _outside(
                f"Tried to write to index {index} but array is not resizeable and size is: {size}"
            )
        self._elements += [None] * (index + 1 - size)

    def _fitting(self, value: Any) -> Tensor:
        made = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        self._check_type(made)
        known = self._element_shape[0]
        try:
            both = known.merge_with(made.shape)
        except ValueError:
            shapes = f"({made.shape}), expected ({known})"
            raise ValueError(f"Incompatible shape for value {shapes}") from None
        self._element_shape[0] = both if self._infer_shape else known
        return made

    def _check_type(self, value: Tensor) -> None:
        if value.dtype.base_dtype != self._dtype:
            raise invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype"
                f" {value.dtype.name}"
            )

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        from weft.ops.array import array

        rows = array.unstack(value, name=name)
        if len(rows) > len(self._elements) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size"
                f" {len(self._elements)}"
            )
        self._elements = list(rows)
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        from weft.ops.array import array

        for index, row in zip(_now(indices), array.unstack(value), strict=False):
            self.write(index, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        from weft.ops.array import array

        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        self._check_type(value)
        sizes = np.asarray(_now(lengths))
        self._check_split(value.shape.as_list(), sizes)
        self._elements = list(array.split(value, sizes.tolist(), name=name))
        return self

    def _check_split(self, dims: list[int], sizes: np.ndarray) -> None:
        if sizes.ndim != 1:
            raise invalid(f"Expected lengths to be a vector, received shape: {list(sizes.shape)}")
        if not dims:
            raise invalid(f"Expected value to be at least a vector, but received shape: {dims}")
        if sizes.sum() != dims[0]:
            raise invalid(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is"
                f" {sizes.sum()} and value's shape is: {dims} "
            )
        if not self._dynamic_size and len(sizes) != len(self._elements):
            raise invalid(
                "TensorArray's size is not equal to the size of lengths"
                f" ({len(self._elements)} vs. {len(sizes)}), and the TensorArray is not marked as"
                " dynamically resizeable"
            )

    # ---- reading ----

    def read(self, index: Any, name: str | None = None) -> Tensor:
        index = int(_now(index))
        self._check_readable(index)
        found = self._element(index)
        if self._clear_after_read:
            self._elements[index] = None
            self._cleared.add(index)
        return found

    def _check_readable(self, index: int) -> None:
        size = len(self._elements)
        if index < 0:
            raise _outside(f"Reading from negative indices (index {index}) is not allowed.")
        if index >= size:
            raise _outside(f"Tried to read from index {index} but array size is: {size}")
        if self._elements[index] is None and index in self._cleared:
            raise invalid(
                f"Could not read index {index} twice because it was cleared after a previous read"
                " (perhaps try setting clear_after_read = false?)"
            )

    def _element(self, index: int) -> Tensor:
        """The element at `index`; zeros, from now on, if none was written."""
        from weft.ops.array import array

        found = self._elements[index]
        if found is None:
            found = self._elements[index] = array.zeros(self.element_shape, self._dtype)
        return found

    def _all_elements(self) -> Sequence[Tensor]:
        return [self._element(index) for index in range(len(self._elements))]

    def stack(self, name: str | None = None) -> Tensor:
        from weft.ops.array import array

        if self._elements:
            return array.stack(self._all_elements(), name=name)
        known = self.element_shape if self.element_shape.is_fully_defined() else TensorShape([])
        return array.zeros([0, *known.as_list()], self._dtype)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        from weft.ops.array import array

        return array.stack([self._element(int(index)) for index in _now(indices)])

    def concat(self, name: str | None = None) -> Tensor:
        from weft.ops.array import array

        elements = self._all_elements()
        for index, element in enumerate(elements):
            if not element.shape.ndims and len(elements) > 1:
                raise invalid(
                    f"Concat saw a scalar shape at index {index} but requires at least vectors."
                )
        return array.concat(elements, 0, name=name)

    def size(self, name: str | None = None) -> Tensor:
        return constant(len(self._elements))

    # ---- the array as a whole ----

    def identity(self) -> TensorArray:
        return self

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> NoReturn:
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient"
            " implementation does not use/need this function to compute gradients of operations"
            " that use TensorArrays."
        )

    def close(self, name: str | None = None) -> None:  # type: ignore[override]
        self._elements.clear()


def _now(value: Any) -> Any:
    """A number or list as it is; a tensor's value."""
    return value.numpy() if isinstance(value, EagerTensor) else value


def _outside(message: str) -> OutOfRangeError:
    return OutOfRangeError(None, None, message)
