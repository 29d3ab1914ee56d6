"""Counts whose rate is itself drawn: from a log-normal distribution, taken at a few points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.elementwise import Exp
from weft.lib.contrib.distributions.counts import Poisson
from weft.lib.contrib.distributions.mixture_same_family import MixtureSameFamily
from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.categorical import Categorical
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.normal import Normal
from weft.ops.array import array
from weft.ops.math import math

Scheme = Callable[..., tuple[Tensor, Tensor]]


def quadrature_scheme_lognormal_gauss_hermite(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(points, weights) of Gauss and Hermite's quadrature of a normal distribution."""
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        points, weights = np.polynomial.hermite.hermgauss(deg=quadrature_size)
        kind = loc.dtype.as_numpy_dtype
        probs = (weights / weights.sum()).astype(kind)
        spread = np.sqrt(2.0) * points
        grid = loc[..., None] + scale[..., None] * spread.astype(kind)
        return grid, convert_to_tensor(probs, name="probs", dtype=loc.dtype)


def quadrature_scheme_lognormal_quantiles(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(points, weights): middles between quantiles that are evenly spaced, of equal weights."""
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        base = TransformedDistribution(Normal(loc, scale), Exp(), validate_args=validate_args)
        kind, rank = base.dtype, array.shape(base.batch_shape_tensor())[0]
        shares = np.linspace(0.0, 1.0, quadrature_size + 3)[1:-1].astype(kind.as_numpy_dtype)
        first = array.concat([[-1], array.ones([rank], dtypes.int32)], axis=0)
        ends = base.quantile(array.reshape(shares, first))
        ends = array.transpose(ends, array.concat([math.range(1, 1 + rank), [0]], axis=0))
        middles = (ends[..., :-1] + ends[..., 1:]) / 2.0
        middles.set_shape(base.batch_shape.concatenate([quadrature_size]))
        return middles, array.fill([quadrature_size], 1.0 / math.cast(quadrature_size, kind))


class PoissonLogNormalQuadratureCompound(MixtureSameFamily):
    """A mixture of Poisson distributions, one for each point of a quadrature."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, quadrature_size: int = 8,
        quadrature_fn: Scheme = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[loc, scale]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, dtype=self._loc.dtype, name="scale")
            self._quadrature_size = quadrature_size
            grid, probs = quadrature_fn(self._loc, self._scale, quadrature_size, validate_args)
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs"
                    f" dtype ({probs.dtype.name})."
                )
            counts = Poisson(None, grid, validate_args, allow_nan_stats)
            choice = Categorical(math.log(probs), None, dtypes.int32, validate_args)
        super().__init__(choice, counts, validate_args, allow_nan_stats, name)

    @property
    def distribution(self) -> Distribution:
        """The Poisson distributions."""
        return self.components_distribution

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """The number of points."""
        return self._quadrature_size
