"""Distributions that always give the same number, or the same vector."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.ops.array import array
from weft.ops.control.check import assert_equal, assert_non_negative
from weft.ops.control.check_shapes import assert_rank_at_least
from weft.ops.math import math


class _Deterministic(Distribution):
    """One value, `loc`; others within atol + rtol |loc| count as it."""

    _reparameterization = NOT_REPARAMETERIZED
    loc: Any

    def __init__(
        self, loc: Any, atol: Any, rtol: Any, validate_args: bool, allow_nan_stats: bool,
        name: str,
    ) -> None:  # fmt: skip
        names = "loc", "atol", "rtol"
        with self._made_of(locals(), *names, like="loc"):
            self.loc = self._place(convert_to_tensor(loc, name="loc"), validate_args)
            self._atol = self._tolerance(atol, validate_args)
            self._rtol = self._tolerance(rtol, validate_args)
            self._slack = self._atol
            if rtol is not None:
                self._slack += self._rtol * math.abs(self.loc)

    def _place(self, loc: Tensor, validate_args: bool) -> Tensor:
        return loc

    def _tolerance(self, value: Any, validate_args: bool) -> Tensor:
        given = convert_to_tensor(0 if value is None else value, dtype=self.loc.dtype)
        message = "Argument 'tol' must be non-negative"
        return checked(
            validate_args and value is not None, given,
            lambda: [assert_non_negative(given, message=message)],
        )  # fmt: skip

    @property
    def atol(self) -> Tensor:
        """The tolerance, as a number."""
        return self._atol

    @property
    def rtol(self) -> Tensor:
        """The tolerance, as a share of the value."""
        return self._rtol

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.shape(self.loc)
        return array.tile(self.loc[None], array.concat([[n], array.ones_like(shape)], 0))

    def _entropy(self) -> Tensor:
        return self._zeros()

    def _mean(self) -> Tensor:
        return array.identity(self.loc)

    def _variance(self) -> Tensor:
        return array.zeros_like(self.loc)

    def _mode(self) -> Tensor:
        return self._mean()

    def _near(self, x: Any) -> Tensor:
        return math.abs(x - self.loc) <= self._slack


class Deterministic(_Deterministic):
    """A distribution that always gives the same number."""

    loc = Parameter("The number.")

    @keeps_arguments
    def __init__(
        self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Deterministic",
    ) -> None:  # fmt: skip
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)

    def _prob(self, value: Any) -> Tensor:
        return math.cast(self._near(value), self.dtype)

    def _cdf(self, value: Any) -> Tensor:
        return math.cast(value >= self.loc - self._slack, self.dtype)


class VectorDeterministic(_Deterministic):
    """A distribution that always gives the same vector."""

    loc = Parameter("The vector.", rank=1)

    @keeps_arguments
    def __init__(
        self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "VectorDeterministic",
    ) -> None:  # fmt: skip
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)

    def _place(self, loc: Tensor, validate_args: bool) -> Tensor:
        message = "Argument loc must be at least rank 1."
        if validate_args and loc.dims == ():
            raise ValueError(message)
        return checked(
            validate_args and loc.dims is None, loc,
            lambda: [assert_rank_at_least(loc, 1, message=message)],
        )  # fmt: skip

    def _prob(self, value: Any) -> Tensor:
        message = "Argument 'x' not defined in the same space R**k as this distribution"
        value = checked(
            self.validate_args, value,
            lambda: [
                assert_rank_at_least(value, 1),
                assert_equal(
                    self.event_shape_tensor()[0], array.shape(value)[-1], message=message
                ),
            ],
        )  # fmt: skip
        return math.cast(math.reduce_all(self._near(value), axis=-1), self.dtype)
