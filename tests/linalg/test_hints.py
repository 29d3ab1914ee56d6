"""What operators claim of themselves, what they check, and how they are combined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

L = tf.linalg
EYE = np.eye(2, dtype=np.float32)


def matrix(x: Any = EYE, **hints: Any) -> Any:
    return L.LinearOperatorFullMatrix(np.asarray(x, np.float32), **hints)


def run(fetch: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetch)


# ---- hints ------------------------------------------------------------------------------------


def test_hints_imply_others() -> None:
    operator = matrix(is_positive_definite=True)
    assert operator.is_non_singular and operator.is_square
    assert operator.is_self_adjoint is None
    assert L.LinearOperatorDiag([1.0]).is_self_adjoint
    assert L.LinearOperatorDiag([1.0 + 0j]).is_self_adjoint is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: matrix(is_positive_definite=True, is_non_singular=False),
            "A positive definite matrix is always non-singular.",
        ),
        (
            lambda: matrix(is_non_singular=True, is_square=False),
            "A non-singular matrix is always square.",
        ),
        (
            lambda: matrix(is_square=False).is_square,
            "User set is_square hint to False, but the operator was square.",
        ),
        (lambda: L.LinearOperatorDiag([1.0], is_self_adjoint=False), "always self adjoint"),
        (lambda: L.LinearOperatorDiag(1.0), "must have at least 1 dimension.  Found"),
        (lambda: matrix([1.0]), "must have at least 2 dimensions.  Found"),
        (lambda: L.LinearOperatorIdentity(-1), "num_rows must be non-negative.  Found: -1"),
        (lambda: L.LinearOperatorIdentity([2]), "num_rows must be a 0-D Tensor.  Found"),
        (lambda: L.LinearOperatorIdentity(2, is_square=None), "An identity operator is always"),
        (lambda: L.LinearOperatorZeros(2, 3), r"but got num_rows\(2\) != num_columns\(3\)"),
        (
            lambda: L.LinearOperatorHouseholder([1.0], is_positive_definite=True),
            "A Householder operator is always non-positive definite.",
        ),
        (lambda: L.LinearOperatorComposition([]), "Expected a non-empty list of operators"),
        (
            lambda: L.LinearOperatorBlockDiag([matrix(np.ones((2, 3)))]),
            "Can only represent a block diagonal of square matrices.",
        ),
        (
            lambda: L.LinearOperatorInversion(matrix(is_non_singular=False)),
            "must have `is_non_singular` equal to `True` or `None`.  Found False, None",
        ),
        (
            lambda: L.LinearOperatorAdjoint(matrix(is_self_adjoint=True), is_self_adjoint=False),
            "An operator is self-adjoint if and only if its adjoint is self-adjoint.",
        ),
        (lambda: matrix().cholesky(), "Not a positive definite self adjoint matrix"),
        (lambda: matrix(np.ones((2, 3))).inverse(), "represents a non square matrix"),
        (lambda: matrix().matmul(matrix(np.ones((3, 2)))), "Expected `x` to have dimension 2"),
        (lambda: matrix().matmul(np.ones((3, 1), np.float32)), "not compatible"),
    ],
)
def test_contradictions(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_types_and_shapes_that_cannot_be_solved() -> None:
    with pytest.raises(TypeError, match=r"Expected argument to have dtype .*float32.*Found"):
        matrix().matmul(np.ones((2, 1)))
    with pytest.raises(TypeError, match="Expected all operators to have the same dtype"):
        L.LinearOperatorKronecker([matrix(), L.LinearOperatorDiag(np.ones(2))])
    with pytest.raises(TypeError, match="num_rows must be integer type"):
        L.LinearOperatorIdentity(2.0)
    with pytest.raises(NotImplementedError, match="expected to be singular"):
        matrix(is_non_singular=False).solve(EYE)
    with pytest.raises(NotImplementedError, match="expected to not be square"):
        matrix(np.ones((2, 3))).determinant()


# ---- checks in the graph ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: matrix([[1, 1], [1, 1]]).assert_non_singular(), "Singular matrix up to"),
        (lambda: matrix([[1, 2], [3, 4]]).assert_self_adjoint(), "not equal to its adjoint"),
        (lambda: L.LinearOperatorDiag([0.0, 1.0]).assert_non_singular(), "contained zero values"),
        (lambda: L.LinearOperatorDiag([-1.0]).assert_positive_definite(), "non-positive diagonal"),
        (lambda: L.LinearOperatorDiag([1j]).assert_self_adjoint(), "non-zero imaginary"),
        (
            lambda: L.LinearOperatorScaledIdentity(2, 0.0).assert_non_singular(),
            "LinearOperator was singular",
        ),
        (lambda: L.LinearOperatorZeros(2).assert_non_singular(), "always non-invertible"),
    ],
)
def test_assertions(check: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(check())


def test_assertions_that_hold() -> None:
    run(matrix(is_self_adjoint=True).assert_positive_definite())
    run(matrix().assert_non_singular())
    run(L.LinearOperatorKronecker([matrix(), matrix()]).assert_self_adjoint())
    run(L.LinearOperatorBlockDiag([matrix(), matrix()]).assert_non_singular())


# ---- the algebra ------------------------------------------------------------------------------

IDENTITY = L.LinearOperatorIdentity
SCALED = L.LinearOperatorScaledIdentity
DIAG, LOWER = L.LinearOperatorDiag, L.LinearOperatorLowerTriangular


@pytest.mark.parametrize(
    ("combine", "kind", "dense"),
    [
        (lambda: DIAG([2.0, 3.0]).matmul(DIAG([4.0, 5.0])), DIAG, [[8, 0], [0, 15]]),
        (lambda: DIAG([2.0, 3.0]).matmul(SCALED(2, 4.0)), DIAG, [[8, 0], [0, 12]]),
        (lambda: DIAG([2.0, 4.0]).solve(SCALED(2, 4.0)), DIAG, [[2, 0], [0, 1]]),
        (lambda: SCALED(2, [2.0, 4.0]).matmul(DIAG([3.0, 5.0])), DIAG, None),
        (lambda: DIAG([2.0, 3.0]).matmul(LOWER([[1.0, 9], [2, 3]])), LOWER, [[2, 0], [6, 9]]),
        (lambda: LOWER([[1.0, 9], [2, 3]]).matmul(DIAG([2.0, 3.0])), LOWER, [[2, 0], [4, 9]]),
        (lambda: DIAG([2.0, 1.0]).solve(LOWER([[4.0, 9], [2, 3]])), LOWER, [[2, 0], [2, 3]]),
        (lambda: IDENTITY(2).matmul(DIAG([2.0, 3.0])), DIAG, [[2, 0], [0, 3]]),
        (lambda: IDENTITY(2).solve(LOWER([[1.0, 0], [2, 3]])), LOWER, [[1, 0], [2, 3]]),
        (lambda: DIAG([2.0, 3.0]).matmul(L.LinearOperatorZeros(2)), L.LinearOperatorZeros, 0 * EYE),
        (lambda: matrix(2 * EYE).matmul(matrix()), L.LinearOperatorComposition, 2 * EYE),
        (lambda: matrix(2 * EYE).solve(matrix()), L.LinearOperatorComposition, EYE / 2),
        (lambda: matrix().inverse(), L.LinearOperatorInversion, EYE),
        (lambda: matrix(2 * EYE).inverse().solve(DIAG([1.0, 2.0])), None, [[2, 0], [0, 4]]),
        (lambda: matrix().adjoint().adjoint(), L.LinearOperatorFullMatrix, EYE),
        (lambda: DIAG([2.0, 4.0]).inverse(), DIAG, [[0.5, 0], [0, 0.25]]),
        (lambda: SCALED(2, 4.0, is_positive_definite=True).cholesky(), SCALED, 2 * EYE),
        (lambda: SCALED(2, 2j).inverse().adjoint(), SCALED, 0.5j * EYE),
    ],
)
def test_combinations_keep_their_structure(combine: Any, kind: Any, dense: Any) -> None:
    operator = combine()
    assert kind is None or type(operator) is kind
    got = run(operator.to_dense())
    if dense is not None:
        np.testing.assert_allclose(got, dense)
    else:
        np.testing.assert_allclose(got[:, 1, 1], [10, 20])


def test_parts_are_inverted_and_factored_one_by_one() -> None:
    parts = [DIAG([4.0, 9.0], is_positive_definite=True), SCALED(2, 4.0, is_positive_definite=True)]
    for kind in (L.LinearOperatorBlockDiag, L.LinearOperatorKronecker):
        whole = kind(parts)
        assert whole.is_positive_definite and whole.is_self_adjoint
        root, inverse = whole.cholesky(), whole.inverse()
        assert [type(x) for x in (root, inverse)] == [kind, kind]
        assert [type(x) for x in inverse.operators] == [DIAG, SCALED]
        got, again, back = run([root.to_dense(), whole.to_dense(), inverse.to_dense()])
        np.testing.assert_allclose(got @ got.T, again)
        np.testing.assert_allclose(back @ again, np.eye(4), atol=1e-6)


def test_names() -> None:
    operator = L.LinearOperatorComposition([matrix(), DIAG([1.0, 2.0])])
    assert operator.name == "LinearOperatorFullMatrix_o_LinearOperatorDiag"
    assert matrix().inverse().name == "LinearOperatorFullMatrix_inv"
    product = DIAG([1.0, 2.0], name="d").matmul(EYE)
    assert product.op.name == "d/matmul/mul"


def test_public_functions_take_operators() -> None:
    a, x = np.array([[2.0, 1.0], [1.0, 3.0]], np.float32), np.array([[1.0, 2.0]], np.float32)
    operator = matrix(a, is_self_adjoint=True, is_positive_definite=True)
    assert isinstance(L.cholesky(operator), LOWER)
    assert isinstance(L.inv(operator), L.LinearOperatorInversion)
    assert L.adjoint(operator) is operator
    pairs = [
        (tf.matmul(operator, x, adjoint_b=True), a @ x.T),
        (tf.matmul(x, operator), x @ a),
        (tf.linalg.solve(operator, x.T), np.linalg.inv(a) @ x.T),
        (L.det(operator), 5.0),
        (L.logdet(operator), np.log(5.0)),
        (L.trace(operator), 5.0),
        (L.diag_part(operator), [2.0, 3.0]),
    ]
    for ours, (_, theirs) in zip(run([ours for ours, _ in pairs]), pairs, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    with pytest.raises(ValueError, match="Transposing not supported"):
        tf.matmul(operator, x, transpose_b=True)
    with pytest.raises(ValueError, match="`rhs` as a LinearOperator is not supported"):
        tf.matrix_solve(a, operator)
