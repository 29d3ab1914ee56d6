"""TensorFlow's mathematical functions under their public names, and Tensor's operators.

What is one op, or a form of it, is defined beside the op and only listed here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import (
    IndexedSlices,
    SparseTensor,
    convert_to_tensor_or_indexed_slices,
)
from weft.ops.array import array
from weft.ops.kit.eager import known_number
from weft.ops.kit.operands import as_type_of, operands, tensors, values_of, with_values
from weft.ops.math import where_clip as choose  # noqa: F401  (choose registers its ops)
from weft.ops.math.arg_extremes import arg_max, arg_min, argmax, argmin  # noqa: F401
from weft.ops.math.casts import (  # noqa: F401
    angle,
    bitcast,
    cast,
    complex,
    conj,
    imag,
    real,
    saturate_cast,
    to_bfloat16,
    to_complex64,
    to_complex128,
    to_double,
    to_float,
    to_int32,
    to_int64,
)
from weft.ops.math.cumulative import cumprod, cumsum, cumulative_logsumexp  # noqa: F401
from weft.ops.math.einsum import einsum  # noqa: F401
from weft.ops.math.elementwise import (  # noqa: F401
    add,
    add_v2,
    atan2,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    equal,
    floor_div,
    floormod,
    greater,
    greater_equal,
    left_shift,
    less,
    less_equal,
    logical_and,
    logical_or,
    maximum,
    minimum,
    mod,
    multiply,
    nextafter,
    not_equal,
    realdiv,
    right_shift,
    squared_difference,
    subtract,
    truncatediv,
    truncatemod,
    xdivy,
    xlogy,
)
from weft.ops.math.histogram import (  # noqa: F401
    bincount,
    bucketize,
    histogram_fixed_width,
    histogram_fixed_width_bins,
)
from weft.ops.math.matmul import cross, matmul, matvec, sparse_matmul, tensordot  # noqa: F401
from weft.ops.math.reduce import (  # noqa: F401
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
    trace,
)
from weft.ops.math.segment import (  # noqa: F401
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from weft.ops.math.segment_sparse import (  # noqa: F401
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from weft.ops.math.sequence import lin_space, linspace, range  # noqa: F401
from weft.ops.math.special import (  # noqa: F401
    bessel_i0e,
    bessel_i1e,
    betainc,
    digamma,
    erf,
    erfc,
    igamma,
    igammac,
    lgamma,
    polygamma,
    zeta,
)
from weft.ops.math.unary import (  # noqa: F401
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    cos,
    cosh,
    exp,
    expm1,
    floor,
    invert,
    is_finite,
    is_inf,
    is_nan,
    log,
    log1p,
    logical_not,
    negative,
    population_count,
    reciprocal,
    rint,
    rsqrt,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)

# ---- arithmetic -------------------------------------------------------------------------------


def abs(x: Any, name: str | None = None) -> Any:
    """|x|; the modulus of complex numbers.

    Args:
        x: a tensor or SparseTensor of numbers.
        name: of the operation.

    Returns:
        The same kind of object, of the real type that belongs to that of `x`.

    Raises:
        TypeError: `x` does not hold numbers.

    Example:
        >>> session.run(tf.abs([-2, 3]))
        array([2, 3], dtype=int32)
    """
    if isinstance(x, SparseTensor):
        return with_values(x, abs(x.values, name))
    with operands(name, "Abs", x=x) as (scope, x):
        if x.dtype.is_complex:
            return raw.ComplexAbs(x, Tout=x.dtype.real_dtype, name=scope)
        return raw.Abs(x, name=scope)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest integer, the even one of two; integers as they are.

    Args:
        x: a tensor of numbers.
        name: of the operation.

    Returns:
        A tensor of the same type and shape.

    Raises:
        TypeError: `x` does not hold numbers.

    Example:
        >>> session.run(tf.round([0.5, 1.5, -2.7]))
        array([ 0.,  2., -3.], dtype=float32)
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else raw.Round(x, name=name)


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x` to the power of `y`, element by element.

    Args:
        x, y: tensors of one numeric type; their shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the same type.

    Raises:
        tf.errors.InvalidArgumentError: from the step: integers have no negative powers.

    Example:
        >>> session.run(tf.pow([2, 3], [3, 2]))
        array([8, 9], dtype=int32)
    """
    with name_scope(name, "Pow", [x]) as name:
        return raw.Pow(x, y, name=name)


