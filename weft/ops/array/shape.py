"""Ops that ask for shapes, and ops that give an array another one.

Shapes are static under XLA, so `Shape`, `Rank` and `Size` always return concrete NumPy values and
shape arithmetic stays concrete inside a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library, form_for_numpy
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import is_sparse
from weft.graph.tensor import Tensor
from weft.graph.traits import FREE, KEEPS_PLACES, MOVES, NO_GRADIENT, measures
from weft.ops.kit.shared import (
    as_array,
    check_rank,
    deprecated_alias,
    divide,
    invalid,
    shape_argument,
)
from weft.ops.kit.value_checks import must_hold

# Their tensors may be handles, or bare bytes where they are scalars.
_LARGEST = 2**31 - 1  # of 32-bit integers
_NOT_NUMBERS = (dtypes.string, dtypes.resource, dtypes.variant)

# ---- asking for shapes -----------------------------------------------------------------------


def _lengths(c: ShapeContext) -> list[Dims]:
    found = (c.dims(i) for i in range(c.num_inputs))
    return [(None if dims is None else len(dims),) for dims in found]


@op(
    "Shape",
    inputs="input: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=_lengths,
    traits=measures("shape") | NO_GRADIENT,
)
def shape_(xp: Any, input: Any, *, out_type: DType) -> Any:
    return _measured(input, out_type)


@op(
    "ShapeN",
    inputs="input: N * T",
    outputs="output: N * out_type",
    attrs="N: int >= 1, T: type, out_type: {int32, int64} = int32",
    shape=_lengths,
    traits=measures("shape") | NO_GRADIENT,
)
def shape_n_(xp: Any, input: list[Any], *, out_type: DType) -> list[Any]:
    return [_measured(x, out_type) for x in input]


def _measured(x: Any, out_type: DType) -> np.ndarray:
    dims = np.shape(x)
    if out_type is dtypes.int32 and max(dims, default=0) > _LARGEST:
        large = next((i, dim) for i, dim in enumerate(dims) if dim > _LARGEST)
        raise invalid(f"Shape output type is 32-bit  but dim {large[0]} is {large[1]}")
    return np.array(dims, out_type.np_storage)


@op(
    "Rank",
    inputs="input: T",
    outputs="output: int32",
    attrs="T: type",
    shape=s.scalar,
    traits=measures("rank") | NO_GRADIENT,
)
def rank_(xp: Any, input: Any) -> Any:
    return np.array(np.ndim(input), np.int32)


@op(
    "Size",
    inputs="input: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=s.scalar,
    traits=measures("size") | NO_GRADIENT,
)
def size_(xp: Any, input: Any, *, out_type: DType) -> Any:
    count = input.size if isinstance(input, np.ndarray) else s.size(np.shape(input))
    if (count or 0) > _LARGEST and out_type is dtypes.int32:
        raise invalid("Number of elements was larger than representable by 32-bit output type")
    return np.array(count, out_type.np_storage)


def shape(input: Any, name: str | None = None, out_type: DType = dtypes.int32) -> Tensor:
    """The shape of `input` as a vector: a constant when it is statically known.

    Args:
        input: a tensor or SparseTensor.
        name: of the operation.
        out_type: `tf.int32` or `tf.int64`.

    Returns:
        A vector with as many entries as `input` has dimensions.

    Example:
        >>> x = tf.placeholder(tf.float32, [None, 3])
        >>> session.run(tf.shape(x), {x: np.zeros([5, 3])})
        array([5, 3], dtype=int32)
    """
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
            return constant(list(tensor.dims or ()), out_type, name=name)
        return shape_(tensor, out_type=out_type, name=name)


def shape_n(input: Any, out_type: DType = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors."""
    return shape_n_(input, out_type=out_type, name=name)


