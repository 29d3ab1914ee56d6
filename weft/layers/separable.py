"""Separable convolutions: each channel on its own, then a mix of the channels."""

from __future__ import annotations

from typing import Any

from weft.layers import named, windows
from weft.layers.convolutional import ZEROS, Conv
from weft.layers.functional import functional
from weft.ops import array_pad, array_shape, nn_dilated, nn_impl


class _SeparableConv(Conv):
    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = ZEROS,
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
        self.depthwise_initializer = named.initializer(depthwise_initializer)
        self.pointwise_initializer = named.initializer(pointwise_initializer)
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint

    def _make_kernels(self, channels: int) -> None:
        depth = self.depth_multiplier * channels
        self.depthwise_kernel = self._make_part(
            "depthwise", (*self.kernel_size, channels, self.depth_multiplier)
        )
        self.pointwise_kernel = self._make_part(
            "pointwise", ((1,) * self.rank + (depth, self.filters))
        )

    def _make_part(self, part: str, shape: Any) -> Any:
        return self.add_weight(
            f"{part}_kernel",
            shape=shape,
            initializer=getattr(self, f"{part}_initializer"),
            regularizer=getattr(self, f"{part}_regularizer"),
            constraint=getattr(self, f"{part}_constraint"),
            trainable=True,
            dtype=self.dtype,
        )

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        for key in ("kernel_initializer", "kernel_regularizer", "kernel_constraint"):
            del config[key]
        for part in ("depthwise", "pointwise"):
            made = getattr(self, f"{part}_initializer")
            config[f"{part}_initializer"] = named.initializer_config(made)
            config[f"{part}_regularizer"] = getattr(self, f"{part}_regularizer")
            config[f"{part}_constraint"] = getattr(self, f"{part}_constraint")
        return {**config, "depth_multiplier": self.depth_multiplier}


class SeparableConv1D(_SeparableConv):
    """A separable convolution over sequences."""

    rank = 1

    def call(self, inputs: Any) -> Any:
        padding = self.padding
        if padding == "causal":
            inputs, padding = array_pad.pad(inputs, self._causal_padding()), "valid"
        # Sequences as images of height 1.
        axis = 2 if self.data_format == "channels_first" else 1
        outputs = nn_dilated.separable_conv2d(
            array_shape.expand_dims(inputs, axis),
            array_shape.expand_dims(self.depthwise_kernel, 0),
            array_shape.expand_dims(self.pointwise_kernel, 0),
            strides=windows.joined(1, self.strides * 2, 1, self.data_format),
            padding=padding.upper(),
            rate=(1, *self.dilation_rate),
            data_format=windows.op_format(self.data_format, 4),
        )
        if self.use_bias:
            order = windows.op_format(self.data_format, 4)
            outputs = nn_impl.bias_add(outputs, self.bias, data_format=order)
        return self._activated(array_shape.squeeze(outputs, [axis]))


class SeparableConv2D(_SeparableConv):
    """A separable convolution over images."""

    rank = 2

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
        return self._activated(self._with_bias(outputs))


separable_conv1d = functional(
    SeparableConv1D,
    "separable_conv1d",
    "A separable convolution over sequences, applied to `inputs`.",
)
separable_conv2d = functional(
    SeparableConv2D,
    "separable_conv2d",
    "A separable convolution over images, applied to `inputs`.",
    strides=(1, 1),
    dilation_rate=(1, 1),
)
