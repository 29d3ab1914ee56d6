"""Laplace's distribution."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.location_scale import LocationScale
from weft.lib.distributions.special import log_cdf_laplace
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.random.random import random_uniform


class Laplace(LocationScale):
    """exp(-|x - loc| / scale) / (2 scale)"""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:  # fmt: skip
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        kind = self.dtype.as_numpy_dtype
        lowest = np.nextafter(kind(-1.0), kind(0.0))  # at -1 itself the logarithm is infinite
        drawn = random_uniform(self._draws(n), lowest, 1.0, dtype=self.dtype, seed=seed)
        return self.loc - self.scale * math.sign(drawn) * math.log1p(-math.abs(drawn))

    def _log_prob(self, value: Any) -> Tensor:
        return -math.abs(self._z(value)) - (log(2.0) + math.log(self.scale))

    def _log_cdf(self, value: Any) -> Tensor:
        return log_cdf_laplace(self._z(value))

    def _log_survival_function(self, value: Any) -> Tensor:
        return log_cdf_laplace(-self._z(value))

    def _cdf(self, value: Any) -> Tensor:
        z = self._z(value)
        return 0.5 + 0.5 * math.sign(z) * (1.0 - math.exp(-math.abs(z)))

    def _entropy(self) -> Tensor:
        return log(2.0) + 1.0 + math.log(self._scale_of_all())

    def _loc_of_all(self) -> Tensor:
        return self.loc + array.zeros_like(self.scale)

    def _scale_of_all(self) -> Tensor:
        return self.scale + array.zeros_like(self.loc)

    def _mean(self) -> Tensor:
        return self._loc_of_all()

    def _stddev(self) -> Tensor:
        return sqrt(2.0) * self._scale_of_all()

    def _mode(self) -> Tensor:
        return self._mean()


class LaplaceWithSoftplusScale(Laplace):
    """Laplace's distribution whose scale is softplus of what is given."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[loc, scale]) as name:
            positive = softplus(scale, name="softplus_scale")
            super().__init__(loc, positive, validate_args, allow_nan_stats, name)