def size(input: Any, name: str | None = None, out_type: DType = dtypes.int32) -> Tensor:
    """The number of elements: a constant when it is statically known.

    Args:
        input: a tensor or SparseTensor.
        name: of the operation.
        out_type: `tf.int32` or `tf.int64`.

    Returns:
        A scalar.

    Example:
        >>> int(session.run(tf.size([[1, 2, 3], [4, 5, 6]])))
        6
    """
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
    """The number of dimensions: a constant when it is statically known.

    Args:
        input: a tensor or SparseTensor.
        name: of the operation.

    Returns:
        An int32 scalar.

    Example:
        >>> int(session.run(tf.rank([[1, 2], [3, 4]])))
        2
    """
    return rank_internal(input, name, optimize=True)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    with name_scope(name, "Rank", [input]) as name:
        if is_sparse(input):
            return size_(input.dense_shape, name=name)
        tensor = convert_to_tensor(input)
        if optimize and tensor.dims is not None:
            return constant(len(tensor.dims), dtypes.int32, name=name)
        return rank_(tensor, name=name)


def all_axes(x: Tensor) -> Tensor:
    """The axes of `x`, to reduce over."""
    if x.dims is not None:
        return constant(np.arange(len(x.dims)), dtypes.int32)
    return raw.Range(0, rank(x), 1)


# ---- one array, another shape ----------------------------------------------------------------


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
    traits=FREE | MOVES | KEEPS_PLACES,
)
def reshape_(xp: Any, tensor: Any, shape: Any) -> Any:
    return _reshape(xp, as_array(tensor), shape)


@reshape_.numpy
def _(xp: Any, tensor: Any, shape: Any) -> Any:
    tensor = as_array(tensor)
    if np.ndim(shape) == 1 and min(sizes := shape.tolist(), default=0) >= -1:
        try:
            return tensor.reshape(sizes)
        except ValueError:
            pass  # NumPy cannot infer a size next to a 0, and has other words for what is wrong
    return _reshape(xp, tensor, shape)


def _reshape(xp: Any, tensor: Any, shape: Any) -> Any:
    if np.ndim(shape) != 1:
        raise invalid(f"sizes input must be 1-D, not {s.show(np.shape(shape))}")
    check_rank(shape)
    sizes = shape.tolist()
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


@reshape_.prepared
def _(c: Any) -> Any:
    shape, kernel = c.value(1), reshape_.kernel
    assert kernel is not None
    sizes = tuple(shape.tolist()) if shape.ndim == 1 else (-1, -1)
    if min(sizes, default=0) < -1 or sizes.count(-1) > 1 or c.attr("T") is dtypes.string:
        return None

    def call(tensor: Any) -> Any:
        try:
            return tensor.reshape(sizes)
        except ValueError:
            return kernel(np, tensor, shape)

    return call


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
            raise ValueError(f"Can not squeeze dim[{i}], expected a dimension of 1, got {dims[i]}")
    return tuple(d for i, d in enumerate(dims) if (i not in gone if gone else d != 1))


@op(
    "Squeeze",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type, squeeze_dims: list(int) >= 0 = []",
    shape=_squeezed,
    traits=MOVES | KEEPS_PLACES,
)
def squeeze_(xp: Any, input: Any, *, squeeze_dims: list[int]) -> Any:
    return _squeeze(xp, as_array(input), squeeze_dims)


@squeeze_.numpy
def _(xp: Any, input: Any, *, squeeze_dims: list[int]) -> Any:
    input = as_array(input)
    try:
        return input.squeeze(tuple(squeeze_dims) or None)
    except ValueError:
        return _squeeze(xp, input, squeeze_dims)  # which says what does not fit


@squeeze_.prepared
def _(c: Any) -> Any:
    axes, kernel = c.attr("squeeze_dims"), squeeze_.kernel
    assert kernel is not None
    if c.attr("T") in _NOT_NUMBERS:
        return None
    gone, whole = tuple(axes) or None, form_for_numpy(kernel)

    def call(input: Any) -> Any:
        try:
            return input.squeeze(gone)
        except ValueError:
            return whole(np, input, squeeze_dims=axes)

    return call


def _squeeze(xp: Any, input: Any, squeeze_dims: list[int]) -> Any:
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
    traits=MOVES | KEEPS_PLACES,
)
def expand_dims_(xp: Any, input: Any, dim: Any) -> Any:
    input = as_array(input)
    if np.size(dim) != 1:
        raise invalid("'dim' must be a tensor with a single value")
    at = int(np.ravel(dim)[0])
    if not -input.ndim - 1 <= at <= input.ndim:
        raise invalid(f"Tried to expand dim index {at} for tensor with {input.ndim} dimensions.")
    return xp.expand_dims(input, at)


