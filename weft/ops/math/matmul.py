"""Products of matrices, of batches of them, of vectors, and over any axes; `einsum.py` goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors, machine
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import OpDef, op, raw
from weft.graph.traits import costs
from weft.ops.array.array import expand_dims, rank, reshape, shape, squeeze, transpose
from weft.ops.kit import native
from weft.ops.kit.declare import cast_to, conj, public
from weft.ops.kit.operands import operands
from weft.ops.kit.shared import invalid
from weft.ops.kit.target import target_platform
from weft.ops.math.reduce import reduce_prod, wide

Array = Any
FACTORS = "{bfloat16, half, float, double, int32, int64, complex64, complex128}"


# Tensor cores take rows of so many half-precision numbers; below that size it does not matter.
_ALIGNED, _LARGE = 8, 1024


def _unaligned(*sizes: int) -> bool:
    return min(sizes) >= 256 and any(n % _ALIGNED and n >= _LARGE for n in sizes)


def _padded(xp: Any, x: Array) -> Array:
    """A matrix with zeros up to sizes that tensor cores take."""
    return xp.pad(x, [(0, -n % 64 if n % _ALIGNED and n >= _LARGE else 0) for n in x.shape])


@by_library
def _product(xp: Any, a: Array, b: Array) -> Array:
    half = a.ndim == b.ndim == 2 and a.dtype.itemsize == 2
    if half and _unaligned(*a.shape, b.shape[1]) and target_platform() != "cpu":
        # A vocabulary of 50257 words, say: XLA has no fast kernel for its odd rows.
        wide = xp.matmul(_padded(xp, a), _padded(xp, b))
        return wide[: a.shape[0], : b.shape[1]]
    return xp.matmul(a, b)


@_product.numpy
def _(xp: Any, a: Array, b: Array) -> Array:
    if a.dtype.itemsize == 2:
        return np.matmul(wide(a), wide(b)).astype(a.dtype)
    return np.matmul(a, b)


# Products that our own kernel computes in less time than XLA: of some rows and a matrix that is not
# large beside them (runtime/xla/few_rows.py has the others), on x86 of more rows that lie in memory
# one after the other, and of many matrices of these sizes.
_SOME_ROWS, _SMALLEST, _EACH = range(8, 65), 32, 2**16
_SMALLEST_OF_MORE = 64
_MANY = range(64, 257)


def _native(a: Array, b: Array, turned_a: bool, turned_b: bool) -> Array | None:
    """The product of two matrices, or of two batches of them, by our own kernel if it is faster."""
    if not native.offers("multiply", a, b):
        return None
    batch = a.shape[:-2]
    rows, sums = a.shape[:-3:-1] if turned_a else a.shape[-2:]
    columns = b.shape[-2 if turned_b else -1]
    if batch:
        suits = batch == b.shape[:-2] and all(n in _MANY for n in (rows, sums, columns))
    else:
        suits = b.ndim == 2 and (
            _suits_some(rows, sums, columns)
            or (not turned_a and not machine.IS_ARM and _suits_more(rows, sums, columns))
        )
    if not suits or math.prod(batch) == 0:
        return None
    sizes = (math.prod(batch), rows, sums, columns, turned_a, turned_b)
    return native.call("multiply", (*batch, rows, columns), a, b, sizes=sizes)


def _suits_some(rows: int, sums: int, columns: int) -> bool:
    is_small = min(sums, columns) >= _SMALLEST and sums * columns < rows * _EACH
    return rows in _SOME_ROWS and is_small


def _suits_more(rows: int, sums: int, columns: int) -> bool:
    return rows >= _SOME_ROWS.stop and min(sums, columns) >= _SMALLEST_OF_MORE


# ---- two matrices -----------------------------------------------------------------------------


def _matmul_shape(c: s.ShapeContext) -> s.Dims:
    a, b = s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 2)
    rows, inner = reversed(a) if c.attr("transpose_a") else a
    depth, columns = reversed(b) if c.attr("transpose_b") else b
    s.merge_dim(inner, depth)
    return rows, columns


def _matmul_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    a, b = dims[0], dims[1]
    columns = b[0] if attrs["transpose_b"] else b[1]
    return 2.0 * a[0] * a[1] * columns


def _oriented(xp: Any, a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> list[Array]:
    """Both matrices as they enter the product."""
    for i, x in enumerate((a, b)):
        if x.ndim != 2:
            raise invalid(f"In[{i}] is not a matrix. Instead it has shape {s.show(x.shape)}")
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    if left.shape[1] != right.shape[0]:
        shapes = f"In[0]: {s.show(a.shape)}, In[1]: {s.show(b.shape)}"
        raise invalid(f"Matrix size-incompatible: {shapes}")
    return [left, right]


@op(
    "MatMul",
    inputs="a: T, b: T",
    outputs="product: T",
    attrs=f"transpose_a: bool = false, transpose_b: bool = false, T: {FACTORS}",
    shape=_matmul_shape,
    traits=costs(_matmul_flops),
)
def mat_mul(xp: Any, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    left, right = _oriented(xp, a, b, transpose_a, transpose_b)
    found = _native(a, b, transpose_a, transpose_b)
    return _product(xp, left, right) if found is None else found


@mat_mul.numpy
def _(xp: Any, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    if a.ndim == b.ndim == 2 and a.dtype.itemsize > 2:
        left, right = a.T if transpose_a else a, b.T if transpose_b else b
        if left.shape[1] == right.shape[0]:
            return np.matmul(left, right)
    return _product(xp, *_oriented(xp, a, b, transpose_a, transpose_b))


@mat_mul.gradient
def _(op: Any, grad: Any) -> Any:
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    match op.get_attr("transpose_a"), op.get_attr("transpose_b"):
        case False, False:
            return raw.MatMul(grad, b, transpose_b=True), raw.MatMul(a, grad, transpose_a=True)
        case False, True:
            return raw.MatMul(grad, b), raw.MatMul(grad, a, transpose_a=True)
        case True, False:
            return raw.MatMul(b, grad, transpose_b=True), raw.MatMul(a, grad)
    both = {"transpose_a": True, "transpose_b": True}
    return raw.MatMul(b, grad, **both), raw.MatMul(grad, a, **both)


@op(
    "SparseMatMul",
    inputs="a: Ta, b: Tb",
    outputs="product: float",
    attrs="transpose_a: bool = false, transpose_b: bool = false, a_is_sparse: bool = false,"
    " b_is_sparse: bool = false, Ta: {float, bfloat16} = float, Tb: {float, bfloat16} = float",
    shape=_matmul_shape,
    traits=costs(_matmul_flops),
)
def sparse_mat_mul(xp: Any, a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    for name, x in (("a", a), ("b", b)):
        if x.ndim != 2:
            raise invalid(f"{name} is not a matrix")
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    if left.shape[1] != right.shape[0]:
        raise invalid(f"Matrix size incompatible: a: {s.show(a.shape)}, b: {s.show(b.shape)}")
    return xp.matmul(left.astype(np.float32), right.astype(np.float32))


@sparse_mat_mul.gradient
def _(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    sparse = {a: op.get_attr("a_is_sparse"), b: op.get_attr("b_is_sparse")}
    sparse[grad] = grad.op.type == "ReluGrad"

    def product(x: Tensor, y: Tensor, like: Tensor, *, x_first: bool, y_second: bool) -> Tensor:
        """x @ y with x or y transposed, in the dtype of `like`."""
        flags = {"a_is_sparse": sparse[x], "b_is_sparse": sparse[y]}
        right = transpose(y) if y_second else y
        return cast_to(matmul(x, right, transpose_a=x_first, **flags), like.dtype.base_dtype)

    t_a, t_b = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    if t_a:
        grad_a = product(b, grad, a, x_first=t_b, y_second=True)
    else:
        grad_a = product(grad, b, a, x_first=False, y_second=not t_b)
    if t_b:
        return grad_a, product(grad, a, b, x_first=True, y_second=t_a)
    return grad_a, product(a, grad, b, x_first=not t_a, y_second=False)


# ---- batches of matrices ----------------------------------------------------------------------


def _batch_shape(combine: Callable[[s.Dims, s.Dims], s.Dims]) -> s.Rule:
    """`combine` says what becomes of the batch dimensions."""

    def rule(c: s.ShapeContext) -> s.Dims:
        x, y = s.with_rank_at_least(c.dims(0), 2), s.with_rank_at_least(c.dims(1), 2)
        left = (None, None) if x is None else x[-2:]
        right = (None, None) if y is None else y[-2:]
        rows, inner = reversed(left) if c.attr("adj_x") else left
        depth, columns = reversed(right) if c.attr("adj_y") else right
        s.merge_dim(inner, depth)
        batch = combine(None if x is None else x[:-2], None if y is None else y[:-2])
        return s.concat(batch, (rows, columns))

    return rule


def _batch_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    x, y = dims[0], dims[1]
    batch = np.broadcast_shapes(x[:-2], y[:-2])
    columns = y[-2] if attrs["adj_y"] else y[-1]
    return 2.0 * float(np.prod(batch)) * x[-2] * x[-1] * columns


def _adjoint(xp: Any, x: Array) -> Array:
    return xp.conj(xp.swapaxes(x, -1, -2))


def _batch_matmul(name: str, combine: Callable[[s.Dims, s.Dims], s.Dims]) -> OpDef:
    @op(
        name,
        inputs="x: T, y: T",
        outputs="output: T",
        attrs=f"T: {FACTORS}, adj_x: bool = false, adj_y: bool = false",
        shape=_batch_shape(combine),
        traits=costs(_batch_flops),
    )
    def product(xp: Any, x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Array:
        for i, value in enumerate((x, y)):
            if value.ndim < 2:
                raise invalid(f"In[{i}] ndims must be >= 2: {value.ndim}")
        left, right = _adjoint(xp, x) if adj_x else x, _adjoint(xp, y) if adj_y else y
        shapes = f"{s.show(x.shape)} {s.show(y.shape)}"
        if left.shape[-1] != right.shape[-2]:
            sizes = f"{left.shape[-1]} vs. {right.shape[-2]}"
            transposed = f"{int(adj_x)} {int(adj_y)}"
            raise invalid(f"In[0] mismatch In[1] shape: {sizes}: {shapes} {transposed}")
        try:
            combine(x.shape[:-2], y.shape[:-2])
        except ValueError:
            raise invalid(
                f"In[0] and In[1] must have compatible batch dimensions: {shapes}"
            ) from None
        found = None if xp is np else _native(x, y, adj_x, adj_y)
        return _product(xp, left, right) if found is None else found

    return product


def _batch_gradient(op: Any, grad: Any) -> tuple[Tensor, Tensor]:
    x, y = op.inputs
    match op.get_attr("adj_x"), op.get_attr("adj_y"):
        case False, False:
            return matmul(grad, y, adjoint_b=True), matmul(x, grad, adjoint_a=True)
        case False, True:
            return matmul(grad, y), matmul(grad, x, adjoint_a=True)
        case True, False:
            return matmul(y, grad, adjoint_b=True), matmul(x, grad)
    both: dict[str, Any] = {"adjoint_a": True, "adjoint_b": True}
    return matmul(y, grad, **both), matmul(grad, x, **both)


_batch_matmul("BatchMatMul", s.merge).gradient(_batch_gradient)
batch_mat_mul_v2 = _batch_matmul("BatchMatMulV2", s.broadcast_dims)


@batch_mat_mul_v2.gradient
def _broadcast_gradient(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    grad_x, grad_y = _batch_gradient(op, grad)
    if s.known(x.dims) and x.dims == y.dims:
        return grad_x, grad_y
    sx, sy = shape(x), shape(y)
    rx, ry = raw.BroadcastGradientArgs(sx[:-2], sy[:-2])
    return raw.Reshape(raw.Sum(grad_x, rx), sx), raw.Reshape(raw.Sum(grad_y, ry), sy)


@op(
    "BatchMatMulV3",
    inputs="x: Ta, y: Tb",
    outputs="output: Tout",
    attrs="Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64,"
    " complex128}, Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64,"
    " complex128}, Tout: {bfloat16, half, float, double, int16, int32, int64, complex64,"
    " complex128}, adj_x: bool = false, adj_y: bool = false, grad_x: bool = false,"
    " grad_y: bool = false",
    shape=_batch_shape(s.broadcast_dims),
    traits=costs(_batch_flops),
)
def batch_mat_mul_v3(
    xp: Any, x: Array, y: Array, *, Tout: DType, adj_x: bool, adj_y: bool
) -> Array:
    """A product in another type than its factors have; for graphs of newer clients."""
    kind = Tout.as_numpy_dtype
    product: Any = batch_mat_mul_v2.kernel
    return product(xp, x.astype(kind), y.astype(kind), adj_x=adj_x, adj_y=adj_y)


@batch_mat_mul_v3.gradient
def _(op: Any, grad: Any) -> Any:
    gradients = _broadcast_gradient(op, grad)
    return [raw.Cast(g, x.dtype) for g, x in zip(gradients, op.inputs, strict=True)]


# ---- vectors ----------------------------------------------------------------------------------


def _cross_shape(c: s.ShapeContext) -> s.Dims:
    dims = s.merge(s.with_rank_at_least(c.dims(0), 1), s.with_rank_at_least(c.dims(1), 1))
    if dims is not None:
        if dims[-1] not in (None, 3):
            raise ValueError(f"Dimension must be 3 but is {dims[-1]}")
    return dims


@op(
    "Cross",
    inputs="a: T, b: T",
    outputs="product: T",
    attrs="T: realnumbertype",
    shape=_cross_shape,
)
def cross_op(xp: Any, a: Array, b: Array) -> Array:
    if a.shape != b.shape:
        message = f"Both inputs must be of same shape: {s.show(a.shape)} vs. {s.show(b.shape)}"
        raise invalid(message)
    if not a.ndim or a.shape[-1] != 3:
        message = "Cross-products are only defined for 3-element vectors."
        raise errors.FailedPreconditionError(None, None, message)
    return xp.cross(a, b)


@cross_op.gradient
def _(op: Any, grad: Any) -> Any:
    u, v = op.inputs
    return raw.Cross(v, grad), raw.Cross(grad, u)


cross = public("cross", "Cross", "The cross product of vectors of length 3.", "a, b")


# ---- public products --------------------------------------------------------------------------


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of `a` and `b`; leading dimensions are batches and broadcast.

    Args:
        a, b: tensors of one type, of two or more dimensions.
        transpose_a, transpose_b: swap the last two dimensions of that factor first.
        adjoint_a, adjoint_b: swap them and conjugate.
        a_is_sparse, b_is_sparse: hints that a matrix holds many zeros.
        name: of the operation.

    Returns:
        A tensor [..., rows of a, columns of b].

    Raises:
        ValueError: a factor is both transposed and adjoint, or the inner sizes differ.

    Example:
        >>> session.run(tf.matmul([[1, 2], [3, 4]], [[10], [1]]))
        array([[12],
               [34]], dtype=int32)
    """
    if _are_matrices(a, b) and not (adjoint_a or adjoint_b or a_is_sparse or b_is_sparse):
        return raw.MatMul(a, b, transpose_a, transpose_b, name=name)
    with name_scope(name, "MatMul", [a, b]) as name:
        for which, both in (("a", transpose_a and adjoint_a), ("b", transpose_b and adjoint_b)):
            if both:
                text = f"Only one of transpose_{which} and adjoint_{which} can be True."
                raise ValueError(text)
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        may_be_batch = any(x.dims is None or len(x.dims) > 2 for x in (a, b))
        if may_be_batch and not a_is_sparse and not b_is_sparse:
            # The batch ops know only adjoints; a transpose is the adjoint of the conjugate.
            a, b = conj(a) if transpose_a else a, conj(b) if transpose_b else b
            adjoint_a, adjoint_b = adjoint_a or transpose_a, adjoint_b or transpose_b
            return raw.BatchMatMulV2(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=name)
        a, b = conj(a) if adjoint_a else a, conj(b) if adjoint_b else b
        transposed = {
            "transpose_a": transpose_a or adjoint_a,
            "transpose_b": transpose_b or adjoint_b,
        }
        kinds = {a.dtype.base_dtype, b.dtype.base_dtype}
        mixed = len(kinds) == 2 and dtypes.bfloat16 in kinds
        if mixed or ((a_is_sparse or b_is_sparse) and kinds <= {dtypes.bfloat16, dtypes.float32}):
            sparse = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
            product = raw.SparseMatMul(a, b, **transposed, **sparse, name=name)
            return cast_to(product, dtypes.bfloat16) if kinds == {dtypes.bfloat16} else product
        return raw.MatMul(a, b, **transposed, name=name)


