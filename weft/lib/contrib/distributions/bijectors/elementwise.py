"""Transforms of single numbers without parameters, or with few."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.base import OfNumbers
from weft.lib.distributions.checks import checked
from weft.lib.distributions.special import softplus_inverse
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import (
    assert_greater,
    assert_less,
    assert_non_negative,
    assert_none_equal,
    assert_positive,
)
from weft.ops.control.check_types import assert_same_float_dtype
from weft.ops.math import math
from weft.ops.nn.activations import softplus


class Identity(OfNumbers):
    """y = x: leaves every number as it is."""

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(validate_args, name, is_constant_jacobian=True)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return constant(0.0, y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return constant(0.0, x.dtype)


class AffineScalar(OfNumbers):
    """y = scale x + shift, number by number."""

    def __init__(
        self, shift: Any = None, scale: Any = None, validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:  # fmt: skip
        super().__init__(validate_args, name, is_constant_jacobian=True)
        with self._name_scope("init", values=[scale, shift]):
            self.shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self.scale = None if scale is None else self._nonzero(scale)

    def _nonzero(self, scale: Any) -> Tensor:
        tensor = convert_to_tensor(scale, name="scale")
        return checked(
            self.validate_args, tensor,
            lambda: [assert_none_equal(tensor, array.zeros([], tensor.dtype))],
        )  # fmt: skip

    def _forward(self, x: Any) -> Tensor:
        y = array.identity(x)
        y = y if self.scale is None else y * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Tensor:
        x = array.identity(y)
        x = x if self.shift is None else x - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        if self.scale is None:
            return constant(0.0, x.dtype.base_dtype)
        return math.log(math.abs(self.scale))


class PowerTransform(OfNumbers):
    """y = (1 + power x)^(1 / power), or exp(x) if the power is 0."""

    def __init__(
        self, power: Any = 0.0, validate_args: bool = False, name: str = "power_transform"
    ) -> None:
        super().__init__(validate_args, name)
        with self._name_scope("init", values=[power]):
            self.power: Any = constant_value(convert_to_tensor(power, name="power"))
        if self.power is None or self.power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")

    def _forward(self, x: Any) -> Tensor:
        x = self._checked_x(x)
        if self.power == 0.0:
            return math.exp(x)
        return math.exp(math.log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Tensor:
        logs = math.log(self._checked_y(y))
        return logs if self.power == 0.0 else math.expm1(logs * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return (self.power - 1.0) * math.log(self._checked_y(y))

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        x = self._checked_x(x)
        if self.power == 0.0:
            return x
        return (1.0 / self.power - 1.0) * math.log1p(x * self.power)

    def _checked_x(self, x: Any) -> Any:
        if self.power == 0.0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self.power}."
        return checked(
            self.validate_args, x,
            lambda: [assert_non_negative(1.0 + self.power * x, message=message)],
        )  # fmt: skip

    def _checked_y(self, y: Any) -> Any:
        message = "Inverse transformation input must be greater than 0."
        return checked(self.validate_args, y, lambda: [assert_positive(y, message=message)])


class Exp(PowerTransform):
    """y = exp(x): makes all numbers positive."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(0.0, validate_args, name)


class Sigmoid(OfNumbers):
    """y = 1 / (1 + exp(-x))"""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(validate_args, name)

    _forward = staticmethod(math.sigmoid)  # type: ignore[assignment]

    def _inverse(self, y: Any) -> Tensor:
        return math.log(y) - math.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return -math.log(y) - math.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return -softplus(-x) - softplus(x)