@expand_dims_.prepared
def _(c: Any) -> Any:
    dims, dim = c.dims(0), c.value(1)
    if dims is None or dim.size != 1 or c.attr("T") in _NOT_NUMBERS:
        return None
    at = int(dim.ravel()[0])
    if not -len(dims) - 1 <= at <= len(dims):
        return None
    at %= len(dims) + 1
    index = (slice(None),) * at + (None,)
    return lambda x: x[index]


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
    assert count is not None
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


@transpose_.prepared
def _(c: Any) -> Any:
    dims, perm = c.dims(0), c.value(1)
    axes = perm.tolist()
    if dims is None or perm.ndim != 1 or sorted(axes) != list(range(len(dims))):
        return None
    return None if c.attr("T") in _NOT_NUMBERS else lambda x: x.transpose(axes)


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
    traits=NO_GRADIENT,
)
def invert_permutation_(xp: Any, x: Any) -> Any:
    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    _check_permutation(xp, x)
    return xp.argsort(x).astype(x.dtype)


@by_library
def _check_permutation(xp: Any, x: Any) -> None:
    must_hold(xp.sort(x) == xp.arange(x.size, dtype=x.dtype))


@_check_permutation.numpy
def _(xp: Any, x: Any) -> None:
    for i, d in enumerate(x):
        if not 0 <= d < len(x):
            raise invalid(f"{d} is not between 0 and {len(x)}")
        if d in x[:i]:
            raise invalid(f"{d} is duplicated in the input.")


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """`tensor` with its elements, in order, in another shape; one size may be -1.

    Args:
        tensor: anything that converts to a tensor.
        shape: the new sizes; -1 stands for what is left over.
        name: of the operation.

    Returns:
        A tensor of the same type with the same number of elements.

    Raises:
        ValueError: the sizes are known and do not fit.
        tf.errors.InvalidArgumentError: they turn out not to fit when the step runs.

    Example:
        >>> session.run(tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]))
        array([[1, 2, 3],
               [4, 5, 6]], dtype=int32)
    """
    return reshape_(tensor, shape, name=name)


def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """`input` without its dimensions of size 1, or without those listed in `axis`.

    Args:
        input: a tensor.
        axis: a list of dimensions, each of size 1; None: all such dimensions.
        name: of the operation.
        squeeze_dims: an older name of `axis`.

    Returns:
        A tensor with the same elements and fewer dimensions.

    Raises:
        ValueError: a listed dimension is larger than 1, or both names are used.

    Example:
        >>> tf.squeeze(tf.zeros([1, 3, 1]), axis=[0]).shape
        TensorShape([Dimension(3), Dimension(1)])
    """
    axis = deprecated_alias("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        axis = []
    elif np.isscalar(axis):
        axis = [axis]
    return squeeze_(input, squeeze_dims=axis, name=name)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """`input` with a dimension of size 1 put in at `axis`.

    Args:
        input: a tensor.
        axis: the place of the new dimension in the result; negative ones count from its end.
        name: of the operation.
        dim: an older name of `axis`.

    Returns:
        A tensor with the same elements and one dimension more.

    Raises:
        ValueError: there is no such place, or both names are used.

    Example:
        >>> tf.expand_dims(tf.zeros([2, 3]), -1).shape
        TensorShape([Dimension(2), Dimension(3), Dimension(1)])
    """
    axis = deprecated_alias("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return expand_dims_(input, axis, name=name)


def transpose(
    a: Any, perm: Any = None, name: str | None = "transpose", conjugate: bool = False
) -> Tensor:
    """`a` with its dimensions permuted, reversed by default.

    Args:
        a: a tensor.
        perm: which dimension of `a` comes in each place; None: the last first.
        name: of the operation.
        conjugate: also conjugate complex numbers.

    Returns:
        A tensor of the same type.

    Raises:
        ValueError: `perm` is no permutation of the dimensions.

    Example:
        >>> session.run(tf.transpose([[1, 2, 3], [4, 5, 6]]))
        array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
    """
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
            perm = raw.ConcatV2(
                [raw.Range(0, count - 2, 1), [count - 1, count - 2]], 0, name="concat"
            )
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
