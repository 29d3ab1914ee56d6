"""tf.nn's pooling functions, of one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import deprecated_alias, expand_dims, squeeze
from weft.ops.nn.conv import channel_index, per_axis
from weft.ops.nn.dilated import check_strides_and_rates, with_space_to_batch

_ORDERS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
_WHAT = {"AvgPool": "mean", "MaxPool": "maximum"}


def _pool(
    kind: str,
    x: Any,
    n: int,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    """Pools `n` dimensions; one dimension as images of height 1."""
    order = data_format or _ORDERS[n]
    channel = channel_index(order, n + 2)
    axis = 1 if order == "NWC" else 2
    if n == 1:
        x, order = expand_dims(x, axis), "NHWC" if order == "NWC" else "NCHW"
    above = [1] if n == 1 else []
    result = getattr(raw, kind + ("3D" if n == 3 else ""))(
        x,
        ksize=above + per_axis(ksize, n, channel, "ksize"),
        strides=above + per_axis(strides, n, channel, "strides"),
        padding=padding,
        data_format=order,
        name=name,
    )
    return squeeze(result, axis) if n == 1 else result


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The mean of every window of the images.

    Args:
        value: images [batch, height, width, channels].
        ksize: the size of the window: one number, two, or one for each dimension.
        strides: how far it moves.
        padding: "SAME" (what is added does not count) or "VALID".
        data_format: "NHWC" or "NCHW".
        name: of the operation.
        input: a newer name of `value`.

    Returns:
        Smaller images of the same type.

    Raises:
        ValueError: the shapes do not fit, or an argument is unknown.

    Example:
        >>> images = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
        >>> session.run(tf.nn.avg_pool(images, 2, 2, "VALID"))[0, :, :, 0]
        array([[ 2.5,  4.5],
               [10.5, 12.5]], dtype=float32)
    """
    with name_scope(name, "AvgPool", [value]) as name:
        value = deprecated_alias("input", input, "value", value)
        return _pool("AvgPool", value, 2, ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The maximum of every window of the images.

    Args:
        value: images [batch, height, width, channels].
        ksize: the size of the window: one number, two, or one for each dimension.
        strides: how far it moves.
        padding: "SAME" or "VALID".
        data_format: "NHWC", "NCHW" or "NCHW_VECT_C".
        name: of the operation.
        input: a newer name of `value`.

    Returns:
        Smaller images of the same type.

    Raises:
        ValueError: the shapes do not fit, or an argument is unknown.

    Example:
        >>> images = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
        >>> session.run(tf.nn.max_pool(images, 2, 2, "VALID"))[0, :, :, 0]
        array([[ 5.,  7.],
               [13., 15.]], dtype=float32)
    """
    value = deprecated_alias("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        if 0 in per_axis(ksize, 2, channel_index(data_format or "NHWC", 4), "ksize"):
            raise ValueError("ksize cannot be zero.")
        return _pool("MaxPool", value, 2, ksize, strides, padding, data_format, name)


def _public(function: str, scope: str, kind: str, n: int) -> Callable[..., Tensor]:
    def pooled(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = _ORDERS[n],
        name: str | None = None,
    ) -> Tensor:
        with name_scope(name, scope, [input]) as name:
            return _pool(kind, input, n, ksize, strides, padding, data_format, name)

    pooled.__name__ = pooled.__qualname__ = function
    inputs = {1: "sequences", 2: "images", 3: "volumes"}[n]
    pooled.__doc__ = f"The {_WHAT[kind]} of every window of the {inputs}."
    return pooled


avg_pool1d = _public("avg_pool1d", "AvgPool1D", "AvgPool", 1)
avg_pool3d = _public("avg_pool3d", "AvgPool3D", "AvgPool", 3)
max_pool1d = _public("max_pool1d", "MaxPool1d", "MaxPool", 1)
max_pool2d = _public("max_pool2d", "MaxPool2d", "MaxPool", 2)
max_pool3d = _public("max_pool3d", "MaxPool3D", "MaxPool", 3)


def _rank_of(input: Any, data_format: str | None) -> int:
    """Spatial dimensions of a pool whose input or data format tells."""
    dims = input.dims if isinstance(input, Tensor) else np.shape(input)
    if dims is None and data_format is None:
        raise ValueError("The input must have a rank or a data format must be given.")
    n = (len(data_format or "") if dims is None else len(dims)) - 2
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
    return n


def _of_any_rank(function: str, kind: str, pool_1d: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def pooled(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        n = _rank_of(input, data_format)
        if n == 1:
            return pool_1d(input, ksize, strides, padding, data_format, name)
        return _pool(kind, input, n, ksize, strides, padding, data_format, name)

    pooled.__name__ = pooled.__qualname__ = function
    pooled.__doc__ = f"The {_WHAT[kind]} of every window, of as many dimensions as `input` has."
    return pooled


avg_pool_v2 = _of_any_rank("avg_pool_v2", "AvgPool", avg_pool1d)
max_pool_v2 = _of_any_rank("max_pool_v2", "MaxPool", max_pool1d)


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:
    """The maximum of every window and where it is in the flattened image."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    index_type = deprecated_alias("output_dtype", output_dtype, "Targmax", Targmax)
    return raw.MaxPoolWithArgmax(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=dtypes.int64 if index_type is None else index_type,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def pool(
    input: Any,
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """MAX or AVG pooling of one to three dimensions, strided or dilated."""
    rates = deprecated_alias("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        n = len(window_shape)
        if not 1 <= n <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.shape.with_rank(n + 2)
        steps, rates = check_strides_and_rates(n, strides, rates)
        _check_pool(window_shape, pooling_type, padding, rates, steps, data_format)
        first = 2 if data_format is not None and data_format.startswith("NC") else 1
        kind = "MaxPool" if pooling_type == "MAX" else "AvgPool"
        size, step = [int(w) for w in window_shape], [int(v) for v in steps]
        return with_space_to_batch(
            input,
            rates,
            padding,
            lambda x, _, padding: _pool(kind, x, n, size, step, padding, data_format, scope),
            filter_shape=list(window_shape),
            spatial_dims=range(first, n + first),
        )


def _check_pool(
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    rates: np.ndarray,
    steps: np.ndarray,
    data_format: str | None,
) -> None:
    n = len(window_shape)
    if padding == "SAME" and np.any(rates > 1):
        raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
    if np.any(steps > window_shape):
        raise ValueError(
            "strides > window_shape not supported due to inconsistency between CPU and GPU "
            "implementations"
        )
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")
    if n == 1 and data_format not in (None, "NWC", "NCW"):
        raise ValueError('data_format must be either "NWC" or "NCW".')
