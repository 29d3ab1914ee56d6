"""Grayscale dilation (the max-plus convolution) and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import XLA
from weft.ops.array.array import invalid
from weft.ops.nn.pool_windows import first_largest
from weft.ops.nn.window_shapes import window_attr, window_dims
from weft.ops.nn.windows import Window, spread, taps, window_of

Array = Any
_ATTRS = (
    'T: realnumbertype, strides: list(int) >= 4, rates: list(int) >= 4, padding: {"SAME", "VALID"}'
)


def _window(
    input: Array, filter: Array, strides: Sequence[int], rates: Sequence[int], padding: str
) -> Window:
    for what, values in (("Stride", strides), ("Rate", rates)):
        if len(values) != 4:
            raise invalid(f"Sliding window {what.lower()} field must specify 4 dimensions")
        if values[0] != 1 or values[3] != 1:
            message = f"{what} is only supported across spatial dimensions."
            raise errors.UnimplementedError(None, None, message)
    if input.ndim != 4:
        raise invalid(f"input must be 4-dimensional{s.show(input.shape)}")
    if filter.ndim != 3:
        raise invalid(f"filter must be 3-dimensional: {s.show(filter.shape)}")
    if input.shape[3] != filter.shape[2]:
        raise invalid(
            f"input and filter must have the same depth: {input.shape[3]} vs {filter.shape[2]}"
        )
    return window_of(input.shape[1:3], filter.shape[:2], strides[1:3], rates[1:3], padding)


def _dilated(c: ShapeContext) -> Dims:
    x, w = s.with_rank(c.dims(0), 4), s.with_rank(c.dims(1), 3)
    strides, rates = (window_attr(c, attr, "Dilation2D") for attr in ("strides", "rates"))
    outputs = window_dims(x[1:3], w[:2], strides[1:3], rates[1:3], c.attr("padding"))
    if None in (*x[1:3], *w[:2]):
        return x[0], None, None, w[2]
    s.merge_dim(x[3], w[2])
    return x[0], *outputs, w[2]


def _raised(input: Array, filter: Array, window: Window) -> list[Array]:
    """Per tap, the values under it plus the filter's."""
    return [x + filter[tap] for x, tap in zip(taps(input, window), window.taps, strict=True)]


@op(
    "Dilation2D",
    inputs="input: T, filter: T",
    outputs="output: T",
    attrs=_ATTRS,
    shape=_dilated,
    traits=XLA,
)
def dilation2d_(
    xp: Any, input: Array, filter: Array, *, strides: list[int], rates: list[int], padding: str
) -> Array:
    window = _window(input, filter, strides, rates, padding)
    dims = (input.shape[0], *window.output, input.shape[3])
    if 0 in dims or 0 in input.shape or 0 in filter.shape:
        return xp.zeros(dims, input.dtype)
    best, _ = first_largest(_raised(input, filter, window), window)
    return best


@dilation2d_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, w = op.inputs
    attrs = {name: op.attrs[name] for name in ("strides", "rates", "padding")}
    return (
        raw.Dilation2DBackpropInput(x, w, grad, **attrs),
        raw.Dilation2DBackpropFilter(x, w, grad, **attrs),
    )


def _to_input(xp: Any, where: Array, g: Array, window: Window, input: Array, _: Array) -> Array:
    numbers = {tap: n for n, tap in enumerate(window.taps)}

    def term(tap: tuple[int, ...], where: Array, g: Array) -> Array:
        return xp.where(where == numbers[tap], g, g.dtype.type(0))

    return spread([where, g], window, term, fills=[-1, 0])


def _to_filter(xp: Any, where: Array, g: Array, window: Window, _: Array, filter: Array) -> Array:
    zero = g.dtype.type(0)
    sums = [
        xp.sum(xp.where(where == number, g, zero), axis=(0, 1, 2))
        for number, _ in enumerate(window.taps)
    ]
    return xp.stack(sums).reshape(filter.shape).astype(filter.dtype)


def _declare_gradient(name: str, output: str, of: int, compute: Callable[..., Array]) -> None:
    """The gradient for input `of`; `compute` gets which tap was the largest under each window."""

    def kernel(
        xp: Any, input: Array, filter: Array, out_backprop: Array, *, strides: list[int],
        rates: list[int], padding: str,
    ) -> Array:  # fmt: skip
        window = _window(input, filter, strides, rates, padding)
        if out_backprop.shape != (input.shape[0], *window.output, input.shape[3]):
            raise invalid("out_backprop has incompatible size.")
        wanted = (input, filter)[of]
        if 0 in input.shape or 0 in out_backprop.shape:
            return xp.zeros(wanted.shape, wanted.dtype)
        _, where = first_largest(_raised(input, filter, window), window)
        return compute(xp, where, out_backprop, window, input, filter)

    op(
        name,
        inputs="input: T, filter: T, out_backprop: T",
        outputs=f"{output}: T",
        attrs=_ATTRS,
        shape=lambda c: c.dims(of),
        traits=XLA,
    )(kernel)


_declare_gradient("Dilation2DBackpropInput", "in_backprop", 0, _to_input)
_declare_gradient("Dilation2DBackpropFilter", "filter_backprop", 1, _to_filter)
