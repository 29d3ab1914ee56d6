"""Multivariate normal distributions: scale z + loc, with a scale of some form."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.affine import AffineLinearOperator
from weft.lib.contrib.distributions.scales import (
    identity_scale,
    is_diagonal,
    low_rank_update,
    lower_scale,
    make_diag_scale,
    optional_tensor,
    shapes_of,
    size_of,
    squared_diagonal,
)
from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.normal import Normal
from weft.lib.linalg.base import LinearOperator
from weft.ops.array import array
from weft.ops.array.diag import matrix_diag
from weft.ops.control.check import assert_near
from weft.ops.linalg.linalg import cholesky
from weft.ops.math import math
from weft.ops.nn.activations import softplus


class AffineOfNumbers(TransformedDistribution):
    """scale z + loc of vectors z of independent numbers, all of one distribution."""

    def __init__(self, base: Any, loc: Any, scale: Any, validate_args: bool, name: str) -> None:
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        kind = scale.dtype
        if not kind.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]) as name:
            loc = optional_tensor(loc, "loc")
            shapes = dict(zip(("batch_shape", "event_shape"), shapes_of(loc, scale), strict=True))
        numbers = base(array.zeros([], kind), array.ones([], kind))
        affine = AffineLinearOperator(loc, scale, validate_args=validate_args)
        super().__init__(numbers, affine, validate_args=validate_args, name=name, **shapes)

    @property
    def loc(self) -> Any:
        """The shift, or None."""
        return self.bijector.shift  # type: ignore[attr-defined]

    @property
    def scale(self) -> LinearOperator:
        """The operator that scales."""
        return self.bijector.scale  # type: ignore[attr-defined]

    def _broadcast(self, value: Any) -> Tensor:
        """`value` in the shape of the batch and the event."""
        known = self.batch_shape.concatenate(self.event_shape)
        if value is not None and known.is_fully_defined() and value.shape == known:
            return array.identity(value)
        shape = array.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        held = None if value is None else array.identity(value)
        zeros = array.zeros(shape, self.dtype)
        return zeros if held is None else held + zeros

    def _mean(self) -> Tensor:
        return self._broadcast(self.loc)

    def _mode(self) -> Tensor:
        return self._broadcast(self.loc)

    def _variance(self) -> Tensor:
        return squared_diagonal(self.scale)

    def _stddev(self) -> Tensor:
        if is_diagonal(self.scale):
            return math.abs(self.scale.diag_part())
        return math.sqrt(self._variance())

    def _covariance(self) -> Tensor:
        scale = self.scale
        if not is_diagonal(scale):
            return scale.matmul(scale.to_dense(), adjoint_arg=True)
        return matrix_diag(math.square(scale.diag_part()))


class MultivariateNormalLinearOperator(AffineOfNumbers):
    """With a `LinearOperator` for a scale."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalLinearOperator",
    ) -> None:  # fmt: skip
        super().__init__(Normal, loc, scale, validate_args, name)


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """With a scale that is a diagonal, a multiple of one, or their sum."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:  # fmt: skip
        values = [loc, scale_diag, scale_identity_multiplier]
        with name_scope(name) as name, name_scope("init", values=values):
            scale = make_diag_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """With a diagonal scale that is softplus of what is given."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale_diag: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(loc, softplus(scale_diag), None, validate_args, allow_nan_stats, name)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """With a lower triangular scale."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL",
    ) -> None:  # fmt: skip
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            loc, given = optional_tensor(loc, "loc"), optional_tensor(scale_tril, "scale_tril")
            scale = (
                identity_scale(size_of(loc, -1), loc.dtype, validate_args)
                if given is None
                else lower_scale(given, False)
            )
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """With a covariance matrix."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, covariance_matrix: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalFullCovariance",
    ) -> None:  # fmt: skip
        with name_scope(name) as name, name_scope("init", values=[loc, covariance_matrix]):
            scale_tril = None
            if covariance_matrix is not None:
                matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")

                def symmetric() -> list[Any]:
                    flipped = array.matrix_transpose(matrix)
                    return [assert_near(matrix, flipped, message="Matrix was not symmetric")]

                scale_tril = cholesky(checked(validate_args, matrix, symmetric))
            super().__init__(loc, scale_tril, validate_args, allow_nan_stats, name)


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """With a scale that is a diagonal and a matrix of low rank."""

    @keeps_arguments
    def __init__(
        self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None, scale_perturb_diag: Any = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:  # fmt: skip
        given = [scale_perturb_factor, scale_perturb_diag]
        values = [loc, scale_diag, scale_identity_multiplier, *given]
        with name_scope(name) as name, name_scope("init", values=values):
            updated = any(each is not None for each in given)
            scale = make_diag_scale(
                loc, scale_diag, scale_identity_multiplier, validate_args=validate_args,
                assert_positive=updated,
            )  # fmt: skip
            factor = optional_tensor(scale_perturb_factor, "scale_perturb_factor")
            diagonal = optional_tensor(scale_perturb_diag, "scale_perturb_diag")
            scale = low_rank_update(scale, factor, diagonal) if updated else scale
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


def _squares(x: Tensor) -> Tensor:
    return math.reduce_sum(math.square(x), axis=[-2, -1])


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_normals(a: Distribution, b: Distribution, name: str | None = None) -> Tensor:
    assert isinstance(a, AffineOfNumbers) and isinstance(b, AffineOfNumbers)
    values = [a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]
    with name_scope(name, "kl_mvn", values=values):
        if is_diagonal(a.scale) and is_diagonal(b.scale):
            ratio = (a.stddev() / b.stddev())[..., None]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        volumes = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        squares = -math.cast(a.scale.domain_dimension_tensor(), a.dtype) + _squares(ratio)
        apart = b.scale.solve((b.mean() - a.mean())[..., None])
        divergence = volumes + 0.5 * (squares + _squares(apart))
        divergence.set_shape(array.broadcast_static_shape(a.batch_shape, b.batch_shape))
        return divergence
