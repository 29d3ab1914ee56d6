"""Separable convolutions: each channel on its own, then a mix of the channels."""

from __future__ import annotations

from typing import Any

from weft.core.signatures import with_parameters_of
from weft.lib.keras.layers import separable as keras
from weft.lib.layers.base import Layer
from weft.lib.layers.functional import functional
from weft.ops.state.initializers import zeros_initializer

_DEFAULTS: dict[str, Any] = {
    "data_format": "channels_last",
    "depthwise_initializer": None,
    "pointwise_initializer": None,
    "bias_initializer": zeros_initializer(),
}


class SeparableConv1D(keras.SeparableConv1D, Layer):
    """A separable convolution over sequences."""

    @with_parameters_of(keras.SeparableConv.__init__, without=("rank",), **_DEFAULTS)
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


class SeparableConv2D(keras.SeparableConv2D, Layer):
    """A separable convolution over images."""

    @with_parameters_of(
        keras.SeparableConv.__init__,
        without=("rank",),
        strides=(1, 1),
        dilation_rate=(1, 1),
        **_DEFAULTS,
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


separable_conv1d = functional(
    SeparableConv1D,
    "separable_conv1d",
    "A separable convolution over sequences, applied to `inputs`.",
    "tf.layers.separable_conv1d(tf.ones([1, 8, 3]), 16, 3) -> [1, 6, 16]",
)
separable_conv2d = functional(
    SeparableConv2D,
    "separable_conv2d",
    "A separable convolution over images, applied to `inputs`.",
    "tf.layers.separable_conv2d(tf.ones([1, 8, 8, 3]), 16, 3) -> [1, 6, 6, 16]",
)
