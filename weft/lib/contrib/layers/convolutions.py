"""Convolutions with normalizer and activation, under names of their own: `Conv/weights`."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from weft.core.signatures import with_parameters_of
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.framework.variables import model_variable
from weft.lib.contrib.layers import utils
from weft.lib.contrib.layers.initializers import XAVIER, ZEROS
from weft.lib.layers import convolutional, separable, transposed
from weft.ops.array import array
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import dilated as nn_dilated
from weft.ops.state import variable_scope as vs

_LAYERS: dict[int, Any] = {
    3: convolutional.Conv1D,
    4: convolutional.Conv2D,
    5: convolutional.Conv3D,
}
_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def _convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = nn_impl.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    conv_dims: int | None = None,
) -> Tensor:
    """A convolution of as many dimensions as the inputs have, one bias or a normalizer."""
    arguments = dict(locals())
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")

    def make(inputs: Tensor, **settings: Any) -> Any:
        rank = inputs.shape.ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _LAYERS:
            raise ValueError("Convolution not supported for input with rank", rank)
        return _LAYERS[rank](
            num_outputs,
            kernel_size,
            strides=stride,
            padding=padding,
            data_format=utils.layer_format(data_format),
            dilation_rate=rate,
            **settings,
        )

    return utils.weighted(arguments, "Conv", make)


convolution = add_arg_scope(_convolution)
convolution.__name__ = "convolution"


_CONVOLUTION = """\
A convolution of {dims} dimensions, then a normalizer or biases, then an activation.

Args:
    inputs: a tensor [batch, ..., channels].
    num_outputs: how many channels come out.
    kernel_size, stride, rate: a number, or one for each dimension.
    padding: "SAME" or "VALID".
    data_format: "N...C" or "NC...", with a letter for each dimension; None: channels last.
    activation_fn: None: none.
    normalizer_fn, normalizer_params: a function to use instead of biases, and its arguments.
    weights_initializer, biases_initializer: first values; None instead of the latter: no biases.
    weights_regularizer, biases_regularizer: functions whose results join `REGULARIZATION_LOSSES`.
    reuse: whether to share the variables of the scope.
    variables_collections, outputs_collections: graph collections that they join.
    trainable: whether optimizers update the variables.
    scope: the variable scope.

Returns:
    A tensor [batch, ..., num_outputs].

Raises:
    ValueError: the inputs have another rank, or the format is unknown.

Example:
    >>> tf.contrib.layers.{name}(tf.ones({shape}), 4, 3).shape.as_list()
    {result}
