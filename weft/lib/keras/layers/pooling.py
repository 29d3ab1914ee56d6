"""Maxima and means of windows of sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.graph.graph import Tensor
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.settings import record
from weft.ops.array import array
from weft.ops.nn import pool as nn_pool


class Pooling(Layer):
    """Windows of `rank` spatial dimensions, each of which becomes one entry."""

    rank = 2
    _operation: Any = None
    pool_size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    data_format: str

    # In the order of a configuration.
    _SETTINGS = "pool_size padding strides data_format"

    def __init__(
        self,
        pool_size: Any,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        strides = pool_size if strides is None else strides
        windows.take(self, self.rank, padding, data_format, pool_size=pool_size, strides=strides)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Tensor:
        return self._pooled(inputs, self.pool_size, self.strides)

    def _pooled(self, inputs: Any, pool_size: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        return type(self)._operation(
            inputs,
            windows.joined(1, pool_size, 1, self.data_format),
            windows.joined(1, strides, 1, self.data_format),
            self.padding.upper(),
            windows.op_format(self.data_format, len(pool_size) + 2),
        )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        sizes = zip(
            windows.spatial(dims, self.data_format), self.pool_size, self.strides, strict=True
        )
        space = [
            windows.output_length(length, size, self.padding, stride)
            for length, size, stride in sizes
        ]
        channels = dims[windows.channel_axis(self.data_format)]
        return TensorShape(windows.joined(dims[0], space, channels, self.data_format))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, self._SETTINGS)}


class _Pooling1D(Pooling):
    """Sequences are pooled as images of width 1."""

    _SETTINGS = "strides pool_size padding data_format"

    rank = 1

    @with_parameters_of(
        Pooling.__init__, without=("name",), pool_size=2, data_format="channels_last"
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def call(self, inputs: Any) -> Tensor:
        axis = 3 if self.data_format == "channels_first" else 2
        image = array.expand_dims(inputs, axis)
        pooled = self._pooled(image, (*self.pool_size, 1), (*self.strides, 1))
        return array.squeeze(pooled, axis)


class _Pooling2D(Pooling):
    @with_parameters_of(Pooling.__init__, without=("name",), pool_size=(2, 2))
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


class _Pooling3D(Pooling):
    """Volumes are pooled with their channels last."""

    rank = 3

    @with_parameters_of(Pooling.__init__, without=("name",), pool_size=(2, 2, 2))
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def call(self, inputs: Any) -> Tensor:
        first = self.data_format == "channels_first"
        x = array.transpose(inputs, (0, 2, 3, 4, 1)) if first else inputs
        ksize, strides = (1, *self.pool_size, 1), (1, *self.strides, 1)
        outputs = type(self)._operation(x, ksize, strides, self.padding.upper(), "NDHWC")
        return array.transpose(outputs, (0, 4, 1, 2, 3)) if first else outputs


class MaxPooling1D(_Pooling1D):
    """The maximum of every window of the sequences."""

    _operation = staticmethod(nn_pool.max_pool)


class AveragePooling1D(_Pooling1D):
    """The mean of every window of the sequences."""

    _operation = staticmethod(nn_pool.avg_pool)


class MaxPooling2D(_Pooling2D):
    """The maximum of every window of the images."""

    _operation = staticmethod(nn_pool.max_pool)


class AveragePooling2D(_Pooling2D):
    """The mean of every window of the images."""

    _operation = staticmethod(nn_pool.avg_pool)


class MaxPooling3D(_Pooling3D):
    """The maximum of every window of the volumes."""

    _operation = staticmethod(nn_pool.max_pool3d)


class AveragePooling3D(_Pooling3D):
    """The mean of every window of the volumes."""

    _operation = staticmethod(nn_pool.avg_pool3d)


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