_TRUE_QUOTIENT: dict[DType, DType | None] = {
    dtypes.as_dtype(operand): quotient
    for quotient, names in {
        dtypes.float32: "uint8 int8 uint16 int16",
        dtypes.float64: "int32 int64",
        None: "bfloat16 float16 float32 float64 complex64 complex128",
    }.items()
    for operand in names.split()
}


def _check_same_dtype(x: Any, y: Any) -> DType:
    kind, other = x.dtype.base_dtype, y.dtype.base_dtype
    if kind != other:
        raise TypeError(f"x and y must have the same dtype, got {kind!r} != {other!r}")
    return kind


def quotient_dtype(x: Any, y: Any) -> DType | None:
    """The type that both operands of a true division are cast to; None if they stay as is."""
    kind = _check_same_dtype(x, y)
    if kind not in _TRUE_QUOTIENT:
        raise TypeError(f"Invalid dtype {kind!r} in __truediv__")
    return _TRUE_QUOTIENT[kind]


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y; integers are divided as floating-point numbers.

    Args:
        x, y: tensors of one numeric type; their shapes broadcast.
        name: of the operation.

    Returns:
        A floating-point or complex tensor.

    Raises:
        TypeError: the types differ.

    Example:
        >>> session.run(tf.truediv([1, 3], 2))
        array([0.5, 1.5])
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and quotient_dtype(x, y) is None:
        return raw.RealDiv(x, y, name="truediv" if name is None else name)
    with name_scope(name, "truediv", [x, y]) as name:
        x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
        dtype = quotient_dtype(x, y)
        if dtype is not None:
            x, y = cast(x, dtype), cast(y, dtype)
        return raw.RealDiv(x, y, name=name)


