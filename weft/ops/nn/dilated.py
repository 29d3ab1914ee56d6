"""Convolutions dilated by way of space_to_batch, and the depthwise and separable ones built so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape, dims_of
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import concat, deprecated_alias, shape, stack
from weft.ops.array.blocks import (
    batch_to_space,
    batch_to_space_nd,
    required_space_to_batch_paddings,
    space_to_batch,
    space_to_batch_nd,
)
from weft.ops.kit.operands import operands
from weft.ops.nn.conv import channel_index, conv1d, conv2d, conv2d_transpose, given, per_axis


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[[Any, int, str], Any],
    filter_shape: Any = None,
    spatial_dims: Any = None,
    data_format: str | None = None,
) -> Tensor:
    """`op(input, number of spatial dimensions, padding)` with its windows dilated.

    Positions that lie a rate apart become images of their own, on which plain windows do the same.
    """
    input = convert_to_tensor(input, name="input")
    dilation = _Dilation(
        input.dims, dilation_rate, padding, filter_shape, spatial_dims, data_format
    )
    return dilation(input, op)


class _Dilation:
    """How far windows are spread; its nodes are made once for any number of inputs."""

    def __init__(
        self,
        dims: Any,
        dilation_rate: Any,
        padding: str,
        filter_shape: Any = None,
        spatial_dims: Any = None,
        data_format: str | None = None,
    ) -> None:
        self._rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
        self._axes = _dilated_axes(dims, self._rate, spatial_dims, data_format)
        self._padding = padding
        self._base: Any = None  # None: windows are as they are
        known = constant_value(self._rate)
        if known is not None:
            if np.any(known < 1):
                raise ValueError("dilation_rate must be positive")
            if np.all(known == 1):
                return
        count = len(self._axes)
        if padding == "SAME":
            if filter_shape is None:
                raise ValueError("filter_shape must be specified for SAME padding")
            filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
            static = constant_value(filter_shape)
            sizes = filter_shape if static is None else static
            self._base = _same_paddings(sizes, count, self._rate if known is None else known)
        elif padding == "VALID":
            self._base = np.zeros([count, 2], np.int32)
        else:
            raise ValueError(f"Invalid padding method {padding!r}")

    def __call__(self, input: Tensor, op: Callable[[Any, int, str], Any]) -> Any:
        count = len(self._axes)
        if self._base is None:
            return op(input, count, self._padding)
        return _through_batch(
            input, self._rate, self._base, self._axes, lambda x: op(x, count, "VALID")
        )


def _dilated_axes(dims: Any, rate: Tensor, spatial_dims: Any, data_format: str | None) -> list[int]:
    if rate.dims is not None and len(rate.dims) != 1:
        raise ValueError("rate must be rank 1")
    if rate.dims is None or rate.dims[0] is None:
        raise ValueError("rate must have known shape")
    count = rate.dims[0]
    first = data_format is not None and data_format.startswith("NC")
    start = 2 if first else 1
    given = list(range(start, count + start) if spatial_dims is None else spatial_dims)
    axes = sorted({int(axis) for axis in given})
    if axes != given or any(axis < 1 for axis in axes):
        raise ValueError(
            "spatial_dims must be a montonically increasing sequence of positive integers"
        )
    needed = axes[-1] if first else axes[-1] + 1
    if dims is not None and len(dims) < needed:
        raise ValueError(f"input tensor must have rank {needed} at least")
    return axes


def _same_paddings(filter_shape: Any, count: int, rate: Any) -> Tensor:
    """The SAME padding of a dilated window on both sides of each axis."""
    sizes = filter_shape[:count]
    both = sizes + (sizes - 1) * (rate - 1) - 1
    before = both // 2
    sides = (before, both - before)
    return stack([[side[axis] for side in sides] for axis in range(count)])


def _through_batch(
    input: Tensor, rate: Tensor, base: Any, axes: list[int], op: Callable[[Any], Any]
) -> Tensor:
    sizes: Any = None if input.dims is None else [input.dims[axis] for axis in axes]
    if sizes is None or None in sizes:
        whole = shape(input)
        sizes = stack([whole[axis] for axis in axes])
    paddings, crops = required_space_to_batch_paddings(
        input_shape=sizes, base_paddings=base, block_shape=rate
    )
    blocks = _for_all_axes(rate, 1, axes)
    paddings, crops = (_for_all_axes(edges, 0, axes) for edges in (paddings, crops))
    return batch_to_space_nd(op(space_to_batch_nd(input, blocks, paddings)), blocks, crops)


def _for_all_axes(values: Tensor, fill: int, axes: Sequence[int]) -> Any:
    """`values`, one entry per axis in `axes`, with `fill` for the axes between them."""
    known = constant_value(values)
    entries = values if known is None else known
    inner = list(values.dims[1:]) if values.dims else []
    parts: list[Any] = []
    start = 0
    for end in range(1, len(axes) + 1):
        if end < len(axes) and axes[end] == axes[end - 1] + 1:
            continue
        skipped = axes[start] - 1 - (axes[start - 1] if start else 0)
        if skipped > 0:
            parts.append(np.full([skipped, *inner], fill, values.dtype.as_numpy_dtype))
        parts.append(entries[start:end])
        start = end
    return concat(parts, 0) if known is None else np.concatenate(parts)


def convolution(
    input: Any,
    filter: Any,
    padding: str,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The convolution of one, two or three dimensions, strided or dilated."""
    filter = deprecated_alias("filters", filters, "filter", filter)
    rates = deprecated_alias("dilations", dilations, "dilation_rate", dilation_rate)
    dims = next((d for d in map(_static_dims, (input, filter)) if d is not None), None)
    if dims is None:
        raise ValueError("rank of input or filter must be known")
    count = len(dims) - 2
    if not 1 <= count <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {count + 2}.")
    channel = channel_index(data_format or "N", count + 2)
    steps = per_axis(strides, count, channel, "strides")
    rates = per_axis(rates, count, channel, "dilations")
    with name_scope(name, "convolution", [input, filter]) as name:
        return _convolve(input, filter, padding, steps, rates, data_format, name)


