"""The rules of the algebra: combinations of operators that are again operators with structure."""

from __future__ import annotations

from typing import Any

from weft.lib.linalg.algebra import (
    adjoint_rules,
    cholesky_rules,
    inverse_rules,
    matmul_rules,
    solve_rules,
)
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.circulant import LinearOperatorCirculant
from weft.lib.linalg.dense import LinearOperatorLowerTriangular
from weft.lib.linalg.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from weft.lib.linalg.inversion import LinearOperatorAdjoint, LinearOperatorInversion
from weft.lib.linalg.joined import LinearOperatorBlockDiag, LinearOperatorComposition
from weft.lib.linalg.kronecker import LinearOperatorKronecker
from weft.lib.linalg.util import Hint, Hints, hints_of
from weft.lib.linalg.vectors import LinearOperatorDiag, LinearOperatorHouseholder
from weft.lib.linalg.zeros import LinearOperatorZeros
from weft.ops.array import array
from weft.ops.linalg.linalg import cholesky
from weft.ops.math import math

_FACTOR: Hints = {"is_non_singular": True, "is_self_adjoint": False, "is_square": True}
_ROOT: Hints = {**_FACTOR, "is_self_adjoint": True, "is_positive_definite": True}

# ---- one operator -----------------------------------------------------------------------------


@adjoint_rules(LinearOperatorIdentity)
@adjoint_rules(LinearOperatorHouseholder)
@inverse_rules(LinearOperatorIdentity)
@inverse_rules(LinearOperatorHouseholder)
def _itself(a: Any) -> Any:
    return a


@adjoint_rules(LinearOperatorAdjoint)
@inverse_rules(LinearOperatorInversion)
def _undone(a: Any) -> Any:
    return a.operator


@adjoint_rules(LinearOperator)
def _adjoint(a: Any) -> Any:
    return LinearOperatorAdjoint(a, **hints_of(a, is_square=a.is_square))


@inverse_rules(LinearOperator)
def _inverse(a: Any) -> Any:
    return LinearOperatorInversion(a, **hints_of(a, is_square=a.is_square))


@cholesky_rules(LinearOperator)
def _cholesky(a: Any) -> Any:
    return LinearOperatorLowerTriangular(cholesky(a.to_dense()), **_FACTOR)


@adjoint_rules(LinearOperatorScaledIdentity)
def _adjoint_scaled(a: Any) -> Any:
    return LinearOperatorScaledIdentity(a._num_rows, math.conj(a.multiplier), **hints_of(a))


@inverse_rules(LinearOperatorScaledIdentity)
def _inverse_scaled(a: Any) -> Any:
    return LinearOperatorScaledIdentity(a._num_rows, 1.0 / a.multiplier, **hints_of(a))


@cholesky_rules(LinearOperatorScaledIdentity)
def _cholesky_scaled(a: Any) -> Any:
    return LinearOperatorScaledIdentity(a._num_rows, math.sqrt(a.multiplier), **_ROOT)


@cholesky_rules(LinearOperatorIdentity)
def _cholesky_identity(a: Any) -> Any:
    batch = None if a._batch is None else a._batch[0]
    return LinearOperatorIdentity(a._num_rows, batch, a.dtype)


@adjoint_rules(LinearOperatorDiag)
def _adjoint_diag(a: Any) -> Any:
    return LinearOperatorDiag(math.conj(a.diag), **hints_of(a))


@inverse_rules(LinearOperatorDiag)
def _inverse_diag(a: Any) -> Any:
    return LinearOperatorDiag(1.0 / a.diag, **hints_of(a))


@cholesky_rules(LinearOperatorDiag)
def _cholesky_diag(a: Any) -> Any:
    return LinearOperatorDiag(math.sqrt(a.diag), **_ROOT)


@adjoint_rules(LinearOperatorBlockDiag)
@adjoint_rules(LinearOperatorKronecker)
def _adjoint_each(a: Any) -> Any:
    operators = [operator.adjoint() for operator in a.operators]
    return type(a)(operators, **hints_of(a, is_square=a.is_square))


@inverse_rules(LinearOperatorBlockDiag)
@inverse_rules(LinearOperatorKronecker)
def _inverse_each(a: Any) -> Any:
    return type(a)([operator.inverse() for operator in a.operators], **hints_of(a))


@cholesky_rules(LinearOperatorBlockDiag)
@cholesky_rules(LinearOperatorKronecker)
def _cholesky_each(a: Any) -> Any:
    """All diagonal factors make a self-adjoint whole, so that hint is left to the operators."""
    operators = [operator.cholesky() for operator in a.operators]
    return type(a)(operators, is_non_singular=True, is_square=True)


# ---- hints of a product of two ----------------------------------------------------------------


def _both_square(a: Any, b: Any) -> Hint:
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        return a.range_dimension == b.domain_dimension
    return None if None in (a.is_square, b.is_square) else False


