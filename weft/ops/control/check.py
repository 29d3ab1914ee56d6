"""Assertions about values; those about shapes and types by their public names. What the graph
already knows is checked when the assertion is made; the rest becomes an `Assert` node, which the
caller must make something wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from weft.ops.array import array
from weft.ops.array.array import check_numerics, deprecated_alias, ensure_shape
from weft.ops.array.strided import strided_slice
from weft.ops.control.check_shapes import (
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_scalar,
    assert_shapes,
)
from weft.ops.control.check_types import (
    assert_integer,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_type,
    is_numeric_tensor,
)
from weft.ops.control.cond import cond
from weft.ops.control.control import Assert, group, no_op, with_dependencies
from weft.ops.kit.describe import with_example
from weft.ops.kit.operands import operands, tensors_of
from weft.ops.math import math

__all__ = [
    "Assert", "add_check_numerics_ops", "assert_all_finite", "assert_equal", "assert_greater",
    "assert_greater_equal", "assert_integer", "assert_less", "assert_less_equal", "assert_near",
    "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal",
    "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_type",
    "check_numerics", "ensure_shape", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "verify_tensor_all_finite",
]  # fmt: skip


# ---- comparisons ------------------------------------------------------------------------------


def _fail_if_known(holds: Any, data: Sequence[Any]) -> None:
    if np.all(holds):
        return
    lines = []
    for item in data:
        value = get_static_value(item) if isinstance(item, Tensor) else None
        lines.append(str(item if value is None else value))
    raise errors.InvalidArgumentError(None, None, "\n".join(lines))


def _values(**tensors: Tensor) -> list[Any]:
    """The names and values of arguments that an assertion prints."""
    return [item for name, x in tensors.items() for item in (f"{name} ({x.name}) = ", x)]


_COMPARED = """\
Stops a step unless x {symbol} y for all elements.

Args:
    x, y: tensors of one type; their shapes broadcast.
    data: tensors to show in the message; None: `x` and `y`.
    summarize: how many entries of each to show; None: 3.
    message: what to say before.
    name: of the operation.

Returns:
    An operation; make others depend on it by `tf.control_dependencies`.

Raises:
    tf.errors.InvalidArgumentError: it is known already that the assertion fails; from the step
        otherwise."""


def _comparison(symbol: str, build: Callable[..., Tensor], static: np.ufunc) -> Callable[..., Any]:
    """The assertion that two tensors compare like this in every element."""
    function = f"assert_{build.__name__.replace('not_', 'none_')}"

    def check(
        x: Any,
        y: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        if static is np.equal:
            with name_scope(name, function, [x, y, data]):
                if x is y:
                    return no_op()
        with name_scope(name, function, [x, y, data]):
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, name="y")
            if data is None:
                what = f"Condition x {symbol} y did not hold element-wise:"
                data = [what, *_values(x=x, y=y)]
            if message is not None:
                data = [message, *data]
            condition = math.reduce_all(build(x, y))
            known_x, known_y = get_static_value(x), get_static_value(y)
            if known_x is not None and known_y is not None:
                _fail_if_known(static(known_x, known_y), data)
            return Assert(condition, data, summarize=summarize)

    check.__name__ = check.__qualname__ = function
    check.__doc__ = with_example(_COMPARED.format(symbol=symbol), function)
    return check


assert_equal = _comparison("==", math.equal, np.equal)
assert_none_equal = _comparison("!=", math.not_equal, np.not_equal)
assert_less = _comparison("<", math.less, np.less)
assert_less_equal = _comparison("<=", math.less_equal, np.less_equal)
assert_greater = _comparison(">", math.greater, np.greater)
assert_greater_equal = _comparison(">=", math.greater_equal, np.greater_equal)


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
    with operands(name, "assert_near", y, rtol, atol, data, x=x) as (_, x):
        epsilon = 10 * _epsilon(x.dtype)
        given = {"rtol": rtol, "atol": atol}
        limits = {limit: epsilon if value is None else value for limit, value in given.items()}
        y, rtol, atol = tensors_of(x.dtype, y=y, **limits)
        if data is None:
            what = f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}"
            data = [message or "", what, *_values(x=x, y=y)]
        tolerance = atol + rtol * math.abs(y)
        near = math.less(math.abs(x - y), tolerance)
        return Assert(math.reduce_all(near), data, summarize=summarize)


# ---- signs ------------------------------------------------------------------------------------


def _sign(
    function: str, symbol: str, compare: Callable[..., Any], zero_first: bool
) -> Callable[..., Any]:
    """The assertion that every element compares with 0 like this."""

    def check(
        x: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        with name_scope(name, function, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                what = f"Condition x {symbol} 0 did not hold element-wise:"
                shown, value = _values(x=x)
                # TensorFlow lacks a comma between these two in the last of the four assertions.
                told = [what + shown] if symbol == "<=" else [what, shown]
                data = [message or "", *told, value]
            zero = convert_to_tensor(0, dtype=x.dtype)
            pair = (zero, x) if zero_first else (x, zero)
            return compare(*pair, data=data, summarize=summarize)

    check.__name__ = check.__qualname__ = function
    check.__doc__ = f"Asserts x {symbol} 0 for all elements."
    return check


assert_negative = _sign("assert_negative", "<", assert_less, zero_first=False)
assert_positive = _sign("assert_positive", ">", assert_less, zero_first=True)
assert_non_negative = _sign("assert_non_negative", ">=", assert_less_equal, zero_first=True)
assert_non_positive = _sign("assert_non_positive", "<=", assert_less_equal, zero_first=False)


# ---- order ------------------------------------------------------------------------------------


def _every_step(x: Any, compare: Callable[..., Tensor], name: str | None, default: str) -> Tensor:
    """Whether 0 compares like this with what each element adds to the one before it."""
    with name_scope(name, default, [x]):
        x = array.reshape(x, [-1])
        if not is_numeric_tensor(x):
            raise TypeError(f"Expected x to be numeric, instead found: {x}")
        is_short = math.less(array.size(x), 2)
        last = array.shape(x) - 1

        def each_step() -> Tensor:
            later = strided_slice(x, [1], np.ones(1, np.int32) + last)
            return later - strided_slice(x, [0], last)

        steps = cond(is_short, lambda: convert_to_tensor([], dtype=x.dtype), each_step)
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return math.reduce_all(compare(zero, steps))


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element of x is smaller than the one before."""
    return _every_step(x, math.less_equal, name, "is_non_decreasing")


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether every element of x is greater than the one before."""
    return _every_step(x, math.less, name, "is_strictly_increasing")


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
    outputs = [output for op in get_default_graph().get_operations() for output in op.outputs]
    for output in outputs:
        if output.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
            continue
        if output.op._get_control_flow_context() is not None:
            raise ValueError(
                "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow"
                " operations such as `tf.cond()` or `tf.while_loop()`."
            )
        with control_dependencies(last):
            last = [check_numerics(output, message=output.name)]
    return group(*last)
