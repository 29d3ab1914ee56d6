"""Dropout of entries, or of whole feature maps."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.keras import backend
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.decide import choose
from weft.lib.keras.layers.settings import record
from weft.ops.array import array
from weft.ops.nn import activations as nn_impl


class Dropout(Layer):
    """Zeroes a part `rate` of the inputs in training and scales up the rest."""

    def __init__(
        self, rate: Any, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Tensor) -> Any:
        """The noise shape; None in it means the size of the inputs there."""
        if self.noise_shape is None:
            return None
        sizes = array.shape(inputs)
        return convert_to_tensor(
            [sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)]
        )

    def call(self, inputs: Any, training: Any = None) -> Tensor:
        def dropped() -> Tensor:
            shape = self._get_noise_shape(inputs)
            return nn_impl.dropout(inputs, None, shape, self.seed, rate=self.rate)

        phase = backend.learning_phase() if training is None else training
        return choose(phase, dropped, lambda: array.identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "rate noise_shape seed")}


class SpatialDropout1D(Dropout):
    """Drops whole features of sequences."""

    def __init__(self, rate: Any, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs: Tensor) -> Any:
        sizes = array.shape(inputs)
        return sizes[0], 1, sizes[2]


class _SpatialDropout(Dropout):
    rank = 2

    def __init__(self, rate: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.data_format = backend.image_data_format() if data_format is None else data_format
        self.input_spec = InputSpec(ndim=self.rank + 2)
        if not windows.is_data_format(self.data_format):
            raise ValueError('data_format must be in {"channels_last", "channels_first"}')

    def _get_noise_shape(self, inputs: Tensor) -> Any:
        sizes = array.shape(inputs)
        batch = sizes[0]
        channels = sizes[1 if self.data_format == "channels_first" else self.rank + 1]
        return tuple(windows.joined(batch, (1,) * self.rank, channels, self.data_format))


class SpatialDropout2D(_SpatialDropout):
    """Drops whole channels of images."""


class SpatialDropout3D(_SpatialDropout):
    """Drops whole channels of volumes."""

    rank = 3
