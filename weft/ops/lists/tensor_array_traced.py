"""TensorArrays inside a compiled program: buffers that the program carries along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.kit.row_updates import put_row, take_row
from weft.ops.kit.shared import is_concrete
from weft.ops.kit.value_checks import are_within, must_be_within, must_hold
from weft.ops.lists import tensor_array_nodes as ops
from weft.ops.lists.tensor_array_nodes import TensorArrayValue

_FLOW = np.float32(0)

# The kernels are those of the host; the array they are given differs.
for _op in (
    ops.tensor_array_grad_v3, ops.tensor_array_write_v3, ops.tensor_array_read_v3,
    ops.tensor_array_gather_v3, ops.tensor_array_scatter_v3, ops.tensor_array_size_v3,
    ops.tensor_array_close_v3,
):  # fmt: skip
    _op.traced(_op.kernel)


@ops.tensor_array_v3.traced
def _(
    xp: Any, ctx: Any, size: Any, *, dtype: DType, element_shape: Dims, dynamic_size: bool,
    clear_after_read: bool, identical_element_shapes: bool, tensor_array_name: str,
) -> Any:  # fmt: skip
    if not dynamic_size:
        made = TracedTensorArray(xp, int(size), dtype, element_shape, False)
        made.loops, made.depth = len(ctx.bounds), depth_of(ctx)
        made.clears = clear_after_read
        return ctx.add(made), _FLOW

    def on_host() -> TensorArrayValue:
        name = tensor_array_name or "TensorArray"
        return TensorArrayValue(
            name, int(size), dtype, element_shape, True, clear_after_read, identical_element_shapes
        )

    return ctx.add(GrowingArray(xp, ctx, int(size), dtype, on_host)), _FLOW


def depth_of(registry: Any) -> int:
    """How many loops and conditionals there are around this point, where checks are made."""
    return 0 if registry.failed is None else int(registry.failed.depth)


class TracedTensorArray:
    """A TensorArray inside a compiled program: one buffer, made when the element shape is known."""

    def __init__(self, xp: Any, size: int, dtype: DType, dims: Dims, accumulates: bool) -> None:
        self.xp, self.length, self.dtype, self.accumulates = xp, size, dtype, accumulates
        self.gradients: dict[str, TracedTensorArray] = {}
        self.registry: Any = None
        self.loops = self.depth = 0  # around where it was made; `depth` counts conditionals, too
        self.clears = False  # whether an element can be read only once
        self._read: dict[Any, Any] = {}  # what was read for certain: numbers, identities of indices
        # By identity, a state and what was written until then: numbers, or identities of indices.
        self._written: dict[int, tuple[Any, frozenset[Any], Any]] = {}
        self.state: Any = None
        if s.known(dims):
            self.state = self._blank(dims)  # type: ignore[arg-type]

    def _blank(self, dims: tuple[int, ...]) -> Any:
        return self.xp.zeros((self.length, *dims), self.dtype.np_storage)

    def check_dtype(self, dtype: DType, verb: str) -> None:
        if dtype != self.dtype:
            raise NotImplementedError("an array is used with another type than its own")

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if self.state is None:
            self.state = self._blank(shape)
        elif tuple(self.state.shape[1:]) != shape:
            raise NotImplementedError("the elements of an array differ in shape")

    def write(self, index: Any, value: Any) -> None:
        value = self.xp.asarray(value)
        self._check_shape(value.shape)
        self._check_range(index)
        if not self.length:
            return  # a loop over nothing is traced all the same
        buffer, before = self.xp.asarray(self.state), self.state
        if self.accumulates:
            value = take_row(buffer, index) + value
        self.state = put_row(buffer, index, value)
        if not self.accumulates:
            self._note_written(before, [index])

    def _check_range(self, indices: Any) -> None:
        if is_concrete(indices):
            if not np.all(are_within(np.asarray(indices), self.length)):
                raise NotImplementedError("an index is out of range")
            return
        must_be_within(indices, self.length)

    def _note_written(self, before: Any, indices: Sequence[Any]) -> None:
        """Leaves to the interpreter what may write an element for the second time.

        What is written at a number in a loop is, and what is written twice at one and the same
        index. That indices of different names are different is taken for granted.
        """
        written = set(self._written.get(id(before), (None, frozenset(), None))[1])
        for index in indices:
            key, is_repeated = _key(index), self._is_repeated(index)
            if key in written or is_repeated:
                raise NotImplementedError("an element may be written twice")
            if key in self._read:
                raise NotImplementedError("an element is written that was read")
            written.add(key)
        self._written[id(self.state)] = self.state, frozenset(written), indices

    def _is_repeated(self, index: Any) -> bool:
        """Whether a loop that the array is older than comes to the index each time."""
        return is_concrete(index) and len(self.registry.bounds) > self.loops

    def _note_read(self, indices: Sequence[Any]) -> None:
        """Leaves to the interpreter what reads a second time what can be read only once."""
        for index in indices if self.clears else ():
            if _key(index) in self._read or self._is_repeated(index):
                raise NotImplementedError("an element is read twice")
            if depth_of(self.registry) == self.depth:
                self._read[_key(index)] = index

    def read(self, index: Any) -> Any:
        buffer = self._buffer()
        self._check_range(index)
        self._note_read([index])
        if not self.length:
            return self.xp.zeros(buffer.shape[1:], buffer.dtype)
        return take_row(buffer, index)

    def _buffer(self) -> Any:
        if self.state is None:
            raise NotImplementedError("an array is read before its element shape is known")
        return self.xp.asarray(self.state)

    def gather(self, indices: Any, element_dims: Dims) -> Any:
        self._check_range(indices)
        if is_concrete(indices):
            self._note_read(list(indices))
            if np.array_equal(indices, np.arange(self.length)):
                return self._buffer()
        return self._buffer()[self.xp.asarray(indices)]

    def scatter(self, indices: Any, value: Any) -> None:
        value = self.xp.asarray(value)
        self._check_shape(value.shape[1:])
        self._check_range(indices)
        before = self.state
        rows = self.xp.asarray(before).at[self.xp.asarray(indices)]
        self.state = rows.add(value) if self.accumulates else rows.set(value)
        if self.accumulates:
            return
        if is_concrete(indices):
            self._note_written(before, list(indices))
        else:
            ordered = self.xp.sort(indices)
            must_hold(ordered[1:] != ordered[:-1])

    def size(self) -> Any:
        return np.array(self.length, np.int32)

    def close(self) -> None:
        self.state = None

    def gradient(self, source: str) -> TracedTensorArray:
        found = self.gradients.get(source)
        if found is None:
            found = TracedTensorArray(self.xp, self.length, self.dtype, None, True)
            if self.state is not None:
                found.state = found._blank(self.state.shape[1:])
            self.gradients[source] = found
            self.registry.add(found)
        return found


def _key(index: Any) -> tuple[str, int]:
    return ("number", int(index)) if is_concrete(index) else ("value", id(index))


class GrowingArray(TracedTensorArray):
    """An array whose size the program finds out: `state` is (buffer, size), or None while empty.

    The buffer has as many rows as the loops around a write allow. When the program is over, the
    rows that were written leave it as an array of the host.
    """

    def __init__(
        self, xp: Any, ctx: Any, size: int, dtype: DType, on_host: Callable[[], TensorArrayValue]
    ) -> None:
        super().__init__(xp, size, dtype, None, False)
        self.ctx, self.on_host = ctx, on_host

    def write(self, index: Any, value: Any) -> None:
        xp, value = self.xp, self.xp.asarray(value)
        self.state = self.grown(self.state, max(self.length, self.ctx.rows_for(index)), value)
        buffer, size = self.state
        if tuple(buffer.shape[1:]) != value.shape:
            raise NotImplementedError("the elements of an array differ in shape")
        size = xp.maximum(size, xp.asarray(index, np.int32) + np.int32(1))
        self.state = put_row(buffer, index, value), size

    def grown(self, state: Any, rows: int, like: Any) -> Any:
        """`state` with `rows` rows at least; `like` has the shape of an element."""
        xp = self.xp
        if state is None:
            blank = xp.zeros((rows, *like.shape), self.dtype.np_storage)
            return blank, xp.asarray(self.length, np.int32)
        buffer, size = state
        missing = max(0, rows - buffer.shape[0])
        return xp.pad(buffer, [(0, missing)] + [(0, 0)] * (buffer.ndim - 1)), size

    def _buffer(self) -> Any:
        if self.state is None:
            raise NotImplementedError("an array is read before its element shape is known")
        return self.state[0]

    def read(self, index: Any) -> Any:
        return take_row(self._looked_at(index), index)

    def gather(self, indices: Any, element_dims: Dims) -> Any:
        return self._looked_at(indices)[self.xp.asarray(indices)]

    def _looked_at(self, indices: Any) -> Any:
        """The buffer, whose elements at `indices` must have been written."""
        buffer, indices = self._buffer(), self.xp.asarray(indices)
        must_hold((indices >= 0) & (indices < self.state[1]))
        return buffer

    def scatter(self, indices: Any, value: Any) -> None:
        raise NotImplementedError("rows are scattered into an array that grows")

    def size(self) -> Any:
        return np.array(self.length, np.int32) if self.state is None else self.state[1]

    def gradient(self, source: str) -> TracedTensorArray:
        raise NotImplementedError("an array that grows has a gradient")

    def to_host(self, state: Any) -> TensorArrayValue:
        """The array of the host, given the arrays of its state when the program is over."""
        if state is None:
            return self.on_host()
        buffer, size = state
        return self.on_host().fill(np.asarray(buffer)[: int(size)])
