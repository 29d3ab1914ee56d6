"""Assertions about values, shapes and types. What the graph already knows is checked when the
assertion is made; the rest becomes an `Assert` node, which the caller must make something wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.graph.constant_value import get_static_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    get_default_graph,
    name_scope,
)
from weft.graph.slices import SparseTensor
from weft.ops import array, math
from weft.ops.array import check_numerics, deprecated_alias, ensure_shape
from weft.ops.control import Assert, group, no_op, with_dependencies

__all__ = [
    "Assert", "add_check_numerics_ops", "assert_all_finite", "assert_equal", "assert_greater",
    "assert_greater_equal", "assert_integer", "assert_less", "assert_less_equal", "assert_near",
    "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal",
    "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_type",
    "check_numerics", "ensure_shape", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "verify_tensor_all_finite",
]  # fmt: skip

NUMERIC_TYPES = frozenset(
    (
        dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
        dtypes.uint8, dtypes.qint8, dtypes.qint32, dtypes.quint8, dtypes.complex64,
    )
)  # fmt: skip


# ---- comparisons ------------------------------------------------------------------------------


def _fail_if_known(holds: Any, data: Sequence[Any]) -> None:
    if np.all(holds):
        return
    lines = []
    for item in data:
        value = get_static_value(item) if isinstance(item, Tensor) else None
        lines.append(str(item if value is None else value))
    raise errors.InvalidArgumentError(None, None, "\n".join(lines))


@dataclass(frozen=True)
class _Comparison:
    symbol: str
    name: str
    build: Callable[[Any, Any], Tensor]
    static: Callable[[Any, Any], Any]


def _assert_each(
    comparison: _Comparison, x: Any, y: Any, data: Any, summarize: Any, message: Any, name: Any
) -> Any:
    with name_scope(name, comparison.name, [x, y, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        if data is None:
            data = [
                f"Condition x {comparison.symbol} y did not hold element-wise:",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = math.reduce_all(comparison.build(x, y))
        known_x, known_y = get_static_value(x), get_static_value(y)
        if known_x is not None and known_y is not None:
            _fail_if_known(comparison.static(known_x, known_y), data)
        return Assert(condition, data, summarize=summarize)


_EQUAL = _Comparison("==", "assert_equal", math.equal, np.equal)
_NONE_EQUAL = _Comparison("!=", "assert_none_equal", math.not_equal, np.not_equal)
_LESS = _Comparison("<", "assert_less", math.less, np.less)
_LESS_EQUAL = _Comparison("<=", "assert_less_equal", math.less_equal, np.less_equal)
_GREATER = _Comparison(">", "assert_greater", math.greater, np.greater)
_GREATER_EQUAL = _Comparison(">=", "assert_greater_equal", math.greater_equal, np.greater_equal)


def assert_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x == y for all elements."""
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return no_op()
    return _assert_each(_EQUAL, x, y, data, summarize, message, name)


def assert_none_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x != y for all elements."""
    return _assert_each(_NONE_EQUAL, x, y, data, summarize, message, name)


def assert_less(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x < y for all elements."""
    return _assert_each(_LESS, x, y, data, summarize, message, name)


def assert_less_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x <= y for all elements."""
    return _assert_each(_LESS_EQUAL, x, y, data, summarize, message, name)


def assert_greater(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x > y for all elements."""
    return _assert_each(_GREATER, x, y, data, summarize, message, name)


