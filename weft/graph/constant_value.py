"""Values of tensors as far as the graph alone determines them, for shape rules and users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import MAX_RANK, TensorShape
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, size
from weft.graph.tensor import Tensor

_MAX_ELEMENTS = 4096
_MAX_DEPTH = 64
_NOT_CONSTANT = object()


def folded_value(tensor: Any) -> Any:
    """The value of `tensor` as a NumPy array if it follows from constants, else None.

    For shapes and for what only weft decides. What a graph consists of must not depend on it.
    """
    if not isinstance(tensor, Tensor):
        return np.asarray(tensor) if isinstance(tensor, (np.ndarray, np.generic)) else None
    values = _values_of(tensor.op, 0)
    return None if values is None else values[tensor.value_index]


def _values_of(op: Operation, depth: int) -> list[np.ndarray] | None:
    """All outputs of a pure op over constants. Kept on the op, since it never changes."""
    if op._value is not None:
        return None if op._value is _NOT_CONSTANT else op._value
    if depth > _MAX_DEPTH:
        return None
    found = _evaluate(op, depth)
    op._value = _NOT_CONSTANT if found is None else found
    return found


def _evaluate(op: Operation, depth: int) -> list[np.ndarray] | None:
    kind = op.definition
    if kind.is_constant:
        return [op.attrs["value"]]
    if kind.measures:
        return _of_shapes(op, depth)
    if kind.name == "PlaceholderWithDefault":
        return None  # made to be fed
    if kind.stateful or kind.needs_xla or not op.inputs or kind.allows_uninitialized:
        return None
    if not kind.traceable and not _computes_on_the_host(op):
        return None
    if any(t.dtype._is_ref_dtype for t in op.inputs) or not _is_small(op):
        return None
    inputs: list[np.ndarray] = []
    for tensor in op.inputs:
        values = _values_of(tensor.op, depth + 1)
        if values is None or values[tensor.value_index].size > _MAX_ELEMENTS:
            return None
        inputs.append(values[tensor.value_index])
    from weft.graph.kernel_call import bind

    try:
        with np.errstate(all="ignore"):
            return [np.asarray(v) for v in bind(kind, op.attrs)(np, inputs)]
    except Exception:
        # Constants that cannot be computed fail when the step runs, with the node's name.
        return None


def _computes_on_the_host(op: Operation) -> bool:
    """Whether a node that XLA cannot have is a function of the values of its inputs alone."""
    kind = op.definition
    if kind.kernel is None or kind.takes_ctx or kind.calls_python or kind.control_flow:
        return False
    return not any(tensor.dtype is dtypes.variant for tensor in op.outputs)


def _is_small(op: Operation) -> bool:
    for tensor in op.outputs:
        if tensor.dims is not None and None not in tensor.dims:
            if float(size(tensor.dims) or 0) > _MAX_ELEMENTS:
                return False
    return True


def _of_shapes(op: Operation, depth: int) -> list[np.ndarray] | None:
    out = op.attrs.get("out_type")
    dtype = out.np_storage if out is not None else np.int32
    found = []
    for tensor in op.inputs:
        dims = tensor.dims
        if op.definition.measures == "rank" and dims is not None:
            return [np.array(len(dims), np.int32)]
        if dims is None or None in dims:
            values = _values_of(tensor.op, depth + 1)
            if values is None:
                return None
            dims = values[tensor.value_index].shape
        try:
            found.append(np.array(_MEASURES[op.definition.measures or "shape"](dims), dtype=dtype))
        except OverflowError:
            return None  # of a number that does not fit, which the kernel says
    return found


_MEASURES: dict[str, Callable[[Any], Any]] = {"shape": tuple, "size": size, "rank": len}


# The ops that TensorFlow 1 itself looks through. weft sees through more of them when it infers
# shapes, but what users are told must not depend on it: an assertion that TensorFlow makes when the
# step runs is then made when the step runs.
_SEEN_THROUGH = frozenset("Range Cast Concat ConcatV2 Pack Equal NotEqual".split())


def _is_static(tensor: Tensor) -> bool:
    op = tensor.op
    if op.type == "Fill":
        return tensor.shape.is_fully_defined() and _is_static(op.inputs[1])
    if op.definition.is_constant:
        return True
    if op.definition.measures and op.definition.single_output:
        shape = op.inputs[0].shape
        whole = shape.is_fully_defined()
        return shape.rank is not None if op.definition.measures == "rank" else whole
    if op.type not in _SEEN_THROUGH or (op.type == "Pack" and op.attrs["axis"] != 0):
        return False
    return all(map(_is_static, op.inputs))


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of `tensor` as an array if TensorFlow 1 could tell it without a step, else None.

    With `partial`, a stack of tensors gives an array with None for those that are not known.
    """
    if not isinstance(tensor, Tensor):
        return folded_value(tensor)
    op = tensor.op
    if partial and op.type == "Pack" and op.attrs["axis"] == 0 and op.inputs:
        parts = [constant_value(x, partial) for x in op.inputs]
        if any(part is None for part in parts):
            found = np.empty(len(parts), object)
            found[:] = parts
            return found
    return folded_value(tensor) if _is_static(tensor) else None


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """`constant_value` of a tensor; what is none is its own value.

    With `partial`, a stack of tensors gives an array with None for those that are not known.
    """
    if isinstance(tensor, Tensor):
        return constant_value(tensor, partial)
    return None if hasattr(tensor, "_as_graph_element") else tensor


