"""Noise in training: added, multiplied, or in the way that keeps mean and variance of SELUs."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.graph import Tensor
from weft.lib.keras import backend
from weft.lib.keras.layers.advanced_activations import Elementwise
from weft.lib.keras.layers.settings import record
from weft.ops.array import array
from weft.ops.math import math

# Of the SELU: what very small inputs become.
_SELU_FLOOR = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946


def _normal_like(inputs: Any, mean: float, stddev: Any) -> Tensor:
    """Normal noise of the shape and type of `inputs`."""
    shape = array.shape(inputs)
    return backend.random_normal(shape=shape, mean=mean, stddev=stddev, dtype=inputs.dtype)


class GaussianNoise(Elementwise):
    """Adds normal noise of standard deviation `stddev` in training."""

    def __init__(self, stddev: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs: Any, training: Any = None) -> Tensor:
        def noised() -> Tensor:
            return inputs + _normal_like(inputs, 0.0, self.stddev)

        return backend.in_train_phase(noised, inputs, training=training)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "stddev")}


class GaussianDropout(Elementwise):
    """Multiplies by normal noise around 1, of the variance that dropout of `rate` has."""

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Tensor:
        if not 0 < self.rate < 1:
            return inputs

        def noised() -> Tensor:
            return inputs * _normal_like(inputs, 1.0, np.sqrt(self.rate / (1.0 - self.rate)))

        return backend.in_train_phase(noised, inputs, training=training)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "rate")}


class AlphaDropout(Elementwise):
    """Sets a part `rate` to the floor of SELUs, then restores mean and variance."""

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def _get_noise_shape(self, inputs: Any) -> Any:
        return self.noise_shape if self.noise_shape else array.shape(inputs)

    def call(self, inputs: Any, training: Any = None) -> Tensor:
        if not 0.0 < self.rate < 1.0:
            return inputs
        noise_shape = self._get_noise_shape(inputs)

        def dropped() -> Tensor:
            drawn = backend.random_uniform(noise_shape, seed=self.seed, dtype=inputs.dtype)
            kept = math.cast(math.greater_equal(drawn, self.rate), inputs.dtype)
            scale = ((1 - self.rate) * (1 + self.rate * _SELU_FLOOR**2)) ** -0.5
            offset = -scale * _SELU_FLOOR * self.rate
            return scale * (inputs * kept + _SELU_FLOOR * (1 - kept)) + offset

        return backend.in_train_phase(dropped, inputs, training=training)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "rate")}
