"""The uniform distribution."""

from __future__ import annotations

from math import sqrt
from typing import Any

from weft.graph.graph import Tensor
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.parameter import Parameter
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import assert_less
from weft.ops.math import math
from weft.ops.random.random import random_uniform


class Uniform(Distribution):
    """1 / (high - low) from `low` up to, but not including, `high`."""

    low = Parameter("The lowest value.")
    high = Parameter("The value that all are below.")

    @keeps_arguments
    def __init__(
        self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Uniform",
    ) -> None:  # fmt: skip
        message = "uniform not defined when low >= high."
        with self._made_of(locals(), "low", "high", like="low"):
            self._keep(
                validate_args, lambda: [assert_less(low, high, message=message)],
                low=low, high=high,
            )  # fmt: skip

    def range(self, name: str = "range") -> Tensor:
        """high - low"""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_uniform(self._draws(n), dtype=self.dtype, seed=seed)
        return self.low + self.range() * drawn

    def _prob(self, value: Any) -> Tensor:
        x = value * array.ones(self.batch_shape_tensor(), value.dtype)
        outside = math.logical_or(x < self.low, x >= self.high)
        inside = array.ones_like(x) / self.range()
        return where_v2(math.is_nan(x), x, where_v2(outside, array.zeros_like(x), inside))

    def _cdf(self, value: Any) -> Tensor:
        shape = array.broadcast_dynamic_shape(array.shape(value), self.batch_shape_tensor())
        ones = array.ones(shape, self.dtype)
        inside = (value * ones - self.low) / self.range()
        above_low = where_v2(value < self.low, array.zeros(shape, self.dtype), inside)
        return where_v2(value >= self.high, ones, above_low)

    def _entropy(self) -> Tensor:
        return math.log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return math.square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / sqrt(12.0)
