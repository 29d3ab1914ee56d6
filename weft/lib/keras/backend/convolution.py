"""Convolutions and pools with Keras's names for paddings and data formats."""

from __future__ import annotations

import itertools
from typing import Any

from weft.graph.graph import Tensor
from weft.lib.keras.backend.config import standard_data_format
from weft.lib.keras.backend.linear import batch_dot
from weft.lib.keras.backend.shaping import concatenate, temporal_padding
from weft.lib.keras.backend.variables import int_shape, ndim
from weft.lib.keras.layers.windows import op_format
from weft.ops.array import array
from weft.ops.nn import (
    activations as nn_impl,
)
from weft.ops.nn import (
    conv as nn_conv,
)
from weft.ops.nn import (
    dilated as nn_dilated,
)
from weft.ops.nn import (
    pool as nn_pool,
)

Sizes = tuple[int, ...]


def _op_padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError("Invalid padding: " + str(padding))
    return padding.upper()


def _whole(sizes: Any, data_format: str) -> Sizes:
    """Sizes for the spatial axes, with ones for batch and channels."""
    if data_format == "channels_first":
        return (1, 1, *sizes)
    return (1, *sizes, 1)


def _pairs(sizes: Any, name: str) -> Any:
    if len(sizes) != 2:
        raise ValueError(f"`{name}` must be a tuple of 2 integers.")
    return sizes


def _convolution(
    x: Any, kernel: Any, strides: Any, padding: str, data_format: str | None, rate: Any, rank: int
) -> Tensor:
    return nn_dilated.convolution(
        input=x,
        filter=kernel,
        dilation_rate=rate,
        strides=strides,
        padding=_op_padding(padding),
        data_format=op_format(standard_data_format(data_format), rank),
    )


