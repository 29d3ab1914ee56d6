"""Convolutions over sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from weft.core.signatures import with_parameters_of
from weft.lib.keras.layers import convolutional as keras
from weft.lib.layers.base import Layer
from weft.lib.layers.functional import functional
from weft.ops.state.initializers import zeros_initializer

# Where the defaults of tf.layers differ from those of Keras.
DEFAULTS: dict[str, Any] = {
    "data_format": "channels_last",
    "kernel_initializer": None,
    "bias_initializer": zeros_initializer(),
}


class Conv1D(keras.Conv1D, Layer):
    """A convolution over sequences."""

    @with_parameters_of(keras.Conv.__init__, without=("rank",), **DEFAULTS)
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


class Conv2D(keras.Conv2D, Layer):
    """A convolution over images."""

    @with_parameters_of(
        keras.Conv.__init__, without=("rank",), strides=(1, 1), dilation_rate=(1, 1), **DEFAULTS
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


class Conv3D(keras.Conv3D, Layer):
    """A convolution over volumes."""

    @with_parameters_of(
        keras.Conv.__init__,
        without=("rank",),
        strides=(1, 1, 1),
        dilation_rate=(1, 1, 1),
        **DEFAULTS,
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


conv1d = functional(
    Conv1D, "conv1d", "A convolution over sequences, applied to `inputs`.",
    "tf.layers.conv1d(tf.ones([1, 8, 3]), 16, 3) -> [1, 6, 16]",
)  # fmt: skip
conv2d = functional(
    Conv2D, "conv2d", "A convolution over images, applied to `inputs`.",
    "tf.layers.conv2d(tf.ones([1, 8, 8, 3]), 16, 3) -> [1, 6, 6, 16]",
)  # fmt: skip
conv3d = functional(
    Conv3D, "conv3d", "A convolution over volumes, applied to `inputs`.",
    "tf.layers.conv3d(tf.ones([1, 8, 8, 8, 3]), 16, 3) -> [1, 6, 6, 6, 16]",
)  # fmt: skip
