"""Transforms of matrices, mostly triangular ones."""

from __future__ import annotations

from functools import partial
from math import log
from typing import Any

from weft.graph.graph import Tensor
from weft.lib.contrib.distributions.bijectors.base import Bijector
from weft.lib.contrib.distributions.bijectors.compose import Chain
from weft.lib.contrib.distributions.bijectors.elementwise import AffineScalar, Softplus
from weft.lib.contrib.distributions.triangular import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_size,
)
from weft.lib.distributions.checks import checked, checking
from weft.ops.array import array
from weft.ops.array.diag import matrix_band_part, matrix_diag_part, matrix_set_diag
from weft.ops.control.check import assert_equal, assert_none_equal, assert_positive
from weft.ops.control.check_shapes import assert_rank_at_least
from weft.ops.linalg.linalg import cholesky, matrix_triangular_solve
from weft.ops.linalg.matrices import eye
from weft.ops.math import math


def _square_checks(x: Any, rank_message: str, square_message: str) -> list[Any]:
    shape = array.shape(x)
    return [
        assert_rank_at_least(x, 2, message=rank_message),
        assert_equal(shape[-2], shape[-1], message=square_message),
    ]


class CholeskyOuterProduct(Bijector):
    """Y = X X^T of lower triangular X with a positive diagonal."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Tensor:
        given = x
        x = checked(self.validate_args, x, lambda: self._checks(given))
        lower = matrix_band_part(x, -1, 0)
        return math.matmul(lower, lower, adjoint_b=True)

    def _inverse(self, y: Any) -> Tensor:
        return cholesky(y)

    def _checks(self, x: Any) -> list[Any]:
        return _square_checks(
            x, "Input must be a (batch of) matrix.", "Input must be a (batch of) square matrix."
        )

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        """2^p prod x_ii^(p - i), i counted from 0."""
        diagonal = matrix_diag_part(x)
        message = "Input must be positive definite."
        diagonal = checked(
            self.validate_args, diagonal,
            lambda: [*self._checks(x), assert_positive(diagonal, message=message)],
        )  # fmt: skip
        size = array.shape(x)[-1]
        powers = math.cast(math.range(size, 0, -1), x.dtype)
        weighted = math.reduce_sum(powers * math.log(diagonal), axis=-1)
        return math.cast(size, x.dtype) * log(2.0) + weighted


class FillTriangular(Bijector):
    """A vector of n (n + 1) / 2 numbers as a triangular matrix."""

    def __init__(
        self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"
    ) -> None:
        self._fill = partial(fill_triangular, upper=upper)
        self._unfill = partial(fill_triangular_inverse, upper=upper)
        super().__init__(
            forward_min_event_ndims=1, inverse_min_event_ndims=2, validate_args=validate_args,
            name=name,
        )  # fmt: skip

    def _forward(self, x: Any) -> Tensor:
        return self._fill(x)

    def _inverse(self, y: Any) -> Tensor:
        return self._unfill(y)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return array.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return array.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        count = input_shape.dims[-1].value
        size = None if count is None else matrix_size(count, self.validate_args)
        return input_shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        rows, columns = (dim.value for dim in output_shape.dims[-2:])
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Tensor:
        size = matrix_size(input_shape[-1], self.validate_args)
        return array.concat([input_shape[:-1], [size, size]], axis=0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Tensor:
        size = output_shape[-1]
        message = "Matrix must be square."
        size = checked(
            self.validate_args, size,
            lambda: [assert_equal(output_shape[-1], output_shape[-2], message=message)],
        )  # fmt: skip
        return array.concat([output_shape[:-2], [size * (size + 1) // 2]], axis=0)


class TransformDiagonal(Bijector):
    """Another transform, of the diagonal only."""

    def __init__(
        self, diag_bijector: Bijector, validate_args: bool = False,
        name: str = "transform_diagonal",
    ) -> None:  # fmt: skip
        self._diag_bijector = diag_bijector
        super().__init__(
            forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args,
            name=name,
        )  # fmt: skip

    def _forward(self, x: Any) -> Tensor:
        return matrix_set_diag(x, self._diag_bijector.forward(matrix_diag_part(x)))

    def _inverse(self, y: Any) -> Tensor:
        return matrix_set_diag(y, self._diag_bijector.inverse(matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return self._diag_bijector.forward_log_det_jacobian(matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return self._diag_bijector.inverse_log_det_jacobian(matrix_diag_part(y), event_ndims=1)


class ScaleTriL(Chain):
    """A vector as a lower triangular matrix whose diagonal is positive."""

    def __init__(
        self, diag_bijector: Bijector | None = None, diag_shift: Any = 1e-5,
        validate_args: bool = False, name: str = "scale_tril",
    ) -> None:  # fmt: skip
        diagonal: Bijector = diag_bijector or Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diagonal = Chain([AffineScalar(diag_shift), diagonal])
        parts = TransformDiagonal(diagonal), FillTriangular()
        super().__init__(list(parts), validate_args, name)


class MatrixInverseTriL(Bijector):
    """Y = X^-1 of lower triangular X: its own inverse."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Tensor:
        with checking(self.validate_args, lambda: self._checks(x)):
            shape = array.shape(x)
            one = eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype)
            return matrix_triangular_solve(x, one, lower=True)

    def _inverse(self, y: Any) -> Tensor:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        """As if all entries of the matrix were free, which is what TensorFlow 1.15 counts."""
        with checking(self.validate_args, lambda: self._checks(x)):
            size = math.cast(array.shape(x)[-1], x.dtype.base_dtype)
            logs = math.log(math.abs(matrix_diag_part(x)))
            return -2.0 * size * math.reduce_sum(logs, axis=-1)

    def _checks(self, x: Any) -> list[Any]:
        checks = _square_checks(
            x, "Input must have rank at least 2.", "Input must be a square matrix."
        )
        diagonal = matrix_diag_part(x)
        above = matrix_band_part(matrix_set_diag(x, array.zeros_like(diagonal)), 0, -1)
        lower = "Input must be lower triangular."
        nonzero = "Input must have all diagonal entries nonzero."
        return [
            *checks,
            assert_equal(above, array.zeros_like(above), message=lower),
            assert_none_equal(diagonal, array.zeros_like(diagonal), message=nonzero),
        ]
