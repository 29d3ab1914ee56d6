"""Vectors scale z + loc of independent numbers z that are not normal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import reduce
from typing import Any

from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.affine import Affine
from weft.lib.contrib.distributions.bijectors.compose import Chain
from weft.lib.contrib.distributions.bijectors.elementwise import AffineScalar
from weft.lib.contrib.distributions.bijectors.elementwise import SinhArcsinh as SinhArcsinhBijector
from weft.lib.contrib.distributions.mvn import AffineOfNumbers
from weft.lib.contrib.distributions.scales import make_diag_scale, optional_tensor, shapes_of
from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.exponential import Exponential
from weft.lib.distributions.laplace import Laplace
from weft.lib.distributions.normal import Normal
from weft.lib.distributions.student_t import StudentT
from weft.ops.array import array
from weft.ops.math import math


@contextlib.contextmanager
def _diagonal(loc: Any, diag: Any, multiple: Any, name: str) -> Iterator[tuple[Any, str]]:
    """A diagonal scale, made in a scope of this name, and the scope."""
    with name_scope(name, values=[loc, diag, multiple]) as scope:
        scale = make_diag_scale(loc, diag, multiple)
    yield scale, scope


class VectorLaplaceLinearOperator(AffineOfNumbers):
    """Of Laplace's distribution, with a `LinearOperator` for a scale."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "VectorLaplaceLinearOperator",
    ) -> None:  # fmt: skip
        super().__init__(Laplace, loc, scale, validate_args, name)

    def _variance(self) -> Tensor:
        return 2.0 * super()._variance()  # which z has

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * super()._stddev()

    def _covariance(self) -> Tensor:
        return 2.0 * super()._covariance()


class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Of Laplace's distribution, with a diagonal scale."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:  # fmt: skip
        with _diagonal(loc, scale_diag, scale_identity_multiplier, name) as (scale, name):
            super().__init__(loc, scale, validate_args, allow_nan_stats, name)


class VectorExponentialLinearOperator(AffineOfNumbers):
    """Of the exponential distribution, with a `LinearOperator` for a scale."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "VectorExponentialLinearOperator",
    ) -> None:  # fmt: skip
        super().__init__(lambda zero, one: Exponential(one), loc, scale, validate_args, name)

    def _mean(self) -> Tensor:
        """Of z it is one."""
        ones = array.ones(self.scale.domain_dimension_tensor()[None], self.dtype)
        return self._broadcast(self.loc) + self.scale.matvec(ones)


class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Of the exponential distribution, with a diagonal scale."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:  # fmt: skip
        with _diagonal(loc, scale_diag, scale_identity_multiplier, name) as (scale, name):
            super().__init__(loc, scale, validate_args, allow_nan_stats, name)


class VectorStudentT(TransformedDistribution):
    """Of Student's t, with a scale of the forms that `Affine` has."""

    @keeps_arguments
    def __init__(
        self, df: Any, loc: Any = None, scale_identity_multiplier: Any = None,
        scale_diag: Any = None, scale_tril: Any = None, scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "VectorStudentT",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[df, loc]) as name:
            self._affine = affine = Affine(
                shift=loc, scale_identity_multiplier=scale_identity_multiplier,
                scale_diag=scale_diag, scale_tril=scale_tril,
                scale_perturb_factor=scale_perturb_factor, scale_perturb_diag=scale_perturb_diag,
                validate_args=validate_args,
            )  # fmt: skip
            kind = affine.dtype
            base = StudentT(
                convert_to_tensor(df, dtype=kind), constant(0.0, kind), constant(1.0, kind),
                validate_args, allow_nan_stats,
            )  # fmt: skip
            batch_shape, event_shape = shapes_of(affine.shift, affine.scale)
            alone = base.batch_shape.ndims == 0
        super().__init__(
            base, affine, batch_shape=batch_shape if alone else None, event_shape=event_shape,
            validate_args=validate_args, name=name,
        )  # fmt: skip

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.distribution.df  # type: ignore[attr-defined]

    @property
    def loc(self) -> Any:
        """The shift, or None."""
        return self._affine.shift

    @property
    def scale(self) -> Any:
        """The operator that scales."""
        return self._affine.scale


