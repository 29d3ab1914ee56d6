"""A distribution of numbers rounded up to whole ones, between bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.scales import optional_tensor
from weft.lib.distributions.base import Distribution, first_of
from weft.lib.distributions.checks import assert_integer_form, checked, checking
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import assert_less
from weft.ops.control.check_types import assert_same_float_dtype
from weft.ops.math import math


def _log_difference(big: Tensor, small: Tensor) -> Tensor:
    """log(exp(big) - exp(small))"""
    with name_scope("logsum_expbig_minus_expsmall", values=[small, big]):
        return math.log(1.0 - math.exp(small - big)) + big


class QuantizedDistribution(Distribution):
    """Y = ceil(X), but `low` below it and `high` above."""

    @keeps_arguments
    def __init__(
        self, distribution: Distribution, low: Any = None, high: Any = None,
        validate_args: bool = False, name: str = "QuantizedDistribution",
    ) -> None:  # fmt: skip
        values = [*distribution.parameters.values(), low, high]
        with name_scope(name, values=[v for v in values if isinstance(v, Tensor)]) as name:
            self._distribution, self._validate_args = distribution, validate_args
            low, high = optional_tensor(low, "low"), optional_tensor(high, "high")
            bounds = [bound for bound in (low, high) if bound is not None]
            assert_same_float_dtype(bounds, distribution.dtype)
            message = "low must be strictly less than high."
            both = validate_args and len(bounds) == 2
            with checking(both, lambda: [assert_less(low, high, message=message)]):
                self._low = None if low is None else self._whole(low)
                self._high = None if high is None else self._whole(high)
        parents = [bound for bound in (self._low, self._high) if bound is not None]
        super().__init__(
            distribution.dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats,
            graph_parents=[*distribution._graph_parents, *parents], name=name,
        )  # fmt: skip

    @property
    def distribution(self) -> Distribution:
        """The distribution of X."""
        return self._distribution

    @property
    def low(self) -> Any:
        """The lowest value, or None."""
        return self._low

    @property
    def high(self) -> Any:
        """The highest value, or None."""
        return self._high

    def _batch_shape_tensor(self) -> Tensor:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Tensor:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _whole(self, value: Any) -> Tensor:
        with name_scope("check_integer", values=[value]):
            value = convert_to_tensor(value, name="value")
            message = "value has non-integer components."
            return checked(
                self._validate_args, value, lambda: [assert_integer_form(value, message=message)]
            )

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with name_scope("transform"):
            drawn = math.ceil(self.distribution.sample(n, seed=seed))
            drawn = drawn if self._low is None else math.maximum(drawn, self._low)
            return drawn if self._high is None else math.minimum(drawn, self._high)

    def _log_prob(self, value: Any) -> Tensor:
        y = self._whole(value)

        def from_both() -> Tensor:
            above, below = self.log_survival_function(y), self.log_cdf(y)
            upper = above < below
            big = where_v2(upper, self.log_survival_function(y - 1), below)
            return _log_difference(big, where_v2(upper, above, self.log_cdf(y - 1)))

        return first_of(from_both, lambda: _log_difference(self.log_cdf(y), self.log_cdf(y - 1)))

    def _prob(self, value: Any) -> Tensor:
        y = self._whole(value)

        def from_both() -> Tensor:
            above, below = self.survival_function(y), self.cdf(y)
            in_tail = self.survival_function(y - 1) - above
            return where_v2(above < below, in_tail, below - self.cdf(y - 1))

        return first_of(from_both, lambda: self.cdf(y) - self.cdf(y - 1))

    def _bounded(self, j: Tensor, found: Tensor, below: float, above: float) -> Tensor:
        """`found`, but constants outside of the bounds."""
        j += array.zeros_like(found)
        ones = array.ones_like(found)
        if self._low is not None:
            found = where_v2(j < self._low, below * ones, found)
        if self._high is not None:
            found = where_v2(j >= self._high, above * ones, found)
        return found

    def _log_cdf(self, value: Any) -> Tensor:
        j = math.floor(value)
        return self._bounded(j, self.distribution.log_cdf(j), -np.inf, 0.0)

    def _cdf(self, value: Any) -> Tensor:
        j = math.floor(value)
        return self._bounded(j, self.distribution.cdf(j), 0.0, 1.0)

    def _log_survival_function(self, value: Any) -> Tensor:
        j = math.ceil(value)
        return self._bounded(j, self.distribution.log_survival_function(j), 0.0, -np.inf)

    def _survival_function(self, value: Any) -> Tensor:
        j = math.ceil(value)
        return self._bounded(j, self.distribution.survival_function(j), 1.0, 0.0)
