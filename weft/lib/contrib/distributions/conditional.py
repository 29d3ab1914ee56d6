"""Distributions whose methods take further arguments, which they hand to their own."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.distributions.base import Distribution


class ConditionalDistribution(Distribution):
    """A distribution of something given something else."""

    def sample(
        self, sample_shape: Any = (), seed: Any = None, name: str = "sample",
        **condition_kwargs: Any,
    ) -> Tensor:  # fmt: skip
        """`sample_shape` samples under a condition."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Tensor:
        """The logarithm of the density under a condition."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """The density under a condition."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> Tensor:
        """log P[X <= value] under a condition."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """P[X <= value] under a condition."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(
        self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """log P[X > value] under a condition."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(
        self, value: Any, name: str = "survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """P[X > value] under a condition."""
        return self._call_survival_function(value, name, **condition_kwargs)

    def quantile(self, value: Any, name: str = "quantile", **condition_kwargs: Any) -> Tensor:
        """x with P[X <= x] = value under a condition."""
        return self._call_quantile(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution that takes `distribution_kwargs` and `bijector_kwargs`."""
