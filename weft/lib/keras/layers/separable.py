"""Convolutions of each channel on its own, with or without a mix of the channels after it."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.convolutional import BASE_ONLY, Conv, Conv2D
from weft.lib.keras.layers.settings import record, take_named, weight
from weft.ops.array import array
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import dilated as nn_dilated


class SeparableConv(Conv):
    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            rank,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        take_named(self, locals())

    def _make_kernels(self, channels: int) -> None:
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.depthwise_kernel = weight(self, "depthwise_kernel", shape, "depthwise")
        shape = (*(1,) * self.rank, self.depth_multiplier * channels, self.filters)
        self.pointwise_kernel = weight(self, "pointwise_kernel", shape, "pointwise")

    def _make_operation(self, input_dims: Any) -> None:
        """None: `call` has functions of its own."""

    def get_config(self) -> dict[str, Any]:
        keys = (
            "depth_multiplier depthwise_initializer pointwise_initializer depthwise_regularizer "
            "pointwise_regularizer depthwise_constraint pointwise_constraint"
        )
        return {**super().get_config(), **record(self, keys)}


class SeparableConv1D(SeparableConv):
    """A separable convolution over sequences."""

    @with_parameters_of(SeparableConv.__init__, without=BASE_ONLY)
    def __init__(self, **settings: Any) -> None:
        super().__init__(rank=1, **settings)

    def call(self, inputs: Any) -> Any:
        inputs = self._padded(inputs)
        # Sequences as images of height 1.
        axis = 2 if self.data_format == "channels_first" else 1
        order = windows.op_format(self.data_format, 4)
        outputs = nn_dilated.separable_conv2d(
            array.expand_dims(inputs, axis),
            array.expand_dims(self.depthwise_kernel, 0),
            array.expand_dims(self.pointwise_kernel, 0),
            strides=windows.joined(1, self.strides * 2, 1, self.data_format),
            padding=self._op_padding(),
            rate=(1, *self.dilation_rate),
            data_format=order,
        )
        if self.use_bias:
            outputs = nn_impl.bias_add(outputs, self.bias, data_format=order)
        outputs = array.squeeze(outputs, [axis])
        return outputs if self.activation is None else self.activation(outputs)


class SeparableConv2D(SeparableConv):
    """A separable convolution over images."""

    @with_parameters_of(
        SeparableConv.__init__, without=BASE_ONLY, strides=(1, 1), dilation_rate=(1, 1)
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(rank=2, **settings)

    def call(self, inputs: Any) -> Any:
        outputs = nn_dilated.separable_conv2d(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=windows.joined(1, self.strides, 1, self.data_format),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=windows.op_format(self.data_format, 4),
        )
        return self._finished(outputs)


class DepthwiseConv2D(Conv2D):
    """Every channel of the images convolved with filters of its own."""

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            None,
            kernel_size,
            strides,
            padding,
            data_format,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        take_named(self, locals())

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.ndims is None or shape.ndims < 4:
            raise ValueError(
                "Inputs to `DepthwiseConv2D` should have rank 4. Received input shape:", str(shape)
            )
        if shape.as_list()[windows.channel_axis(self.data_format)] is None:
            raise ValueError(
                "The channel dimension of the inputs to `DepthwiseConv2D` should be defined. "
                "Found `None`."
            )
        super().build(shape)

    def _make_kernels(self, channels: int) -> None:
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.depthwise_kernel = weight(self, "depthwise_kernel", shape, "depthwise")

    def _make_operation(self, input_dims: Any) -> None:
        """None: `call` has functions of its own."""

    def _depth(self, channels: int) -> int:
        return channels * self.depth_multiplier

    def call(self, inputs: Any) -> Any:
        outputs = nn_dilated.depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=windows.joined(1, self.strides, 1, self.data_format),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=windows.op_format(self.data_format, 4),
        )
        return self._finished(outputs)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        for key in ("filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint"):
            del config[key]
        keys = "depth_multiplier depthwise_initializer depthwise_regularizer depthwise_constraint"
        return {**config, **record(self, keys)}


SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
