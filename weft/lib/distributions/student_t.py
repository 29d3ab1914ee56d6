"""Student's t distribution."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.special import new_seed
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import assert_less, assert_positive
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.random.random import random_gamma, random_normal


class StudentT(Distribution):
    """(1 + y^2 / df)^(-(df + 1) / 2) / Z, with y = (x - loc) / scale."""

    df = Parameter("Degrees of freedom.")
    loc = Parameter("The middle, and the mean where there is one.")
    scale = Parameter("How wide it is.")

    @keeps_arguments
    def __init__(
        self, df: Any, loc: Any, scale: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "StudentT",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "df", "loc", "scale", like="scale"):
            self._keep(validate_args, lambda: [assert_positive(df)], df=df, loc=loc, scale=scale)

    def _ones(self) -> Tensor:
        return array.ones(self.batch_shape_tensor(), self.dtype)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        """A normal number over the root of a chi-squared one over its degrees of freedom."""
        normal = random_normal(self._draws(n), dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        squares = random_gamma(
            [n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=new_seed(seed, "student_t")
        )
        return normal * math.rsqrt(squares / df) * self.scale + self.loc

    def _log_prob(self, value: Any) -> Tensor:
        y = (value - self.loc) / self.scale
        shape = -0.5 * (self.df + 1.0) * math.log1p(math.square(y) / self.df)
        return shape - self._log_normalization()

    def _log_normalization(self) -> Tensor:
        gammas = math.lgamma(0.5 * self.df) - math.lgamma(0.5 * (self.df + 1.0))
        logs = math.log(math.abs(self.scale)) + 0.5 * math.log(self.df)
        return logs + 0.5 * log(pi) + gammas

    def _cdf(self, value: Any) -> Tensor:
        y = (value - self.loc) / math.abs(self.scale)
        tail = 0.5 * math.betainc(0.5 * self.df, 0.5, self.df / (math.square(y) + self.df))
        return where_v2(math.less(y, 0.0), tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        ones = self._ones()[..., None]
        halves = array.concat([ones * self.df[..., None], ones], -1) / 2.0
        upper, lower = math.digamma(0.5 * (self.df + 1.0)), math.digamma(0.5 * self.df)
        return (
            math.log(math.abs(self.scale))
            + 0.5 * math.log(self.df)
            + math.lbeta(halves)
            + 0.5 * (self.df + 1.0) * (upper - lower)
        )

    def _if_more_than_one(self, value: Tensor, what: str) -> Tensor:
        message = f"{what} not defined for components of df <= 1"
        one = array.ones([], self.dtype)
        return self._where_defined(
            lambda: math.greater(self.df, self._ones()),
            value,
            lambda: [assert_less(one, self.df, message=message)],
        )

    def _mean(self) -> Tensor:
        return self._if_more_than_one(self.loc * self._ones(), "mean")

    def _variance(self) -> Tensor:
        """Infinite up to two degrees of freedom, not defined up to one."""
        many = math.greater(self.df, 2.0)
        below = where_v2(many, self.df - 2.0, array.ones_like(self.df))
        finite = self._ones() * math.square(self.scale) * self.df / below
        infinite = array.fill(
            self.batch_shape_tensor(), np.array(np.inf, self.dtype.as_numpy_dtype), name="inf"
        )
        return self._if_more_than_one(where_v2(many, finite, infinite), "variance")

    def _mode(self) -> Tensor:
        return array.identity(self.loc)


class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t with df = floor(|df|) and scale = softplus(scale)."""

    @keeps_arguments
    def __init__(
        self, df: Any, loc: Any, scale: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[df, scale]) as name:
            positive = softplus(scale, name="softplus_scale")
            whole = math.floor(math.abs(df))
            super().__init__(whole, loc, positive, validate_args, allow_nan_stats, name)