def assert_greater_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x >= y for all elements."""
    return _assert_each(_GREATER_EQUAL, x, y, data, summarize, message, name)


def _epsilon(dtype: DType) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts |x - y| < atol + rtol * |y| for all elements; both are 10 epsilon by default."""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype)
        epsilon = 10 * _epsilon(x.dtype)
        rtol = convert_to_tensor(epsilon if rtol is None else rtol, name="rtol", dtype=x.dtype)
        atol = convert_to_tensor(epsilon if atol is None else atol, name="atol", dtype=x.dtype)
        if data is None:
            data = [
                message or "",
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        tolerance = atol + rtol * math.abs(y)
        condition = math.reduce_all(math.less(math.abs(x - y), tolerance))
        return Assert(condition, data, summarize=summarize)


# ---- signs ------------------------------------------------------------------------------------


def _assert_sign(
    opname: str, condition: str, compare: Any, x: Any, data: Any, summarize: Any, message: Any,
    name: Any, zero_first: bool,
) -> Any:  # fmt: skip
    with name_scope(name, opname, [x, data]):
        x = convert_to_tensor(x, name="x")
        if data is None:
            data = [
                message or "",
                f"Condition x {condition} did not hold element-wise:",
                f"x ({x.name}) = ",
                x,
            ]
        zero = convert_to_tensor(0, dtype=x.dtype)
        pair = (zero, x) if zero_first else (x, zero)
        return compare(*pair, data=data, summarize=summarize)


def assert_negative(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x < 0 for all elements."""
    return _assert_sign(
        "assert_negative", "< 0", assert_less, x, data, summarize, message, name, False
    )


def assert_positive(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x > 0 for all elements."""
    return _assert_sign(
        "assert_positive", "> 0", assert_less, x, data, summarize, message, name, True
    )


def assert_non_negative(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x >= 0 for all elements."""
    return _assert_sign(
        "assert_non_negative", ">= 0", assert_less_equal, x, data, summarize, message, name, True
    )


def assert_non_positive(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts x <= 0 for all elements."""
    return _assert_sign(
        "assert_non_positive", "<= 0", assert_less_equal, x, data, summarize, message, name, False
    )


# ---- ranks ------------------------------------------------------------------------------------


def _assert_ranks(
    x: Tensor,
    ranks: tuple[Tensor, ...],
    wanted: str,
    holds: Callable[[int, list[int]], bool],
    condition: Callable[[Tensor], Tensor],
    data: Any,
    summarize: Any,
    message: str,
) -> Operation:
    """Asserts that `holds` of the rank of x and `ranks`, now if all of these are known."""
    for rank in ranks:
        assert_type(rank, dtypes.int32)
    known = [get_static_value(rank) for rank in ranks]
    if not any(value is None for value in known):
        if any(value is not None and value.ndim != 0 for value in known):
            raise ValueError("Rank must be a scalar.")
        if x.dims is not None:
            values = [int(value) for value in known]  # type: ignore[arg-type]
            if not holds(len(x.dims), values):
                # As TensorFlow words it: a number, or the values of several.
                shown = values[0] if not wanted.endswith("in") else tuple(known)
                raise ValueError(
                    f"{message}.  Tensor {x.name} must have {wanted} {shown}.  Received rank"
                    f" {len(x.dims)}, shape {x.get_shape()}"
                )
            return no_op(name="static_checks_determined_all_ok")
    found = condition(array.rank(x))
    for rank, value in zip(ranks, known, strict=True):
        if value is None:
            complaint = ["Rank must be a scalar. Received rank: ", rank]
            found = with_dependencies([assert_rank(rank, 0, data=complaint)], found)
    return Assert(found, data, summarize=summarize)


def assert_rank(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts that x has `rank` dimensions."""
    with name_scope(name, "assert_rank", (x, rank, *(data or ()))):
        x, rank, data = _rank_arguments(x, rank, data, message, "rank")
        return _assert_ranks(
            x,
            (rank,),
            "rank",
            lambda actual, given: actual == given[0],
            lambda actual: math.equal(actual, rank),
            data,
            summarize,
            message or "",
        )


def assert_rank_at_least(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts that x has `rank` dimensions or more."""
    with name_scope(name, "assert_rank_at_least", (x, rank, *(data or ()))):
        x, rank, data = _rank_arguments(x, rank, data, message, "rank at least")
        return _assert_ranks(
            x,
            (rank,),
            "rank at least",
            lambda actual, given: actual >= given[0],
            lambda actual: math.greater_equal(actual, rank),
            data,
            summarize,
            message or "",
        )


def _rank_arguments(
    x: Any, rank: Any, data: Any, message: str | None, wanted: str
) -> tuple[Tensor, Tensor, Any]:
    x = convert_to_tensor(x, name="x")
    rank = convert_to_tensor(rank, name="rank")
    if data is None:
        what = f"Tensor {x.name} must have {wanted}"
        data = [message or "", what, rank, "Received shape: ", array.shape(x)]
    return x, rank, data


def assert_rank_in(
    x: Any,
    ranks: Iterable[Any],
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts that the number of x's dimensions is one of `ranks`."""
    with name_scope(name, "assert_rank_in", (x, *ranks, *(data or ()))):
        x = convert_to_tensor(x, name="x")
        given = tuple(convert_to_tensor(rank, name="rank") for rank in ranks)
        if data is None:
            what = f"Tensor {x.name} must have rank in"
            data = [message or "", what, *given, "Received shape: ", array.shape(x)]

        def among(actual: Tensor) -> Tensor:
            if not given:
                return convert_to_tensor(False)
            found = math.equal(given[0], actual)
            for rank in given[1:]:
                found = math.logical_or(found, math.equal(rank, actual))
            return found

        return _assert_ranks(
            x,
            given,
            "rank in",
            lambda actual, values: actual in values,
            among,
            data,
            summarize,
            message or "",
        )


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """`tensor`, which must be known to be a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        shape = tensor.get_shape()
        if shape.ndims != 0:
            raise ValueError(
                f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: {shape}."
            )
        return tensor


# ---- sizes ------------------------------------------------------------------------------------


class _Sized:
    """A tensor, its dimensions, and the symbols that they are asked to match."""

    def __init__(self, tensor: Tensor, shape: Any, message: str) -> None:
        if not (hasattr(shape, "__iter__") or hasattr(shape, "__getitem__")):
            raise ValueError(
                f"{message}.  Tensor {tensor.name}.  Specified shape must be an iterable.  An"
                " iterable has the attribute `__iter__` or `__getitem__`.  Received specified"
                f" shape: {shape}"
            )
        symbols = tuple(shape)
        for i, symbol in enumerate(symbols):
            if i and (symbol is Ellipsis or symbol == "*"):
                raise ValueError(
                    f"{message}.  Tensor {tensor.name} specified shape index {i}.  Symbol `...` or"
                    " `*` for a variable number of unspecified dimensions is only allowed as the"
                    " first entry"
                )
        self.tensor = tensor
        self.open = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
        # A scalar counts as a vector of one element.
        self.symbols = (symbols[1:] if self.open else symbols) or (1,)
        self.sizes = _sizes(tensor)

    def dimensions(self) -> Iterable[tuple[int, Any]]:
        """(position, symbol) of each dimension; positions count from the end if any may lead."""
        first = -len(self.symbols) if self.open else 0
        return enumerate(self.symbols, first)


def _sizes(tensor: Tensor) -> Any:
    shape = array.shape(tensor)
    if tensor.dims is None:
        from weft.ops import control_flow

        is_scalar = math.equal(array.rank(tensor), 0)
        return control_flow.cond(is_scalar, lambda: convert_to_tensor([1]), lambda: shape)
    if not tensor.dims:
        return (1,)
    return [shape[i] if size is None else size for i, size in enumerate(tensor.dims)]


def _as_number(size: Any) -> int | None:
    if size is None or isinstance(size, Tensor):
        return None
    try:
        return int(size)
    except (TypeError, ValueError):
        return None


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts that tensors have shapes given as symbols: equal symbols mean equal sizes.

    `shapes` is a dictionary or a list of (tensor, shape). A symbol is a number, a name, or None or
    "." for any size; a leading "..." or "*" stands for any number of dimensions.
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    message = message or ""
    with name_scope(name, "assert_shapes", [shapes, data]):
        sized = [_Sized(convert_to_tensor(x), s, message) for x, s in pairs if s is not None]
        options = {"data": data, "summarize": summarize, "message": message, "name": name}
        ranks = [check for each in sized if (check := _assert_rank_of(each, options)) is not None]
        checks: list[Any] = []
        first: dict[Any, tuple[Any, Tensor, int]] = {}
        for each in sized:
            for position, symbol in each.dimensions():
                if symbol in (None, "."):
                    continue
                number = _as_number(symbol)
                if number is None and symbol not in first:
                    first[symbol] = (each.sizes[position], each.tensor, position)
                    continue
                why, wanted = "Specified explicitly", number
                if number is None:
                    wanted, source, where = first[symbol]
                    why = f"Specified by tensor {source.name} dimension {where}"
                check = _assert_size(each, position, wanted, why, data, summarize, message)
                checks += [] if check is None else [check]
        with control_dependencies(ranks):
            return group(checks)


def _assert_rank_of(each: _Sized, options: dict[str, Any]) -> Any:
    count = len(each.symbols)
    if each.open:
        return None if count == 1 else assert_rank_at_least(each.tensor, count, **options)
    if count == 1:
        return assert_rank_in(each.tensor, [0, 1], **options)
    return assert_rank(each.tensor, count, **options)


def _assert_size(
    each: _Sized, position: int, wanted: Any, why: str, data: Any, summarize: Any, message: str
) -> Any:
    actual, x = each.sizes[position], each.tensor
    have, want = _as_number(actual), _as_number(wanted)
    if have is not None and want is not None:
        if have != want:
            raise ValueError(
                f"{message}.  {why}.  Tensor {x.name} dimension {position} must have size {want}."
                f"  Received size {have}, shape {x.get_shape()}"
            )
        return None
    condition = math.equal(convert_to_tensor(actual), convert_to_tensor(wanted))
    if data is None:
        data = [
            message, why, f"Tensor {x.name} dimension", position, "must have size", wanted,
            "Received shape: ", array.shape(x),
        ]  # fmt: skip
    return Assert(condition, data, summarize=summarize)


# ---- types ------------------------------------------------------------------------------------


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Asserts that x is of an integer type."""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{message or ""}  Expected "x" to be integer type.  Found: {x.name} of dtype'
                f" {x.dtype}"
            )
        return no_op("statically_determined_was_integer")


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Any:
    """Asserts that `tensor` is of type `tf_type`."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError(f"{message or ''}  {tensor.name} must be of type {tf_type}")
        return no_op("statically_determined_correct_type")


def assert_same_float_dtype(tensors: Any = None, dtype: DType | None = None) -> DType:
    """The one floating-point type that all of `tensors` and `dtype` have; float32 without any."""
    if tensors:
        dtype = _same_base_type(tensors, dtype)
    if not dtype:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def _same_base_type(items: Any, expected: DType | None) -> DType | None:
    model = ""
    for item in items:
        if item is None:
            continue
        found, shown = item.dtype.base_dtype, getattr(item, "name", str(item))
        if not expected:
            expected, model = found, f" as {shown}"
        elif found != expected:
            raise ValueError(
                f"{shown}, type={found}, must be of the same type ({expected}){model}."
            )
    return expected


def assert_proper_iterable(values: Any) -> None:
    """Raises unless `values` is a collection: tensors, arrays and strings do not count as one."""
    if isinstance(values, Tensor | SparseTensor | np.ndarray | str | bytes):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a Tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype in NUMERIC_TYPES


# ---- order ------------------------------------------------------------------------------------


def _steps(x: Any) -> Tensor:
    """The differences of neighbouring elements; none if there are fewer than two."""
    x = array.reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    return x[1:] - x[:-1]


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element of x is smaller than the one before."""
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(x)
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return math.reduce_all(math.less_equal(zero, steps))


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether every element of x is greater than the one before."""
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(x)
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return math.reduce_all(math.less(zero, steps))


# ---- infinities and NaN -----------------------------------------------------------------------


def verify_tensor_all_finite(
    t: Any = None,
    msg: str | None = None,
    name: str | None = None,
    x: Any = None,
    message: str | None = None,
) -> Tensor:
    """`x` (or `t`); running it fails with `message` (or `msg`) if there is a NaN or infinity."""
    x = deprecated_alias("x", x, "t", t)
    message = deprecated_alias("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="x")
        with colocate_with(x):
            return with_dependencies([check_numerics(x, message=message)], x)


assert_all_finite = verify_tensor_all_finite


def add_check_numerics_ops() -> Operation:
    """Checks every floating-point tensor of the graph; returns an operation that runs all checks.

    The checks run in the order the tensors were made, so that the first bad one is reported.
    """
    last: list[Tensor] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
                continue
            if op._get_control_flow_context() is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow"
                    " operations such as `tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(last):
                last = [check_numerics(output, message=output.name)]
    return group(*last)