def _are_matrices(a: Any, b: Any) -> bool:
    """Whether there are no batches, and nothing to convert."""
    return (
        isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is b.dtype
        and not a.dtype._is_ref_dtype
        and a.dims is not None and b.dims is not None and len(a.dims) == len(b.dims) == 2
    )  # fmt: skip


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of the matrix `a` and the vector `b`, or of batches of them."""
    with name_scope(name, "MatVec", [a, b]):
        column = expand_dims(b, -1)
        sparse = a_is_sparse, b_is_sparse
        return squeeze(matmul(a, column, transpose_a, False, adjoint_a, False, *sparse), -1)


def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two float32 or bfloat16 matrices, in float32."""
    return sparse_mat_mul(a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, name=name)


# ---- tensordot --------------------------------------------------------------------------------


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sums products of `a` and `b` over `axes`: a number of axes, or a pair of lists of them."""
    with operands(name, "Tensordot", a=a, b=b) as (scope, a, b):
        sides = zip((a, b), _contracted_axes(a, axes), (False, True), strict=True)
        matrices, free, static = zip(*(_as_matrix(*side) for side in sides), strict=True)
        product = matmul(*matrices)
        if all(isinstance(dims, list) for dims in free):
            return reshape(product, np.array([*free[0], *free[1]], np.int32), name=scope)
        dims = raw.ConcatV2([convert_to_tensor(x, dtypes.int32) for x in free], 0, name="concat")
        result = reshape(product, dims, name=scope)
        if None not in static:
            result.set_shape([*static[0], *static[1]])
        return result


def _contracted_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of the first and of the second operand that are summed."""
    if isinstance(axes, int | np.integer):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if a.dims is None:
            count = rank(a)
            return raw.Range(count - axes, count, 1), raw.Range(0, axes, 1)
        if axes > len(a.dims):
            raise ValueError(
                f"'axes' must not be larger than the number of dimensions of tensor {a}."
            )
        return list(range(len(a.dims) - axes, len(a.dims))), list(range(axes))
    if isinstance(axes, list | tuple):
        if len(axes) != 2:
            raise ValueError("'axes' must be an integer or have length 2.")
        first, second = ([x] if isinstance(x, int | np.integer) else x for x in axes)
        if not isinstance(first, Tensor) and len(first) != len(second):
            raise ValueError(
                f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}."
            )
        return first, second
    axes = convert_to_tensor(axes, dtypes.int32, name="axes")
    return axes[0], axes[1]


