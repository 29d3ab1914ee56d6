"""TensorArray operations: an array of tensors that a step writes and reads by index.

The array is an object of the step; the `flow` that every operation passes on only orders them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST_STATE, NO_GRADIENT, READS_ONLY
from weft.ops.kit.shared import as_array, blank

_FLOW = np.float32(0)
# Every run of the op makes another array, with a name of its own.
_numbers = itertools.count()


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


class TensorArrayValue:
    """The array itself. Elements are written once, unless it accumulates (gradients do).

    `element_dims` is what all elements must fit; with `identical` the first one written settles it.
    """

    def __init__(
        self, name: str, size: int, dtype: DType, element_dims: Dims, dynamic_size: bool,
        clear_after_read: bool, identical: bool = False, accumulates: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.dtype, self.element_dims = name, dtype, element_dims
        self.dynamic_size, self.clear_after_read = dynamic_size, clear_after_read
        self.identical, self.accumulates = identical, accumulates
        self.items: list[Any] = [None] * size
        # Shapes of elements by index where no value is held: zeros of that shape stand there.
        self.blanks: dict[int, tuple[int, ...]] = {}
        self.was_read: set[int] = set()
        self.gradients: dict[str, TensorArrayValue] = {}
        self.closed = False
        # How many elements `split` wrote: as many as its gradient joins, if the array grew since.
        self.split_size = size
        # All elements as one array, as a program left them; None once they are written apart.
        self.rows: Any = None

    def fill(self, rows: Any) -> TensorArrayValue:
        """Takes the elements that a program has written."""
        self.rows, self.items = rows, list(rows)
        if self.identical and len(rows):
            self.element_dims = rows.shape[1:]
        return self

    def take(self, rows: Any, held: Any, read: Any) -> None:
        """Takes what a program has made of the elements: which it holds, and which were read.

        `rows` are all elements, None where no element was written.
        """
        if rows is not None and held.all() and not read.any():
            self.fill(rows)
            return
        found = self.items if rows is None else rows
        self.rows, self.items = (
            None,
            [found[i] if is_held else None for i, is_held in enumerate(held)],
        )
        self.was_read.update(np.flatnonzero(read).tolist())
        if rows is not None and self.identical:
            self.element_dims = rows.shape[1:]

    def _invalid(self, message: str) -> errors.InvalidArgumentError:
        return _invalid(f"TensorArray {self.name}: {message}")

    def _check_open(self) -> None:
        if self.closed:
            raise _invalid(f"TensorArray {self.name} has already been closed.")

    def check_dtype(self, dtype: DType, verb: str) -> None:
        if dtype != self.dtype:
            own, other = _type_name(self.dtype), _type_name(dtype)
            raise _invalid(f"TensorArray dtype is {own} but Op {verb} {other}.")

    def write(self, index: Any, value: Any) -> None:
        self._check_open()
        self.rows = None
        index = int(index)
        items = self.items
        if index < 0 or (index >= len(items) and not self.dynamic_size):
            raise self._invalid(
                f"Tried to write to index {index} but array is not resizeable and size is:"
                f" {len(items)}"
            )
        shape = np.shape(value)
        if not _fits(self.element_dims, shape):
            raise self._invalid(
                f"Could not write to TensorArray index {index} because the value shape is"
                f" {_shown(shape)} which is incompatible with the TensorArray's inferred element"
                f" shape: {s.show(self.element_dims)} (consider setting infer_shape=False)."
            )
        if index >= len(items):
            items.extend([None] * (index + 1 - len(items)))
        if index in self.was_read:
            raise self._invalid(
                f"Could not write to TensorArray index {index} because it has already been read."
            )
        held = items[index]
        if held is not None:
            value = self._sum(index, held, value)
        elif self.identical:
            self.element_dims = shape
        items[index] = value

    def _sum(self, index: int, held: Any, value: Any) -> Any:
        if not self.accumulates:
            raise self._invalid(
                f"Could not write to TensorArray index {index} because it has already been written"
                " to."
            )
        if np.shape(held) != np.shape(value):
            raise self._invalid(
                f"Could not aggregate to TensorArray index {index} because the existing shape is"
                f" {_shown(np.shape(held))} but the new input shape is {_shown(np.shape(value))}."
            )
        return np.add(held, value)

    def read(self, index: Any) -> Any:
        self._check_open()
        index = int(index)
        if not 0 <= index < len(self.items):
            raise self._invalid(
                f"Tried to read from index {index} but array size is: {len(self.items)}"
            )
        value = self.items[index]
        if value is None:
            value = self._blank(index)
        if self.clear_after_read:
            self.items[index] = None
        self.was_read.add(index)
        return value

    def _blank(self, index: int) -> Any:
        """The element at an index that was not written."""
        if self.clear_after_read and index in self.was_read:
            raise self._invalid(
                f"Could not read index {index} twice because it was cleared after a previous read"
                " (perhaps try setting clear_after_read = false?)."
            )
        dims: Any = self.blanks.get(index, self.element_dims)
        if not s.known(dims):
            raise self._invalid(
                f"Could not read from TensorArray index {index}.  Furthermore, the element shape is"
                f" not fully defined: {s.show(dims)}. It is possible you are working with a"
                " resizeable TensorArray and stop_gradients is not allowing the gradients to be"
                " written. If you set the full element_shape property on the forward TensorArray,"
                " the proper all-zeros tensor will be returned instead of incurring this error."
            )
        return np.full(dims, blank(self.dtype.np_storage), self.dtype.np_storage)

    def gather(self, indices: Any, element_dims: Dims) -> Any:
        indices = np.asarray(indices)
        if indices.ndim != 1:
            raise _invalid(
                f"Expected indices to be a vector, but received shape: {_shown(indices.shape)}"
            )
        if not indices.size:
            return self._nothing(element_dims)
        if self.rows is not None and not self.was_read:
            if np.array_equal(indices, np.arange(len(self.rows))):
                return self._take_all()
        values = [self.read(i) for i in indices.tolist()]
        first = np.shape(values[0])
        for i, value in enumerate(values):
            if np.shape(value) != first:
                raise _invalid(
                    f"TensorArray has inconsistent shapes.  Index 0 has shape: {_shown(first)} but"
                    f" index {i} has shape: {_shown(np.shape(value))}"
                )
        return np.stack(values)

    def _take_all(self) -> Any:
        rows, self.rows = self.rows, None
        self.was_read.update(range(len(rows)))
        if self.clear_after_read:
            self.items = [None] * len(rows)
        return rows

    def _nothing(self, element_dims: Dims) -> Any:
        dims = self.element_dims if self.element_dims is not None else element_dims
        if not s.known(dims):
            raise _invalid(
                f"TensorArray has size zero, but element shape {s.show(dims)} is not fully defined."
                " Currently only static shapes are supported when packing zero-size TensorArrays."
            )
        assert dims is not None
        return np.zeros((0, *dims), self.dtype.np_storage)  # type: ignore[arg-type]

    def scatter(self, indices: Any, value: Any) -> None:
        indices = np.asarray(indices)
        if indices.ndim != 1:
            raise _invalid(
                f"Expected indices to be a vector, but received shape: {_shown(indices.shape)}"
            )
        if not np.ndim(value):
            raise _invalid("Expected value to be at least a vector, but received shape: []")
        if len(indices) != len(value):
            raise _invalid(
                "Expected len(indices) == values.shape[0], but saw:"
                f" {len(indices)} vs. {len(value)}"
            )
        largest = int(indices.max()) if indices.size else -1
        if not self.dynamic_size and largest >= len(self.items):
            raise _invalid(
                f"Max scatter index must be < array size ({largest} vs. {len(self.items)})"
            )
        for i, index in enumerate(indices.tolist()):
            self.write(index, as_array(value[i]))

    def concat(self, element_dims: Dims) -> tuple[Any, Any]:
        count = self.split_size if self.accumulates else len(self.items)
        values = [self.read(i) for i in range(count)]
        if not values:
            dims = element_dims if s.known(element_dims) else ()
            lengths = np.zeros(0, np.int64)
            return np.zeros((0, *dims), self.dtype.np_storage), lengths  # type: ignore[misc]
        first = np.shape(values[0])[1:]
        for i, value in enumerate(values):
            if not np.ndim(value):
                raise _invalid(
                    f"Concat saw a scalar shape at index {i} but requires at least vectors.  Did"
                    " you mean to call pack?"
                )
            if np.shape(value)[1:] != first:
                raise _invalid(
                    "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0)"
                    f" shape: {_shown(first)} but index {i} has (excepting dimension 0) shape:"
                    f" {_shown(np.shape(value)[1:])}"
                )
        return np.concatenate(values), np.array([len(v) for v in values], np.int64)

    def split(self, value: Any, lengths: Any) -> None:
        lengths = np.asarray(lengths)
        if lengths.ndim != 1:
            raise _invalid(
                f"Expected lengths to be a vector, received shape: {_shown(lengths.shape)}"
            )
        if not np.ndim(value):
            raise _invalid("Expected value to be at least a vector, but received shape: []")
        if lengths.sum() != len(value):
            raise _invalid(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is"
                f" {lengths.sum()} and value's shape is: {_shown(np.shape(value))} "
            )
        if len(lengths) != len(self.items) and not self.dynamic_size:
            raise _invalid(
                f"TensorArray's size is not equal to the size of lengths ({len(self.items)} vs."
                f" {len(lengths)}), and the TensorArray is not marked as dynamically resizeable"
            )
        if not self.accumulates:
            self.split_size = len(lengths)
        start = 0
        for index, size in enumerate(lengths.tolist()):
            self.write(index, value[start : start + size])
            start += size

    def close(self) -> None:
        self.closed = True
        self.items = []

    def size(self) -> Any:
        self._check_open()
        return np.array(len(self.items), np.int32)

    def gradient(self, source: str, prepended: tuple[int, ...] = ()) -> TensorArrayValue:
        """The array of gradients for `source`; its elements have `prepended` more dimensions."""
        self._check_open()
        found = self.gradients.get(source)
        if found is None:
            # From now on the size is final: the array of gradients has the same.
            self.dynamic_size = False
            dims = None if self.element_dims is None else (*prepended, *self.element_dims)
            found = TensorArrayValue(
                f"{self.name}@{source}", len(self.items), self.dtype, dims, False, False,
                self.identical, accumulates=True,
            )  # fmt: skip
            for i, value in enumerate(self.items):
                shape = self.blanks.get(i) if value is None else np.shape(value)
                if shape is not None:
                    found.blanks[i] = (*prepended, *shape)
            found.split_size = self.split_size
            self.gradients[source] = found
        return found


def _fits(dims: Dims, shape: tuple[int, ...]) -> bool:
    if dims is None:
        return True
    return len(dims) == len(shape) and all(
        d is None or d == n for d, n in zip(dims, shape, strict=True)
    )


def _type_name(dtype: DType) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def _shown(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


_UNKNOWN = "shape = unknown"


def _handle_and_flow(c: ShapeContext) -> list[Dims]:
    return [(2,) if c.op.outputs[0].dtype._is_ref_dtype else (), ()]


@op(
    "TensorArrayV3", inputs="size: int32", outputs="handle: resource, flow: float",
    attrs=f"dtype: type, element_shape: {_UNKNOWN}, dynamic_size: bool = false,"
    " clear_after_read: bool = true, identical_element_shapes: bool = false,"
    ' tensor_array_name: string = ""',
    shape=lambda c: [(2,), ()], traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def tensor_array_v3(
    xp: Any, ctx: Any, size: Any, *, dtype: DType, element_shape: Dims, dynamic_size: bool,
    clear_after_read: bool, identical_element_shapes: bool, tensor_array_name: str,
) -> Any:  # fmt: skip
    if int(size) < 0:
        raise _invalid(f"Size should be >= 0.  Received size: {int(size)}")
    name = f"{tensor_array_name or ctx.node.name}_{next(_numbers)}"
    array = TensorArrayValue(
        name, int(size), dtype, element_shape, dynamic_size, clear_after_read,
        identical_element_shapes,
    )  # fmt: skip
    return array, _FLOW


@op(
    "TensorArrayGradV3", inputs="handle: resource, flow_in: float",
    outputs="grad_handle: resource, flow_out: float", attrs="source: string",
    shape=lambda c: [(2,), ()], traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def tensor_array_grad_v3(xp: Any, handle: TensorArrayValue, flow_in: Any, *, source: str) -> Any:
    return handle.gradient(source), flow_in


@op(
    "TensorArrayGradWithShape",
    inputs="handle: resource, flow_in: float, shape_to_prepend: int32",
    outputs="grad_handle: resource, flow_out: float", attrs="source: string",
    shape=lambda c: [(2,), ()], traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def tensor_array_grad_with_shape(
    xp: Any, handle: TensorArrayValue, flow_in: Any, shape_to_prepend: Any, *, source: str
) -> Any:
    return handle.gradient(source, tuple(np.asarray(shape_to_prepend).tolist())), flow_in


@op(
    "TensorArrayWriteV3", inputs="handle: resource, index: int32, value: T, flow_in: float",
    outputs="flow_out: float", attrs="T: type", shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def tensor_array_write_v3(
    xp: Any, handle: TensorArrayValue, index: Any, value: Any, flow_in: Any, *, T: DType
) -> Any:
    handle.check_dtype(T, "is trying to write dtype")
    handle.write(index, value)
    return flow_in


# Ops that hand an array on.
_HANDED_ON = {"Identity", "Enter", "Switch", "Merge", "Exit", "NextIteration", "TensorArrayGradV3"}


def _element_dims(c: s.ShapeContext) -> s.Dims:
    """The shape of the elements, as the node that made the array declares it."""
    handle, before, seen = c.op.inputs[0], 0, set()
    while handle.op not in seen:
        made = handle.op
        seen.add(made)
        if made.type == "TensorArrayV3":
            dims = made.attrs["element_shape"]
            told = made.attrs["identical_element_shapes"] or s.known(dims)
            return s.concat((None,) * before, dims) if told else None
        if made.type == "TensorArrayGradWithShape":
            more = made.inputs[2].dims
            if more is None or more[0] is None:
                return None
            before += more[0]
        elif made.type not in _HANDED_ON:
            return None
        if not made.inputs:  # in eager execution, they are not kept
            return None
        handle = made.inputs[0]
    return None


@op(
    "TensorArrayReadV3", inputs="handle: resource, index: int32, flow_in: float",
    outputs="value: dtype", attrs="dtype: type", shape=_element_dims, traits=HOST_STATE,
)  # fmt: skip
def tensor_array_read_v3(
    xp: Any, handle: TensorArrayValue, index: Any, flow_in: Any, *, dtype: DType
) -> Any:
    handle.check_dtype(dtype, "requested dtype")
    return handle.read(index)


def _gathered_dims(c: s.ShapeContext) -> s.Dims:
    """As many elements as there are indices, of the shape that the array or the node tells."""
    indices, of_array = c.dims(1), _element_dims(c)
    count = (None,) if indices is None else indices[:1]
    return s.concat(count, c.attr("element_shape") if of_array is None else of_array)


@op(
    "TensorArrayGatherV3", inputs="handle: resource, indices: int32, flow_in: float",
    outputs="value: dtype", attrs=f"dtype: type, element_shape: {_UNKNOWN}",
    shape=_gathered_dims, traits=HOST_STATE | READS_ONLY,
)  # fmt: skip
def tensor_array_gather_v3(
    xp: Any, handle: TensorArrayValue, indices: Any, flow_in: Any, *, element_shape: Dims
) -> Any:
    return handle.gather(indices, element_shape)


@op(
    "TensorArrayScatterV3", inputs="handle: resource, indices: int32, value: T, flow_in: float",
    outputs="flow_out: float", attrs="T: type", shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def tensor_array_scatter_v3(
    xp: Any, handle: TensorArrayValue, indices: Any, value: Any, flow_in: Any, *, T: DType
) -> Any:
    handle.check_dtype(T, "is trying to write dtype")
    handle.scatter(indices, value)
    return flow_in


@op(
    "TensorArrayConcatV3", inputs="handle: resource, flow_in: float",
    outputs="value: dtype, lengths: int64", attrs=f"dtype: type, element_shape_except0: {_UNKNOWN}",
    shape=lambda c: [s.concat((None,), c.attr("element_shape_except0")), (None,)],
    traits=HOST_STATE | READS_ONLY,
)  # fmt: skip
def tensor_array_concat_v3(
    xp: Any, handle: TensorArrayValue, flow_in: Any, *, element_shape_except0: Dims
) -> Any:
    return handle.concat(element_shape_except0)


@op(
    "TensorArraySplitV3",
    inputs="handle: resource, value: T, lengths: int64, flow_in: float", outputs="flow_out: float",
    attrs="T: type", shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def tensor_array_split_v3(
    xp: Any, handle: TensorArrayValue, value: Any, lengths: Any, flow_in: Any, *, T: DType
) -> Any:
    handle.check_dtype(T, "is trying to write dtype")
    handle.split(value, lengths)
    return flow_in


@op(
    "TensorArraySizeV3", inputs="handle: resource, flow_in: float", outputs="size: int32",
    shape=s.scalar, traits=HOST_STATE | READS_ONLY | NO_GRADIENT,
)  # fmt: skip
def tensor_array_size_v3(xp: Any, handle: TensorArrayValue, flow_in: Any) -> Any:
    return handle.size()


@op(
    "TensorArrayCloseV3", inputs="handle: resource", shape=s.none, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def tensor_array_close_v3(xp: Any, handle: TensorArrayValue) -> None:
    handle.close()
