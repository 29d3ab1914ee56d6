"""Ops that ask for, change or join shapes, and ops that make arrays.

Shapes are static under XLA, so `Shape`, `Rank` and `Size` always return concrete NumPy values and
shape arithmetic stays concrete inside a trace. Matrix diagonals are in `diag.py`, space, batch and
depth blocks in `blocks.py`, slices, gathers and scatters in `indexing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors, nest
from weft.core.dtypes import DType
from weft.core.shapes import Dimension, TensorShape, as_shape, dims_of
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.convert import (
    constant,
    convert_to_tensor,
    register_tensor_conversion_function,
)
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices, is_sparse
from weft.graph.tensor import Tensor

_py_slice = slice


def invalid(message: str) -> errors.InvalidArgumentError:
    """What a kernel raises for inputs that do not fit; the runtime adds the node."""
    return errors.InvalidArgumentError(None, None, message)


def blank(dtype: Any) -> Any:
    """The element that zeros of a NumPy dtype are made of (objects hold strings)."""
    return b"" if np.dtype(dtype).kind == "O" else np.zeros((), dtype)[()]


def as_array(x: Any) -> Any:
    """`x`, but an object array where indexing a string array has left bare bytes."""
    return np.array(x, object) if isinstance(x, bytes | str) else x


def is_tensor_like(x: Any) -> bool:
    """Whether `x` is a tensor, or a variable, which reads as one."""
    return isinstance(x, Tensor) or (
        hasattr(x, "_as_graph_element") and isinstance(getattr(x, "dtype", None), DType)
    )


def shape_argument(c: ShapeContext, i: int) -> Dims:
    """Input `i` read as a shape in which -1 stands for an unknown size."""
    s.with_rank(c.dims(i), 1)
    dims = c.partial(i)
    for d in dims or ():
        if d is not None and d < 0:
            raise ValueError(f"Invalid value in tensor used for shape: {d}")
    return dims


def divide(size: int | None, by: int) -> int | None:
    """A dimension split evenly into `by` parts."""
    if size is None:
        return None
    if by == 0 or size % by:
        raise ValueError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return size // by


def check_size(dims: Dims) -> Dims:
    """`dims`, unless no integer could number that many elements."""
    if (s.size(dims) or 0) > np.iinfo(np.int64).max:
        raise ValueError(f"Encountered overflow when multiplying the sizes of {s.show(dims)}")
    return dims


def deprecated_alias(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """The value of a parameter that has an old name too."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old


# ---- asking for shapes ------------------------------------------------------------------------


def _lengths(c: ShapeContext) -> list[Dims]:
    found = (c.dims(i) for i in range(c.num_inputs))
    return [(None if dims is None else len(dims),) for dims in found]


@op(
    "Shape",
    inputs="input: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=_lengths,
    differentiable=False,
)
def shape_(xp: Any, input: Any, *, out_type: DType) -> Any:
    return np.array(np.shape(input), out_type.np_storage)


@op(
    "ShapeN",
    inputs="input: N * T",
    outputs="output: N * out_type",
    attrs="N: int >= 1, T: type, out_type: {int32, int64} = int32",
    shape=_lengths,
    differentiable=False,
)
def shape_n_(xp: Any, input: list[Any], *, out_type: DType) -> list[Any]:
    return [np.array(np.shape(x), out_type.np_storage) for x in input]


@op(
    "Rank",
    inputs="input: T",
    outputs="output: int32",
    attrs="T: type",
    shape=s.scalar,
    differentiable=False,
)
def rank_(xp: Any, input: Any) -> Any:
    return np.array(np.ndim(input), np.int32)


@op(
    "Size",
    inputs="input: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=s.scalar,
    differentiable=False,
)
def size_(xp: Any, input: Any, *, out_type: DType) -> Any:
    return np.array(s.size(np.shape(input)), out_type.np_storage)


def shape(input: Any, name: str | None = None, out_type: DType = dtypes.int32) -> Tensor:
    """The shape of `input` as a vector: a constant when it is statically known."""
    return shape_internal(input, name, optimize=True, out_type=out_type)


def shape_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: DType = dtypes.int32
) -> Tensor:
    """`shape`; without `optimize` always a node that looks at the value."""
    with name_scope(name, "Shape", [input]) as name:
        if is_sparse(input):
            return raw.Cast(input.dense_shape, out_type)
        tensor = convert_to_tensor(input)
        if optimize and s.known(tensor.dims):
            return constant(list(tensor.dims), out_type, name=name)
        return shape_(tensor, out_type=out_type, name=name)


def shape_n(input: Any, out_type: DType = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors."""
    return shape_n_(input, out_type=out_type, name=name)


def size(input: Any, name: str | None = None, out_type: DType = dtypes.int32) -> Tensor:
    """The number of elements: a constant when it is statically known."""
    return size_internal(input, name, optimize=True, out_type=out_type)


def size_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: DType = dtypes.int32
) -> Tensor:
    with name_scope(name, "Size", [input]) as name:
        if is_sparse(input):
            return raw.Prod(raw.Cast(input.dense_shape, out_type), 0, name=name)
        tensor = convert_to_tensor(input)
        if optimize and tensor.dims is not None:
            if s.known(tensor.dims):
                return constant(s.size(tensor.dims), out_type, name=name)
            if 0 in tensor.dims:
                return constant(0, out_type, name=name)
        return size_(tensor, out_type=out_type, name=name)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions: a constant when it is statically known."""
    return rank_internal(input, name, optimize=True)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    with name_scope(name, "Rank", [input]) as name:
        if is_sparse(input):
            return size_(input.dense_shape, name=name)
        tensor = convert_to_tensor(input)
        if optimize and tensor.dims is not None:
            return constant(len(tensor.dims), dtypes.int32, name=name)
        return rank_(tensor, name=name)


# ---- values passed through --------------------------------------------------------------------


@op("Identity", inputs="input: T", outputs="output: T", attrs="T: type", shape=s.unchanged)
def identity_(xp: Any, input: Any) -> Any:
    return input


@identity_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


@op(
    "IdentityN",
    inputs="input: list(T)",
    outputs="output: list(T)",
    attrs="T: list(type) >= 1",
    shape=s.each_unchanged,
)
def identity_n_(xp: Any, input: list[Any]) -> list[Any]:
    return list(input)


@identity_n_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return grads


@op(
    "StopGradient",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type",
    shape=s.unchanged,
    differentiable=False,
)
def stop_gradient_(xp: Any, input: Any) -> Any:
    return input


@op(
    "PreventGradient",
    inputs="input: T",
    outputs="output: T",
    attrs='T: type, message: string = ""',
    shape=s.unchanged,
)
def prevent_gradient_(xp: Any, input: Any) -> Any:
    return input


@prevent_gradient_.gradient
def _(op: Operation, grad: Any) -> Any:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.attrs['message']}")


@op(
    "GuaranteeConst",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type",
    shape=s.unchanged,
    stateful=True,
)
def guarantee_const_(xp: Any, input: Any, *, T: DType) -> Any:
    if T is dtypes.resource:
        raise invalid("Input tensor cannot be a resource variable handle.")
    return input


@op("Snapshot", inputs="input: T", outputs="output: T", attrs="T: type", shape=s.unchanged)
def snapshot_(xp: Any, input: Any) -> Any:
    return input


@op(
    "DeepCopy",
    inputs="x: T",
    outputs="y: T",
    attrs="T: type",
    shape=s.unchanged,
    stateful=True,
)
def deep_copy_(xp: Any, x: Any) -> Any:
    # Values are never written in place, so a copy cannot be told from the original.
    return x


