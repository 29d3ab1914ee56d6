"""Arrays of one value, and broadcasting."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape, as_shape, dims_of
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import NO_GRADIENT, STATEFUL
from weft.ops.array.shape import all_axes, reshape, shape, shape_internal
from weft.ops.kit.eager import executing_eagerly
from weft.ops.kit.shared import as_array, blank, check_rank, invalid, shape_argument


def _filled(c: ShapeContext) -> Dims:
    dims = shape_argument(c, 0)
    s.with_rank(c.dims(1), 0)
    value = c.value(0)
    if value is not None and np.any(value < 0):
        raise ValueError("Fill dimensions must be >= 0")
    return dims


@op(
    "Fill",
    inputs="dims: index_type, value: T",
    outputs="output: T",
    attrs="T: type, index_type: {int32, int64} = int32",
    shape=_filled,
    static="dims",
)
def fill_(xp: Any, dims: Any, value: Any) -> Any:
    if np.ndim(dims) != 1:
        raise invalid(f"dims must be a vector, got shape {s.show(np.shape(dims))}")
    if np.ndim(value) != 0:
        raise invalid(f"value must be a scalar, got shape {s.show(np.shape(value))}")
    check_rank(dims)
    sizes = tuple(map(int, dims))
    if any(d < 0 for d in sizes):
        raise invalid(f"Dimension {min(sizes)} must be >= 0")
    value = as_array(value)
    return xp.full(sizes, value, value.dtype)


@fill_.gradient
def _(op: Operation, grad: Any) -> Any:
    return None, raw.Sum(grad, all_axes(grad))


@op(
    "ZerosLike",
    inputs="x: T",
    outputs="y: T",
    attrs="T: type",
    shape=s.unchanged,
    traits=NO_GRADIENT,
)
def zeros_like_(xp: Any, x: Any) -> Any:
    if hasattr(x, "zeros_like"):
        return x.zeros_like()  # a variant that knows how
    x = as_array(x)
    return xp.full(x.shape, blank(x.dtype), x.dtype)


@op(
    "OnesLike",
    inputs="x: T",
    outputs="y: T",
    attrs="T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, int64, complex64,"
    " complex128, bool}",
    shape=s.unchanged,
    traits=NO_GRADIENT,
)
def ones_like_(xp: Any, x: Any) -> Any:
    return xp.ones(x.shape, x.dtype)


@op(
    "Empty",
    inputs="shape: int32",
    outputs="output: dtype",
    attrs="dtype: type, init: bool = false",
    shape=lambda c: shape_argument(c, 0),
    static="shape",
    traits=STATEFUL,
)
def empty_(xp: Any, shape: Any, *, dtype: DType) -> Any:
    if np.ndim(shape) != 1:
        raise invalid(f"shape must be a vector of int32, got shape {s.show(np.shape(shape))}")
    # Zeros even when `init` does not ask for them: results must not depend on old memory.
    return xp.full(tuple(map(int, shape)), blank(dtype.np_storage), dtype.np_storage)


def _broadcast_to_shape(c: ShapeContext) -> Dims:
    out = shape_argument(c, 1)
    source = c.dims(0)
    if out is None or source is None:
        return out
    s.with_rank_at_most(source, len(out))
    dims = list(out)
    for i in range(1, len(source) + 1):
        if (source[-i] or 0) > 1:
            dims[-i] = s.merge_dim(source[-i], dims[-i])
    return tuple(dims)


@op(
    "BroadcastTo",
    inputs="input: T, shape: Tidx",
    outputs="output: T",
    attrs="T: type, Tidx: {int32, int64} = int32",
    shape=_broadcast_to_shape,
    static="shape",
)
def broadcast_to_(xp: Any, input: Any, shape: Any) -> Any:
    input = as_array(input)
    check_rank(shape)
    sizes = tuple(map(int, shape))
    if input.ndim > len(sizes):
        raise invalid(
            f"Rank of input ({input.ndim}) must be no greater than rank of output shape"
            f" ({len(sizes)})."
        )
    tail = sizes[len(sizes) - input.ndim :]
    if any(have not in (1, want) for have, want in zip(input.shape, tail, strict=True)):
        raise invalid(f"Incompatible shapes: {s.show(input.shape)} vs. {s.show(sizes)}")
    return _spread(xp, input, sizes)


@by_library
def _spread(xp: Any, x: Any, sizes: tuple[int, ...]) -> Any:
    return xp.broadcast_to(x, sizes)


@_spread.numpy
def _(xp: Any, x: Any, sizes: tuple[int, ...]) -> Any:
    # NumPy's view is read-only and repeats memory; users may write to what they fetch.
    return np.broadcast_to(x, sizes).copy()


@broadcast_to_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, to = op.inputs
    dims = shape(input)
    if dims.dtype != to.dtype:
        dims = raw.Cast(dims, to.dtype)
    _, axes = raw.BroadcastGradientArgs(to, dims)
    return reshape(raw.Sum(grad, axes, keep_dims=True), dims), None


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` in which every element is `value`.

    Args:
        dims: the sizes, as a vector.
        value: a scalar of any type.
        name: of the operation.

    Returns:
        A tensor of the type of `value`.

    Raises:
        ValueError: `value` is no scalar.

    Example:
        >>> session.run(tf.fill([2, 2], 7))
        array([[7, 7],
               [7, 7]], dtype=int32)
    """
    return fill_(dims, value, name=name)