class Convolution:
    """A convolution whose strides and rates, one for each spatial axis, are fixed before.

    Its constants are nodes that are made once, for any number of inputs.
    """

    def __init__(
        self,
        input_shape: Any,
        filter_shape: Any,
        padding: Any,
        strides: Sequence[int],
        dilation_rate: Sequence[int],
        data_format: str | None,
    ) -> None:
        count = len(strides)
        channel = channel_index(data_format or "N", count + 2)
        self._steps = per_axis(strides, count, channel, "strides")
        self._rates = per_axis(dilation_rate, count, channel, "dilations")
        self._data_format = data_format
        self._channel = channel
        if not self._is_plain:
            known = None if isinstance(filter_shape, Tensor) else filter_shape
            _check_dilated(input_shape, known, count, channel, strides, dilation_rate)
        self._dilation = _Dilation(
            input_shape,
            np.array(dilation_rate, np.int32),
            padding,
            filter_shape,
            range(2, count + 2) if channel == 1 else range(1, count + 1),
            data_format,
        )

    @property
    def _is_plain(self) -> bool:
        return all(int(rate) == 1 for rate in self._rates)

    def __call__(self, input: Any, filter: Any, name: str | None = None) -> Tensor:
        rates = self._rates if self._is_plain else None
        result = self._dilation(
            input,
            lambda x, _, padding: _plain(
                x, filter, self._steps, padding, self._data_format, name, dilations=rates
            ),
        )
        dims = _static_dims(filter)
        if not self._is_plain and self._channel == 1 and result.dims is not None and dims:
            # batch_to_space cannot tell the channels from the axes it puts together.
            result.set_shape([result.dims[0], dims[-1], *result.dims[2:]])
        return result


def _convolve(
    input: Any,
    filter: Any,
    padding: Any,
    steps: list[int],
    rates: list[int],
    data_format: str | None,
    name: str | None,
) -> Tensor:
    if all(int(rate) == 1 for rate in rates):
        return _plain(input, filter, steps, padding, data_format, name, dilations=rates)
    inner = (
        (lambda v: v[2:]) if data_format and data_format.startswith("NC") else (lambda v: v[1:-1])
    )
    sizes = _static_dims(filter)
    if padding == "SAME" and (sizes is None or None in sizes):
        sizes = shape(filter)
    made = Convolution(_static_dims(input), sizes, padding, inner(steps), inner(rates), data_format)
    return made(
        convert_to_tensor(input, name="input"), convert_to_tensor(filter, name="filter"), name
    )


