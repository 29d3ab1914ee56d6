"""Reductions along axes.

Axes are static: they are NumPy values in kernels. Half-precision values are added up in single.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors, machine
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, device, get_default_graph, name_scope
from weft.graph.op_def import OpDef, op, raw
from weft.graph.slices import SparseTensor
from weft.ops.array import array
from weft.ops.array.array import deprecated_alias, rank, shape, size
from weft.ops.kit.declare import cast_to, conj, is_integer, literal
from weft.ops.kit.describe import with_example
from weft.ops.kit.eager import EagerTensor
from weft.ops.kit.operands import operands
from weft.ops.kit.row_sums import sum_along
from weft.ops.kit.shared import invalid
from weft.ops.kit.target import target_platform
from weft.ops.math import sequence
from weft.ops.math.casts import cast

Array = Any
Gradient = Callable[..., Any]
_FEW_AXES = 1 << 10


def wide(x: Array) -> Array:
    """Half-precision floats in single precision, everything else as it is."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and not is_integer(x) else x


def widest(x: Array) -> Array:
    """Integers in 64 bits, where the sum of many small ones does not wrap around."""
    return x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)


def reduced_axes(rank: int, axes: np.ndarray) -> tuple[int, ...]:
    """Reduction indices as non-negative numbers; an axis may be named more than once."""
    found: dict[int, None] = {}
    for axis in _distinct(axes, rank):
        if not -rank <= axis < rank:
            raise invalid(f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)")
        found[axis % rank] = None
    return tuple(found)


def _distinct(axes: np.ndarray, rank: int) -> list[int]:
    """The numbers of a vector, however long: axes that there are not, or else all of them."""
    if axes.size <= _FEW_AXES:
        return list(axes.ravel().tolist())
    ends = [int(axes.min()), int(axes.max())]
    if ends[0] < -rank or ends[1] >= rank:
        return [end for end in ends if not -rank <= end < rank]
    return [axis for axis in range(-rank, rank) if (axes == axis).any()]


def _reduced_shape(c: s.ShapeContext) -> s.Dims:
    s.with_rank_at_most(c.dims(1), 1)
    return s.reduced(c)


def _reduction(name: str, kernel: Callable[..., Array], types: str = "numbertype") -> OpDef:
    """Declares a reduction; `kernel(xp, x, axis=, keepdims=)`."""
    declare = op(
        name,
        inputs=f"input: {'T' if types else 'bool'}, reduction_indices: Tidx",
        outputs=f"output: {'T' if types else 'bool'}",
        attrs="keep_dims: bool = false, "
        + (f"T: {types}, " if types else "")
        + "Tidx: {int32, int64} = int32",
        shape=_reduced_shape,
        static="reduction_indices",
    )

    def reduce(xp: Any, input: Array, reduction_indices: np.ndarray, *, keep_dims: bool) -> Array:
        axes = reduced_axes(input.ndim, reduction_indices)
        return kernel(xp, input, axis=axes, keepdims=keep_dims)

    def prepare(c: Any) -> Callable[[Array], Array] | None:
        dims, keep = c.dims(0), c.attr("keep_dims")
        if dims is None:
            return None
        try:
            axes = reduced_axes(len(dims), c.value(1))
        except errors.InvalidArgumentError:
            return None  # it is for the kernel to say so
        if kernel is _sum and c.attr("T").size > 2:
            add: Any = np.add.reduce
            return lambda x: add(x, axes, x.dtype, None, keep)
        return lambda x: kernel(np, x, axis=axes, keepdims=keep)

    definition = declare(reduce)
    definition.prepared(prepare)
    return definition


# ---- kernels ----------------------------------------------------------------------------------


@by_library
def _sum(xp: Any, x: Array, **along: Any) -> Array:
    return sum_along(xp, wide(x), **along).astype(x.dtype)


@_sum.numpy
def _(xp: Any, x: Array, **along: Any) -> Array:
    wider = wide(x)
    total = np.add.reduce(wider, **along, dtype=wider.dtype)
    return total if wider is x else total.astype(x.dtype)


def _product(xp: Any, x: Array, **along: Any) -> Array:
    return xp.prod(wide(x), **along, dtype=wide(x).dtype).astype(x.dtype)


