"""Maxima and means of windows of sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.layers import pooling as keras
from weft.lib.layers.base import Layer
from weft.lib.layers.functional import functional


class _Pooling(keras.Pooling, Layer):
    """Windows and strides have to be given here; goes before the layer of Keras."""

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(
            pool_size=pool_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            name=name,
            **kwargs,
        )


class MaxPooling1D(_Pooling, keras.MaxPooling1D):
    """The maximum of every window of the sequences."""


class MaxPooling2D(_Pooling, keras.MaxPooling2D):
    """The maximum of every window of the images."""


class MaxPooling3D(_Pooling, keras.MaxPooling3D):
    """The maximum of every window of the volumes."""


class AveragePooling1D(_Pooling, keras.AveragePooling1D):
    """The mean of every window of the sequences."""


class AveragePooling2D(_Pooling, keras.AveragePooling2D):
    """The mean of every window of the images."""


class AveragePooling3D(_Pooling, keras.AveragePooling3D):
    """The mean of every window of the volumes."""


max_pooling1d = functional(
    MaxPooling1D, "max_pooling1d", "The maximum of every window.",
    "tf.layers.max_pooling1d(tf.ones([1, 8, 3]), 2, 2) -> [1, 4, 3]",
)  # fmt: skip
max_pooling2d = functional(
    MaxPooling2D, "max_pooling2d", "The maximum of every window.",
    "tf.layers.max_pooling2d(tf.ones([1, 8, 8, 3]), 2, 2) -> [1, 4, 4, 3]",
)  # fmt: skip
max_pooling3d = functional(
    MaxPooling3D, "max_pooling3d", "The maximum of every window.",
    "tf.layers.max_pooling3d(tf.ones([1, 8, 8, 8, 3]), 2, 2) -> [1, 4, 4, 4, 3]",
)  # fmt: skip
average_pooling1d = functional(
    AveragePooling1D, "average_pooling1d", "The mean of every window.",
    "tf.layers.average_pooling1d(tf.ones([1, 8, 3]), 2, 2) -> [1, 4, 3]",
)  # fmt: skip
average_pooling2d = functional(
    AveragePooling2D, "average_pooling2d", "The mean of every window.",
    "tf.layers.average_pooling2d(tf.ones([1, 8, 8, 3]), 2, 2) -> [1, 4, 4, 3]",
)  # fmt: skip
average_pooling3d = functional(
    AveragePooling3D, "average_pooling3d", "The mean of every window.",
    "tf.layers.average_pooling3d(tf.ones([1, 8, 8, 8, 3]), 2, 2) -> [1, 4, 4, 4, 3]",
)  # fmt: skip