def _static_dims(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.dims
    known = getattr(x, "shape", None)
    return dims_of(known) if isinstance(known, TensorShape | tuple) else np.shape(x)


def _check_dilated(x: Any, w: Any, count: int, channel: int, strides: Any, rates: Any) -> None:
    """Errors for dims `x` and `w` of input and filter that cannot be convolved so."""
    for what, dims in (("input", x), ("filter", w)):
        if dims is not None and len(dims) != count + 2:
            raise ValueError(f"{what} tensor must have rank {count + 2}")
    if x is not None and w is not None and None not in (x[channel], w[count]):
        if x[channel] != w[count]:
            raise ValueError(
                "number of input channels does not match corresponding dimension of filter, "
                f"{x[channel]} != {w[count]}"
            )
    check_strides_and_rates(count, strides, rates)


def check_strides_and_rates(count: int, strides: Any, rates: Any) -> tuple[Any, Any]:
    """Both as arrays; ValueError unless positive and not both above 1."""
    found = []
    for what, values in (("dilation_rate", rates), ("strides", strides)):
        values = [1] * count if values is None else values
        if len(values) != count:
            raise ValueError(f"len({what})={len(values)} but should be {count}")
        array = np.array(values, np.int32)
        if np.any(array < 1):
            raise ValueError(f"all values of {what} must be positive")
        found.append(array)
    rates, strides = found
    if np.any(strides > 1) and np.any(rates > 1):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return strides, rates


def _plain(
    input: Any,
    filter: Any,
    strides: list[int],
    padding: str,
    data_format: str | None,
    name: str | None,
    dilations: list[int] | None = None,
) -> Tensor:
    """The convolution without dilation, of as many dimensions as there are strides."""
    if len(strides) == 3:
        step = strides[2] if data_format and data_format.startswith("NC") else strides[1]
        return conv1d(input, filter, step, padding, data_format=data_format, name=name)
    attrs = given(data_format=data_format, dilations=dilations)
    made = raw.Conv2D if len(strides) == 4 else raw.Conv3D
    return made(input, filter, strides=strides, padding=padding, name=name, **attrs)


def atrous_conv2d(
    value: Any, filters: Any, rate: Any, padding: str, name: str | None = None
) -> Tensor:
    """`conv2d` with filters spread out by `rate`."""
    rates = np.broadcast_to(rate, (2,))
    return convolution(value, filters, padding, dilation_rate=rates, name=name)


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`."""
    given = {"value": value, "filters": filters}
    scope = operands(name, "atrous_conv2d_transpose", output_shape, **given)
    with scope as (_, value, filters):
        _check_atrous(value, filters, output_shape, rate)
        convert_to_tensor(output_shape, name="output_shape")
        if rate == 1:
            ones = [1, 1, 1, 1]
            return conv2d_transpose(value, filters, output_shape, strides=ones, padding=padding)
        if padding == "SAME":
            sizes: Any = filters.dims
            if sizes is None or None in sizes:
                sizes = shape(filters)
            extra = [(sizes[i] - 1) * rate for i in (0, 1)]
            edges = [[e // 2, e - e // 2] for e in extra]
        elif padding == "VALID":
            edges = [[0, 0], [0, 0]]
        else:
            raise ValueError(f"padding must be either VALID or SAME: {padding}")
        sizes = [output_shape[1 + i] + edges[i][0] + edges[i][1] for i in (0, 1)]
        more = [(rate - size % rate) % rate for size in sizes]
        value = space_to_batch(value, [[0, more[0]], [0, more[1]]], rate)
        inner = [(sizes[i] + more[i]) // rate for i in (0, 1)]
        value = raw.Conv2DBackpropInput(
            [rate * rate * output_shape[0], *inner, output_shape[3]],
            filters,
            value,
            strides=[1, 1, 1, 1],
            padding="VALID",
            data_format="NHWC",
        )
        crops = [[edges[i][0], edges[i][1] + more[i]] for i in (0, 1)]
        return batch_to_space(value, crops, rate)


def _check_atrous(value: Tensor, filters: Tensor, output_shape: Any, rate: int) -> None:
    x, w = value.dims, filters.dims
    if x is not None and w is not None and None not in (x[3], w[3]) and x[3] != w[3]:
        raise ValueError(
            f"value's input channels does not match filters' input channels, {x[3]} != {w[3]}"
        )
    if rate < 1:
        raise ValueError(f"rate {rate} cannot be less than one")
    sizes = _static_dims(output_shape) if isinstance(output_shape, Tensor) else None
    length = sizes[0] if sizes else (None if sizes is None else 0)
    if not isinstance(output_shape, Tensor):
        length = len(output_shape)
    if length not in (None, 4):
        raise ValueError(f"output_shape must have shape (4,), got ({length},)")
    known = isinstance(output_shape, list | tuple | np.ndarray)
    if known and w is not None and isinstance(output_shape[3], int | np.integer):
        if w[2] is not None and w[2] != output_shape[3]:
            raise ValueError(
                f"output_shape does not match filter's output channels, {output_shape[3]} != {w[2]}"
            )


# ---- depthwise and separable ------------------------------------------------------------------


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """`depthwise_conv2d_native` that may be dilated by `rate`."""
    rate = deprecated_alias("dilations", dilations, "rate", rate)
    with operands(name, "depthwise", tensor_in=input, filter_in=filter) as (scope, x, weights):
        return _depthwise(x, weights, strides, padding, rate, data_format, scope)


def _depthwise(
    input: Tensor,
    filter: Tensor,
    strides: Any,
    padding: str,
    rate: Any,
    data_format: str | None,
    name: str,
) -> Tensor:
    attrs = given(data_format=data_format)

    def op(x: Any, _: int, padding: str) -> Tensor:
        return raw.DepthwiseConv2dNative(
            x, filter, strides=strides, padding=padding, name=name, **attrs
        )

    return with_space_to_batch(
        input,
        [1, 1] if rate is None else rate,
        padding,
        op,
        filter_shape=shape(filter),
        data_format=data_format,
    )


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """A depthwise convolution followed by a 1x1 convolution that mixes the channels."""
    rate = deprecated_alias("dilations", dilations, "rate", rate)
    values = [input, depthwise_filter, pointwise_filter]
    with name_scope(name, "separable_conv2d", values) as name:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        window = pointwise_filter.shape.with_rank(4)
        window[:2].assert_is_compatible_with([1, 1])
        depthwise = _depthwise(
            input, depthwise_filter, strides, padding, rate, data_format, "depthwise"
        )
        return conv2d(
            depthwise,
            pointwise_filter,
            [1, 1, 1, 1],
            padding="VALID",
            data_format=data_format,
            name=name,
        )
