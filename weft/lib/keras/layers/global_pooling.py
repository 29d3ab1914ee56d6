"""One number for each channel: the maximum or mean over sequence, image or volume."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.settings import record
from weft.ops.array import array
from weft.ops.math import math


class _GlobalPooling(Layer):
    rank = 2
    _reduce: Any = None

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axes(self) -> list[int]:
        first = 2 if self.data_format == "channels_first" else 1
        return list(range(first, first + self.rank))

    def call(self, inputs: Any) -> Tensor:
        axes = self._axes()
        return type(self)._reduce(inputs, axis=axes if len(axes) > 1 else axes[0])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        return TensorShape([dims[0], dims[windows.channel_axis(self.data_format)]])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "data_format")}


class _GlobalPooling1D(_GlobalPooling):
    rank = 1

    def __init__(self, data_format: str = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)


class GlobalAveragePooling1D(_GlobalPooling1D):
    """The mean of the steps that the mask, if there is one, lets through."""

    def __init__(self, data_format: str = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Tensor:
        axis = self._axes()[0]
        if mask is None:
            return math.reduce_mean(inputs, axis=axis)
        features = 1 if self.data_format == "channels_first" else 2
        kept = array.expand_dims(math.cast(mask, inputs.dtype), features)
        return math.reduce_sum(inputs * kept, axis=axis) / math.reduce_sum(kept, axis=axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        return None


class GlobalMaxPooling1D(_GlobalPooling1D):
    """The maximum of every channel of the sequences."""

    _reduce = staticmethod(math.reduce_max)


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean of every channel of the images."""

    _reduce = staticmethod(math.reduce_mean)


class GlobalMaxPooling2D(_GlobalPooling):
    """The maximum of every channel of the images."""

    _reduce = staticmethod(math.reduce_max)


class GlobalAveragePooling3D(_GlobalPooling):
    """The mean of every channel of the volumes."""

    rank = 3
    _reduce = staticmethod(math.reduce_mean)


class GlobalMaxPooling3D(_GlobalPooling):
    """The maximum of every channel of the volumes."""

    rank = 3
    _reduce = staticmethod(math.reduce_max)


GlobalAvgPool1D, GlobalMaxPool1D = GlobalAveragePooling1D, GlobalMaxPooling1D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
GlobalAvgPool3D, GlobalMaxPool3D = GlobalAveragePooling3D, GlobalMaxPooling3D