def _both_non_singular(a: Any, b: Any) -> Hint:
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def _commuting(a: Any, b: Any, **others: Hint) -> Hints:
    """For two square operators whose product does not depend on their order."""
    known = (a.is_self_adjoint, b.is_self_adjoint)
    adjoint: Hint = None if None in known or not any(known) else all(known)
    positive = all(known) and a.is_positive_definite and b.is_positive_definite
    return {
        "is_non_singular": _both_non_singular(a, b),
        "is_self_adjoint": adjoint,
        "is_positive_definite": True if positive else None,
        "is_square": True,
        **others,
    }


def _composed(a: Any, b: Any, *operators: Any) -> Any:
    square = _both_square(a, b)
    if square is False:
        hints: Hints = dict.fromkeys(
            ("is_non_singular", "is_self_adjoint", "is_positive_definite"), False
        )
    else:
        hints = {"is_non_singular": _both_non_singular(a, b) if square else None}
    return LinearOperatorComposition(list(operators), is_square=square, **hints)


# ---- products ---------------------------------------------------------------------------------


@matmul_rules(LinearOperator, LinearOperator)
def _matmul(a: Any, b: Any) -> Any:
    return _composed(a, b, a, b)


@matmul_rules(LinearOperatorIdentity, LinearOperator)
@solve_rules(LinearOperatorIdentity, LinearOperator)
def _second(a: Any, b: Any) -> Any:
    return b


@matmul_rules(LinearOperator, LinearOperatorIdentity)
def _first(a: Any, b: Any) -> Any:
    return a


def _zero(zeros: Any, other: Any) -> Any:
    if not zeros.is_square or not other.is_square:
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not"
            " supported at this time."
        )
    return zeros


@matmul_rules(LinearOperator, LinearOperatorZeros)
def _zero_right(a: Any, b: Any) -> Any:
    return _zero(b, a)


@matmul_rules(LinearOperatorZeros, LinearOperator)
def _zero_left(a: Any, b: Any) -> Any:
    return _zero(a, b)


def _entries(a: Any) -> Any:
    """The diagonal of a diagonal operator; of a scaled identity, one entry that stands for all."""
    if isinstance(a, LinearOperatorDiag):
        return a.diag
    return array.expand_dims(a.multiplier, -1)


@matmul_rules(LinearOperatorDiag, LinearOperatorDiag)
@matmul_rules(LinearOperatorDiag, LinearOperatorScaledIdentity)
@matmul_rules(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _diagonal_product(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(_entries(a) * _entries(b), **_commuting(a, b))


@matmul_rules(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _rows_scaled(a: Any, b: Any) -> Any:
    rows = array.expand_dims(a.diag, -1) * b.to_dense()
    return LinearOperatorLowerTriangular(rows, **_commuting(a, b, is_positive_definite=None))


@matmul_rules(LinearOperatorLowerTriangular, LinearOperatorDiag)
def _columns_scaled(a: Any, b: Any) -> Any:
    columns = a.to_dense() * array.expand_dims(b.diag, -2)
    return LinearOperatorLowerTriangular(columns, **_commuting(a, b, is_positive_definite=None))


# ---- solutions --------------------------------------------------------------------------------


@solve_rules(LinearOperator, LinearOperator)
def _solve(a: Any, b: Any) -> Any:
    return _composed(a, b, LinearOperatorInversion(a), b)


@solve_rules(LinearOperatorInversion, LinearOperator)
def _solve_inverse(a: Any, b: Any) -> Any:
    return a.operator.matmul(b)


@solve_rules(LinearOperatorDiag, LinearOperatorDiag)
@solve_rules(LinearOperatorDiag, LinearOperatorScaledIdentity)
@solve_rules(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _diagonal_quotient(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(_entries(b) / _entries(a), **_commuting(a, b))


@solve_rules(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _rows_divided(a: Any, b: Any) -> Any:
    rows = b.to_dense() / array.expand_dims(a.diag, -1)
    return LinearOperatorLowerTriangular(rows, **_commuting(a, b, is_positive_definite=None))


# ---- circulant operators ----------------------------------------------------------------------
# All of them have the same eigenvectors, so that spectra are all there is to compute with. They
# keep the type of what they act on.


@adjoint_rules(LinearOperatorCirculant)
def _circulant_adjoint(a: Any) -> Any:
    spectrum = math.conj(a.spectrum) if a.spectrum.dtype.is_complex else a.spectrum
    return LinearOperatorCirculant(spectrum, input_output_dtype=a.dtype, **hints_of(a))


@inverse_rules(LinearOperatorCirculant)
def _circulant_inverse(a: Any) -> Any:
    return LinearOperatorCirculant(1.0 / a.spectrum, input_output_dtype=a.dtype, **hints_of(a))


@matmul_rules(LinearOperatorCirculant, LinearOperatorCirculant)
def _circulant_product(a: Any, b: Any) -> Any:
    return LinearOperatorCirculant(a.spectrum * b.spectrum, a.dtype, **_commuting(a, b))


@solve_rules(LinearOperatorCirculant, LinearOperatorCirculant)
def _circulant_solution(a: Any, b: Any) -> Any:
    return LinearOperatorCirculant(b.spectrum / a.spectrum, a.dtype, **_commuting(a, b))
