"""TensorArray operations: an array of tensors that a step writes and reads by index.

The array is an object of the step; the `flow` that every operation passes on only orders them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext

_FLOW = np.float32(0)


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


class TensorArrayValue:
    """The array itself. Elements are written once, unless it accumulates (gradients do)."""

    def __init__(
        self, name: str, size: int, dtype: DType, element_dims: Dims, dynamic_size: bool,
        clear_after_read: bool, accumulates: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.dtype, self.element_dims = name, dtype, element_dims
        self.dynamic_size, self.clear_after_read = dynamic_size, clear_after_read
        self.accumulates = accumulates
        self.items: list[Any] = [None] * size
        self.was_read: set[int] = set()
        self.gradients: dict[str, TensorArrayValue] = {}
        self.source: TensorArrayValue | None = None
        self.closed = False

    def _check(self, index: int, verb: str) -> int:
        if self.closed:
            raise _invalid(f"TensorArray {self.name} has already been closed.")
        if index < 0 or (index >= len(self.items) and not (verb == "write" and self.dynamic_size)):
            what = "Tried to write to index" if verb == "write" else "Tried to read from index"
            resize = " but array is not resizeable and size is:" if verb == "write" else ""
            raise _invalid(
                f"TensorArray {self.name}: {what} {index}{resize or ' but array size is:'}"
                f" {len(self.items)}"
            )
        return index

    def write(self, index: int, value: Any) -> None:
        index = self._check(int(index), "write")
        if not _fits(self.element_dims, np.shape(value)):
            raise _invalid(
                f"TensorArray {self.name}: Could not write to TensorArray index {index} because the"
                f" value shape is {list(np.shape(value))} which is incompatible with the"
                f" TensorArray's inferred element shape: {s.show(self.element_dims)} (consider"
                " setting infer_shape=False)."
            )
        while index >= len(self.items):
            self.items.append(None)
        held = self.items[index]
        if held is not None and self.accumulates:
            value = np.add(held, value)
        elif held is not None or index in self.was_read:
            read = (
                "because it has already been read"
                if index in self.was_read
                else ("because it has already been written to")
            )
            raise _invalid(
                f"TensorArray {self.name}: Could not write to TensorArray index {index} {read}."
            )
        self.element_dims = common_known(self.element_dims, np.shape(value))
        self.items[index] = value

    def read(self, index: int) -> Any:
        index = self._check(int(index), "read")
        value = self.items[index]
        if value is None:
            if index in self.was_read:
                raise _invalid(
                    f"TensorArray {self.name}: Could not read index {index} twice because it was"
                    " cleared after a previous read (perhaps try setting clear_after_read = false?)"
                )
            if s.known(self.element_dims):
                return np.zeros(self.element_dims, self.dtype.np_storage)  # type: ignore[arg-type]
            raise _invalid(
                f"TensorArray {self.name}: Could not read from TensorArray index {index}."
                "  Furthermore, the element shape is not fully defined:"
                f" {s.show(self.element_dims)}. It is possible you are working with a resizeable"
                " TensorArray and stop_gradients is not allowing the gradients to be written. If"
                " you set the full element_shape property on the forward TensorArray, the proper"
                " all-zeros tensor will be returned instead of incurring this error."
            )
        if self.clear_after_read:
            self.items[index] = None
            self.was_read.add(index)
        return value

    def gather(self, indices: Any, element_dims: Dims) -> Any:
        values = [self.read(i) for i in np.asarray(indices).tolist()]
        if values:
            return np.stack(values)
        dims = self.element_dims if self.element_dims is not None else element_dims
        if not s.known(dims):
            raise _invalid(
                f"TensorArray has size zero, but element shape {s.show(dims)} is not fully defined."
                " Currently only static shapes are supported when packing zero-size TensorArrays."
            )
        assert dims is not None
        return np.zeros((0, *dims), self.dtype.np_storage)  # type: ignore[arg-type]

    def scatter(self, indices: Any, value: Any) -> None:
        for i, index in enumerate(np.asarray(indices).tolist()):
            self.write(index, value[i])

    def concat(self, element_dims: Dims) -> tuple[Any, Any]:
        values = [self.read(i) for i in range(len(self.items))]
        lengths = np.array([len(v) for v in values], np.int64)
        if not values:
            dims = element_dims if s.known(element_dims) else ()
            return np.zeros((0, *dims), self.dtype.np_storage), lengths  # type: ignore[misc]
        if any(v.shape[1:] != values[0].shape[1:] for v in values):
            raise _invalid(
                f"TensorArray {self.name} has inconsistent shapes: cannot concatenate elements of"
                f" shapes {[list(v.shape) for v in values]}"
            )
        return np.concatenate(values), lengths

    def split(self, value: Any, lengths: Any) -> None:
        sizes = np.asarray(lengths).tolist()
        if sum(sizes) != len(value):
            raise _invalid(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is"
                f" {sum(sizes)} and value's shape is: {list(np.shape(value))}"
            )
        start = 0
        for index, size in enumerate(sizes):
            self.write(index, value[start : start + size])
            start += size

    def close(self) -> None:
        self.closed = True
        self.items = []

    def size(self) -> Any:
        return np.array(len(self.items), np.int32)

    def gradient(self, source: str) -> TensorArrayValue:
        found = self.gradients.get(source)
        if found is None:
            found = TensorArrayValue(
                f"{self.name}@{source}", len(self.items), self.dtype, self.element_dims, False,
                False, accumulates=True,
            )  # fmt: skip
            found.source = self
            self.gradients[source] = found
        return found


def common_known(a: Dims, b: Dims) -> Dims:
    return b if a is None else a


def _fits(dims: Dims, shape: tuple[int, ...]) -> bool:
    if dims is None:
        return True
    return len(dims) == len(shape) and all(
        d is None or d == n for d, n in zip(dims, shape, strict=True)
    )


_UNKNOWN = "shape = unknown"


def _handle_and_flow(c: ShapeContext) -> list[Dims]:
    return [(2,) if c.op.outputs[0].dtype._is_ref_dtype else (), ()]


@op(
    "TensorArrayV3", inputs="size: int32", outputs="handle: resource, flow: float",
    attrs=f"dtype: type, element_shape: {_UNKNOWN}, dynamic_size: bool = false,"
    " clear_after_read: bool = true, identical_element_shapes: bool = false,"
    ' tensor_array_name: string = ""',
    shape=lambda c: [(2,), ()], stateful=True, runs_on="host", differentiable=False,
)  # fmt: skip
def tensor_array_v3(
    xp: Any, ctx: Any, size: Any, *, dtype: DType, element_shape: Dims, dynamic_size: bool,
    clear_after_read: bool, tensor_array_name: str,
) -> Any:  # fmt: skip
    if int(size) < 0:
        raise _invalid(f"Size should be >= 0.  Received size: {int(size)}")
    name = tensor_array_name or ctx.node.name
    array = TensorArrayValue(name, int(size), dtype, element_shape, dynamic_size, clear_after_read)
    return array, _FLOW


@op(
    "TensorArrayGradV3", inputs="handle: resource, flow_in: float",
    outputs="grad_handle: resource, flow_out: float", attrs="source: string",
    shape=lambda c: [(2,), ()], stateful=True, runs_on="host", differentiable=False,
)  # fmt: skip
def tensor_array_grad_v3(xp: Any, handle: TensorArrayValue, flow_in: Any, *, source: str) -> Any:
    return handle.gradient(source), flow_in


@op(
    "TensorArrayWriteV3", inputs="handle: resource, index: int32, value: T, flow_in: float",
    outputs="flow_out: float", attrs="T: type", shape=s.scalar, stateful=True, runs_on="host",
)  # fmt: skip
def tensor_array_write_v3(
    xp: Any, handle: TensorArrayValue, index: Any, value: Any, flow_in: Any
) -> Any:
    handle.write(index, value)
    return flow_in


@op(
    "TensorArrayReadV3", inputs="handle: resource, index: int32, flow_in: float",
    outputs="value: dtype", attrs="dtype: type", shape=s.unknown, stateful=True, runs_on="host",
)  # fmt: skip
def tensor_array_read_v3(xp: Any, handle: TensorArrayValue, index: Any, flow_in: Any) -> Any:
    return handle.read(index)


@op(
    "TensorArrayGatherV3", inputs="handle: resource, indices: int32, flow_in: float",
    outputs="value: dtype", attrs=f"dtype: type, element_shape: {_UNKNOWN}",
    shape=lambda c: s.concat((None,), c.attr("element_shape")), stateful=True, runs_on="host",
)  # fmt: skip
def tensor_array_gather_v3(
    xp: Any, handle: TensorArrayValue, indices: Any, flow_in: Any, *, element_shape: Dims
) -> Any:
    return handle.gather(indices, element_shape)


@op(
    "TensorArrayScatterV3", inputs="handle: resource, indices: int32, value: T, flow_in: float",
    outputs="flow_out: float", attrs="T: type", shape=s.scalar, stateful=True, runs_on="host",
)  # fmt: skip
def tensor_array_scatter_v3(
    xp: Any, handle: TensorArrayValue, indices: Any, value: Any, flow_in: Any
) -> Any:
    handle.scatter(indices, value)
    return flow_in


@op(
    "TensorArrayConcatV3", inputs="handle: resource, flow_in: float",
    outputs="value: dtype, lengths: int64", attrs=f"dtype: type, element_shape_except0: {_UNKNOWN}",
    shape=lambda c: [s.concat((None,), c.attr("element_shape_except0")), (None,)], stateful=True,
    runs_on="host",
)  # fmt: skip
def tensor_array_concat_v3(
    xp: Any, handle: TensorArrayValue, flow_in: Any, *, element_shape_except0: Dims
) -> Any:
    return handle.concat(element_shape_except0)


@op(
    "TensorArraySplitV3",
    inputs="handle: resource, value: T, lengths: int64, flow_in: float", outputs="flow_out: float",
    attrs="T: type", shape=s.scalar, stateful=True, runs_on="host",
)  # fmt: skip
def tensor_array_split_v3(
    xp: Any, handle: TensorArrayValue, value: Any, lengths: Any, flow_in: Any
) -> Any:
    handle.split(value, lengths)
    return flow_in


@op(
    "TensorArraySizeV3", inputs="handle: resource, flow_in: float", outputs="size: int32",
    shape=s.scalar, stateful=True, runs_on="host", differentiable=False,
)  # fmt: skip
def tensor_array_size_v3(xp: Any, handle: TensorArrayValue, flow_in: Any) -> Any:
    return handle.size()


@op(
    "TensorArrayCloseV3", inputs="handle: resource", shape=s.none, stateful=True, runs_on="host",
    differentiable=False,
)  # fmt: skip
def tensor_array_close_v3(xp: Any, handle: TensorArrayValue) -> None:
    handle.close()


# Under tracing the same kernels work on an array that lives in the program (TracedTensorArray).
for _op in (
    tensor_array_grad_v3, tensor_array_write_v3, tensor_array_read_v3, tensor_array_gather_v3,
    tensor_array_scatter_v3, tensor_array_size_v3, tensor_array_close_v3,
):  # fmt: skip
    _op.traced(_op.kernel)


@tensor_array_v3.traced
def _(
    xp: Any, ctx: Any, size: Any, *, dtype: DType, element_shape: Dims, dynamic_size: bool,
    clear_after_read: bool, tensor_array_name: str,
) -> Any:  # fmt: skip
    if dynamic_size:
        raise NotImplementedError("an array that grows cannot be compiled")
    return ctx.add(TracedTensorArray(xp, int(size), dtype, element_shape, False)), _FLOW


class TracedTensorArray:
    """A TensorArray inside a compiled program: one buffer, made when the element shape is known."""

    def __init__(self, xp: Any, size: int, dtype: DType, dims: Dims, accumulates: bool) -> None:
        self.xp, self.length, self.dtype, self.accumulates = xp, size, dtype, accumulates
        self.gradients: dict[str, TracedTensorArray] = {}
        self.registry: Any = None
        self.state: Any = None
        if s.known(dims):
            self.state = self._blank(dims)  # type: ignore[arg-type]

    def _blank(self, dims: tuple[int, ...]) -> Any:
        return self.xp.zeros((self.length, *dims), self.dtype.np_storage)

    def write(self, index: Any, value: Any) -> None:
        value = self.xp.asarray(value)
        if self.state is None:
            self.state = self._blank(value.shape)
        rows = self.xp.asarray(self.state).at[index]
        self.state = rows.add(value) if self.accumulates else rows.set(value)

    def read(self, index: Any) -> Any:
        return self._buffer()[index]

    def _buffer(self) -> Any:
        if self.state is None:
            raise NotImplementedError("an array is read before its element shape is known")
        return self.xp.asarray(self.state)

    def gather(self, indices: Any, element_dims: Dims) -> Any:
        whole = np.arange(self.length)
        if isinstance(indices, np.ndarray) and np.array_equal(indices, whole):
            return self._buffer()
        return self._buffer()[self.xp.asarray(indices)]

    def scatter(self, indices: Any, value: Any) -> None:
        value = self.xp.asarray(value)
        if self.state is None:
            self.state = self._blank(value.shape[1:])
        rows = self.xp.asarray(self.state).at[self.xp.asarray(indices)]
        self.state = rows.add(value) if self.accumulates else rows.set(value)

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