def _mean(xp: Any, x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    count = int(np.prod([x.shape[i] for i in axis], dtype=np.int64))
    wider = widest(x) if is_integer(x) else wide(x)
    total = sum_along(xp, wider, axis=axis, keepdims=keepdims)
    if not is_integer(x):
        return (total / literal(total, count)).astype(x.dtype)
    # Rounds toward zero; the mean of nothing is 0.
    quotient = abs(total) // literal(total, max(count, 1))
    return (xp.sign(total) * quotient).astype(x.dtype)


def _largest(xp: Any, x: Array, **along: Any) -> Array:
    return _extreme(xp, x, "max", **along)


def _smallest(xp: Any, x: Array, **along: Any) -> Array:
    return _extreme(xp, x, "min", **along)


# Elements of an array, and of the extremes of it that a program for a CPU finds side by side: one
# after the other, each waits for the comparison before it.
_MANY, _LANES = 1 << 16, 16


@by_library
def _extreme(xp: Any, x: Array, name: str, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    if target_platform() == "cpu" and x.size:
        if not (machine.IS_ARM or is_integer(x)):
            return _extreme_or_nan(xp, x, name, axis, keepdims)
        if len(axis) == x.ndim and x.size >= _MANY and x.size % _LANES == 0:
            found = _apart(getattr(xp, name)(x.reshape(-1, _LANES), axis=0))
            x = found.reshape(*[1] * (x.ndim - 1), _LANES)
    edge = _edge(x.dtype, name == "max")
    return getattr(xp, name)(x, axis=axis, keepdims=keepdims, initial=edge)


@_extreme.numpy
def _(xp: Any, x: Array, name: str, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    edge = _edge(x.dtype, name == "max")
    return getattr(xp, name)(x, axis=axis, keepdims=keepdims, initial=edge)


def _extreme_or_nan(xp: Any, x: Array, name: str, axis: tuple[int, ...], keepdims: bool) -> Array:
    """NaN where there is one: the library that XLA leaves this to on x86 passes it over."""
    from jax import lax

    def of_two(a: Array, b: Array) -> Array:
        return lax.select(((a > b) if name == "max" else (a < b)) | (a != a), a, b)

    def reduced(x: Array, axes: tuple[int, ...]) -> Array:
        return lax.reduce(x, _edge(x.dtype, name == "max"), of_two, axes)

    kept = [1 if i in axis else n for i, n in enumerate(x.shape)]
    if len(axis) == x.ndim:
        x, axis = x.reshape(-1), (0,)
    if x.size >= _MANY and x.ndim - 1 in axis and x.shape[-1] % _LANES == 0:
        found = _apart(reduced(x.reshape(*x.shape[:-1], -1, _LANES), axis))
        found = reduced(found, (found.ndim - 1,))
    else:
        found = reduced(x, axis)
    return found.reshape(kept) if keepdims else found


def _apart(x: Array) -> Array:
    """Keeps XLA from making one reduction of two."""
    from jax import lax

    kept: Any = lax.optimization_barrier(x)  # type: ignore[no-untyped-call]
    return kept


def _edge(dtype: np.dtype, low: bool) -> Any:
    """The maximum (low) or minimum of no elements."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if low else limits.max
    return dtype.type(-np.inf if low else np.inf)


def _norm(xp: Any, x: Array, **along: Any) -> Array:
    precise = wide(x)
    squares = xp.sum(precise * xp.conj(precise), **along, dtype=precise.dtype)
    if is_integer(x):  # what wrapped around below zero has no root
        squares = xp.maximum(squares, literal(squares, 0)).astype(np.float64)
    return xp.sqrt(squares).astype(x.dtype)


# ---- gradients --------------------------------------------------------------------------------


def reduced_shape(input_shape: Tensor, axes: Tensor) -> Tensor:
    """`input_shape` with ones at `axes`, as nodes."""
    input_shape, axes = cast_to(input_shape, dtypes.int32), cast_to(axes, dtypes.int32)
    input_rank = size(input_shape)
    axes = (axes + input_rank) % input_rank
    count = shape(axes)
    numbers = raw.Range(0, input_rank, 1, name="range")
    return raw.DynamicStitch([numbers, axes], [input_shape, raw.Fill(count, 1)])


def _safe_shape_div(x: Any, y: Any) -> Tensor:
    """x // y where 0 // 0 is 0."""
    return x // raw.Maximum(y, 1)


def _spread_shapes(x: Tensor, axes: Tensor) -> tuple[Any, Any]:
    """The shape with reduced axes kept as ones, and how often to repeat it to get that of `x`."""
    where = constant_value(axes)
    if where is not None and s.known(x.dims):
        return _known_spread(x.dims, tuple(np.ravel(where).tolist()))
    input_shape = shape(x)
    with colocate_with(input_shape):
        kept_shape = reduced_shape(input_shape, axes)
        return kept_shape, _safe_shape_div(input_shape, kept_shape)


def _known_spread(dims: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """`_spread_shapes` of constants; like TensorFlow, a graph has nodes for each that it meets."""
    whole = np.array(dims, np.int32)
    ones = np.array(s.reduced_dims(dims, list(axes), keep_dims=True), np.int32)
    if get_default_graph().is_new(("reduced", dims, axes)):
        reduced_shape(cast(whole, dtypes.int32), cast(np.array(axes, np.int32), dtypes.int32))
        _safe_shape_div(whole, ones)
    return ones, whole // np.maximum(ones, 1)


def _sum_gradient(op: Any, grad: Any) -> Any:
    x, axes = op.inputs
    where = constant_value(axes)
    if x.dims is not None and np.array_equal(where, np.arange(len(x.dims))):
        grad = raw.Reshape(grad, np.ones(len(x.dims), np.int32))
        whole = constant(x.dims, dtype=dtypes.int32) if s.known(x.dims) else shape(x)
        return raw.Tile(grad, whole), None
    kept, repeats = _spread_shapes(x, axes)
    return raw.Tile(raw.Reshape(grad, kept), repeats), None


def _mean_gradient(op: Any, grad: Any) -> Any:
    sum_grad = _sum_gradient(op, grad)[0]
    x, y = op.inputs[0], op.outputs[0]
    whole, left = s.size(x.dims), s.size(y.dims)
    if whole is not None and left is not None:
        factor = constant(whole // max(left, 1), dtype=sum_grad.dtype)
    else:
        shapes = [shape(t) for t in (x, y)]
        factor = _safe_shape_div(*map(reduce_prod, shapes))
    return sum_grad / cast_to(factor, sum_grad.dtype), None


def _extreme_gradient(op: Any, grad: Any) -> Any:
    """Shared evenly by all elements that attain the extreme."""
    x, axes = op.inputs
    kept = reduced_shape(shape(x), axes)
    y, grad = raw.Reshape(op.outputs[0], kept), raw.Reshape(grad, kept)
    indicators = cast_to(raw.Equal(y, x), grad.dtype.base_dtype)
    num_selected = raw.Reshape(raw.Sum(indicators, axes), kept)
    return indicators / num_selected * grad, None


def _product_gradient(op: Any, grad: Any) -> Any:
    """Dividing by the elements would fail at zeros; products from both ends do not."""
    x, axes = op.inputs
    input_shape, flat = shape(x), cast_to(raw.Reshape(axes, [-1]), dtypes.int32)
    kept = reduced_shape(input_shape, axes)
    repeats = _safe_shape_div(input_shape, kept)
    grad = raw.Tile(raw.Reshape(grad, kept), repeats)
    perm, sizes = _axes_first(x, input_shape, flat)
    permuted = raw.Transpose(x, perm, name="transpose")
    permuted_shape = shape(permuted)
    packed = raw.Reshape(permuted, sizes)
    left = raw.Cumprod(packed, 0, exclusive=True)
    right = raw.Cumprod(packed, 0, exclusive=True, reverse=True)
    y = raw.Reshape(conj(left) * conj(right), permuted_shape)
    out = grad * raw.Transpose(y, raw.InvertPermutation(perm), name="transpose")
    return raw.Reshape(out, input_shape), None


def _axes_first(x: Tensor, input_shape: Tensor, axes: Tensor) -> tuple[Tensor, list[Tensor]]:
    """A permutation that brings `axes` to the front, and the sizes of both parts of the shape."""
    with device("/cpu:0"):
        count = rank(x)
        reduced = cast_to((axes + count) % count, dtypes.int32)
        other, _ = raw.ListDiff(raw.Range(0, count, 1, name="range"), reduced)
        perm = raw.ConcatV2([reduced, other], 0, name="concat")
        return perm, [reduce_prod(raw.GatherV2(input_shape, p, 0)) for p in (reduced, other)]


def _norm_gradient(op: Any, grad: Any) -> Any:
    x, axes = op.inputs
    y = op.outputs[0]
    if not op.get_attr("keep_dims"):
        kept = reduced_shape(shape(x), axes)
        y, grad = raw.Reshape(y, kept), raw.Reshape(grad, kept)
    return x / (y / grad), None


# ---- the reductions ---------------------------------------------------------------------------

_reduction("Sum", _sum).gradient(_sum_gradient)
_reduction("Mean", _mean).gradient(_mean_gradient)
_reduction("Prod", _product).gradient(_product_gradient)
_reduction("Max", _largest).gradient(_extreme_gradient)
_reduction("Min", _smallest).gradient(_extreme_gradient)
_reduction("EuclideanNorm", _norm).gradient(_norm_gradient)
_reduction("All", lambda xp, x, **along: xp.all(x, **along), types="")
_reduction("Any", lambda xp, x, **along: xp.any(x, **along), types="")


# ---- public functions -------------------------------------------------------------------------


def reduction_axes_of(x: Any, axis: Any) -> Any:
    """`axis`, or all axes of `x` if it is None."""
    if axis is not None:
        return axis
    if type(x) is EagerTensor:
        return tuple(range(x.ndim))
    if isinstance(x, SparseTensor):
        dims = x.dense_shape.dims
        count = None if dims is None else dims[0]
    else:
        count = len(x.dims) if isinstance(x, Tensor) and x.dims is not None else None
    if count is not None:
        return constant(np.arange(count), dtype=dtypes.int32)
    return sequence.range(0, array.rank(x))


def _reduce(op_name: str, x: Any, axis: Any, keepdims: Any, name: str | None) -> Tensor:
    keepdims = False if keepdims is None else bool(keepdims)
    result = getattr(raw, op_name)(x, reduction_axes_of(x, axis), keep_dims=keepdims, name=name)
    return _scalar_if_whole(result, axis, keepdims)


def _scalar_if_whole(result: Tensor, axis: Any, keepdims: bool) -> Tensor:
    if axis is None and not keepdims and not s.known(result.dims):
        result.set_shape(())
    return result


_REDUCTION = """\
{what} along `axis`, all axes by default; `keepdims` keeps them as ones.

Args:
    input_tensor: a tensor.
    axis: one dimension or a list of them; None: all.
    keepdims: whether reduced dimensions stay, with size 1.
    name: of the operation.
    reduction_indices, keep_dims: older names of `axis` and `keepdims`.

Returns:
    A tensor of the same type.

Raises:
    ValueError: there is no such dimension, or an argument goes by both its names."""


def _public_reduction(name: str, op_name: str, doc: str) -> Callable[..., Tensor]:
    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = deprecated_alias("axis", axis, "reduction_indices", reduction_indices)
        keepdims = deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims)
        return _reduce(op_name, input_tensor, axis, keepdims, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_example(_REDUCTION.format(what=doc), name)
    return function


reduce_sum = _public_reduction("reduce_sum", "Sum", "The sum")
reduce_mean = _public_reduction("reduce_mean", "Mean", "The mean")
reduce_prod = _public_reduction("reduce_prod", "Prod", "The product")
reduce_max = _public_reduction("reduce_max", "Max", "The maximum")
reduce_min = _public_reduction("reduce_min", "Min", "The minimum")
reduce_all = _public_reduction("reduce_all", "All", "Whether all elements hold")
reduce_any = _public_reduction("reduce_any", "Any", "Whether any element holds")


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the sum of squares along `axis`."""
    return _reduce("EuclideanNorm", input_tensor, axis, keepdims, name)


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """log(sum(exp(x))) along `axis`, without overflow.

    Args:
        input_tensor: a tensor of floating-point numbers.
        axis: one dimension or a list of them; None: all.
        keepdims: whether reduced dimensions stay, with size 1.
        name: of the operation.
        reduction_indices, keep_dims: older names of `axis` and `keepdims`.

    Returns:
        A tensor of the same type.

    Raises:
        ValueError: an argument goes by both its names.

    Example:
        >>> session.run(tf.reduce_logsumexp([1000.0, 1000.0]))
        np.float32(1000.6932)
    """
    axis = deprecated_alias("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims))
    x = convert_to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [x]) as name:
        raw_max = reduce_max(x, axis=axis, keepdims=True)
        finite = raw.Select(raw.IsFinite(raw_max), raw_max, array.zeros_like(raw_max))
        shift = array.stop_gradient(finite)
        result = raw.Log(reduce_sum(raw.Exp(raw.Sub(x, shift)), axis, keepdims=keepdims))
        if not keepdims:
            shift = array.reshape(shift, array.shape(result))
        return _scalar_if_whole(raw.Add(result, shift), axis, keepdims)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean squared deviation from the mean along `axis`."""
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        apart = raw.Square(input_tensor - means)
        return reduce_mean(apart, axis=axis, keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation along `axis`."""
    with name_scope(name or "reduce_std"):
        return raw.Sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Tensor:
    """How many elements differ from zero (from the empty string) along `axis`."""
    keepdims = deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = deprecated_alias("input", input, "input_tensor", input_tensor)
    axis = deprecated_alias("axis", axis, "reduction_indices", reduction_indices)
    with operands(name, "count_nonzero", input=input_tensor) as (_, x):
        differs = raw.NotEqual(x, array.zeros([], x.dtype.base_dtype))
        return cast(reduce_sum(cast(differs, dtypes.int64), axis, keepdims), dtype)


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the diagonal of the innermost matrices."""
    with operands(name, "Trace", x=x) as (scope, x):
        return reduce_sum(raw.MatrixDiagPart(x, name="diag_part"), [-1], name=scope)