"""


def _of_dimensions(name: str, dims: int) -> Callable[..., Tensor]:
    """`convolution` for inputs of `dims` spatial dimensions, with a scope of its own."""

    @with_parameters_of(_convolution, without=("conv_dims",))
    def convolve(**arguments: Any) -> Tensor:
        return _convolution(**arguments, conv_dims=dims)

    convolve.__name__ = convolve.__qualname__ = name
    convolve.__doc__ = _CONVOLUTION.format(
        name=name.replace("convolution", "conv"), dims=dims, shape=[1, *[8] * dims, 3],
        result=[1, *[8] * dims, 4],
    )  # fmt: skip
    return add_arg_scope(convolve)


convolution1d = _of_dimensions("convolution1d", 1)
convolution2d = _of_dimensions("convolution2d", 2)
convolution3d = _of_dimensions("convolution3d", 3)


def _transposed(layer_class: Any, name: str, scope_name: str, formats: tuple[str, str]) -> Any:
    @with_parameters_of(_convolution, without=("rate", "conv_dims"), data_format=formats[1])
    def convolve(**arguments: Any) -> Tensor:
        """The transpose of a convolution, with normalizer and activation."""
        given = SimpleNamespace(**arguments)

        def make(inputs: Tensor, **settings: Any) -> Any:
            utils.check_format(given.data_format, *formats)
            return layer_class(
                given.num_outputs,
                given.kernel_size,
                strides=given.stride,
                padding=given.padding,
                data_format=utils.layer_format(given.data_format),
                **settings,
            )

        return utils.weighted(arguments, scope_name, make)

    convolve.__name__ = convolve.__qualname__ = name
    return add_arg_scope(convolve)


convolution2d_transpose = _transposed(
    transposed.Conv2DTranspose, "convolution2d_transpose", "Conv2d_transpose", ("NCHW", "NHWC")
)
convolution3d_transpose = _transposed(
    transposed.Conv3DTranspose, "convolution3d_transpose", "Conv3d_transpose", ("NCDHW", "NDHWC")
)


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = nn_impl.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """Each channel on its own, then a mix of them; with `num_outputs` None, no mix."""
    utils.check_format(data_format, "NCHW", "NHWC")
    renamed = {
        "bias": "biases",
        "depthwise_kernel": "depthwise_weights",
        "pointwise_kernel": "pointwise_weights",
    }
    with utils.layer_scope(scope, "SeparableConv2d", inputs, reuse, renamed) as opened:
        inputs = convert_to_tensor(inputs)
        if num_outputs is None:
            outputs = _depthwise(
                inputs,
                kernel_size,
                depth_multiplier,
                stride,
                padding,
                data_format,
                rate,
                weights=(weights_initializer, weights_regularizer),
                biases=None if normalizer_fn else (biases_initializer, biases_regularizer),
                collections=variables_collections,
                trainable=trainable,
            )
        else:
            layer = separable.SeparableConv2D(
                num_outputs,
                kernel_size,
                strides=stride,
                padding=padding,
                data_format=utils.layer_format(data_format),
                dilation_rate=utils.two_element_tuple(rate),
                depth_multiplier=depth_multiplier,
                use_bias=not normalizer_fn and bool(biases_initializer),
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer,
                depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                **utils.placed(inputs, opened, reuse, trainable),
            )
            outputs = layer.apply(inputs)
            for kernel in (layer.depthwise_kernel, layer.pointwise_kernel):
                utils.add_variable_to_collections(kernel, variables_collections, "weights")
            utils.add_variable_to_collections(layer.bias, variables_collections, "biases")
        return utils.finished(
            outputs,
            opened.name,
            outputs_collections,
            activation_fn,
            normalizer_fn,
            normalizer_params,
        )


def _depthwise(
    inputs: Tensor,
    kernel_size: Any,
    depth_multiplier: int,
    stride: Any,
    padding: str,
    data_format: str,
    rate: Any,
    weights: tuple[Any, Any],
    biases: tuple[Any, Any] | None,
    collections: Any,
    trainable: bool,
) -> Tensor:
    """The first half of a separable convolution, with a bias unless `biases` is None."""
    channels = utils.channel_dimension(inputs.shape, utils.layer_format(data_format), min_rank=4)
    made = _variable(
        "depthwise_weights",
        [*utils.two_element_tuple(kernel_size), channels, depth_multiplier],
        inputs,
        weights,
        collections,
        trainable,
    )
    steps = utils.two_element_tuple(stride)
    first = data_format.startswith("NC")
    outputs = nn_dilated.depthwise_conv2d(
        inputs,
        made,
        [1, 1, *steps] if first else [1, *steps, 1],
        padding,
        rate=utils.two_element_tuple(rate),
        data_format=data_format,
    )
    if biases is None or biases[0] is None:
        return outputs
    added = _variable(
        "biases",
        [depth_multiplier * channels],
        inputs,
        biases,
        collections,
        trainable,
    )
    return nn_impl.bias_add(outputs, added, data_format=data_format)


def _variable(
    name: str,
    shape: list[int],
    like: Tensor,
    start: tuple[Any, Any],
    collections: Any,
    trainable: bool,
) -> Any:
    """A variable of the model; `start` is how to initialize and how to regularize it."""
    initializer, regularizer = start
    return model_variable(
        name,
        shape=shape,
        dtype=like.dtype.base_dtype,
        initializer=initializer,
        regularizer=regularizer,
        collections=utils.get_variable_collections(collections, name.rpartition("_")[2]),
        trainable=trainable,
    )


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Any = nn_impl.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """The same small kernel on every channel by itself."""
    with vs.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as opened:
        channels = utils.last_dimension(inputs.shape, min_rank=4)
        weights = _variable(
            "weights",
            [*utils.two_element_tuple(kernel_size), 1, 1],
            inputs,
            (weights_initializer, weights_regularizer),
            variables_collections,
            trainable,
        )
        outputs = nn_dilated.depthwise_conv2d(
            inputs,
            array.tile(weights, [1, 1, channels, 1]),
            [1, *utils.two_element_tuple(stride), 1],
            padding,
        )
        if normalizer_fn is None and biases_initializer is not None:
            biases = _variable(
                "biases",
                [channels],
                inputs,
                (biases_initializer, biases_regularizer),
                variables_collections,
                trainable,
            )
            outputs = nn_impl.bias_add(outputs, biases)
        return utils.finished(
            outputs,
            opened.name,
            outputs_collections,
            activation_fn,
            normalizer_fn,
            normalizer_params,
        )


conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d
conv2d_transpose, conv3d_transpose = convolution2d_transpose, convolution3d_transpose
conv2d_in_plane, separable_conv2d = convolution2d_in_plane, separable_convolution2d
