"""Maxima and means of windows of sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.layers import windows
from weft.layers.base import Layer
from weft.layers.functional import functional
from weft.layers.input_spec import InputSpec
from weft.ops import array_shape, nn_pool


class _Pooling(Layer):
    rank = 2

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
        super().__init__(name=name, **kwargs)
        self.pool_size = windows.normalize_tuple(pool_size, self.rank, "pool_size")
        self.strides = windows.normalize_tuple(strides, self.rank, "strides")
        self.padding = windows.normalize_padding(padding)
        self.data_format = windows.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _pool(self, x: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Tensor:
        raise NotImplementedError

    def call(self, inputs: Any) -> Tensor:
        return self._pooled(inputs, self.pool_size, self.strides)

    def _pooled(self, inputs: Any, pool_size: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        return self._pool(
            inputs,
            windows.joined(1, pool_size, 1, self.data_format),
            windows.joined(1, strides, 1, self.data_format),
            self.padding.upper(),
            windows.op_format(self.data_format, len(pool_size) + 2),
        )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        space = [
            windows.output_length(length, size, self.padding, stride)
            for length, size, stride in zip(
                windows.spatial(dims, self.data_format), self.pool_size, self.strides, strict=True
            )
        ]
        channels = dims[windows.channel_axis(self.data_format)]
        return TensorShape(windows.joined(dims[0], space, channels, self.data_format))

    def get_config(self) -> dict[str, Any]:
        keys = ("pool_size", "strides", "padding", "data_format")
        return {**super().get_config(), **{key: getattr(self, key) for key in keys}}


class _Pooling1D(_Pooling):
    """Sequences are pooled as images of width 1."""

    rank = 1

    def call(self, inputs: Any) -> Tensor:
        axis = 3 if self.data_format == "channels_first" else 2
        image = array_shape.expand_dims(inputs, axis)
        pooled = self._pooled(image, (*self.pool_size, 1), (*self.strides, 1))
        return array_shape.squeeze(pooled, axis)


class _Pooling3D(_Pooling):
    """Volumes are pooled with their channels last."""

    rank = 3

    def call(self, inputs: Any) -> Tensor:
        first = self.data_format == "channels_first"
        x = array_shape.transpose(inputs, (0, 2, 3, 4, 1)) if first else inputs
        ksize, strides = (1, *self.pool_size, 1), (1, *self.strides, 1)
        outputs = self._pool(x, ksize, strides, self.padding.upper(), "NDHWC")
        return array_shape.transpose(outputs, (0, 4, 1, 2, 3)) if first else outputs


class MaxPooling1D(_Pooling1D):
    """The maximum of every window of the sequences."""

    def _pool(self, *args: Any) -> Tensor:
        return nn_pool.max_pool(*args)


class AveragePooling1D(_Pooling1D):
    """The mean of every window of the sequences."""

    def _pool(self, *args: Any) -> Tensor:
        return nn_pool.avg_pool(*args)


class MaxPooling2D(_Pooling):
    """The maximum of every window of the images."""

    def _pool(self, *args: Any) -> Tensor:
        return nn_pool.max_pool(*args)


class AveragePooling2D(_Pooling):
    """The mean of every window of the images."""

    def _pool(self, *args: Any) -> Tensor:
        return nn_pool.avg_pool(*args)


class MaxPooling3D(_Pooling3D):
    """The maximum of every window of the volumes."""

    def _pool(self, *args: Any) -> Tensor:
        return nn_pool.max_pool3d(*args)


class AveragePooling3D(_Pooling3D):
    """The mean of every window of the volumes."""

    def _pool(self, *args: Any) -> Tensor:
        return nn_pool.avg_pool3d(*args)


max_pooling1d = functional(MaxPooling1D, "max_pooling1d", "The maximum of every window.")
max_pooling2d = functional(MaxPooling2D, "max_pooling2d", "The maximum of every window.")
max_pooling3d = functional(MaxPooling3D, "max_pooling3d", "The maximum of every window.")
average_pooling1d = functional(AveragePooling1D, "average_pooling1d", "The mean of every window.")
average_pooling2d = functional(AveragePooling2D, "average_pooling2d", "The mean of every window.")
average_pooling3d = functional(AveragePooling3D, "average_pooling3d", "The mean of every window.")
