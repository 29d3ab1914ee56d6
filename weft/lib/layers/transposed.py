"""Transposed convolutions: from the outputs of a convolution to the shape of its inputs."""

from __future__ import annotations

from typing import Any

from weft.core.signatures import with_parameters_of
from weft.lib.keras.layers import transposed as keras
from weft.lib.keras.layers.convolutional import Conv
from weft.lib.layers.base import Layer
from weft.lib.layers.convolutional import DEFAULTS
from weft.lib.layers.functional import functional


class Conv2DTranspose(keras.Conv2DTranspose, Layer):
    """The transpose of a convolution over images."""

    @with_parameters_of(
        Conv.__init__, without=("rank", "dilation_rate"), strides=(1, 1), **DEFAULTS
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


class Conv3DTranspose(keras.Conv3DTranspose, Layer):
    """The transpose of a convolution over volumes."""

    @with_parameters_of(
        Conv.__init__, without=("rank", "dilation_rate"), strides=(1, 1, 1), **DEFAULTS
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


conv2d_transpose = functional(
    Conv2DTranspose,
    "conv2d_transpose",
    "The transpose of a convolution over images, applied to `inputs`.",
    "tf.layers.conv2d_transpose(tf.ones([1, 8, 8, 3]), 16, 2, 2) -> [1, 16, 16, 16]",
)
conv3d_transpose = functional(
    Conv3DTranspose,
    "conv3d_transpose",
    "The transpose of a convolution over volumes, applied to `inputs`.",
    "tf.layers.conv3d_transpose(tf.ones([1, 4, 4, 4, 3]), 16, 2, 2) -> [1, 8, 8, 8, 16]",
)
