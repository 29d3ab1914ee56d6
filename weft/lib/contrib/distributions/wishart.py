"""Wishart's distribution of covariance matrices."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.scales import on_events
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.reparameterization import FULLY_REPARAMETERIZED
from weft.lib.distributions.special import new_seed
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.dense import LinearOperatorLowerTriangular
from weft.ops.array import array
from weft.ops.array.diag import matrix_band_part, matrix_diag_part, matrix_set_diag
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import assert_equal, assert_less_equal, assert_positive
from weft.ops.linalg.linalg import cholesky
from weft.ops.math import math
from weft.ops.random.random import random_gamma, random_normal


def _lower(tril: Tensor) -> LinearOperator:
    return LinearOperatorLowerTriangular(
        tril, is_non_singular=True, is_positive_definite=True, is_square=True
    )


class _Wishart(Distribution):
    """X X^T of `df` columns of normal numbers with covariance scale scale^T.

    With `cholesky_input_output_matrices`, matrices come and go as their Cholesky factors.
    """

    def __init__(
        self, df: Any, scale_operator: LinearOperator, cholesky_input_output_matrices: bool,
        validate_args: bool, allow_nan_stats: bool, name: str,
    ) -> None:  # fmt: skip
        self._factors = cholesky_input_output_matrices
        with name_scope(name) as name, name_scope("init", values=[df]):
            if not scale_operator.dtype.is_floating:
                raise TypeError(
                    f"scale_operator.dtype={scale_operator.dtype} is not a floating-point type"
                )
            self._scale_operator = scale_operator
            kind = scale_operator.dtype
            given = convert_to_tensor(df, dtype=kind, name="df")
            known = scale_operator.shape.dims
            size: Any = None if known is None else known[-1].value
            if size is None:
                size = scale_operator.domain_dimension_tensor()
            self._dimension = math.cast(size, kind, name="dimension")
            self._df = self._checked_df(given, validate_args)
        super().__init__(
            kind, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name,
            graph_parents=[self._df, self._dimension, *scale_operator.graph_parents],
        )  # fmt: skip

    def _checked_df(self, df: Tensor, validate_args: bool) -> Tensor:
        have, size = constant_value(df), constant_value(self._dimension)
        if have is not None and size is not None:
            if np.any(have < size):
                raise ValueError(
                    f"Degrees of freedom (df = {have}) cannot be less than dimension of scale"
                    f" matrix (scale.dimension = {size})"
                )
            return df
        message = (
            f"Degrees of freedom (df = {df}) cannot be less than dimension of scale matrix"
            f" (scale.dimension = {self._dimension})"
        )
        return checked(
            validate_args, df,
            lambda: [assert_less_equal(self._dimension, df, message=message)],
        )  # fmt: skip

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self._df

    @property
    def scale_operator(self) -> LinearOperator:
        """The Cholesky factor of the scale."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether matrices come and go as their Cholesky factors."""
        return self._factors

    @property
    def dimension(self) -> Tensor:
        """The size of the matrices."""
        return self._dimension

    def scale(self) -> Tensor:
        """The scale, or its Cholesky factor."""
        return self._scale_operator.to_dense() if self._factors else self._square()

    def _square(self) -> Tensor:
        return self._scale_operator.matmul(self._scale_operator.to_dense(), adjoint_arg=True)

    def _event_shape_tensor(self) -> Tensor:
        size = self._scale_operator.domain_dimension_tensor()
        return array.stack([size, size])

    def _event_shape(self) -> Any:
        size = self._scale_operator.domain_dimension
        return [size, size]

    def _batch_shape_tensor(self) -> Tensor:
        return self._scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._scale_operator.batch_shape

    def _columns(self, function: Any, x: Tensor) -> Tensor:
        """A function of vectors, of each column of matrices [samples, batch, rows, columns]."""
        rows = array.matrix_transpose(x)
        rank = self._scale_operator.tensor_rank
        if rank == 2:
            return array.matrix_transpose(on_events(function, rows, 0))
        return function(x)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        """Bartlett's way: normal numbers below the diagonal, roots of chi-squared ones on it."""
        whole = array.concat([self._draws(n), self.event_shape_tensor()], 0)
        below = random_normal(whole, 0.0, 1.0, dtype=self.dtype, seed=seed)
        df = self.df * array.ones(self.batch_shape_tensor(), self.dtype)
        halves, other = self._gamma_arguments(0.5 * df), new_seed(seed, "wishart")
        squares = random_gamma([n], halves, beta=0.5, dtype=self.dtype, seed=other)
        lower = matrix_set_diag(matrix_band_part(below, -1, 0), math.sqrt(squares))
        factor = self._columns(self._scale_operator.matmul, lower)
        return factor if self._factors else math.matmul(factor, factor, adjoint_b=True)

    def _log_prob(self, value: Any) -> Tensor:
        factor = value if self._factors else cholesky(value)
        whitened = self._columns(self._scale_operator.solve, factor)
        trace = math.reduce_sum(math.square(whitened), [-2, -1])
        logarithms = math.log(matrix_diag_part(factor))
        log_det = math.reduce_sum(logarithms, [-1])
        shape = (self.df - self.dimension - 1.0) * log_det
        return shape - 0.5 * trace - self.log_normalization()

    def _entropy(self) -> Tensor:
        half_size, half_df = 0.5 * self.dimension + 0.5, 0.5 * self.df
        terms = self.dimension * (half_df + half_size * log(2.0))
        terms += 2 * half_size * self._scale_operator.log_abs_determinant()
        terms += self._multi_lgamma(half_df)
        return terms + (half_size - half_df) * self._multi_digamma(half_df)

    def _mean(self) -> Tensor:
        if self._factors:
            return math.sqrt(self.df)[..., None, None] * self._scale_operator.to_dense()
        return self.df[..., None, None] * self._square()

    def _variance(self) -> Tensor:
        x = math.sqrt(self.df)[..., None, None] * self._square()
        diagonal = matrix_diag_part(x)[..., None]
        found = math.square(x) + math.matmul(diagonal, diagonal, adjoint_b=True)
        return cholesky(found) if self._factors else found

    def _stddev(self) -> Tensor:
        if self._factors:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does not make"
                " sense."
            )
        return cholesky(self._variance())

    def _mode(self) -> Tensor:
        power = self.df - self.dimension - 1.0
        nan = constant(np.nan, self.dtype, name="nan")
        power = where_v2(math.less(power, 0.0), nan, power)[..., None, None]
        if self._factors:
            return math.sqrt(power) * self._scale_operator.to_dense()
        return power * self._square()

    def mean_log_det(self, name: str = "mean_log_det") -> Tensor:
        """The expectation of log det X."""
        with self._name_scope(name):
            of_scale = 2 * self._scale_operator.log_abs_determinant()
            of_normals = self._multi_digamma(0.5 * self.df)
            return of_normals + self.dimension * log(2.0) + of_scale

    def log_normalization(self, name: str = "log_normalization") -> Tensor:
        """The logarithm of what the density is divided by."""
        with self._name_scope(name):
            log_det = self._scale_operator.log_abs_determinant()
            twos = 0.5 * self.df * self.dimension * log(2.0)
            return self.df * log_det + twos + self._multi_lgamma(0.5 * self.df)

    def _gamma_arguments(self, a: Tensor) -> Tensor:
        """a, a - 1/2, a - 1, ..., as many as the matrices have rows."""
        steps = math.range(self.event_shape_tensor()[0])
        return a[..., None] - 0.5 * math.cast(steps, self.dtype)

    def _multi_lgamma(self, a: Tensor) -> Tensor:
        p = self.dimension
        logs = math.reduce_sum(math.lgamma(self._gamma_arguments(a)), axis=[-1])
        return 0.25 * p * (p - 1.0) * log(pi) + logs

    def _multi_digamma(self, a: Tensor) -> Tensor:
        return math.reduce_sum(math.digamma(self._gamma_arguments(a)), axis=[-1])