@op(
    "CheckNumerics",
    inputs="tensor: T",
    outputs="output: T",
    attrs="T: floattype, message: string",
    shape=s.unchanged,
    stateful=True,
    runs_on="host",
)
def check_numerics_(xp: Any, tensor: Any, *, message: str) -> Any:
    found = [
        what for what, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(tensor))
    ]
    if found:
        raise invalid(f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


@check_numerics_.gradient
def _(op: Operation, grad: Any) -> Any:
    return check_numerics(
        grad,
        "Not a number (NaN) or infinity (Inf) values detected in gradient. "
        f"{op.attrs['message']}",
    )


def _ensured(c: ShapeContext) -> Dims:
    wanted = c.attr("shape")
    if wanted is not None and c.dims(0) is not None:
        s.with_rank(c.dims(0), len(wanted))
    return s.merge(wanted, c.dims(0))


@op(
    "EnsureShape",
    inputs="input: T",
    outputs="output: T",
    attrs="shape: shape, T: type",
    shape=_ensured,
)
def ensure_shape_(xp: Any, input: Any, *, shape: Dims) -> Any:
    dims = np.shape(input)
    try:
        s.merge(shape, dims)
    except ValueError:
        raise invalid(
            f"Shape of tensor input {s.show(dims)} is not compatible with expected shape"
            f" {s.show(shape)}."
        ) from None
    return input


@ensure_shape_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


def _not_fed(ctx: Any, dtype: DType, shape: Dims) -> errors.InvalidArgumentError:
    short = {"float32": "float", "float64": "double", "float16": "half"}
    expected = f" and shape {s.show(shape)}" if shape else ""
    return invalid(
        f"You must feed a value for placeholder tensor '{ctx.node.name}' with dtype"
        f" {short.get(dtype.name, dtype.name)}{expected}"
    )


@op(
    "Placeholder",
    outputs="output: dtype",
    attrs="dtype: type, shape: shape = unknown",
    shape=s.from_attr("shape"),
    differentiable=False,
)
def placeholder_(xp: Any, ctx: Any, *, dtype: DType, shape: Dims) -> Any:
    raise _not_fed(ctx, dtype, shape)


@op(
    "PlaceholderV2",
    outputs="output: dtype",
    attrs="dtype: type, shape: shape",
    shape=s.from_attr("shape"),
    differentiable=False,
    deprecated=True,
)
def placeholder_v2_(xp: Any, ctx: Any, *, dtype: DType, shape: Dims) -> Any:
    raise _not_fed(ctx, dtype, shape)


def _default_fits(c: ShapeContext) -> Dims:
    s.merge(c.dims(0), c.attr("shape"))
    return c.attr("shape")


@op(
    "PlaceholderWithDefault",
    inputs="input: dtype",
    outputs="output: dtype",
    attrs="dtype: type, shape: shape",
    shape=_default_fits,
)
def placeholder_with_default_(xp: Any, input: Any) -> Any:
    return input


@placeholder_with_default_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


def identity(input: Any, name: str | None = None) -> Tensor:
    """A new tensor with the same value."""
    return identity_(input, name=name)


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """New tensors with the same values, all available together."""
    return identity_n_(input, name=name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """`input`, taken as a constant by gradients."""
    return stop_gradient_(input, name=name)


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """`input`; asking for its gradient is an error that says `message`."""
    return prevent_gradient_(input, message=message, name=name)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """`input`, which the caller promises never changes."""
    return guarantee_const_(input, name=name)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`; InvalidArgumentError when it holds a NaN or an infinity."""
    return check_numerics_(tensor, message=message, name=name)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, whose shape is checked against `shape` when the graph runs."""
    if not isinstance(shape, TensorShape):
        shape = TensorShape(shape)
    return ensure_shape_(x, shape, name=name)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value must be given to `Session.run` in `feed_dict`."""
    return placeholder_(dtype=dtype, shape=shape, name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that is `input` unless something else is fed."""
    return placeholder_with_default_(input, shape, name=name)


# ---- arrays of one value ----------------------------------------------------------------------


def _filled(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 1)
    s.with_rank(c.dims(1), 0)
    value = c.value(0)
    if value is not None and np.any(value < 0):
        raise ValueError("Fill dimensions must be >= 0")
    return shape_argument(c, 0)


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
    sizes = tuple(map(int, dims))
    if any(d < 0 for d in sizes):
        raise invalid(f"Dimension {min(sizes)} must be >= 0")
    value = as_array(value)
    return xp.full(sizes, value, value.dtype)


@fill_.gradient
def _(op: Operation, grad: Any) -> Any:
    return None, raw.Sum(grad, all_axes(grad))


def all_axes(x: Tensor) -> Tensor:
    """The axes of `x`, to reduce over."""
    if x.dims is not None:
        return constant(np.arange(len(x.dims)), dtypes.int32)
    return raw.Range(0, rank(x), 1)


@op(
    "ZerosLike",
    inputs="x: T",
    outputs="y: T",
    attrs="T: type",
    shape=s.unchanged,
    differentiable=False,
)
def zeros_like_(xp: Any, x: Any) -> Any:
    x = as_array(x)
    return xp.full(x.shape, blank(x.dtype), x.dtype)


@op(
    "OnesLike",
    inputs="x: T",
    outputs="y: T",
    attrs="T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, int64, complex64,"
    " complex128, bool}",
    shape=s.unchanged,
    differentiable=False,
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
    stateful=True,
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
    sizes = tuple(map(int, shape))
    if input.ndim > len(sizes):
        raise invalid(
            f"Rank of input ({input.ndim}) must be no greater than rank of output shape"
            f" ({len(sizes)})."
        )
    tail = sizes[len(sizes) - input.ndim :]
    if any(have not in (1, want) for have, want in zip(input.shape, tail, strict=True)):
        raise invalid(f"Incompatible shapes: {s.show(input.shape)} vs. {s.show(sizes)}")
    out = xp.broadcast_to(input, sizes)
    # NumPy's view is read-only and repeats memory; users may write to what they fetch.
    return out.copy() if xp is np else out


@broadcast_to_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, to = op.inputs
    dims = shape(input)
    if dims.dtype != to.dtype:
        dims = raw.Cast(dims, to.dtype)
    _, axes = raw.BroadcastGradientArgs(to, dims)
    return reshape(raw.Sum(grad, axes, keep_dims=True), dims), None


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` in which every element is `value`."""
    return fill_(dims, value, name=name)


# A constant of up to this many elements is stored in the graph, a larger one is made by `Fill`.
_SMALL = 1000


def _uniform(shape: Any, value: Any, dtype: DType, name: str) -> Tensor:
    if not isinstance(shape, Tensor):
        try:
            dims = _concrete_dims(shape)
            if np.prod(dims, dtype=np.int64) < _SMALL:
                return constant(value, shape=dims, dtype=dtype, name=name)
            shape = constant(list(dims), _index_type(dims))
        except (TypeError, ValueError, NotImplementedError):
            shape = convert_to_tensor(shape, dtype=dtypes.int32)
    if not shape.dims:
        # Shapes of unknown rank may hold a scalar, which stands for a vector of one dimension.
        shape = reshape(shape, [-1])
    return fill(shape, constant(value, dtype=dtype), name=name)


def _concrete_dims(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, np.ndarray):
        shape = shape.reshape(-1).tolist()
    dims = dims_of(shape)
    if not s.known(dims):
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
    return dims  # type: ignore[return-value]


def _index_type(dims: Sequence[int]) -> DType:
    return dtypes.int64 if any(d > np.iinfo(np.int32).max for d in dims) else dtypes.int32


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros (False, empty strings)."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "zeros", [shape]) as name:
        zero = {dtypes.bool: False, dtypes.string: ""}.get(dtype, 0)
        return _uniform(shape, zero, dtype, name)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as name:
        return _uniform(shape, True if dtype == dtypes.bool else 1, dtype, name)


def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros in the shape of `tensor`."""
    with name_scope(name, "zeros_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        own = tensor.dtype.base_dtype
        wanted = own if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if optimize and s.known(tensor.dims) and own != dtypes.variant:
            return zeros(tensor.shape, dtype=wanted, name=name)
        if wanted != own and wanted != dtypes.variant:
            return zeros(shape_internal(tensor, optimize=optimize), dtype=wanted, name=name)
        return zeros_like_(tensor, name=name)


def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Ones in the shape of `tensor`."""
    with name_scope(name, "ones_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        dims = shape_internal(tensor, optimize=optimize)
        result = ones(dims, dtype=tensor.dtype if dtype is None else dtype, name=name)
        result.set_shape(tensor.shape)
        return result


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


# ---- one array, another shape -----------------------------------------------------------------


def _one_unknown(dims: tuple[int | None, ...]) -> tuple[int, int | None] | None:
    """The product of the known dims and which one is not; None when several are not."""
    if 0 in dims:
        return 0, None
    unknown = [i for i, d in enumerate(dims) if d is None]
    if len(unknown) > 1:
        return None
    product = s.size(tuple(d for d in dims if d is not None))
    return product or 0, unknown[0] if unknown else None


def _reshaped(c: ShapeContext) -> Dims:
    source, out = c.dims(0), shape_argument(c, 1)
    if out is None or source is None:
        return out
    have, want = _one_unknown(source), _one_unknown(out)
    if have is None or want is None:
        return out
    (elements, gap), (product, hole) = have, want
    if gap is None and hole is None:
        if elements != product:
            raise ValueError(
                f"Cannot reshape a tensor with {elements} elements to shape {s.show(out)}"
                f" ({product} elements)"
            )
    elif gap is None and product > 0:
        return (*out[:hole], divide(elements, product), *out[hole + 1 :])  # type: ignore
    elif hole is None and elements > 0:
        divide(product, elements)
    elif gap is not None and hole is not None and elements == product and elements > 0:
        return (*out[:hole], source[gap], *out[hole + 1 :])
    return out


@op(
    "Reshape",
    inputs="tensor: T, shape: Tshape",
    outputs="output: T",
    attrs="T: type, Tshape: {int32, int64} = int32",
    shape=_reshaped,
    static="shape",
)
def reshape_(xp: Any, tensor: Any, shape: Any) -> Any:
    tensor = as_array(tensor)
    if np.ndim(shape) != 1:
        raise invalid(f"sizes input must be 1-D, not {s.show(np.shape(shape))}")
    sizes = [int(d) for d in shape]
    elements = tensor.size
    product, hole = 1, None
    for i, d in enumerate(sizes):
        if d == -1:
            if hole is not None:
                raise invalid(f"Only one input size may be -1, not both {hole} and {i}")
            hole = i
        elif d < 0:
            raise invalid(f"Size {i} must be non-negative, not {d}")
        else:
            product *= d or 1
    if hole is not None:
        # Zeros on both sides cancel, so that the other sizes still determine the missing one.
        counted = [d for d in tensor.shape if d or 0 not in sizes]
        whole = s.size(tuple(counted)) or 0
        sizes[hole] = whole // product
        if len(counted) == tensor.ndim and sizes[hole] * product != whole:
            raise invalid(
                f"Input to reshape is a tensor with {whole} values, but the requested shape"
                f" requires a multiple of {product}"
            )
    if s.size(tuple(sizes)) != elements:
        raise invalid(
            f"Input to reshape is a tensor with {elements} values, but the requested shape has"
            f" {s.size(tuple(sizes))}"
        )
    return xp.reshape(tensor, tuple(sizes))


@reshape_.gradient
def _(op: Operation, grad: Any) -> Any:
    return reshape(grad, shape(op.inputs[0])), None


def _squeezed(c: ShapeContext) -> Dims:
    dims = c.dims(0)
    return None if dims is None else squeezed_dims(dims, c.attr("squeeze_dims"))


def squeezed_dims(dims: tuple[int | None, ...], axes: Sequence[int]) -> Dims:
    """`dims` without those listed, or without every 1 when none is listed."""
    count = len(dims)
    for i, axis in enumerate(axes):
        if not -count <= axis < count:
            raise ValueError(f"squeeze_dims[{i}] not in [{-count},{count}).")
    gone = {axis % count for axis in axes}
    if not gone and None in dims:
        return None
    for i in sorted(gone):
        if dims[i] not in (None, 1):
            raise ValueError(
                f"Can not squeeze dim[{i}], expected a dimension of 1, got {dims[i]}"
            )
    return tuple(d for i, d in enumerate(dims) if (i not in gone if gone else d != 1))


@op(
    "Squeeze",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type, squeeze_dims: list(int) >= 0 = []",
    shape=_squeezed,
)
def squeeze_(xp: Any, input: Any, *, squeeze_dims: list[int]) -> Any:
    input = as_array(input)
    for axis in squeeze_dims:
        if not -input.ndim <= axis < input.ndim:
            raise invalid(
                f"Tried to squeeze dim index {axis} for tensor with {input.ndim} dimensions."
            )
    try:
        return xp.reshape(input, squeezed_dims(input.shape, squeeze_dims))
    except ValueError as error:
        raise invalid(str(error)) from None


@squeeze_.gradient
def _(op: Operation, grad: Any) -> Any:
    return reshape(grad, shape(op.inputs[0]))


def _expanded(c: ShapeContext) -> Dims:
    axis = c.value(1)
    if axis is not None and axis.size != 1:
        raise ValueError("'dim' input must be a tensor with a single value")
    dims = c.dims(0)
    if axis is None or dims is None:
        return None
    at, count = int(np.ravel(axis)[0]), len(dims)
    if not -count - 1 <= at <= count:
        raise ValueError(f"dim {at} not in the interval [{-count - 1}, {count}].")
    at %= count + 1
    return (*dims[:at], 1, *dims[at:])


@op(
    "ExpandDims",
    inputs="input: T, dim: Tdim",
    outputs="output: T",
    attrs="T: type, Tdim: {int32, int64} = int32",
    shape=_expanded,
    static="dim",
)
def expand_dims_(xp: Any, input: Any, dim: Any) -> Any:
    input = as_array(input)
    if np.size(dim) != 1:
        raise invalid("'dim' must be a tensor with a single value")
    at = int(np.ravel(dim)[0])
    if not -input.ndim - 1 <= at <= input.ndim:
        raise invalid(f"Tried to expand dim index {at} for tensor with {input.ndim} dimensions.")
    return xp.expand_dims(input, at)


@expand_dims_.gradient
def _(op: Operation, grad: Any) -> Any:
    return reshape(grad, shape(op.inputs[0])), None


def _permuted(c: ShapeContext) -> Dims:
    dims, perm = c.dims(0), c.value(1)
    length = s.size(c.dims(1)) if perm is None else perm.size
    if dims is None and (length is None or length < 2):
        # One axis: a scalar or a vector, and either is returned as it is.
        return None
    count = len(dims) if dims is not None else length
    dims = s.with_rank(dims, count)
    s.with_rank(c.dims(1), 1)
    if length is not None and length != count:
        raise ValueError(f"Dimension must be {count} but is {length}")
    if perm is None:
        return (None,) * count
    for axis in perm:
        if not -count < axis < count:
            raise ValueError(f"perm dim {axis} is out of range of input rank {count}")
    return tuple(dims[axis] for axis in perm)


def _permutation(x: Any, perm: Any) -> tuple[int, ...]:
    if np.ndim(perm) != 1:
        raise invalid(f"perm must be a vector, not {s.show(np.shape(perm))}")
    axes = tuple(map(int, perm))
    if len(axes) != x.ndim:
        raise invalid(
            f"transpose expects a vector of size {x.ndim}. But input(1) is a vector of size"
            f" {len(axes)}"
        )
    for axis in axes:
        if not 0 <= axis < x.ndim:
            raise invalid(f"{axis} is out of range [0 .. {x.ndim})")
    for axis in range(x.ndim):
        if axis not in axes:
            raise invalid(f"{axis} is missing from {{{','.join(map(str, axes))}}}.")
    return axes


@op(
    "Transpose",
    inputs="x: T, perm: Tperm",
    outputs="y: T",
    attrs="T: type, Tperm: {int32, int64} = int32",
    shape=_permuted,
    static="perm",
)
def transpose_(xp: Any, x: Any, perm: Any) -> Any:
    x = as_array(x)
    return xp.transpose(x, _permutation(x, perm))


@transpose_.gradient
def _(op: Operation, grad: Any) -> Any:
    return transpose(grad, invert_permutation(op.inputs[1])), None


@op(
    "ConjugateTranspose",
    inputs="x: T, perm: Tperm",
    outputs="y: T",
    attrs="T: type, Tperm: {int32, int64} = int32",
    shape=_permuted,
    static="perm",
)
def conjugate_transpose_(xp: Any, x: Any, perm: Any) -> Any:
    x = xp.transpose(x, _permutation(x, perm))
    return xp.conj(x) if xp.issubdtype(x.dtype, np.complexfloating) else x


@conjugate_transpose_.gradient
def _(op: Operation, grad: Any) -> Any:
    return transpose(grad, invert_permutation(op.inputs[1]), conjugate=True), None


@op(
    "InvertPermutation",
    inputs="x: T",
    outputs="y: T",
    attrs="T: {int32, int64} = int32",
    shape=lambda c: s.with_rank(c.dims(0), 1),
    differentiable=False,
)
def invert_permutation_(xp: Any, x: Any) -> Any:
    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    if xp is np:
        for i, d in enumerate(x):
            if not 0 <= d < len(x):
                raise invalid(f"{d} is not between 0 and {len(x)}")
            if d in x[:i]:
                raise invalid(f"{d} is duplicated in the input.")
    return xp.argsort(x).astype(x.dtype)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """`tensor` with its elements, in order, in another shape; one size may be -1."""
    return reshape_(tensor, shape, name=name)


def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """`input` without its dimensions of size 1, or without those listed in `axis`."""
    axis = deprecated_alias("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        axis = []
    elif np.isscalar(axis):
        axis = [axis]
    return squeeze_(input, squeeze_dims=axis, name=name)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """`input` with a dimension of size 1 put in at `axis`."""
    axis = deprecated_alias("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return expand_dims_(input, axis, name=name)


def transpose(
    a: Any, perm: Any = None, name: str | None = "transpose", conjugate: bool = False
) -> Tensor:
    """`a` with its dimensions permuted, reversed by default."""
    with name_scope(name, "transpose", [a]) as name:
        if conjugate or perm is None:
            a = convert_to_tensor(a, name="a")
        permute = conjugate_transpose_ if conjugate and a.dtype.is_complex else transpose_
        if perm is not None:
            return permute(a, perm, name=name)
        if a.dims:
            return permute(a, np.arange(len(a.dims))[::-1].astype(np.int32), name=name)
        count = rank_(a)
        result = permute(a, count - 1 - raw.Range(0, count, 1), name=name)
        if a.dims is not None:
            result.set_shape(a.dims)
        return result


def matrix_transpose(
    a: Any, name: str | None = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """`a` with its last two dimensions exchanged."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        if a.dims is None:
            count = rank(a)
            perm = concat((raw.Range(0, count - 2, 1), [count - 1, count - 2]), 0)
        elif len(a.dims) < 2:
            raise ValueError(
                f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.shape}"
            )
        else:
            perm = list(range(len(a.dims)))
            perm[-2:] = perm[-1], perm[-2]
        return transpose(a, perm=perm, conjugate=conjugate)


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`."""
    return invert_permutation_(x, name=name)


# ---- several arrays into one and back ---------------------------------------------------------


def _joined(c: ShapeContext, axis_input: int, first: int, last: int) -> Dims:
    """The shape of inputs `first` to `last` joined along the axis that input `axis_input` gives."""
    s.with_rank(c.dims(axis_input), 0)
    axis = c.value(axis_input)
    shapes = [c.dims(i) for i in range(first, last)]
    ranks = [len(dims) for dims in shapes if dims is not None]
    if axis is None:
        if not ranks:
            return None
        if ranks[0] == 0:
            raise ValueError("Can't concatenate scalars (use tf.stack instead)")
        for dims in shapes:
            s.with_rank(dims, ranks[0])
        return (None,) * ranks[0]
    at = int(axis)
    for dims in reversed(shapes):
        s.with_rank_at_least(dims, -at if at < 0 else at + 1)
    if not ranks:
        return None
    out: Dims = None
    total: int | None = 0
    for dims in reversed(shapes):
        size = None if dims is None else dims[at]
        total = None if total is None or size is None else total + size
        out = s.merge(_without(dims, at), out)
    assert out is not None
    at %= len(out)
    return (*out[:at], total, *out[at + 1 :])


def _without(dims: Dims, at: int) -> Dims:
    if dims is None:
        return None
    return tuple(None if i == at % len(dims) else d for i, d in enumerate(dims))


def _join(xp: Any, values: list[Any], axis: Any) -> Any:
    values = [as_array(v) for v in values]
    first = values[0]
    if np.ndim(axis) != 0:
        raise invalid(
            "Concat dim tensor should be a scalar integer, but got shape"
            f" {s.show(np.shape(axis))}"
        )
    at = int(axis)
    if not -first.ndim <= at < first.ndim:
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{-first.ndim},"
            f" {first.ndim}), but got {at}"
        )
    for i, value in enumerate(values):
        pair = f"shape[0] = {s.show(first.shape)} vs. shape[{i}] = {s.show(value.shape)}"
        if value.ndim != first.ndim:
            raise invalid(f"ConcatOp : Ranks of all input tensors should match: {pair}")
        if _without(value.shape, at) != _without(first.shape, at):
            raise invalid(f"ConcatOp : Dimensions of inputs should match: {pair}")
    return xp.concatenate(values, axis=at)


@op(
    "Concat",
    inputs="concat_dim: int32, values: N * T",
    outputs="output: T",
    attrs="N: int >= 2, T: type",
    shape=lambda c: _joined(c, 0, 1, c.num_inputs),
    static="concat_dim",
)
def concat_(xp: Any, concat_dim: Any, values: list[Any]) -> Any:
    return _join(xp, values, concat_dim)


@concat_.gradient
def _(op: Operation, grad: Any) -> Any:
    return [None, *_split_like(op.inputs[1:], op.inputs[0], grad)]


@op(
    "ConcatV2",
    inputs="values: N * T, axis: Tidx",
    outputs="output: T",
    attrs="N: int >= 2, T: type, Tidx: {int32, int64} = int32",
    shape=lambda c: _joined(c, c.num_inputs - 1, 0, c.num_inputs - 1),
    static="axis",
)
def concat_v2_(xp: Any, values: list[Any], axis: Any) -> Any:
    return _join(xp, values, axis)


@concat_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    return [*_split_like(op.inputs[:-1], op.inputs[-1], grad), None]


# From this many pieces on, one `SplitV` beats a `Slice` for each.
_MANY_PIECES = 16


def _split_like(values: Sequence[Tensor], axis: Tensor, grad: Any) -> list[Any]:
    """The part of `grad` that belongs to each of the `values` joined along `axis`."""
    if isinstance(grad, IndexedSlices):
        return _split_slices_like(values, axis, grad)
    if axis.op.type == "Const" and (
        axis.op._control_flow_context is not grad.op._control_flow_context
    ):
        # The axis must stay a constant that XLA sees, not come in through an Enter node.
        axis = constant(constant_value(axis), axis.dtype)
    axis = axis % rank(values[0])
    if all(s.known(x.dims) for x in values):
        sizes = [shape(x) for x in values]
    else:
        sizes = shape_n(values)
    if len(sizes) > _MANY_PIECES:
        lengths = squeeze(raw.Slice(stack(sizes, axis=1), stack([axis, 0]), [1, -1]))
        return split(grad, lengths, axis)
    offsets = raw.ConcatOffset(axis, sizes)
    return [
        raw.Slice(grad, begin, dims) for begin, dims in zip(offsets, sizes, strict=True)
    ]


def _split_slices_like(
    values: Sequence[Tensor], axis: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    at = constant_value(axis)
    if at is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    at = int(at)
    if at < 0:
        if values[0].dims is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when first"
                " value rank is statically-known."
            )
        at %= len(values[0].dims)
    sizes = [shape(x) for x in values]
    return (_split_columns if at else _split_rows)(grad, sizes, at)


def _split_columns(grad: IndexedSlices, sizes: list[Tensor], at: int) -> list[IndexedSlices]:
    """Every value has the same rows as `grad`, and some of its columns."""
    count = shape(sizes[0])
    mask = concat([fill([at], 0), [1], fill(count - at - 1, 0)], 0)
    begin = fill(count, 0)
    pieces = []
    for dims in sizes:
        extent = concat([[-1], raw.Slice(dims, [1], [-1])], 0)
        pieces.append(IndexedSlices(raw.Slice(grad.values, begin, extent), grad.indices, dims))
        begin = begin + dims * mask
    return pieces


def _split_rows(grad: IndexedSlices, sizes: list[Tensor], at: int) -> list[IndexedSlices]:
    """Every value has those rows of `grad` whose indices lie in its range."""
    start = constant(0, grad.indices.dtype)
    pieces = []
    for dims in sizes:
        length = raw.GatherV2(dims, at, 0)
        if length.dtype != grad.indices.dtype:
            length = raw.Cast(length, grad.indices.dtype)
        end = start + length
        inside = raw.LogicalAnd(grad.indices >= start, grad.indices < end)
        chosen = squeeze(raw.Where(inside), axis=[1])
        indices = raw.GatherV2(grad.indices, chosen, 0) - start
        pieces.append(IndexedSlices(raw.GatherV2(grad.values, chosen, 0), indices, dims))
        start = end
    return pieces


@op(
    "ConcatOffset",
    inputs="concat_dim: int32, shape: N * int32",
    outputs="offset: N * int32",
    attrs="N: int >= 2",
    shape=lambda c: [c.dims(i) for i in range(1, c.num_inputs)],
    static="concat_dim, shape",
    differentiable=False,
)
def concat_offset_(xp: Any, concat_dim: Any, shape: list[Any]) -> list[Any]:
    for i, dims in enumerate(shape):
        if np.ndim(dims) != 1:
            raise invalid(f"input {i} should be a vector, but got shape {s.show(np.shape(dims))}")
    count, at = len(shape[0]), int(concat_dim)
    if not -count <= at < count:
        raise invalid(f"Concat dim is out of range: {at} vs. {count}")
    axis = at % count
    first, total, offsets = list(shape[0]), 0, []
    for i, dims in enumerate(shape):
        if len(dims) != count:
            raise invalid(f"input {i} should contain {count} elements, but got {len(dims)}")
        if [*dims[:axis], *dims[axis + 1 :]] != [*first[:axis], *first[axis + 1 :]]:
            raise invalid(
                f"All dimensions except {axis} must match. Input {i} has shape"
                f" [{' '.join(map(str, dims))}] and doesn't match input 0 with shape"
                f" [{' '.join(map(str, first))}]."
            )
        offsets.append(np.where(np.arange(count) == axis, total, 0).astype(np.int32))
        total += int(dims[axis])
    return offsets


def _stacking_axis(c: ShapeContext, count: int) -> int:
    axis = c.attr("axis")
    if not -count <= axis < count:
        raise ValueError(f"Invalid axis: {axis}; must be in [{-count},{count})")
    return axis % count


def _stacked(c: ShapeContext) -> Dims:
    dims = c.dims(c.num_inputs - 1)
    for i in reversed(range(c.num_inputs - 1)):
        try:
            dims = s.merge(c.dims(i), dims)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i} with other shapes.") from None
    if dims is None:
        return None
    axis = _stacking_axis(c, len(dims) + 1)
    return (*dims[:axis], c.num_inputs, *dims[axis:])


@op(
    "Pack",
    inputs="values: N * T",
    outputs="output: T",
    attrs="N: int >= 1, T: type, axis: int = 0",
    shape=_stacked,
)
def pack_(xp: Any, values: list[Any], *, axis: int) -> Any:
    values = [as_array(v) for v in values]
    first = np.shape(values[0])
    for i, value in enumerate(values):
        if np.shape(value) != first:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {s.show(first)} !="
                f" values[{i}].shape = {s.show(np.shape(value))}"
            )
    count = len(first) + 1
    if not -count <= axis < count:
        raise invalid(f"axis = {axis} not in [{-count}, {count})")
    return xp.stack(values, axis=axis)


@pack_.gradient
def _(op: Operation, grad: Any) -> Any:
    return unstack(grad, num=op.attrs["N"], axis=op.attrs["axis"])


def _unstacked(c: ShapeContext) -> list[Dims]:
    dims = c.dims(0)
    if dims is None:
        return [None] * c.num_outputs
    axis = _stacking_axis(c, len(dims))
    if dims[axis] not in (None, c.num_outputs):
        raise ValueError(f"Dimension must be {c.num_outputs} but is {dims[axis]}")
    return [(*dims[:axis], *dims[axis + 1 :])] * c.num_outputs


@op(
    "Unpack",
    inputs="value: T",
    outputs="output: num * T",
    attrs="num: int >= 0, T: type, axis: int = 0",
    shape=_unstacked,
)
def unpack_(xp: Any, value: Any, *, num: int, axis: int) -> list[Any]:
    if not -value.ndim <= axis < value.ndim:
        raise invalid(f"axis = {axis} not in [{-value.ndim}, {value.ndim})")
    axis %= value.ndim
    if value.shape[axis] != num:
        raise invalid(
            f"Input shape axis {axis} must equal {num}, got shape {s.show(value.shape)}"
        )
    dims = value.shape[:axis] + value.shape[axis + 1 :]
    return [xp.reshape(_piece(value, axis, i, i + 1), dims) for i in range(num)]


def _piece(x: Any, axis: int, begin: int, end: int) -> Any:
    return x[(_py_slice(None),) * axis + (_py_slice(begin, end),)]


@unpack_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return stack(grads, axis=op.attrs["axis"])


def _split_axis(c: ShapeContext, axis_input: int, dims: Dims) -> int | None:
    s.with_rank(c.dims(axis_input), 0)
    value = c.value(axis_input)
    if value is None:
        return None
    axis = int(value)
    if axis < 0:
        if dims is None:
            return None
        if axis < -len(dims):
            raise ValueError(f"axis must be in [{-len(dims)}, {len(dims)}), got {axis}")
        axis += len(dims)
    s.with_rank_at_least(dims, axis + 1)
    return axis


def _split_evenly(c: ShapeContext) -> list[Dims]:
    dims = c.dims(1)
    axis = _split_axis(c, 0, dims)
    if dims is None:
        return [None] * c.num_outputs
    if axis is None:
        return [(None,) * len(dims)] * c.num_outputs
    try:
        part = divide(dims[axis], c.num_outputs)
    except ValueError as error:
        raise ValueError(
            f"{error}\n\tNumber of ways to split should evenly divide the split dimension"
        ) from None
    return [(*dims[:axis], part, *dims[axis + 1 :])] * c.num_outputs


def _checked_split_axis(x: Any, split_dim: Any) -> int:
    if np.size(split_dim) != 1:
        raise invalid("split_dim_tensor must have exactly one element.")
    axis = int(np.ravel(split_dim)[0])
    if not -x.ndim <= axis < x.ndim:
        raise invalid(
            f"-input rank(-{x.ndim}) <= split_dim < input rank ({x.ndim}), but got {axis}"
        )
    return axis % x.ndim


@op(
    "Split",
    inputs="split_dim: int32, value: T",
    outputs="output: num_split * T",
    attrs="num_split: int >= 1, T: type",
    shape=_split_evenly,
    static="split_dim",
)
def split_(xp: Any, split_dim: Any, value: Any, *, num_split: int) -> list[Any]:
    axis = _checked_split_axis(value, split_dim)
    length = value.shape[axis]
    if length % num_split:
        raise invalid(
            "Number of ways to split should evenly divide the split dimension, but got split_dim"
            f" {axis} (size = {length}) and num_split {num_split}"
        )
    part = length // num_split
    return [_piece(value, axis, i * part, (i + 1) * part) for i in range(num_split)]


@split_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return None, concat(list(grads), op.inputs[0])


def _split_by_sizes(c: ShapeContext) -> list[Dims]:
    dims = c.dims(0)
    axis = _split_axis(c, 2, dims)
    if dims is None:
        return [None] * c.num_outputs
    if not dims:
        raise ValueError("Can't split scalars")
    if axis is None:
        return [(None,) * len(dims)] * c.num_outputs
    value = c.value(1)
    if value is None:
        return [(*dims[:axis], None, *dims[axis + 1 :])] * c.num_outputs
    sizes: list[int | None] = [int(n) for n in np.ravel(value)]
    if len(sizes) != c.num_outputs:
        raise ValueError("Length of size_splits should be equal to num_outputs")
    if sizes.count(-1) > 1:
        raise ValueError("size_splits can only have one -1")
    total, length = sum(n for n in sizes if n != -1), dims[axis]
    if -1 in sizes:
        sizes[sizes.index(-1)] = None if length is None else length - total
    for i, n in enumerate(sizes):
        if n is not None and n < 0:
            raise ValueError(f"Split size at index {i} must be >= 0. Got: {n}")
    if length is not None and None not in sizes and sum(sizes) != length:
        pieces = ",".join(str(int(n)) for n in np.ravel(value))
        raise ValueError(f"can't split axis of size {length} into pieces of size [{pieces}]")
    return [(*dims[:axis], n, *dims[axis + 1 :]) for n in sizes]


@op(
    "SplitV",
    inputs="value: T, size_splits: Tlen, split_dim: int32",
    outputs="output: num_split * T",
    attrs="num_split: int >= 1, T: type, Tlen: {int32, int64} = int64",
    shape=_split_by_sizes,
    static="size_splits, split_dim",
)
def split_v_(
    xp: Any, value: Any, size_splits: Any, split_dim: Any, *, num_split: int
) -> list[Any]:
    if np.ndim(size_splits) != 1 or len(size_splits) != num_split:
        raise invalid(
            "size of the split_tensor must be 1-D and have the same elements as outputs got"
            f" {np.ndim(size_splits)} -D and {np.size(size_splits)} elements"
        )
    axis = _checked_split_axis(value, split_dim)
    sizes = [int(n) for n in size_splits]
    length, total = value.shape[axis], sum(n for n in sizes if n != -1)
    if sizes.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.")
    if total > length or (total < length and -1 not in sizes):
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully"
            " specified, or be less than the size of the input along split_dim if not fully"
            f" specified. Got: {total}"
        )
    sizes = [length - total if n == -1 else n for n in sizes]
    for i, n in enumerate(sizes):
        if n < 0:
            raise invalid(f"Split size at index {i} must be >= 0. Got: {n}")
    ends = np.cumsum(sizes)
    return [
        _piece(value, axis, int(end) - n, int(end)) for n, end in zip(sizes, ends, strict=True)
    ]


@split_v_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return concat(list(grads), op.inputs[2]), None, None


def _stacked_rows(c: ShapeContext) -> Dims:
    wanted = c.attr("shape")
    if not s.known(wanted):
        raise ValueError("shape attr must be fully defined.")
    row: Dims = (1, *wanted[1:])
    for i in range(c.num_inputs):
        dims = c.dims(i)
        if dims is not None and (not dims or dims[0] not in (None, 1)):
            raise ValueError("Size of first dimension must be 1.")
        row = s.merge(dims, row)
    return wanted


@op(
    "ParallelConcat",
    inputs="values: N * T",
    outputs="output: T",
    attrs="N: int >= 1, T: type, shape: shape",
    shape=_stacked_rows,
)
def parallel_concat_(xp: Any, values: list[Any]) -> Any:
    return xp.concatenate(values, axis=0)


def concat(values: Any, axis: Any, name: str | None = "concat") -> Tensor:
    """The `values` joined along the existing dimension `axis`."""
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) == 1:
        with name_scope(name) as scope:
            dim = convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            dim.shape.assert_has_rank(0)
            return identity(values[0], name=scope)
    return concat_v2_(values, axis, name=name)


def stack(values: Any, axis: int = 0, name: str | None = "stack") -> Tensor:
    """The `values`, all of one shape, joined along a new dimension `axis`."""
    if axis == 0:
        try:
            # Constants become one constant; lists that hold tensors are packed on conversion.
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError, NotImplementedError):
            pass
    dims = convert_to_tensor(values[0], name=name).dims
    if dims is not None:
        count = len(dims) + 1
        if not -count <= axis < count:
            raise ValueError(f"axis = {axis} not in [{-count}, {count})")
    return pack_(values, axis=axis, name=name)


def parallel_stack(values: Any, name: str | None = "parallel_stack") -> Tensor:
    """`stack` along the first dimension, for values of known shape."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        whole = TensorShape([len(values)]).concatenate(first.shape)
        return parallel_concat_([expand_dims(value, 0) for value in values], shape=whole)


def autopack(values: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A nested list that holds tensors, as one tensor; NotImplemented when it holds none."""
    found = _packed_dtype(values)
    if found is None:
        return NotImplemented
    wanted = found if dtype is None else dtypes.as_dtype(dtype)
    if wanted != found:
        values = nest.map_structure(lambda x: _cast_tensor(x, wanted), values)
    return _pack_nested(values, wanted, name or "packed")


def _from_nested(
    value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    return NotImplemented if as_ref else autopack(value, dtype, name)


register_tensor_conversion_function((list, tuple), _from_nested, 99)


def _packed_dtype(values: Any) -> DType | None:
    """The dtype of the first tensor in a nested list."""
    for element in values:
        if is_tensor_like(element):
            return element.dtype.base_dtype
        if isinstance(element, list | tuple) and (found := _packed_dtype(element)) is not None:
            return found
    return None


def _cast_tensor(x: Any, dtype: DType) -> Any:
    if is_tensor_like(x) and x.dtype.base_dtype != dtype:
        return raw.Cast(x, dtype)
    return x


def _pack_nested(values: Any, dtype: DType, name: str) -> Any:
    packed = False
    with name_scope(name) as scope:
        elements = []
        for i, element in enumerate(values):
            if is_tensor_like(element):
                if element.dtype.base_dtype != dtype:
                    raise TypeError(
                        f"Cannot convert a list containing a tensor of dtype {element.dtype} to"
                        f" {dtype} (Tensor is: {element!r})"
                    )
                packed = True
            elif isinstance(element, list | tuple):
                element = _pack_nested(element, dtype, str(i))
                packed = packed or is_tensor_like(element)
            elements.append(element)
        if not packed:
            return elements
        elements = [
            x if is_tensor_like(x) else constant(x, dtype=dtype, name=str(i))
            for i, x in enumerate(elements)
        ]
        return pack_(elements, name=scope)


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str | None = "unstack"
) -> list[Tensor]:
    """The slices of `value` along dimension `axis`, without that dimension."""
    if num is None:
        value = convert_to_tensor(value)
        if value.dims is not None:
            count = len(value.dims)
            if not -count <= axis < count:
                raise ValueError(f"axis = {axis} not in [{-count}, {count})")
            num = value.dims[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    return unpack_(value, num=num, axis=axis, name=name)


def split(
    value: Any,
    num_or_size_splits: Any,
    axis: Any = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[Tensor]:
    """Pieces of `value` along `axis`: so many equal ones, or pieces of the given sizes."""
    if isinstance(num_or_size_splits, int | np.integer | Dimension):
        return split_(axis, value, num_split=int(num_or_size_splits), name=name)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.dims == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = sizes.dims[0] if sizes.dims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return split_v_(value, sizes, axis, num_split=num, name=name)


# ---- repeating, padding, reversing ------------------------------------------------------------


def _tiled(c: ShapeContext) -> Dims:
    dims, multiples = c.dims(0), shape_argument(c, 1)
    if dims is not None:
        multiples = s.with_rank(multiples, len(dims))
        s.merge(c.dims(1), (len(dims),))
    if multiples is None:
        return None
    dims = s.with_rank(dims, len(multiples))
    return tuple(
        0 if 0 in (d, n) else None if d is None or n is None else d * n
        for d, n in zip(dims, multiples, strict=True)
    )


def _checked_multiples(x: Any, multiples: Any, least: int) -> tuple[int, ...]:
    if np.ndim(multiples) != 1:
        raise invalid(f"Expected multiples to be 1-D, but got shape {s.show(np.shape(multiples))}")
    if len(multiples) != x.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {x.ndim} but got length"
            f" {len(multiples)}"
        )
    for i, n in enumerate(multiples):
        if n < least:
            bound = ">= 0" if least == 0 else "> 0"
            raise invalid(f"Expected multiples[{i}] {bound}, but got {n}")
    return tuple(map(int, multiples))


@op(
    "Tile",
    inputs="input: T, multiples: Tmultiples",
    outputs="output: T",
    attrs="T: type, Tmultiples: {int32, int64} = int32",
    shape=_tiled,
    static="multiples",
)
def tile_(xp: Any, input: Any, multiples: Any) -> Any:
    input = as_array(input)
    counts = _checked_multiples(input, multiples, 0)
    try:
        check_size(tuple(d * n for d, n in zip(input.shape, counts, strict=True)))
    except ValueError as error:
        raise invalid(str(error)) from None
    return xp.tile(input, counts)


@tile_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, multiples = op.inputs
    dims = shape(input, out_type=multiples.dtype)
    # Fold every tiled dimension into (multiple, size) and sum over the multiples.
    folded = reshape(transpose(stack([multiples, dims])), [-1])
    axes = raw.Range(0, size(folded), 2, name="range")
    if isinstance(grad, IndexedSlices):
        rows = raw.Cast(dims[0], grad.indices.dtype)
        grad = raw.UnsortedSegmentSum(grad.values, raw.FloorMod(grad.indices, rows), rows)
        folded = concat([[1], folded[1:]], axis=0)
    result = raw.Sum(reshape(grad, folded), axes)
    result.set_shape(input.shape)
    return result, None


@op(
    "TileGrad",
    inputs="input: T, multiples: int32",
    outputs="output: T",
    attrs="T: type",
    shape=s.unknown,
    static="multiples",
    deprecated=True,
)
def tile_grad_(xp: Any, input: Any, multiples: Any) -> Any:
    counts = _checked_multiples(input, multiples, 1)
    folded: list[int] = []
    for i, (d, n) in enumerate(zip(input.shape, counts, strict=True)):
        if d % n:
            raise invalid(
                f"Expected input_dim[{i}] to be divisible by multiples[{i}], but {d} % {n} != 0"
            )
        folded += [n, d // n]
    axes = tuple(range(0, len(folded), 2))
    return xp.sum(xp.reshape(input, folded), axis=axes, dtype=input.dtype)


def _padding_matrix(c: ShapeContext) -> tuple[Dims, np.ndarray | None]:
    """The input's dims and the paddings, each as far as known."""
    count, columns = s.with_rank(c.dims(1), 2)
    if columns not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {columns}")
    dims, paddings = c.dims(0), c.value(1)
    if paddings is not None:
        count = len(paddings)
    if count is not None:
        dims = s.with_rank(dims, count)
    if paddings is not None and np.any(paddings < 0):
        raise ValueError("Paddings must be non-negative")
    return dims, paddings


def _padded(c: ShapeContext) -> Dims:
    dims, paddings = _padding_matrix(c)
    if dims is None:
        return None
    if paddings is not None:
        added: Sequence[int | None] = [int(n) for n in paddings.sum(axis=1)]
    else:
        added = _partial_paddings(c.op.inputs[1], len(dims))
    return check_size(
        tuple(None if d is None or n is None else d + n for d, n in zip(dims, added, strict=True))
    )


def _partial_paddings(paddings: Tensor, count: int) -> list[int | None]:
    """How much each dimension grows, when only some rows of a packed matrix are constant."""
    if paddings.op.type != "Pack" or paddings.op.attrs["axis"] != 0:
        return [None] * count
    rows = [constant_value(row) for row in paddings.op.inputs]
    return [None if row is None else int(np.sum(row)) for row in rows]


def _checked_paddings(x: Any, paddings: Any) -> list[tuple[int, int]]:
    if np.ndim(paddings) != 2 or np.shape(paddings)[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {s.show(np.shape(paddings))}")
    if len(paddings) != x.ndim:
        raise invalid(
            "The first dimension of paddings must be the rank of inputs"
            f"{s.show(np.shape(paddings))} {s.show(x.shape)}"
        )
    pairs = [(int(before), int(after)) for before, after in paddings]
    for before, after in pairs:
        if before < 0 or after < 0:
            raise invalid(f"Paddings must be non-negative: {before} {after}")
    return pairs


def pad_with(xp: Any, x: Any, pairs: Sequence[tuple[int, int]], value: Any) -> Any:
    """`x` with so many `value`s before and after it along each axis."""
    if xp is not np:
        from jax import lax

        around = [(before, after, 0) for before, after in pairs]
        return lax.pad(x, xp.asarray(value, x.dtype), around)
    dims = [before + d + after for (before, after), d in zip(pairs, x.shape, strict=True)]
    out = np.full(dims, value, x.dtype)
    inner = (
        _py_slice(before, before + d) for (before, _), d in zip(pairs, x.shape, strict=True)
    )
    out[tuple(inner)] = x
    return out


@op(
    "Pad",
    inputs="input: T, paddings: Tpaddings",
    outputs="output: T",
    attrs="T: type, Tpaddings: {int32, int64} = int32",
    shape=_padded,
    static="paddings",
)
def pad_(xp: Any, input: Any, paddings: Any) -> Any:
    input = as_array(input)
    return pad_with(xp, input, _checked_paddings(input, paddings), blank(input.dtype))


@op(
    "PadV2",
    inputs="input: T, paddings: Tpaddings, constant_values: T",
    outputs="output: T",
    attrs="T: type, Tpaddings: {int32, int64} = int32",
    shape=_padded,
    static="paddings",
)
def pad_v2_(xp: Any, input: Any, paddings: Any, constant_values: Any) -> Any:
    input = as_array(input)
    if np.ndim(constant_values) != 0:
        raise invalid(
            f"constant_values must be a scalar. Found: {s.show(np.shape(constant_values))}"
        )
    return pad_with(xp, input, _checked_paddings(input, paddings), constant_values)


@pad_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unpadded(op, grad), None


@pad_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unpadded(op, grad), None, None


def _unpadded(op: Operation, grad: Any) -> Tensor:
    x, paddings = op.inputs[:2]
    before = raw.Slice(paddings, [0, 0], stack([rank(x), 1]))
    begin = reshape(before, [-1])
    return raw.Slice(grad, begin, shape(x, out_type=begin.dtype))


def _checked_mirror(
    pairs: Sequence[tuple[int, int]], sizes: Sequence[int], mode: str, what: str
) -> int:
    """How far from the edge mirroring starts: 1 leaves the edge itself out."""
    inset = 1 if mode == "REFLECT" else 0
    for (before, after), size in zip(pairs, sizes, strict=True):
        # Padding nothing asks nothing of the dimension, even of an empty one.
        if max(before, after) and max(before, after) > size - inset:
            bound = ("less than", "not less than") if inset else ("no greater than", "greater than")
            raise invalid(
                f"paddings must be {bound[0]} the {what} size: {before}, {after} {bound[1]} {size}"
            )
    return inset


@op(
    "MirrorPad",
    inputs="input: T, paddings: Tpaddings",
    outputs="output: T",
    attrs='T: type, Tpaddings: {int32, int64} = int32, mode: {"REFLECT", "SYMMETRIC"}',
    shape=_padded,
    static="paddings",
)
def mirror_pad_(xp: Any, input: Any, paddings: Any, *, mode: str) -> Any:
    pairs = _checked_paddings(input, paddings)
    _checked_mirror(pairs, input.shape, mode, "dimension")
    if not any(map(any, pairs)):
        return input
    return xp.pad(input, pairs, mode=mode.lower())


@mirror_pad_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.MirrorPadGrad(grad, op.inputs[1], mode=op.attrs["mode"]), None


def _mirror_unpadded(c: ShapeContext) -> Dims:
    dims, paddings = _padding_matrix(c)
    if dims is None or paddings is None:
        return None if dims is None else (None,) * len(dims)
    lost = [int(n) for n in paddings.sum(axis=1)]
    if any(d is not None and d < n for d, n in zip(dims, lost, strict=True)):
        raise ValueError(f"Paddings {lost} are larger than the input {s.show(dims)}")
    return tuple(None if d is None else d - n for d, n in zip(dims, lost, strict=True))


@op(
    "MirrorPadGrad",
    inputs="input: T, paddings: Tpaddings",
    outputs="output: T",
    attrs='T: type, Tpaddings: {int32, int64} = int32, mode: {"REFLECT", "SYMMETRIC"}',
    shape=_mirror_unpadded,
    static="paddings",
)
def mirror_pad_grad_(xp: Any, input: Any, paddings: Any, *, mode: str) -> Any:
    pairs = _checked_paddings(input, paddings)
    sizes = [d - before - after for (before, after), d in zip(pairs, input.shape, strict=True)]
    inset = _checked_mirror(pairs, sizes, mode, "output dimension")
    out = input
    for axis, ((before, after), size) in enumerate(zip(pairs, sizes, strict=True)):
        whole, out = out, _piece(out, axis, before, before + size)
        rest = [(0, 0)] * input.ndim
        for begin, width, at in (
            (0, before, inset),
            (before + size, after, size - after - inset),
        ):
            if width:
                # What was mirrored out comes back, reversed, onto the place it was taken from.
                rest[axis] = (at, size - width - at)
                folded = xp.flip(_piece(whole, axis, begin, begin + width), axis)
                out = out + pad_with(xp, folded, rest, blank(folded.dtype))
    return out


@mirror_pad_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    return mirror_pad_(grad, op.inputs[1], mode=op.attrs["mode"]), None


def _reversed_by_flags(c: ShapeContext) -> Dims:
    (count,) = s.with_rank(c.dims(1), 1)
    dims = c.dims(0) if count is None else s.with_rank(c.dims(0), count)
    return _reversible(dims)


def _reversible(dims: Dims) -> Dims:
    if dims is not None and len(dims) > 8:
        raise ValueError("reverse does not work on tensors with more than 8 dimensions")
    return dims


def _flip(xp: Any, x: Any, axes: Sequence[int]) -> Any:
    return xp.flip(x, tuple(axes)) if axes else x


@op(
    "Reverse",
    inputs="tensor: T, dims: bool",
    outputs="output: T",
    attrs="T: {uint8, int8, uint16, int16, int32, int64, bool, half, float, double, complex64,"
    " complex128, string}",
    shape=_reversed_by_flags,
    static="dims",
)
def reverse_(xp: Any, tensor: Any, dims: Any) -> Any:
    if len(dims) != tensor.ndim:
        raise invalid(
            "'dims' must have the same number of values as 'input' has dimensions. 'input' has"
            f" {tensor.ndim}'dims' has {len(dims)} values"
        )
    return _flip(xp, tensor, [i for i, flag in enumerate(dims) if flag])


@reverse_.gradient
def _(op: Operation, grad: Any) -> Any:
    return reverse_(grad, op.inputs[1]), None


def _distinct_axes(axes: Any, count: int) -> list[int]:
    found: list[int] = []
    for i, axis in enumerate(map(int, axes)):
        if not -count <= axis < count:
            raise ValueError(f"'axis'[{i}] = {axis} is out of valid range [0, {count - 1}")
        if axis % count in found:
            raise ValueError(f"axis {axis % count} specified more than once.")
        found.append(axis % count)
    return found


def _reversed(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(1), 1)
    dims, axes = _reversible(c.dims(0)), c.value(1)
    if axes is not None and dims is not None:
        _distinct_axes(axes, len(dims))
    return dims


@op(
    "ReverseV2",
    inputs="tensor: T, axis: Tidx",
    outputs="output: T",
    attrs="Tidx: {int32, int64} = int32, T: {uint8, int8, uint16, int16, int32, int64, bool,"
    " bfloat16, half, float, double, complex64, complex128, string}",
    shape=_reversed,
    static="axis",
)
def reverse_v2_(xp: Any, tensor: Any, axis: Any) -> Any:
    tensor = as_array(tensor)
    if np.ndim(axis) != 1:
        raise invalid(f"'dims' must be 1-dimension, not {np.ndim(axis)}")
    try:
        return _flip(xp, tensor, _distinct_axes(axis, tensor.ndim))
    except ValueError as error:
        raise invalid(str(error)) from None


@reverse_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    return reverse_v2_(grad, op.inputs[1]), None


def _sequences(c: ShapeContext) -> Dims:
    (length,) = s.with_rank(c.dims(1), 1)
    dims, batch, seq = c.dims(0), c.attr("batch_dim"), c.attr("seq_dim")
    if dims is None:
        return None
    for what, axis in (("batch_dim", batch), ("seq_dim", seq)):
        if axis >= len(dims):
            raise ValueError(f"{what} must be < input rank: {axis} vs. {len(dims)}")
    if batch < 0:
        raise ValueError(f"batch_dim must be >=0, got {batch}")
    return (*dims[:batch], s.merge_dim(dims[batch], length), *dims[batch + 1 :])


@op(
    "ReverseSequence",
    inputs="input: T, seq_lengths: Tlen",
    outputs="output: T",
    attrs="seq_dim: int, batch_dim: int = 0, T: type, Tlen: {int32, int64} = int64",
    shape=_sequences,
)
def reverse_sequence_(
    xp: Any, input: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int
) -> Any:
    if batch_dim == seq_dim:
        raise invalid(f"batch_dim == seq_dim == {seq_dim}")
    for what, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if axis >= input.ndim:
            raise invalid(f"{what} must be < input.dims()( {axis} vs. {input.ndim})")
    if len(seq_lengths) != input.shape[batch_dim]:
        raise invalid(
            f"len(seq_lens) != input.dims({batch_dim}), ({len(seq_lengths)} vs."
            f" {input.shape[batch_dim]})"
        )
    if xp is np:
        for i, length in enumerate(seq_lengths):
            if length < 0:
                raise invalid(f"seq_lens({i}) < 0")
            if length > input.shape[seq_dim]:
                raise invalid(f"seq_lens({i}) > input.dims({seq_dim})")
    steps = np.arange(input.shape[seq_dim]).reshape(_column(input.ndim, seq_dim))
    lengths = seq_lengths.astype(np.int64).reshape(_column(input.ndim, batch_dim))
    order = xp.where(steps < lengths, lengths - 1 - steps, steps)
    return xp.take_along_axis(input, order, axis=seq_dim)


def _column(count: int, axis: int) -> list[int]:
    return [-1 if i == axis else 1 for i in range(count)]


@reverse_sequence_.gradient
def _(op: Operation, grad: Any) -> Any:
    seq, batch = op.attrs["seq_dim"], op.attrs["batch_dim"]
    return reverse_sequence_(grad, op.inputs[1], seq_dim=seq, batch_dim=batch), None


def _rolled(c: ShapeContext) -> Dims:
    s.with_rank_at_most(c.dims(1), 1)
    s.with_rank_at_most(c.dims(2), 1)
    s.merge(c.dims(1), c.dims(2))
    return s.with_rank_at_least(c.dims(0), 1)


@op(
    "Roll",
    inputs="input: T, shift: Tshift, axis: Taxis",
    outputs="output: T",
    attrs="T: type, Tshift: {int32, int64}, Taxis: {int32, int64}",
    shape=_rolled,
    static="axis",
)
def roll_(xp: Any, input: Any, shift: Any, axis: Any) -> Any:
    if input.ndim < 1:
        raise invalid("input must be 1-D or higher")
    for what, value in (("shift", shift), ("axis", axis)):
        if np.ndim(value) > 1:
            raise invalid(
                f"{what} must be a scalar or a 1-D vector. Found: {s.show(np.shape(value))}"
            )
    if np.size(axis) != s.size(np.shape(shift)):
        raise invalid("shift and axis must have the same size")
    axes = [int(a) for a in np.ravel(axis)]
    for a in axes:
        if not -input.ndim <= a < input.ndim:
            raise invalid(f"axis {a} is out of range")
    if not axes:
        return input
    shifts = xp.reshape(shift, (-1,))
    return xp.roll(input, shifts, axis=tuple(axes))


@roll_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, shift, axis = op.inputs
    return roll_(grad, -shift, axis), None, None


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each dimension i."""
    return tile_(input, multiples, name=name)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """`tensor` with rows added before and after along each dimension."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if _is_zero(constant_values):
            return pad_(tensor, paddings, name=name)
        return pad_v2_(tensor, paddings, constant_values, name=name)
    if mode in ("REFLECT", "SYMMETRIC"):
        return mirror_pad_(tensor, paddings, mode=mode, name=name)
    raise ValueError(f"Unknown padding mode: {mode}")


def _is_zero(value: Any) -> bool:
    if is_tensor_like(value) or isinstance(value, str | bytes):
        return False
    return np.ndim(value) == 0 and bool(value == 0)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` with its elements in reverse order along each dimension in `axis`."""
    return reverse_v2_(tensor, axis, name=name)


reverse_v2 = reverse


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[i]` steps of each sequence i reversed."""
    seq = deprecated_alias("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = deprecated_alias("batch_axis", batch_axis, "batch_dim", batch_dim)
    return reverse_sequence_(
        input, seq_lengths, seq_dim=seq, batch_dim=0 if batch is None else batch, name=name
    )


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` moved by `shift` along `axis`; what falls off the end comes in at the start."""
    return roll_(input, shift, axis, name=name)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate arrays of a grid whose axes are the given vectors."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        lines = [
            reshape(stack(x), [-1 if j == i else 1 for j in range(count)])
            for i, x in enumerate(args)
        ]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            rest = (1,) * (count - 2)
            lines[0] = reshape(lines[0], (1, -1, *rest))
            lines[1] = reshape(lines[1], (-1, 1, *rest))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        grid = ones(sizes, dtype)
        return [line * grid for line in lines]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """`input` with each element repeated `repeats` times along `axis` (flattened if None)."""
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
        if not counts.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={counts.dtype}")
        counts = raw.Cast(counts, dtypes.int32)
        counts.shape.with_rank_at_most(1)
        if data.dims == ():
            data = stack([data])
        at = _positive_axis(axis, None if data.dims is None else len(data.dims))
        if counts.dims is not None and len(counts.dims) == 1 and data.dims is not None:
            s.merge_dim(data.dims[at], counts.dims[0])
        dims = shape(data)
        result_shape = concat([dims[:at], [-1], dims[at + 1 :]], axis=0)
        if counts.dims == ():
            return reshape(_repeat_all(data, at, counts), result_shape)
        return _repeat_each(data, at, counts, dims, result_shape)


def _positive_axis(axis: int, count: int | None) -> int:
    if count is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -count <= axis < count:
        raise ValueError(f"axis={axis} out of bounds: expected {-count}<=axis<{count}")
    return axis % count


def _repeat_all(data: Tensor, axis: int, count: Any) -> Tensor:
    """A new dimension after `axis` that repeats `data` `count` times."""
    expanded = expand_dims(data, axis + 1)
    if expanded.dims is not None:
        multiples: Any = [1] * len(expanded.dims)
        multiples[axis + 1] = count
    else:
        once = ones([rank(expanded)], dtypes.int32)
        multiples = concat([once[: axis + 1], [count], once[axis + 2 :]], axis=0)
    return tile(expanded, multiples)


def _repeat_each(
    data: Tensor, axis: int, counts: Tensor, dims: Tensor, result_shape: Tensor
) -> Tensor:
    """Repeats by the largest count, then keeps of each element what it asks for."""
    from weft.ops import indexing

    if counts.dims is None or len(counts.dims) != axis + 1:
        lead = dims[: axis + 1 - rank(counts)]
        counts = broadcast_to(counts, concat([lead, shape(counts)], axis=0))
        counts.set_shape([None] * (axis + 1))
    most = raw.Maximum(0, raw.Max(counts, all_axes(counts)))
    mask = indexing.sequence_mask(counts, most)
    result = indexing.boolean_mask(_repeat_all(data, axis, most), mask)
    if axis:
        result = reshape(result, result_shape)
    if data.dims is not None:
        result.set_shape([*data.dims[:axis], None, *data.dims[axis + 1 :]])
    return result


# ---- sets of values ---------------------------------------------------------------------------


def _first_seen(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct slices of `x` along `axis` in order of appearance, where each went, counts."""
    rows = np.moveaxis(x, axis, 0)
    numbers: dict[Any, int] = {}
    if rows.ndim == 1:
        keys: Any = rows.tolist()
    else:
        flat = rows.reshape(len(rows), -1)
        keys = [tuple(row.tolist()) for row in flat]
    # A NaN equals nothing, itself included, so every one of them is a value of its own.
    places = [numbers.setdefault(key if key == key else object(), len(numbers)) for key in keys]
    index = np.array(places, np.int64)
    counts = np.bincount(index, minlength=len(numbers)) if len(index) else np.zeros(0, np.int64)
    firsts = np.unique(index, return_index=True)[1] if len(index) else np.zeros(0, np.int64)
    return np.take(x, firsts, axis=axis), index, counts


def _unique_along(x: Any, axis: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if np.size(axis) == 0:
        if x.ndim != 1:
            raise invalid("unique expects a 1D vector.")
        return _first_seen(x, 0)
    if np.ndim(axis) != 1 or np.size(axis) != 1:
        raise invalid("axis does not support input tensors larger than 1 elements")
    at = int(np.ravel(axis)[0])
    if not -x.ndim <= at < x.ndim:
        raise invalid(f"axis has to be between [0, {x.ndim})")
    return _first_seen(x, at % x.ndim)


def _unique_vector(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 1)
    return [(None,), c.dims(0), (None,)][: c.num_outputs]


def _unique_slices(c: ShapeContext) -> list[Dims]:
    """Along an axis, slices keep their other dimensions; the index is a vector."""
    dims, axis = c.dims(0), c.value(1)
    if axis is not None and axis.size == 0:
        return [(None,), s.with_rank(dims, 1), (None,)][: c.num_outputs]
    values: Dims = None
    length = None
    if dims is not None:
        values = (None,) * len(dims)
        if axis is not None:
            at = int(np.ravel(axis)[0])
            if not -len(dims) <= at < len(dims):
                raise ValueError(f"axis has to be between [0, {len(dims)})")
            at %= len(dims)
            values, length = (*dims[:at], None, *dims[at + 1 :]), dims[at]
    return [values, (length,), (None,)][: c.num_outputs]


_UNIQUE_ATTRS = "T: type, out_idx: {int32, int64} = int32"
_UNIQUE_V2_ATTRS = "T: type, Taxis: {int32, int64} = int64, out_idx: {int32, int64} = int32"


@op(
    "Unique",
    inputs="x: T",
    outputs="y: T, idx: out_idx",
    attrs=_UNIQUE_ATTRS,
    shape=_unique_vector,
    runs_on="host",
)
def unique_(xp: Any, x: Any, *, out_idx: DType) -> Any:
    y, idx, _ = _unique_along(x, ())
    return y, idx.astype(out_idx.np_storage)


@op(
    "UniqueV2",
    inputs="x: T, axis: Taxis",
    outputs="y: T, idx: out_idx",
    attrs=_UNIQUE_V2_ATTRS,
    shape=_unique_slices,
    runs_on="host",
)
def unique_v2_(xp: Any, x: Any, axis: Any, *, out_idx: DType) -> Any:
    y, idx, _ = _unique_along(x, axis)
    return y, idx.astype(out_idx.np_storage)


@op(
    "UniqueWithCounts",
    inputs="x: T",
    outputs="y: T, idx: out_idx, count: out_idx",
    attrs=_UNIQUE_ATTRS,
    shape=_unique_vector,
    runs_on="host",
)
def unique_with_counts_(xp: Any, x: Any, *, out_idx: DType) -> Any:
    y, idx, count = _unique_along(x, ())
    return y, idx.astype(out_idx.np_storage), count.astype(out_idx.np_storage)


@op(
    "UniqueWithCountsV2",
    inputs="x: T, axis: Taxis",
    outputs="y: T, idx: out_idx, count: out_idx",
    attrs=_UNIQUE_V2_ATTRS,
    shape=_unique_slices,
    runs_on="host",
)
def unique_with_counts_v2_(xp: Any, x: Any, axis: Any, *, out_idx: DType) -> Any:
    y, idx, count = _unique_along(x, axis)
    return y, idx.astype(out_idx.np_storage), count.astype(out_idx.np_storage)


def _two_vectors(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 1)
    s.with_rank(c.dims(1), 1)
    return [(None,), (None,)]


@op(
    "ListDiff",
    inputs="x: T, y: T",
    outputs="out: T, idx: out_idx",
    attrs="T: type, out_idx: {int32, int64} = int32",
    shape=_two_vectors,
    runs_on="host",
)
def list_diff_(xp: Any, x: Any, y: Any, *, out_idx: DType) -> Any:
    for what, value in (("x", x), ("y", y)):
        if value.ndim != 1:
            raise invalid(f"{what} should be a 1D vector.")
    known = set(y.tolist())
    kept = [i for i, item in enumerate(x.tolist()) if item not in known]
    index = np.array(kept, np.int64)
    return x[index], index.astype(out_idx.np_storage)


def _unraveled(c: ShapeContext) -> Dims:
    indices, (count,) = c.dims(0), s.with_rank(c.dims(1), 1)
    if indices is None:
        return None
    return (count, s.size(indices)) if indices else (count,)


@op(
    "UnravelIndex",
    inputs="indices: Tidx, dims: Tidx",
    outputs="output: Tidx",
    attrs="Tidx: {int32, int64} = int32",
    shape=_unraveled,
    static="dims",
    differentiable=False,
)
def unravel_index_(xp: Any, indices: Any, dims: Any) -> Any:
    if indices.ndim > 1:
        raise invalid(f'The indices can only be scalar or vector, got "{s.show(indices.shape)}"')
    if np.ndim(dims) != 1:
        raise invalid(f'The indices can only be 1-D, got "{s.show(np.shape(dims))}"')
    whole = 1
    for i, d in enumerate(map(int, dims)):
        if d == 0:
            raise invalid(
                "Input dims cannot contain a dim of zero, but dims contains zero at index"
                f" {i}"
            )
        if d < 0:
            raise invalid(f"Input dims cannot be negative. Got dim = {d} at index {i}")
        whole *= d
    if whole > np.iinfo(dims.dtype).max:
        raise invalid(f"Input dims product is causing integer overflow: ({dims})")
    found, rest = [], indices
    for d in reversed(dims.tolist()):
        found.append(rest % d)
        rest = rest // d
    return xp.stack(found[::-1]) if found else xp.zeros((0, *indices.shape), indices.dtype)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates, in an array of shape `dims`, of elements numbered in order."""
    return unravel_index_(indices, dims, name=name)


def unique(x: Any, out_idx: DType = dtypes.int32, name: str | None = None) -> Any:
    """The distinct elements of a vector, and for each element the number of its value."""
    return unique_(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: DType = dtypes.int32, name: str | None = None) -> Any:
    """`unique`, and how often each distinct element occurs."""
    return unique_with_counts_(x, out_idx=out_idx, name=name)


def setdiff1d(
    x: Any, y: Any, index_dtype: DType = dtypes.int32, name: str | None = None
) -> Any:
    """The elements of `x` that are not in `y`, and where they are."""
    return list_diff_(x, y, out_idx=index_dtype, name=name)


def listdiff(x: Any, y: Any, out_idx: DType = dtypes.int32, name: str | None = None) -> Any:
    """An older name of `setdiff1d`."""
    return list_diff_(x, y, out_idx=out_idx, name=name)
