"""Running sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import OpDef, op, raw
from weft.ops.kit.describe import with_example
from weft.ops.kit.shared import invalid
from weft.ops.math.reduce import wide

Array = Any


def _running(name: str, accumulate: Callable[..., Array], start: float, types: str) -> OpDef:
    """Declares a scan; `accumulate(xp, x, axis)` is inclusive and runs forward."""

    @op(
        name,
        inputs="x: T, axis: Tidx",
        outputs="out: T",
        attrs="exclusive: bool = false, reverse: bool = false, "
        f"T: {types}, Tidx: {{int32, int64}} = int32",
        shape=s.unchanged,
        static="axis",
    )
    def scan(xp: Any, x: Array, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> Array:
        if axis.ndim:
            raise invalid(f"ScanOp: axis must be a scalar, not {s.show(axis.shape)}")
        at = int(axis)
        if not -x.ndim <= at < x.ndim:
            raise invalid(
                f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {at}"
            )
        values = xp.flip(wide(x), at) if reverse else wide(x)
        if exclusive:
            first = [n if i != at % x.ndim else min(n, 1) for i, n in enumerate(x.shape)]
            before = xp.full(first, start, values.dtype)
            kept = [slice(None)] * x.ndim
            kept[at] = slice(0, max(x.shape[at] - 1, 0))
            values = xp.concatenate([before, values[tuple(kept)]], axis=at)
        result = accumulate(xp, values, at)
        return (xp.flip(result, at) if reverse else result).astype(x.dtype)

    return scan


@by_library
def _accumulate_logsumexp(xp: Any, x: Array, axis: int) -> Array:
    from jax import lax

    return lax.cumlogsumexp(x, axis=axis % x.ndim)


@_accumulate_logsumexp.numpy
def _(xp: Any, x: Array, axis: int) -> Array:
    return np.logaddexp.accumulate(x, axis=axis)


cumsum_op = _running(
    "Cumsum", lambda xp, x, axis: xp.cumsum(x, axis=axis, dtype=x.dtype), 0, "numbertype"
)
cumprod_op = _running(
    "Cumprod", lambda xp, x, axis: xp.cumprod(x, axis=axis, dtype=x.dtype), 1, "numbertype"
)
cumulative_logsumexp_op = _running(
    "CumulativeLogsumexp", _accumulate_logsumexp, -np.inf, "{half, float, double}"
)


def _directions(op: Any) -> tuple[bool, bool]:
    return op.get_attr("exclusive"), op.get_attr("reverse")


@cumsum_op.gradient
def _(op: Any, grad: Any) -> Any:
    exclusive, reverse = _directions(op)
    return raw.Cumsum(grad, op.inputs[1], exclusive=exclusive, reverse=not reverse), None


@cumprod_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, axis = op.inputs
    exclusive, reverse = _directions(op)
    prod = raw.Cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    out = raw.Cumsum(prod * grad, axis, exclusive=exclusive, reverse=not reverse)
    return out / x, None  # NaN where elements are zero, as in TensorFlow


@cumulative_logsumexp_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, axis = op.inputs
    y = op.outputs[0]
    exclusive, reverse = _directions(op)

    def scan_back(sign_holds: Tensor, magnitude: Tensor) -> Tensor:
        log_grad = raw.SelectV2(sign_holds, raw.Log(magnitude), float(grad.dtype.min))
        total = raw.CumulativeLogsumexp(
            log_grad - y, axis, exclusive=exclusive, reverse=not reverse
        )
        return raw.Exp(total + x)

    # Logarithms exist of positive numbers only: the two signs of the gradient go separate ways.
    positive = scan_back(raw.Greater(grad, 0), grad)
    negative = scan_back(raw.Less(grad, 0), -grad)
    return positive - negative, None


_CUMULATIVE = """\
{what} of all elements up to each (`exclusive`: before it) along `axis`.

Args:
    x: a tensor of numbers.
    axis: the dimension.
    exclusive: leave out the element itself.
    reverse: start from the end.
    name: of the operation.

Returns:
    A tensor of the type and shape of `x`.

Raises:
    ValueError: there is no such dimension."""


def _public_scan(name: str, op_name: str, doc: str) -> Callable[..., Tensor]:
    def function(
        x: Any,
        axis: Any = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        with name_scope(name, op_name, [x]) as name:
            x = convert_to_tensor(x, name="x")
            return getattr(raw, op_name)(x, axis, exclusive=exclusive, reverse=reverse, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_example(_CUMULATIVE.format(what=doc), name)
    return function


cumsum = _public_scan("cumsum", "Cumsum", "The sum")
cumprod = _public_scan("cumprod", "Cumprod", "The product")
cumulative_logsumexp = _public_scan(
    "cumulative_logsumexp", "CumulativeLogsumexp", "The log-sum-exp"
)