class WishartCholesky(_Wishart):
    """With the Cholesky factor of the scale."""

    @keeps_arguments
    def __init__(
        self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "WishartCholesky",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[scale]) as name, name_scope("init", values=[scale]):
            given = convert_to_tensor(scale)
            shape = array.shape(given)
            tril = checked(
                validate_args, given,
                lambda: [
                    assert_positive(
                        matrix_diag_part(given), message="scale must be positive definite"
                    ),
                    assert_equal(shape[-1], shape[-2], message="scale must be square"),
                ],
            )  # fmt: skip
        super().__init__(
            df, _lower(tril), cholesky_input_output_matrices, validate_args, allow_nan_stats,
            name,
        )  # fmt: skip


class WishartFull(_Wishart):
    """With the scale as a whole."""

    @keeps_arguments
    def __init__(
        self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "WishartFull",
    ) -> None:  # fmt: skip
        with name_scope(name) as name, name_scope("init", values=[scale]):
            given = convert_to_tensor(scale)
            whole = checked(
                validate_args, given,
                lambda: [assert_equal(given, array.matrix_transpose(given))],
            )  # fmt: skip
            factor = cholesky(whole)
            tril = checked(
                validate_args, factor, lambda: [assert_positive(matrix_diag_part(factor))]
            )
        super().__init__(
            df, _lower(tril), cholesky_input_output_matrices, validate_args, allow_nan_stats,
            name,
        )  # fmt: skip