# ---- vectors that are shapes -------------------------------------------------------------------


class _ShapeReader:
    """Reads integer vectors as shapes, with None for -1 and for components that are not known."""

    def __init__(self, value_of: Callable[[Any], Any], sees_all: bool) -> None:
        self.value_of, self.sees_all = value_of, sees_all

    def dims(self, tensor: Tensor) -> Dims:
        found = self._partial(tensor, 0)
        if found is not None:
            return found
        value = self.value_of(tensor)
        if value is None:
            return self._vector(tensor, 0)
        if value.ndim > 1:
            raise ValueError(f"Shape {value.shape} must have rank 1")
        if value.ndim == 1 or int(value) == -1:
            return None
        raise ValueError("Received a scalar with value other than -1 as a shape")

    def _partial(self, tensor: Tensor, depth: int) -> Dims:
        """What the arithmetic on partly known shapes gives, or else the value."""
        if depth > _MAX_DEPTH:
            return None
        dims = self._computed(tensor, depth)
        if dims is None:
            value = self.value_of(tensor)
            dims = None if value is None or value.ndim != 1 else _as_dims(value)
        return dims

    def _computed(self, tensor: Tensor, depth: int) -> Dims:
        """Shape arithmetic on partly known shapes: Shape, Pack, Concat, slices."""
        op = tensor.op
        if not op.inputs:
            return None  # a constant, or what has been computed eagerly
        if op.definition.measures == "shape" and (op.definition.single_output or self.sees_all):
            return op.inputs[tensor.value_index].dims
        if op.type == "Pack" and op.attrs["axis"] == 0:
            return tuple(map(self._scalar, op.inputs))
        if op.type in ("ConcatV2", "Concat"):
            parts = op.inputs[:-1] if op.type == "ConcatV2" else op.inputs[1:]
            whole: tuple[int | None, ...] = ()
            for part in parts:
                dims = self._vector(part, depth + 1)
                if dims is None:
                    return None
                whole += dims
            return whole
        return self._sliced(op, depth) if op.type == "StridedSlice" else None

    def _vector(self, tensor: Tensor, depth: int) -> Dims:
        dims = self._partial(tensor, depth)
        if dims is None and tensor.dims is not None and len(tensor.dims) == 1:
            length = tensor.dims[0]
            return None if length is None or length > MAX_RANK else (None,) * length
        return dims

    def _scalar(self, tensor: Tensor) -> int | None:
        value = self.value_of(tensor)
        return None if value is None or int(value) == -1 else int(value)

    def _sliced(self, op: Operation, depth: int) -> Dims:
        masks = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
        if any(op.attrs[m] for m in masks):
            return None
        source = self._partial(op.inputs[0], depth + 1)
        begin, end, strides = map(self.value_of, op.inputs[1:])
        if source is None or begin is None or end is None or strides is None or begin.shape != (1,):
            return None
        start = None if op.attrs["begin_mask"] & 1 else int(begin[0])
        stop = None if op.attrs["end_mask"] & 1 else int(end[0])
        return source[start : stop : int(strides[0])]


def _as_dims(value: np.ndarray) -> Dims:
    if value.size > MAX_RANK:
        return None
    return tuple(None if d == -1 else int(d) for d in value.tolist())


# What shape rules see, and what users are told.
folded_dims = _ShapeReader(folded_value, sees_all=True).dims
constant_value_as_dims = _ShapeReader(constant_value, sees_all=False).dims


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    return TensorShape.from_dims(constant_value_as_dims(tensor))
