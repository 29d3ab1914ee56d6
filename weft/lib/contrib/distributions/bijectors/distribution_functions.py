"""Transforms by the distribution functions of Gumbel's, Weibull's and Kumaraswamy's distributions.

`forward` of the first two gives P[X <= x]; `inverse` of the last does.
"""

from __future__ import annotations

from typing import Any

from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.contrib.distributions.bijectors.base import OfNumbers
from weft.lib.distributions.checks import checked
from weft.ops.control.check import assert_less_equal, assert_non_negative, assert_positive
from weft.ops.control.check_types import assert_same_float_dtype
from weft.ops.math import math

_INVERSE = "Inverse transformation input must be "


class _ToProbabilities(OfNumbers):
    """A transform of numbers to probabilities, with positive parameters."""

    def _positive(self, value: Any, name: str, message: str) -> Tensor:
        given = convert_to_tensor(value, name=name)
        return checked(self.validate_args, given, lambda: [assert_positive(given, message=message)])

    def _probability(
        self, y: Any, low: str = _INVERSE + "greater than 0.",
        high: str = _INVERSE + "less than or equal to 1.",
    ) -> Any:  # fmt: skip
        one = constant(1.0, y.dtype)
        return checked(
            self.validate_args, y,
            lambda: [
                assert_non_negative(y, message=low), assert_less_equal(y, one, message=high)
            ],
        )  # fmt: skip


class Gumbel(_ToProbabilities):
    """y = exp(-exp(-(x - loc) / scale))"""

    def __init__(
        self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel"
    ) -> None:
        super().__init__(validate_args, name)
        with self._name_scope("init", values=[loc, scale]):
            self.loc = convert_to_tensor(loc, name="loc")
            self.scale = self._positive(scale, "scale", "Argument scale was not positive")
            assert_same_float_dtype([self.loc, self.scale])

    def _forward(self, x: Any) -> Tensor:
        return math.exp(-math.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Any) -> Tensor:
        return self.loc - self.scale * math.log(-math.log(self._probability(y)))

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        y = self._probability(y)
        return math.log(self.scale / (-math.log(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        loc, scale = self.loc, self.scale
        z = (x - loc) / scale
        return -z - math.exp(-z) - math.log(scale)


class Weibull(_ToProbabilities):
    """y = 1 - exp(-(x / scale)^concentration)"""

    def __init__(
        self, scale: Any = 1.0, concentration: Any = 1.0, validate_args: bool = False,
        name: str = "weibull",
    ) -> None:  # fmt: skip
        super().__init__(validate_args, name)
        with self._name_scope("init", values=[scale, concentration]):
            self.scale = self._positive(scale, "scale", "Argument scale was not positive")
            self.concentration = self._positive(
                concentration, "concentration", "Argument concentration was not positive"
            )
            assert_same_float_dtype([self.scale, self.concentration])

    def _forward(self, x: Any) -> Tensor:
        return -math.expm1(-((self._checked(x) / self.scale) ** self.concentration))

    def _inverse(self, y: Any) -> Tensor:
        return self.scale * (-math.log1p(-self._probability(y))) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        above = -math.log1p(-self._probability(y))
        power = 1 / self.concentration - 1
        return above + power * math.log(above) + math.log(self.scale / self.concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        x, k = self._checked(x), self.concentration
        logs = (k - 1) * math.log(x) + math.log(k) - k * math.log(self.scale)
        return logs - (x / self.scale) ** k

    def _checked(self, x: Any) -> Any:
        message = "Forward transformation input must be at least 0."
        return checked(self.validate_args, x, lambda: [assert_non_negative(x, message=message)])


class Kumaraswamy(_ToProbabilities):
    """y = (1 - (1 - x)^(1 / concentration0))^(1 / concentration1)"""

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
        name: str = "kumaraswamy",
    ) -> None:  # fmt: skip
        super().__init__(validate_args, name)
        message = "Concentration parameter must be positive."
        with self._name_scope("init", values=[concentration1, concentration0]):
            self.concentration1 = self._positive(concentration1, "concentration1", message)
            self.concentration0 = self._positive(concentration0, "concentration0", message)

    def _share(self, x: Any) -> Any:
        return self._probability(
            x, "sample must be non-negative", "sample must be no larger than `1`."
        )

    def _forward(self, x: Any) -> Tensor:
        x = self._share(x)
        below = math.exp(math.log1p(-x) / self.concentration0)
        return math.exp(math.log1p(-below) / self.concentration1)

    def _inverse(self, y: Any) -> Tensor:
        y = self._share(y)
        return math.exp(math.log1p(-((1 - y**self.concentration1) ** self.concentration0)))

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        y, a, b = self._share(y), self.concentration1, self.concentration0
        powers = math.xlogy(a - 1, y) + math.xlogy(b - 1, 1 - y**a)
        return math.log(a) + math.log(b) + powers