def _same_operands(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x, name="x")
    return x, as_type_of(x, "y", y)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Python 2's division: x / y, rounded down for integers.

    Args:
        x, y: tensors of one numeric type; their shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the same type.

    Raises:
        TypeError: the types differ.
        tf.errors.InvalidArgumentError: from the step: an integer is divided by zero.

    Example:
        >>> session.run(tf.div([7, -7], 2)), float(session.run(tf.div(7.0, 2.0)))
        (array([ 3, -4], dtype=int32), 3.5)
    """
    with name_scope(name, "div", [x, y]) as name:
        x, y = _same_operands(x, y)
        if x.dtype.is_floating or x.dtype.is_complex:
            return raw.RealDiv(x, y, name=name)
        return raw.FloorDiv(x, y, name=name)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, by the operator of the operands.

    Args:
        x, y: numbers or tensors; their shapes broadcast.
        name: of the operation.

    Returns:
        What Python's `/` gives; of integer tensors, a floating-point one.

    Raises:
        TypeError: the types differ.

    Example:
        >>> session.run(tf.divide(tf.constant([1, 3]), 2))
        array([0.5, 1.5])
    """
    return x / y if name is None else truediv(x, y, name)


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0."""
    with name_scope(name, "div_no_nan", [x, y]) as name:
        return raw.DivNoNan(*_same_operands(x, y), name=name)


divide_no_nan = div_no_nan


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0 even if x is infinite or NaN."""
    with name_scope(name, "multiply_no_nan", [x, y]) as name:
        return raw.MulNoNan(*_same_operands(x, y), name=name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0."""
    with operands(name, "reciprocal_no_nan", x=x) as (scope, x):
        return raw.DivNoNan(constant(1, x.dtype.base_dtype, name="one"), x, name=scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded down.

    Args:
        x, y: tensors of one type; their shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the same type.

    Raises:
        TypeError: the types differ.
        tf.errors.InvalidArgumentError: from the step: an integer is divided by zero.

    Example:
        >>> session.run(tf.floordiv([7, -7], 2))
        array([ 3, -4], dtype=int32)
    """
    with name_scope(name, "floordiv", [x, y]) as name:
        return raw.FloorDiv(x, y, name=name)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a Tensor or IndexedSlices."""
    factor = as_type_of(x, "scalar", scalar)
    if factor.dims != ():
        raise ValueError(f"Only scalar multiply works, got shape {factor.shape}")
    return with_values(x, raw.Mul(factor, values_of(x), name=name))


def polyval(coeffs: list[Any], x: Any, name: str | None = None) -> Tensor:
    """The polynomial with `coeffs`, highest power first, at `x`."""
    with operands(name, "polyval", *coeffs, x=x) as (scope, x):
        if len(coeffs) == 0:
            return array.zeros_like(x, name=scope)
        terms = tensors(**{f"coeff_{i}": coefficient for i, coefficient in enumerate(coeffs)})
        return reduce(lambda value, coefficient: coefficient + value * x, terms)


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Whether exactly one of x and y holds."""
    either = raw.LogicalOr(x, y)
    return raw.LogicalAnd(either, raw.LogicalNot(raw.LogicalAnd(x, y)), name=name)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """The logistic function 1 / (1 + exp(-x)): from all numbers to those between 0 and 1.

    Args:
        x: a tensor of floating-point or complex numbers.
        name: of the operation.

    Returns:
        A tensor of the same type and shape.

    Raises:
        TypeError: `x` holds integers.

    Example:
        >>> session.run(tf.sigmoid([-100.0, 0.0, 100.0]))
        array([0. , 0.5, 1. ], dtype=float32)
    """
    with operands(name, "Sigmoid", x=x) as (scope, x):
        return raw.Sigmoid(x, name=scope)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), accurate for large negative x."""
    with operands(name, "LogSigmoid", x=x) as (scope, x):
        return raw.Neg(raw.Softplus(-x), name=scope)


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0."""
    return _unscaled(bessel_i0e, x, name, "bessel_i0")


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1."""
    return _unscaled(bessel_i1e, x, name, "bessel_i1")


def _unscaled(scaled: Callable[[Any], Tensor], x: Any, name: str | None, default: str) -> Tensor:
    """A function that has been divided by exp(|x|), without the division."""
    with name_scope(name, default, [x]):
        return exp(abs(x)) * scaled(x)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """log |beta(x)| of the vectors along the last dimension."""
    with operands(name, "lbeta", x=x) as (_, x):
        logs = reduce_sum(lgamma(x), [-1])
        return logs - lgamma(reduce_sum(x, [-1]))


# ---- sums of lists ----------------------------------------------------------------------------

_ADD_N_INPUTS = (
    "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"
)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape.

    Args:
        inputs: a list of tensors or IndexedSlices of one type.
        name: of the operation.

    Returns:
        A tensor.

    Raises:
        ValueError: the list is empty, or types or shapes differ.

    Example:
        >>> session.run(tf.add_n([[1, 2], [10, 20], [100, 200]]))
        array([111, 222], dtype=int32)
    """
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(_ADD_N_INPUTS)
    terms = [convert_to_tensor_or_indexed_slices(x) for x in inputs]
    if not all(isinstance(x, Tensor | IndexedSlices) for x in terms):
        raise ValueError(_ADD_N_INPUTS)
    if len(terms) == 1:
        only = convert_to_tensor(terms[0])
        return array.identity(only, name=name) if name else only
    return raw.AddN(terms, name=name)


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of a list of tensors, added up as they become ready."""
    wrong = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(wrong)
    terms = [convert_to_tensor_or_indexed_slices(x) for x in inputs]
    if not all(isinstance(x, Tensor) and x.dtype == terms[0].dtype for x in terms):
        raise ValueError(wrong)
    whole = TensorShape(shape)
    for term in terms:
        whole = whole.merge_with(term.shape)
    if tensor_dtype is not None and tensor_dtype != terms[0].dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {terms[0].dtype}")
    if len(terms) == 1:
        return terms[0] if name is None else array.identity(terms[0], name=name)
    return raw.AccumulateNV2(terms, shape=whole, name=name)


# ---- operators --------------------------------------------------------------------------------


def _add(x: Any, y: Any, name: str | None = None) -> Tensor:
    return (raw.Add if x.dtype == dtypes.string else raw.AddV2)(x, y, name=name)


def _multiply(x: Any, y: Any, name: str | None = None) -> Any:
    if isinstance(y, SparseTensor):
        return _with_dense(raw.SparseDenseCwiseMul, y, y.values, x, name)
    return raw.Mul(x, y, name=name)


def _with_dense(
    compute: Any, places: SparseTensor, values: Any, dense: Any, name: str | None
) -> SparseTensor:
    """`compute` on values and what stands in their places in `dense`."""
    shape = places.dense_shape
    return with_values(places, compute(places.indices, values, shape, dense, name=name))


def _forward(function: Callable[..., Any], name: str) -> Callable[[Any, Any], Any]:
    def operator(x: Any, y: Any) -> Any:
        if isinstance(y, Tensor) and function is not logical_xor:
            return function(x, y, name=name)  # one node: a scope would give it the same name
        if (number := known_number(y, x, exact=False)) is not None:
            return function(x, number, name=name)
        with name_scope(None, name, [x, y]) as scope:
            operand = _right_operand(x, y, hasattr(type(y), f"__r{name}__"))
            return operand if operand is NotImplemented else function(x, operand, name=scope)

    return operator


def _right_operand(x: Any, y: Any, reflects: bool) -> Any:
    """`y` as a tensor that goes with `x`; not if it is none and has an operator of its own."""
    if isinstance(y, Tensor | SparseTensor):
        return y
    try:
        return convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
    except TypeError:
        return NotImplemented if reflects else as_type_of(x, "y", y)


def _reflected(function: Callable[..., Any], name: str) -> Callable[[Any, Any], Any]:
    def operator(y: Any, x: Any) -> Any:
        if (number := known_number(x, y, exact=True)) is not None:
            return function(number, y, name=name)
        with name_scope(None, name, [x, y]) as scope:
            return function(as_type_of(y, "x", x), y, name=scope)

    return operator


_BINARY: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": subtract,
    "mul": _multiply,
    "div": div,
    "truediv": truediv,
    "floordiv": floordiv,
    "mod": floormod,
    "pow": pow,
    "matmul": matmul,
    "and": logical_and,
    "or": logical_or,
    "xor": logical_xor,
}

# What Python's operators do with a Tensor on the left, and reflected, on the right.
OPERATORS: dict[str, Callable[..., Any]] = {
    "__neg__": negative,
    "__abs__": abs,
    "__invert__": logical_not,
    "__lt__": less,
    "__le__": less_equal,
    "__gt__": greater,
    "__ge__": greater_equal,
}
for _name, _function in _BINARY.items():
    OPERATORS[f"__{_name}__"] = _forward(_function, _name)
    OPERATORS[f"__r{_name}__"] = _reflected(_function, _name)


def _sparse_operator(op_name: str, name: str) -> Callable[[SparseTensor, Any], SparseTensor]:
    def operator(x: SparseTensor, y: Any) -> SparseTensor:
        with name_scope(None, name, [x, y]) as scope:
            values, y = x.values, as_type_of(x, "y", y)
            if name == "truediv" and (dtype := quotient_dtype(values, y)) is not None:
                values, y = cast(values, dtype), cast(y, dtype)
            return _with_dense(getattr(raw, op_name), x, values, y, scope)

    return operator


# The same for a SparseTensor on the left of a dense operand.
SPARSE_OPERATORS: dict[str, Callable[..., Any]] = {
    "__div__": _sparse_operator("SparseDenseCwiseDiv", "div"),
    "__truediv__": _sparse_operator("SparseDenseCwiseDiv", "truediv"),
    "__mul__": _sparse_operator("SparseDenseCwiseMul", "mul"),
}