class Softplus(OfNumbers):
    """y = c log(1 + exp(x / c)), c being `hinge_softness` (1 if not given)."""

    def __init__(
        self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"
    ) -> None:
        with name_scope(name, values=[hinge_softness]):
            self._hinge_softness = None
            if hinge_softness is not None:
                given = convert_to_tensor(hinge_softness, name="hinge_softness")
                message = "hinge_softness must be non-zero"
                zero = convert_to_tensor(0, given.dtype)
                self._hinge_softness = checked(
                    validate_args, given,
                    lambda: [assert_none_equal(zero, given, message=message)],
                )  # fmt: skip
        super().__init__(validate_args, name)

    @property
    def hinge_softness(self) -> Any:
        """How soft the bend at 0 is."""
        return self._hinge_softness

    def _soft(self, like: Any) -> Any:
        if self.hinge_softness is None:
            return constant(1.0, like.dtype)
        return math.cast(self.hinge_softness, like.dtype)

    def _forward(self, x: Any) -> Tensor:
        if self.hinge_softness is None:
            return softplus(x)
        return self._soft(x) * softplus(x / self._soft(x))

    def _inverse(self, y: Any) -> Tensor:
        if self.hinge_softness is None:
            return softplus_inverse(y)
        return self._soft(y) * softplus_inverse(y / self._soft(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return -math.log(-math.expm1(-y / self._soft(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return -softplus(-x / self._soft(x))


class Softsign(OfNumbers):
    """y = x / (1 + |x|): brings all numbers between -1 and 1."""

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Tensor:
        return x / (1.0 + math.abs(x))

    def _inverse(self, y: Any) -> Tensor:
        y = self._checked(y)
        return y / (1.0 - math.abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return -2.0 * math.log1p(math.abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return -2.0 * math.log1p(-math.abs(self._checked(y)))

    def _checked(self, y: Any) -> Any:
        message = "Inverse transformation input must be "
        one = math.cast(1.0, y.dtype.base_dtype)
        return checked(
            self.validate_args, y,
            lambda: [
                assert_greater(y, -one, message=message + "greater than -1."),
                assert_less(y, one, message=message + "less than 1."),
            ],
        )  # fmt: skip


class Square(OfNumbers):
    """y = x^2, of numbers that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Tensor:
        return math.square(self._checked(x))

    def _inverse(self, y: Any) -> Tensor:
        return math.sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return log(2.0) + math.log(self._checked(x))

    def _checked(self, x: Any) -> Any:
        message = "All elements must be non-negative."
        return checked(self.validate_args, x, lambda: [assert_non_negative(x, message=message)])


class AbsoluteValue(OfNumbers):
    """y = |x|, which has two inverses."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Any) -> Tensor:
        return math.abs(x)

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y, y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = self._checked(y, constant(0.0, y.dtype))
        return zero, zero

    def _checked(self, y: Any, result: Any) -> Any:
        message = "Argument y was negative"
        return checked(
            self.validate_args, result, lambda: [assert_non_negative(y, message=message)]
        )


class SinhArcsinh(OfNumbers):
    """y = sinh((arcsinh(x) + skewness) tailweight)"""

    def __init__(
        self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:  # fmt: skip
        super().__init__(validate_args, name)
        with self._name_scope("init", values=[skewness, tailweight]):
            self.skewness = convert_to_tensor(
                0.0 if skewness is None else skewness, name="skewness"
            )
            given = convert_to_tensor(
                1.0 if tailweight is None else tailweight, self.skewness.dtype, name="tailweight"
            )
            assert_same_float_dtype([self.skewness, given])
            message = "Argument tailweight was not positive"
            self.tailweight = checked(
                validate_args, given, lambda: [assert_positive(given, message=message)]
            )

    def _forward(self, x: Any) -> Tensor:
        return math.sinh((math.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Tensor:
        return math.sinh(math.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        x = math.asinh(y) / self.tailweight - self.skewness
        return math.log(math.cosh(x) / _hypotenuse(y)) - math.log(self.tailweight)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        y = (math.asinh(x) + self.skewness) * self.tailweight
        return math.log(math.cosh(y) / _hypotenuse(x)) + math.log(self.tailweight)


def _hypotenuse(x: Tensor) -> Tensor:
    """sqrt(x^2 + 1), also where x^2 is too large for a number."""
    small = math.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.0
    return where_v2(small, math.sqrt(math.square(x) + 1.0), math.abs(x))
