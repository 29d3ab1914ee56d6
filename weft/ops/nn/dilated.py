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
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    count, axes = _dilated_axes(input, rate, spatial_dims, data_format)
    known = constant_value(rate)
    if known is not None:
        if np.any(known < 1):
            raise ValueError("dilation_rate must be positive")
        if np.all(known == 1):
            return op(input, count, padding)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding")
        filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
        static = constant_value(filter_shape)
        sizes = filter_shape if static is None else static
        base: Any = _same_paddings(sizes, count, rate if known is None else known)
    elif padding == "VALID":
        base = np.zeros([count, 2], np.int32)
    else:
        raise ValueError(f"Invalid padding method {padding!r}")
    return _through_batch(input, rate, base, axes, lambda x: op(x, count, "VALID"))


def _dilated_axes(
    input: Tensor, rate: Tensor, spatial_dims: Any, data_format: str | None
) -> tuple[int, list[int]]:
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
    if input.dims is not None and len(input.dims) < needed:
        raise ValueError(f"input tensor must have rank {needed} at least")
    return count, axes


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
    apart = space_to_batch_nd(input, blocks, _for_all_axes(paddings, 0, axes))
    return batch_to_space_nd(op(apart), blocks, _for_all_axes(crops, 0, axes))


def _for_all_axes(values: Tensor, fill: int, axes: Sequence[int]) -> Any:
    """`values`, one entry per axis in `axes`, with `fill` for the axes between them."""
    known = constant_value(values)
    entries = values if known is None else known
    inner = list(values.dims[1:]) if values.dims else []
    parts: list[Any] = []
    for i, axis in enumerate(axes):
        skipped = axis - 1 - (axes[i - 1] if i else 0)
        if skipped > 0:
            parts.append(np.full([skipped, *inner], fill, values.dtype.as_numpy_dtype))
        parts.append(entries[i : i + 1])
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


def convolve(
    input: Any,
    filter: Any,
    padding: Any,
    strides: Sequence[int],
    dilation_rate: Sequence[int],
    data_format: str,
) -> Tensor:
    """`convolution` without a name scope of its own, strides and rates for the spatial axes."""
    count = len(strides)
    channel = channel_index(data_format, count + 2)
    steps = per_axis(strides, count, channel, "strides")
    rates = per_axis(dilation_rate, count, channel, "dilations")
    return _convolve(input, filter, padding, steps, rates, data_format, None)


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
    count = len(steps) - 2
    channel = channel_index(data_format or "N", count + 2)
    inner = (lambda v: v[2:]) if channel == 1 else (lambda v: v[1:-1])
    _check_dilated(input, filter, count, channel, inner(steps), inner(rates))
    input = convert_to_tensor(input, name="input")
    filter = convert_to_tensor(filter, name="filter")
    axes = range(2, count + 2) if channel == 1 else range(1, count + 1)
    result = with_space_to_batch(
        input,
        np.array(inner(rates), np.int32),
        padding,
        lambda x, _, padding: _plain(x, filter, steps, padding, data_format, name),
        filter_shape=filter.dims if None not in (filter.dims or (None,)) else shape(filter),
        spatial_dims=axes,
        data_format=data_format,
    )
    if channel == 1 and result.dims is not None and filter.dims is not None:
        # batch_to_space cannot tell the channels from the axes it puts together.
        result.set_shape([result.dims[0], filter.dims[-1], *result.dims[2:]])
    return result


def _static_dims(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.dims
    known = getattr(x, "shape", None)
    return dims_of(known) if isinstance(known, TensorShape | tuple) else np.shape(x)


def _check_dilated(
    input: Any, filter: Any, count: int, channel: int, strides: Any, rates: Any
) -> None:
    x, w = _static_dims(input), _static_dims(filter)
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