def conv1d(
    x: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """A convolution along one axis; `padding` may be "causal"."""
    if padding == "causal":
        x = temporal_padding(x, (dilation_rate * (kernel.shape.as_list()[0] - 1), 0))
        padding = "valid"
    return _convolution(x, kernel, _tuple(strides), padding, data_format, _tuple(dilation_rate), 3)


def _tuple(value: Any) -> Sizes:
    return (value,) if isinstance(value, int) else tuple(value)


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """A convolution over images."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 4)


def conv3d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Tensor:
    """A convolution over volumes."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 5)


def _output_sizes(x: Any, output_shape: Any) -> Any:
    """A batch size of None is that of the input."""
    if not isinstance(output_shape, (tuple, list)):
        return output_shape
    batch = array.shape(x)[0] if output_shape[0] is None else output_shape[0]
    return array.stack([batch, *output_shape[1:]])


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """The transpose of `conv2d`, of which `output_shape` was the input's shape."""
    data_format = standard_data_format(data_format)
    if tuple(dilation_rate) != (1, 1):
        return _dilated_transpose(x, kernel, output_shape, padding, data_format, dilation_rate)
    return nn_conv.conv2d_transpose(
        x,
        kernel,
        _output_sizes(x, output_shape),
        _whole(strides, data_format),
        padding=_op_padding(padding),
        data_format=op_format(data_format, 4),
    )


def _dilated_transpose(
    x: Any, kernel: Any, output_shape: Any, padding: str, data_format: str, rate: Any
) -> Tensor:
    """The operation for this has its channels last."""
    assert rate[0] == rate[1]
    first = data_format == "channels_first"
    if first:
        x = array.transpose(x, (0, 2, 3, 1))
        output_shape = [output_shape[i] for i in (0, 2, 3, 1)]
    result = nn_dilated.atrous_conv2d_transpose(
        x, kernel, _output_sizes(x, output_shape), rate=rate[0], padding=_op_padding(padding)
    )
    return array.transpose(result, (0, 3, 1, 2)) if first else result


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The transpose of `conv3d`, of which `output_shape` was the input's shape."""
    data_format = standard_data_format(data_format)
    return nn_conv.conv3d_transpose(
        x,
        kernel,
        _output_sizes(x, output_shape),
        _whole(strides, data_format),
        padding=_op_padding(padding),
        data_format=op_format(data_format, 5),
    )


# ---- channel by channel ----


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    data_format = standard_data_format(data_format)
    return nn_dilated.depthwise_conv2d(
        x,
        depthwise_kernel,
        strides=_whole(strides, data_format),
        padding=_op_padding(padding),
        rate=dilation_rate,
        data_format=op_format(data_format, 4),
    )


def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """A convolution of each channel, then one of size 1 that mixes them."""
    data_format = standard_data_format(data_format)
    return nn_dilated.separable_conv2d(
        x,
        depthwise_kernel,
        pointwise_kernel,
        strides=_whole(_pairs(strides, "strides"), data_format),
        padding=_op_padding(padding),
        rate=dilation_rate,
        data_format=op_format(data_format, 4),
    )


def separable_conv1d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """As `separable_conv2d`, along one axis."""
    data_format = standard_data_format(data_format)
    axis = 1 if data_format == "channels_last" else 2
    result = separable_conv2d(
        array.expand_dims(x, axis),
        array.expand_dims(depthwise_kernel, 0),
        array.expand_dims(pointwise_kernel, 0),
        strides=_tuple(strides) * 2,
        padding=padding,
        data_format=data_format,
        dilation_rate=(1, *_tuple(dilation_rate)),
    )
    return array.squeeze(result, [axis])


# ---- pools ----


def _pool(
    x: Any,
    pools: dict[str, Any],
    pool_size: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    pool_mode: str,
) -> Tensor:
    data_format = standard_data_format(data_format)
    padding = _op_padding(padding)
    if pool_mode not in pools:
        raise ValueError("Invalid pooling mode: " + str(pool_mode))
    return pools[pool_mode](
        x,
        _whole(pool_size, data_format),
        _whole(strides, data_format),
        padding=padding,
        data_format=op_format(data_format, len(pool_size) + 2),
    )


def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """The largest element ("max") or the mean ("avg") of every window of the images."""
    pools = {"max": nn_pool.max_pool, "avg": nn_pool.avg_pool}
    _pairs(pool_size, "pool_size"), _pairs(strides, "strides")
    return _pool(x, pools, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """As `pool2d`, for volumes."""
    pools = {"max": nn_pool.max_pool3d, "avg": nn_pool.avg_pool3d}
    return _pool(x, pools, pool_size, strides, padding, data_format, pool_mode)


# ---- weights that are not shared ----


def local_conv(
    inputs: Any,
    kernel: Any,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: str | None = None,
) -> Tensor:
    """A convolution whose kernel is another one at each position: (position, features, out)."""
    first = standard_data_format(data_format) == "channels_first"
    kernel_shape = int_shape(kernel)
    output_shape = tuple(int(d) for d in output_shape)
    rank = len(output_shape)
    windows = []
    for position in itertools.product(*(range(size) for size in output_shape)):
        window = [
            slice(at * stride, at * stride + size)
            for at, stride, size in zip(position, strides, kernel_size, strict=True)
        ]
        everything = slice(None)
        index = (everything, everything, *window) if first else (everything, *window, everything)
        windows.append(array.reshape(inputs[index], (1, -1, kernel_shape[1])))
    output = batch_dot(concatenate(windows, axis=0), kernel)
    output = array.reshape(output, (*output_shape, -1, kernel_shape[-1]))
    spatial = list(range(rank))
    order = [rank, rank + 1, *spatial] if first else [rank, *spatial, rank + 1]
    return array.transpose(output, perm=order)


def local_conv1d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None
) -> Tensor:
    """A convolution over sequences in which every place has weights of its own."""
    return local_conv(inputs, kernel, kernel_size, strides, kernel.shape[:1], data_format)


def local_conv2d(
    inputs: Any,
    kernel: Any,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: str | None = None,
) -> Tensor:
    """A convolution over images in which every place has weights of its own."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


# ---- biases ----


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Tensor:
    """Adds a bias for each channel, or one for each position and channel."""
    data_format = standard_data_format(data_format)
    shape = int_shape(bias)
    rank = ndim(x)
    if len(shape) not in (1, rank - 1):
        raise ValueError(
            f"Unexpected bias dimensions {len(shape)}, expect to be 1 or {rank} dimensions"
        )
    if len(shape) == 1 and rank not in (3, 5):
        first = rank == 4 and data_format == "channels_first"
        return nn_impl.bias_add(x, bias, data_format="NCHW" if first else "NHWC")
    positions = shape[:-1] or (1,) * (rank - 2)
    if data_format == "channels_first":
        return x + array.reshape(bias, (1, shape[-1], *positions))
    return x + array.reshape(bias, (1, *positions, shape[-1]))