# A constant of up to this many elements is stored in the graph, a larger one is made by `Fill`.
_SMALL = 1000


def _uniform(shape: Any, value: Any, dtype: DType, name: str) -> Tensor:
    if dtype.is_quantized:
        value = (value,)
    if not isinstance(shape, Tensor):
        try:
            dims = _concrete_dims(shape)
            if np.prod(dims, dtype=np.int64) < _SMALL and np.ndim(shape) > 0:
                return constant(value, shape=dims, dtype=dtype, name=name)
            shape = constant(list(dims), _index_type(dims), name="shape_as_tensor")
        except (TypeError, ValueError, NotImplementedError):
            _ask_if_small(shape)
            shape = convert_to_tensor(shape, dtype=dtypes.int32)
    if not shape.dims:
        # Shapes of unknown rank may hold a scalar, which stands for a vector of one dimension.
        shape = reshape(shape, [-1])
    return fill(shape, constant(value, dtype=dtype), name=name)


def _ask_if_small(sizes: Any) -> None:
    """Makes nodes that nothing reads: TensorFlow asks whether so many elements are few."""
    sizes = sizes if isinstance(sizes, list | tuple) else [sizes]
    if any(hasattr(size, "dtype") and not isinstance(size, np.ndarray) for size in sizes):
        _ = functools.reduce(operator.mul, sizes) < _SMALL


def _concrete_dims(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, np.ndarray) and shape.ndim <= 1:
        shape = shape.reshape(-1).tolist()
    dims = dims_of(shape)
    if not s.known(dims):
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
    return dims  # type: ignore[return-value]


def _index_type(dims: Sequence[int]) -> DType:
    return dtypes.int64 if any(d > np.iinfo(np.int32).max for d in dims) else dtypes.int32


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros (False, empty strings).

    Args:
        shape: the sizes, as a list or tensor.
        dtype: the type of the elements.
        name: of the operation.

    Returns:
        A tensor.

    Example:
        >>> session.run(tf.zeros([2, 3], tf.int32))
        array([[0, 0, 0],
               [0, 0, 0]], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "zeros", [shape]) as name:
        zero = {dtypes.bool: False, dtypes.string: ""}.get(dtype, 0)
        return _uniform(shape, zero, dtype, name)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones.

    Args:
        shape: the sizes, as a list or tensor.
        dtype: the type of the elements.
        name: of the operation.

    Returns:
        A tensor.

    Example:
        >>> session.run(tf.ones([2, 2]))
        array([[1., 1.],
               [1., 1.]], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as name:
        return _uniform(shape, True if dtype == dtypes.bool else 1, dtype, name)


def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros in the shape of `tensor`.

    Args:
        tensor: a tensor or what converts to one.
        dtype: the type of the result; None: that of `tensor`.
        name: of the operation.
        optimize: use a constant where the shape is known.

    Returns:
        A tensor.

    Example:
        >>> session.run(tf.zeros_like([[1, 2], [3, 4]]))
        array([[0, 0],
               [0, 0]], dtype=int32)
    """
    with name_scope(name, "zeros_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        own = tensor.dtype.base_dtype
        wanted = own if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if wanted == own and executing_eagerly():
            return zeros_like_(tensor, name=name)  # which a tape sees
        if optimize and s.known(tensor.dims) and own != dtypes.variant:
            return zeros(tensor.shape, dtype=wanted, name=name)
        if wanted != own and wanted != dtypes.variant:
            return zeros(shape_internal(tensor, optimize=optimize), dtype=wanted, name=name)
        return zeros_like_(tensor, name=name)


def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Ones in the shape of `tensor`.

    Args:
        tensor: a tensor or what converts to one.
        dtype: the type of the result; None: that of `tensor`.
        name: of the operation.
        optimize: use a constant where the shape is known.

    Returns:
        A tensor.

    Example:
        >>> session.run(tf.ones_like([1.5, 2.5]))
        array([1., 1.], dtype=float32)
    """
    with name_scope(name, "ones_like", [tensor]) as name:
        like = convert_to_tensor(tensor, name="tensor")
        kind = like.dtype if dtype is None else dtype
        filled = ones(shape_internal(like, optimize=optimize), kind, name)
        filled.set_shape(like.shape)
        return filled


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated along dimensions of size 1 until it has `shape`."""
    return broadcast_to_(input, shape, name=name)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shapes, given as vectors, broadcast to."""
    return raw.BroadcastArgs(shape_x, shape_y)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two static shapes broadcast to."""
    x, y = as_shape(shape_x), as_shape(shape_y)
    try:
        return TensorShape.from_dims(s.broadcast_dims(dims_of(x), dims_of(y)))
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}") from None