class SinhArcsinh(TransformedDistribution):
    """Numbers loc + scale F(z) 2 / F(2), where F skews z and changes its tails."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, skewness: Any = None, tailweight: Any = None,
        distribution: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, name="scale", dtype=self._loc.dtype)
            skewed = _Skewed(skewness, tailweight, self._scale)
            self.skewness, self.tailweight = skewed.skewness, skewed.tailweight
            values = (self._loc, self._scale, self.skewness, self.tailweight)
            shape = reduce(array.broadcast_dynamic_shape, [array.shape(each) for each in values])
            shift = AffineScalar(self._loc, skewed.scale, validate_args=validate_args)
        super().__init__(
            skewed.base(distribution, allow_nan_stats), Chain([shift, skewed.transform]),
            batch_shape=shape, validate_args=validate_args, name=name,
        )  # fmt: skip

    @property
    def loc(self) -> Tensor:
        """Where it is."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """How wide it is."""
        return self._scale


class _Skewed:
    """F, and `scale` times the factor with which 2, but for skewness, stays 2 scales away."""

    def __init__(self, skewness: Any, tailweight: Any, scale: Tensor) -> None:
        self.dtype = scale.dtype
        skew = 0.0 if skewness is None else skewness
        weight = 1.0 if tailweight is None else tailweight
        self.skewness = convert_to_tensor(skew, self.dtype, name="skewness")
        self.tailweight = convert_to_tensor(weight, self.dtype, name="tailweight")
        self.transform = SinhArcsinhBijector(self.skewness, self.tailweight)
        plain = SinhArcsinhBijector(constant(0.0, self.dtype), self.tailweight)
        self.scale = 2 * scale / plain.forward(constant(2.0, self.dtype))

    def base(self, distribution: Any, allow_nan_stats: bool) -> Any:
        """The distribution of z: the given one, by default the normal one."""
        if distribution is None:
            zero, one = constant(0.0, self.dtype), constant(1.0, self.dtype)
            return Normal(zero, one, allow_nan_stats=allow_nan_stats)
        if distribution.dtype != self.dtype:
            raise TypeError(
                f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not'
                f' "{self.dtype.name}"'
            )
        for which in ("event", "batch"):
            scalar = constant_value(getattr(distribution, f"is_scalar_{which}")())
            if scalar is not None and not scalar:
                raise ValueError(
                    f"distribution must be scalar; distribution.is_scalar_{which}=False is not True"
                )
        return distribution


class VectorSinhArcsinhDiag(TransformedDistribution):
    """Vectors of numbers that are skewed and have other tails, with a diagonal scale."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
        skewness: Any = None, tailweight: Any = None, distribution: Any = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:  # fmt: skip
        values = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with name_scope(name, values=values) as name:
            self._loc = optional_tensor(loc, "loc")
            operator = make_diag_scale(self._loc, scale_diag, scale_identity_multiplier)
            batch_shape, event_shape = shapes_of(self._loc, operator)
            skewed = _Skewed(skewness, tailweight, operator.diag_part())
            self.skewness, self.tailweight = skewed.skewness, skewed.tailweight
            affine = Affine(self._loc, scale_diag=skewed.scale, validate_args=validate_args)
            self._scale = affine.scale
        super().__init__(
            skewed.base(distribution, allow_nan_stats), Chain([affine, skewed.transform]),
            batch_shape=batch_shape, event_shape=event_shape, validate_args=validate_args,
            name=name,
        )  # fmt: skip

    @property
    def loc(self) -> Any:
        """The shift, or None."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The operator that scales."""
        return self._scale
