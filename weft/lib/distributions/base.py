"""Distribution: what all distributions share.

A distribution implements methods with an underscore (`_log_prob`, `_mean`, ...); the public ones
open name scopes, convert arguments, and fall back on one another: `prob` on `exp(log_prob)`, ...
What it is, with the shapes of batches and events, is in described.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.distributions import kullback_leibler, sample_shapes
from weft.lib.distributions.described import Described
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.control import with_dependencies
from weft.ops.math import math
from weft.ops.random.random import random_uniform


def first_of(*ways: Callable[[], Any]) -> Any:
    """The result of the first way that is implemented, or else the first way's error."""
    error = None
    for way in ways:
        try:
            return way()
        except NotImplementedError as problem:
            error = error or problem
    assert error is not None
    raise error


class Distribution(Described):
    """A batch of distributions of one family."""

    # ---- samples ---------------------------------------------------------------------------------

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        raise self._missing("sample_n")

    def _draws(self, n: Any) -> Tensor:
        """[n] + batch shape: what `_sample_n` of a distribution of numbers draws."""
        return array.concat([[n], self.batch_shape_tensor()], 0)

    def _zeros(self) -> Tensor:
        """A zero for every distribution of the batch."""
        return array.zeros(self.batch_shape_tensor(), self.dtype)

    def _uniform(self, shape: Any, seed: int | None) -> Tensor:
        """Numbers from 0 to 1, but never 0, whose logarithm is infinite."""
        least = np.finfo(self.dtype.as_numpy_dtype).tiny
        return random_uniform(shape, least, 1.0, dtype=self.dtype, seed=seed)

    def _call_sample_n(
        self, sample_shape: Any = (), seed: Any = None, name: str = "sample", **kwargs: Any
    ) -> Tensor:
        with self._name_scope(name, values=[sample_shape]):
            shape, count = sample_shapes.as_vector(sample_shape, "sample_shape")
            drawn = sample_shapes.unflattened(self._sample_n(count, seed, **kwargs), shape)
            return sample_shapes.set_static_shape(self, self._from_base(drawn, **kwargs), shape)

    def _from_base(self, samples: Tensor, **kwargs: Any) -> Tensor:
        """The final samples, from samples that have their shape."""
        return samples

    def sample(
        self, sample_shape: Any = (), seed: int | None = None, name: str = "sample"
    ) -> Tensor:
        """`sample_shape` samples of every distribution of the batch."""
        return self._call_sample_n(sample_shape, seed, name)

    # ---- probabilities ---------------------------------------------------------------------------

    def _log_prob(self, value: Any) -> Tensor:
        raise self._missing("log_prob")

    def _prob(self, value: Any) -> Tensor:
        raise self._missing("prob")

    def _log_cdf(self, value: Any) -> Tensor:
        raise self._missing("log_cdf")

    def _cdf(self, value: Any) -> Tensor:
        raise self._missing("cdf")

    def _log_survival_function(self, value: Any) -> Tensor:
        raise self._missing("log_survival_function")

    def _survival_function(self, value: Any) -> Tensor:
        raise self._missing("survival_function")

    def _quantile(self, value: Any) -> Tensor:
        raise self._missing("quantile")

    @contextlib.contextmanager
    def _given(self, value: Any, name: str) -> Iterator[Tensor]:
        with self._name_scope(name, values=[value]):
            yield convert_to_tensor(value, name="value", preferred_dtype=self.dtype)

    def _call_log_prob(self, value: Any, name: str = "log_prob", **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._log_prob(x, **kwargs), lambda: math.log(self._prob(x, **kwargs))
            )

    def _call_prob(self, value: Any, name: str = "prob", **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._prob(x, **kwargs), lambda: math.exp(self._log_prob(x, **kwargs))
            )

    def _call_log_cdf(self, value: Any, name: str = "log_cdf", **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._log_cdf(x, **kwargs), lambda: math.log(self._cdf(x, **kwargs))
            )

    def _call_cdf(self, value: Any, name: str = "cdf", **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._cdf(x, **kwargs), lambda: math.exp(self._log_cdf(x, **kwargs))
            )

    def _call_log_survival_function(
        self, value: Any, name: str = "log_survival_function", **kwargs: Any
    ) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._log_survival_function(x, **kwargs),
                lambda: math.log1p(-self.cdf(x, **kwargs)),
            )

    def _call_survival_function(
        self, value: Any, name: str = "survival_function", **kwargs: Any
    ) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._survival_function(x, **kwargs),
                lambda: 1.0 - self.cdf(x, **kwargs),
            )

    def _call_quantile(self, value: Any, name: str = "quantile", **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return self._quantile(x, **kwargs)

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density, or of the probability of a discrete value."""
        return self._call_log_prob(value, name)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density, or the probability of a discrete value."""
        return self._call_prob(value, name)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of P[X <= value]."""
        return self._call_log_cdf(value, name)

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """P[X <= value]"""
        return self._call_cdf(value, name)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of P[X > value]."""
        return self._call_log_survival_function(value, name)

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """P[X > value]"""
        return self._call_survival_function(value, name)

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """x with P[X <= x] = value."""
        return self._call_quantile(value, name)

    # ---- statistics ------------------------------------------------------------------------------

    def _entropy(self) -> Tensor:
        raise self._missing("entropy")

    def _mean(self) -> Tensor:
        raise self._missing("mean")

    def _variance(self) -> Tensor:
        raise self._missing("variance")

    def _stddev(self) -> Tensor:
        raise self._missing("stddev")

    def _covariance(self) -> Tensor:
        raise self._missing("covariance")

    def _mode(self) -> Tensor:
        raise self._missing("mode")

    def entropy(self, name: str = "entropy") -> Tensor:
        """Shannon's entropy, in nats."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """The mean."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        """The variance of each component."""
        with self._name_scope(name):
            return first_of(self._variance, lambda: math.square(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation of each component."""
        with self._name_scope(name):
            return first_of(self._stddev, lambda: math.sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariance of the components of a vector."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """The most probable value."""
        with self._name_scope(name):
            return self._mode()

    def _cross_entropy(self, other: Distribution) -> Tensor:
        return kullback_leibler.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def _kl_divergence(self, other: Distribution) -> Tensor:
        return kullback_leibler.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """The expectation of -log_prob of `other` under this distribution."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """How far `other` is from this distribution: KL[self || other]."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    def _where_defined(self, defined: Any, value: Tensor, checks: Callable[[], Any]) -> Tensor:
        """`value` where a statistic is defined; elsewhere NaN or, if not allowed, an error."""
        if not self.allow_nan_stats:
            return with_dependencies(checks(), value)
        nan = np.array(np.nan, self.dtype.as_numpy_dtype)
        return where_v2(defined(), value, array.fill(array.shape(value), nan, name="nan"))