def _as_matrix(x: Tensor, axes: Any, summed_first: bool) -> tuple[Tensor, Any, list[Any] | None]:
    """`x` with all summed axes in one dimension and all others in the other; the others' sizes,
    as numbers or as a tensor; and what is known of them statically."""
    if not isinstance(axes, list | tuple):
        known = constant_value(axes)
        axes = axes if known is None else known.tolist()
    if isinstance(axes, list | tuple) and x.dims is not None:
        known_dims = list(x.dims)
        summed = [i + len(known_dims) if i < 0 else i for i in axes]
        free = [i for i in range(len(known_dims)) if i not in summed]
        summed_static, static = ([known_dims[i] for i in part] for part in (summed, free))
        if s.known(x.dims):
            sizes = [s.size(tuple(part)) for part in (static, summed_static)]
            order = summed + free if summed_first else free + summed
            matrix = reshape(transpose(x, order), sizes[::-1] if summed_first else sizes)
            return matrix, static, static
        summed_nodes = convert_to_tensor(summed, dtypes.int32, name="axes")
        free_nodes = convert_to_tensor(np.array(free, np.int32), name="free")
        dims = shape(x)
    else:
        static, dims, count_node = None, shape(x), rank(x)
        summed_nodes = convert_to_tensor(axes, dtypes.int32, name="axes")
        counted = summed_nodes >= 0
        summed_nodes = raw.Select(counted, summed_nodes, summed_nodes + count_node)
        free_nodes, _ = raw.ListDiff(raw.Range(0, count_node, 1, name="range"), summed_nodes)
    free_dims, summed_dims = (raw.GatherV2(dims, part, 0) for part in (free_nodes, summed_nodes))
    sizes_nodes = [reduce_prod(part) for part in (free_dims, summed_dims)]
    order_nodes = [free_nodes, summed_nodes]
    if summed_first:
        sizes_nodes, order_nodes = sizes_nodes[::-1], order_nodes[::-1]
    order = raw.ConcatV2(order_nodes, 0, name="concat")
    sizes = raw.Pack(sizes_nodes, name="stack")
    return reshape(transpose(x, order), sizes), free_dims, static
