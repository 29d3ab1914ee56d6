"""tf.nn's pooling functions, of one to three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import OpDef, raw
from weft.ops.array import deprecated_alias, expand_dims, squeeze
from weft.ops.nn_conv import channel_index, per_axis
from weft.ops.nn_dilated import check_strides_and_rates, with_space_to_batch


def _pool(
    op: OpDef,
    x: Any,
    n: int,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str,
    name: str | None,
) -> Tensor:
    channel = channel_index(data_format, n + 2)
    return op(
        x,
        ksize=per_axis(ksize, n, channel, "ksize"),
        strides=per_axis(strides, n, channel, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


def _pool1d(
    op: OpDef,
    x: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    """As a pool over images of height 1."""
    data_format = data_format or "NWC"
    channel = channel_index(data_format, 3)
    axis = 1 if data_format == "NWC" else 2
    result = op(
        expand_dims(x, axis),
        ksize=[1, *per_axis(ksize, 1, channel, "ksize")],
        strides=[1, *per_axis(strides, 1, channel, "strides")],
        padding=padding,
        data_format="NHWC" if data_format == "NWC" else "NCHW",
        name=name,
    )
    return squeeze(result, axis)


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The mean of every window of the images."""
    with name_scope(name, "AvgPool", [value]) as name:
        value = deprecated_alias("input", input, "value", value)
        order = data_format or "NHWC"
        return _pool(raw.AvgPool, value, 2, ksize, strides, padding, order, name)


avg_pool2d = avg_pool


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of the sequences."""
    with name_scope(name, "AvgPool1D", [input]) as name:
        return _pool1d(raw.AvgPool, input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of the volumes."""
    with name_scope(name, "AvgPool3D", [input]) as name:
        order = data_format or "NDHWC"
        return _pool(raw.AvgPool3D, input, 3, ksize, strides, padding, order, name)


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The maximum of every window of the images."""
    value = deprecated_alias("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        order = data_format or "NHWC"
        if 0 in per_axis(ksize, 2, channel_index(order, 4), "ksize"):
            raise ValueError("ksize cannot be zero.")
        return _pool(raw.MaxPool, value, 2, ksize, strides, padding, order, name)


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of the sequences."""
    with name_scope(name, "MaxPool1d", [input]) as name:
        return _pool1d(raw.MaxPool, input, ksize, strides, padding, data_format, name)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of the images."""
    with name_scope(name, "MaxPool2d", [input]) as name:
        order = data_format or "NHWC"
        return _pool(raw.MaxPool, input, 2, ksize, strides, padding, order, name)


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of the volumes."""
    with name_scope(name, "MaxPool3D", [input]) as name:
        order = data_format or "NDHWC"
        return _pool(raw.MaxPool3D, input, 3, ksize, strides, padding, order, name)


def _rank_of(input: Any, data_format: str | None) -> int:
    """Spatial dimensions of a pool whose input or data format tells."""
    dims = input.dims if isinstance(input, Tensor) else np.shape(input)
    if dims is None and data_format is None:
        raise ValueError("The input must have a rank or a data format must be given.")
    n = (len(data_format or "") if dims is None else len(dims)) - 2
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
    return n


def avg_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of every window, of as many dimensions as `input` has."""
    n = _rank_of(input, data_format)
    if n == 1:
        return avg_pool1d(input, ksize, strides, padding, data_format, name)
    op, order = (raw.AvgPool, "NHWC") if n == 2 else (raw.AvgPool3D, "NDHWC")
    return _pool(op, input, n, ksize, strides, padding, data_format or order, name)


def max_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of every window, of as many dimensions as `input` has."""
    n = _rank_of(input, data_format)
    if n == 1:
        return max_pool1d(input, ksize, strides, padding, data_format, name)
    op, order = (raw.MaxPool, "NHWC") if n == 2 else (raw.MaxPool3D, "NDHWC")
    return _pool(op, input, n, ksize, strides, padding, data_format or order, name)


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
        first = 2 if data_format is not None and data_format.startswith("NC") else 1
        largest = pooling_type == "MAX"
        flat, deep = (max_pool, max_pool3d) if largest else (avg_pool, avg_pool3d)

        def op(x: Any, _: int, padding: str) -> Tensor:
            size, step = [int(w) for w in window_shape], [int(v) for v in steps]
            if n == 3:
                return deep(x, size, step, padding, data_format, name=scope)
            if n == 2:
                return flat(x, size, step, padding, data_format, name=scope)
            order = "NCHW" if data_format == "NCW" else "NHWC"
            size, step = [1, *size], [1, *step]
            result = flat(expand_dims(x, first), size, step, padding, order, name=scope)
            return squeeze(result, [first])

        return with_space_to_batch(
            input,
            rates,
            padding,
            op,
            filter_shape=list(window_shape),
            spatial_dims=range(first, n + first),
        )
