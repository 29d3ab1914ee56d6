"""Distributions whose methods take further arguments, which they hand to their own."""

from __future__ import annotations

from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.distributions.base import Distribution


class ConditionalDistribution(Distribution):
    """A distribution of something given something else."""

    sample = Distribution._call_sample_n
    log_prob = Distribution._call_log_prob
    prob = Distribution._call_prob
    log_cdf = Distribution._call_log_cdf
    cdf = Distribution._call_cdf
    log_survival_function = Distribution._call_log_survival_function
    survival_function = Distribution._call_survival_function
    quantile = Distribution._call_quantile


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution that takes `distribution_kwargs` and `bijector_kwargs`."""
