"""Convolutions over sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.layers import named, windows
from weft.layers.base import Layer
from weft.layers.functional import functional
from weft.layers.input_spec import InputSpec
from weft.ops import array_pad, array_shape, nn_dilated, nn_impl
from weft.ops.initializers import zeros_initializer

ZEROS = zeros_initializer()


class Conv(Layer):
    """A convolution of `rank` spatial dimensions, with bias and activation."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.filters = filters
        self.kernel_size = windows.normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = windows.normalize_tuple(strides, self.rank, "strides")
        self.padding = windows.normalize_padding(padding)
        if self.padding == "causal" and self.rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = windows.normalize_data_format(data_format)
        self.dilation_rate = windows.normalize_tuple(dilation_rate, self.rank, "dilation_rate")
        self.activation = named.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = named.initializer(kernel_initializer)
        self.bias_initializer = named.initializer(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.bias: Any = None
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: Any) -> None:
        channels = windows.known_channels(TensorShape(input_shape), self.data_format)
        self._make_kernels(channels)
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=(self.filters,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
                dtype=self.dtype,
            )
        self.input_spec = InputSpec(
            ndim=self.rank + 2, axes={windows.channel_axis(self.data_format): channels}
        )
        self.built = True

    def _make_kernels(self, channels: int) -> None:
        self.kernel = self._make_kernel("kernel", (*self.kernel_size, channels, self.filters))

    def _make_kernel(self, name: str, shape: Any) -> Any:
        """A weight with the initializer, regularizer and constraint of its `name`."""
        return self.add_weight(
            name,
            shape=shape,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
            dtype=self.dtype,
        )

    def call(self, inputs: Any) -> Any:
        padding = self.padding
        if padding == "causal":
            inputs, padding = array_pad.pad(inputs, self._causal_padding()), "valid"
        outputs = nn_dilated.convolve(
            inputs,
            self.kernel,
            padding if isinstance(padding, (list, tuple)) else padding.upper(),
            self.strides,
            self.dilation_rate,
            data_format=windows.op_format(self.data_format, self.rank + 2),
        )
        return self._activated(self._with_bias(outputs))

    def _with_bias(self, outputs: Tensor) -> Tensor:
        if not self.use_bias:
            return outputs
        if self.data_format == "channels_last":
            return nn_impl.bias_add(outputs, self.bias, data_format="NHWC")
        if self.rank == 1:
            return outputs + array_shape.reshape(self.bias, (1, self.filters, 1))
        return nn_impl.bias_add(outputs, self.bias, data_format="NCHW")

    def _activated(self, outputs: Tensor) -> Any:
        return outputs if self.activation is None else self.activation(outputs)

    def _causal_padding(self) -> list[list[int]]:
        """So that an output sees no later input."""
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        return windows.joined([0, 0], [[before, 0]], [0, 0], self.data_format)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        space = [
            windows.output_length(length, window, self.padding, stride, rate)
            for length, window, stride, rate in zip(
                windows.spatial(dims, self.data_format),
                self.kernel_size,
                self.strides,
                self.dilation_rate,
                strict=True,
            )
        ]
        return TensorShape(windows.joined(dims[0], space, self.filters, self.data_format))

    def get_config(self) -> dict[str, Any]:
        plain = (
            "filters kernel_size strides padding data_format dilation_rate use_bias "
            "kernel_regularizer bias_regularizer activity_regularizer kernel_constraint "
            "bias_constraint"
        )
        return {
            **super().get_config(),
            **{key: getattr(self, key) for key in plain.split()},
            "activation": named.activation_name(self.activation),
            "kernel_initializer": named.initializer_config(self.kernel_initializer),
            "bias_initializer": named.initializer_config(self.bias_initializer),
        }


class Conv1D(Conv):
    """A convolution over sequences."""

    rank = 1


class Conv2D(Conv):
    """A convolution over images."""

    rank = 2


class Conv3D(Conv):
    """A convolution over volumes."""

    rank = 3


conv1d = functional(Conv1D, "conv1d", "A convolution over sequences, applied to `inputs`.")
conv2d = functional(
    Conv2D,
    "conv2d",
    "A convolution over images, applied to `inputs`.",
    strides=(1, 1),
    dilation_rate=(1, 1),
)
conv3d = functional(
    Conv3D,
    "conv3d",
    "A convolution over volumes, applied to `inputs`.",
    strides=(1, 1, 1),
    dilation_rate=(1, 1, 1),
)
