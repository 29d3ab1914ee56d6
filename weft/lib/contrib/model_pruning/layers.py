"""Layers and cells whose weights have masks."""

from __future__ import annotations

from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.layers import utils
from weft.lib.contrib.layers.initializers import XAVIER, ZEROS
from weft.lib.contrib.model_pruning import masks
from weft.lib.layers.convolutional import Conv2D
from weft.lib.layers.core import Dense
from weft.lib.rnn.basic_cells import BasicLSTMCell, LSTMCell
from weft.ops.nn.activations import relu


class _Masked:
    """A layer that multiplies its weights, an attribute of it, with a mask."""

    weights_are = "kernel"

    def build(self: Any, input_shape: Any) -> None:
        """Makes the mask and its threshold beside the weights."""
        super().build(input_shape)  # type: ignore[misc]
        weights = getattr(self, self.weights_are)
        self.built = False
        self.mask, self.threshold = (
            self.add_variable(name, shape=shape, dtype=self.dtype, **masks.VARIABLES[name])
            for name, shape in (("mask", weights.shape), ("threshold", []))
        )
        self.masked_kernel = masks.masked(self.mask, weights, self.threshold)
        self.built = True

    def call(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The layer, with the masked weights in the place of all."""
        own = vars(self)
        whole = own[self.weights_are]
        own[self.weights_are] = self.masked_kernel
        try:
            return super().call(inputs, *args, **kwargs)  # type: ignore[misc]
        finally:
            own[self.weights_are] = whole


class MaskedConv2D(_Masked, Conv2D):
    """A convolution with masked weights."""


class MaskedFullyConnected(_Masked, Dense):
    """A dense layer with masked weights."""


class MaskedBasicLSTMCell(_Masked, BasicLSTMCell):
    """A basic LSTM cell with masked weights."""

    weights_are = "_kernel"


class MaskedLSTMCell(_Masked, LSTMCell):
    """An LSTM cell with masked weights, but for those of a projection."""

    weights_are = "_kernel"


@add_arg_scope
def masked_convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = relu,
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
    """`tf.contrib.layers.conv2d` with masked weights."""
    given = dict(locals())
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")

    def make(images: Tensor, **settings: Any) -> MaskedConv2D:
        if images.shape.ndims != 4:
            rank = images.shape.ndims
            raise ValueError("Sparse Convolution not supported for input with rank", rank)
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError("Unsupported data format", data_format)
        order = utils.layer_format(data_format)
        return MaskedConv2D(
            num_outputs, kernel_size, stride, padding, order, dilation_rate=rate, **settings
        )

    return utils.weighted(given, "Conv", make)


masked_conv2d = masked_convolution


@add_arg_scope
def masked_fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = relu,
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
    """`tf.contrib.layers.fully_connected` with masked weights."""
    given = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")

    def make(_: Tensor, **settings: Any) -> MaskedFullyConnected:
        return MaskedFullyConnected(num_outputs, **settings)

    return utils.weighted(given, "fully_connected", make)
