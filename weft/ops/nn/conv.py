"""tf.nn's convolutions, transposed and depthwise ones; 1-D ones are 2-D ones of height 1.

Strides and dilations may be given for the spatial axes only; `per_axis` completes them.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import concat, deprecated_alias, expand_dims, squeeze
from weft.ops.array.reverse import reverse
from weft.ops.kit.declare import public
from weft.ops.nn import conv_nodes  # noqa: F401  (declares the operations)

Ones = (1, 1, 1, 1)


# ---- arguments --------------------------------------------------------------------------------


def per_axis(value: Any, n: int, channel_index: int, name: str) -> list[Any]:
    """A number, one per spatial axis or one per axis as a list with one per axis."""
    if value is None:
        value = [1]
    elif not isinstance(value, Sized):
        value = [value]
    value = list(value)
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {len(value)}")
    return [1, 1, *value] if channel_index == 1 else [1, *value, 1]


def channel_index(data_format: str, rank: int) -> int:
    return 1 if data_format.startswith("NC") else rank - 1


def _paddings(padding: Any) -> tuple[str, list[int]]:
    """The padding attribute and explicit paddings for a padding given as name or as list."""
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, '
            "the padding parameter must be a list."
        )
    if not isinstance(padding, list | tuple):
        return padding, []
    explicit: list[int] = []
    start = "When padding is a list, each element of padding must be a list/tuple of size 2. "
    for i, pair in enumerate(padding):
        if not isinstance(pair, list | tuple):
            raise ValueError(f"{start}Element with index {i} of padding is not a list/tuple")
        if len(pair) != 2:
            raise ValueError(f"{start}Element with index {i} of padding has size {len(pair)}")
        explicit += pair
    if len(padding) != 4:
        raise ValueError(
            f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}"
        )
    return "EXPLICIT", explicit


def given(**attrs: Any) -> dict[str, Any]:
    """Without those left to their defaults."""
    return {name: value for name, value in attrs.items() if value is not None}


# ---- two dimensions ---------------------------------------------------------------------------


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = Ones,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The 2-D convolution (cross-correlation) of images with filters [height, width, in, out].

    Args:
        input: images [batch, height, width, channels].
        filter: weights [height, width, channels, outputs].
        strides: how far the window moves: one number, two, or one for each of the four dimensions.
        padding: "SAME", "VALID", or what to add before and after each dimension.
        use_cudnn_on_gpu: not used.
        data_format: "NHWC", or "NCHW" for channels first.
        dilations: the distance between the pixels that neighbouring weights see.
        name: of the operation.
        filters: a newer name of `filter`.

    Returns:
        Images [batch, height, width, outputs] of the type of `input`.

    Raises:
        ValueError: the shapes do not fit, or an argument is unknown.

    Example:
        >>> images, weights = tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 1])
        >>> sums = tf.nn.conv2d(images, weights, strides=1, padding="VALID")
        >>> session.run(sums)[0, :, :, 0]
        array([[9., 9.],
               [9., 9.]], dtype=float32)
    """
    filter = deprecated_alias("filters", filters, "filter", filter)
    padding, explicit = _paddings(padding)
    data_format = data_format or "NHWC"
    channel = channel_index(data_format, 4)
    return raw.Conv2D(
        input,
        filter,
        strides=per_axis(strides, 2, channel, "strides"),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=per_axis(dilations, 2, channel, "dilations"),
        name=name,
    )


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = Ones,
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv2d` for its filter."""
    padding, explicit = _paddings(padding)
    return raw.Conv2DBackpropFilter(
        input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu, explicit,
        data_format, list(dilations), name=name,
    )  # fmt: skip


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = Ones,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The gradient of `conv2d` for its input."""
    filter = deprecated_alias("filters", filters, "filter", filter)
    padding, explicit = _paddings(padding)
    return raw.Conv2DBackpropInput(
        input_sizes, filter, out_backprop, strides, padding, use_cudnn_on_gpu, explicit,
        data_format, list(dilations), name=name,
    )  # fmt: skip


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `conv2d`: maps what it returns back to the shape of its input.

    Args:
        value: images [batch, height, width, channels].
        filter: weights [height, width, outputs, channels].
        output_shape: the shape of the result.
        strides: those of the convolution that is transposed.
        padding: "SAME", "VALID", or what to add before and after each dimension.
        data_format: "NHWC", or "NCHW" for channels first.
        name: of the operation.
        input, filters: newer names of `value` and `filter`.
        dilations: those of the convolution.

    Returns:
        Images of shape `output_shape`.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> x, w = tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1])
        >>> session.run(tf.nn.conv2d_transpose(x, w, [1, 4, 4, 1], strides=2))[0, :, :, 0]
        array([[1., 1., 1., 1.],
               [1., 1., 1., 1.],
               [1., 1., 1., 1.],
               [1., 1., 1., 1.]], dtype=float32)
    """
    value = deprecated_alias("input", input, "value", value)
    filter = deprecated_alias("filters", filters, "filter", filter)
    with (
        name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name,
        name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name,
    ):
        return _transposed(
            raw.Conv2DBackpropInput, 2, (output_shape, filter, value), strides, dilations,
            padding=padding, data_format=data_format or "NHWC", name=name,
        )  # fmt: skip


def _transposed(
    definition: Any,
    count: int,
    inputs: tuple[Any, ...],
    strides: Any,
    dilations: Any,
    data_format: str,
    **attrs: Any,
) -> Tensor:
    """The gradient of a convolution of `count` dimensions for its input, with strides and
    dilations as wrappers take them."""
    channel = channel_index(data_format, count + 2)
    return definition(
        *inputs,
        strides=per_axis(strides, count, channel, "strides"),
        dilations=per_axis(dilations, count, channel, "dilations"),
        data_format=data_format,
        **attrs,
    )


# ---- one dimension ----------------------------------------------------------------------------


def _flat_format(data_format: str | None, names: tuple[str, str]) -> tuple[str, int]:
    """The 2-D data format for a 1-D one, and where the axis of size 1 goes."""
    if data_format is None or data_format in (names[0], "NWC"):
        return "NHWC", 1
    if data_format in (names[1], "NCW"):
        return "NCHW", 2
    raise ValueError('data_format must be "NWC" or "NCW".')


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The 1-D convolution of sequences with filters [width, in, out].

    Args:
        value: sequences [batch, length, channels].
        filters: weights [width, channels, outputs].
        stride: how far the window moves.
        padding: "SAME" or "VALID".
        use_cudnn_on_gpu: not used.
        data_format: "NWC", or "NCW" for channels first.
        name: of the operation.
        input: a newer name of `value`.
        dilations: the distance between the places that neighbouring weights see.

    Returns:
        Sequences [batch, length, outputs].

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> sequence = [[[1.0], [2.0], [3.0]]]
        >>> sums = tf.nn.conv1d(sequence, tf.ones([2, 1, 1]), stride=1, padding="VALID")
        >>> session.run(sums)[0, :, 0]
        array([3., 5.], dtype=float32)
    """
    value = deprecated_alias("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        data_format, axis = _flat_format(data_format, ("NHWC", "NCHW"))
        channel = channel_index(data_format, 3)
        result = raw.Conv2D(
            expand_dims(value, axis),
            expand_dims(filters, 0),
            strides=[1, *per_axis(stride, 1, channel, "stride")],
            padding=padding,
            data_format=data_format,
            dilations=[1, *per_axis(dilations, 1, channel, "dilations")],
            name=name,
            **given(use_cudnn_on_gpu=use_cudnn_on_gpu),
        )
        return squeeze(result, [axis])


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        data_format, axis = _flat_format(data_format, ("NWC", "NCW"))
        channel = channel_index(data_format, 3)
        strides = [1, *per_axis(strides, 1, channel, "stride")]
        dilations = [1, *per_axis(dilations, 1, channel, "dilations")]
        sizes = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        images, windows = expand_dims(input, axis), expand_dims(filters, 0)
        result = raw.Conv2DBackpropInput(
            concat([sizes[:axis], [1], sizes[axis:]], 0),
            windows,
            images,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return squeeze(result, axis)


# ---- three dimensions -------------------------------------------------------------------------


def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: str | None = None,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The 3-D convolution of volumes with filters [depth, height, width, in, out]."""
    filter = deprecated_alias("filters", filters, "filter", filter)
    attrs = given(data_format=data_format, dilations=dilations and list(dilations))
    return raw.Conv3D(input, filter, strides=strides, padding=padding, name=name, **attrs)


conv3d_backprop_filter_v2 = public(
    "conv3d_backprop_filter_v2",
    "Conv3DBackpropFilterV2",
    "The gradient of `conv3d` for its filter.",
    "input, filter_sizes, out_backprop, strides, padding, data_format, dilations",
)
conv3d_backprop_filter = conv3d_backprop_filter_v2


def conv3d_transpose(
    value: Any,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `conv3d`."""
    filter = deprecated_alias("filters", filters, "filter", filter)
    value = deprecated_alias("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as name:
        return _transposed(
            raw.Conv3DBackpropInputV2, 3, (output_shape, filter, value), strides, dilations,
            padding=padding, data_format=data_format or "NDHWC", name=name,
        )  # fmt: skip


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transposed convolution of one, two or three dimensions, as `output_shape` says."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as name:
        if isinstance(output_shape, Tensor):
            length = output_shape.dims[0] if output_shape.dims else None
        elif isinstance(output_shape, Sized):
            length = len(output_shape)
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if length not in (3, 4, 5):
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {length}.")
        options = {"padding": padding, "data_format": data_format, "dilations": dilations}
        if length == 3:
            return conv1d_transpose(input, filters, output_shape, strides, name=name, **options)
        transposed = conv2d_transpose if length == 4 else conv3d_transpose
        return transposed(input, filters, output_shape, strides, name=name, **options)


# ---- depthwise --------------------------------------------------------------------------------


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    dilations: Any = Ones,
    name: str | None = None,
) -> Tensor:
    """Every channel convolved with its own filters [height, width, channels, multiplier]."""
    return raw.DepthwiseConv2dNative(
        input,
        filter,
        strides=strides,
        padding=padding,
        dilations=list(dilations),
        name=name,
        **given(data_format=data_format),
    )


depthwise_conv2d_native_backprop_input = public(
    "depthwise_conv2d_native_backprop_input",
    "DepthwiseConv2dNativeBackpropInput",
    "The gradient of `depthwise_conv2d_native` for its input.",
    "input_sizes, filter, out_backprop, strides, padding, data_format, dilations",
)
depthwise_conv2d_native_backprop_filter = public(
    "depthwise_conv2d_native_backprop_filter",
    "DepthwiseConv2dNativeBackpropFilter",
    "The gradient of `depthwise_conv2d_native` for its filter.",
    "input, filter_sizes, out_backprop, strides, padding, data_format, dilations",
)
depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter


# ---- morphology -------------------------------------------------------------------------------


def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: str | None = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The largest sum of image and filter under each window."""
    filter = deprecated_alias("filters", filters, "filter", filter)
    rates = deprecated_alias("dilations", dilations, "rates", rates)
    return raw.Dilation2D(input, filter, strides=strides, rates=rates, padding=padding, name=name)


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """The smallest difference of image and kernel under each window."""
    with name_scope(name, "erosion2d", [value, kernel]) as name:
        turned, mirrored = raw.Neg(value), reverse(kernel, [0, 1])
        dilated = raw.Dilation2D(
            turned, mirrored, strides=strides, rates=rates, padding=padding, name=name
        )
        return raw.Neg(dilated)
