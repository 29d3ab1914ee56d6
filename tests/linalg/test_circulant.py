"""Circulant operators against the matrices they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import errors

RANDOM = np.random.RandomState(4)
CASES = {
    "one": (tf.linalg.LinearOperatorCirculant, (5,)),
    "batch": (tf.linalg.LinearOperatorCirculant, (2, 4)),
    "two": (tf.linalg.LinearOperatorCirculant2D, (2, 3)),
    "three": (tf.linalg.LinearOperatorCirculant3D, (2, 2, 3)),
}


def run(value: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(value, feeds)


def spectrum(shape: tuple[int, ...]) -> np.ndarray:
    return RANDOM.randn(*shape) + 1j * RANDOM.randn(*shape) + 3


def dense(eigenvalues: np.ndarray, depth: int) -> np.ndarray:
    """F^-1 diag(spectrum) F, column by column."""
    axes = tuple(range(-depth, 0))
    blocks = eigenvalues.shape[-depth:]
    side = int(np.prod(blocks))
    units = np.eye(side).reshape(side, *[1] * (eigenvalues.ndim - depth), *blocks)
    rows = np.fft.ifftn(eigenvalues * np.fft.fftn(units, axes=axes), axes=axes)
    batch = eigenvalues.shape[: eigenvalues.ndim - depth]
    return np.moveaxis(rows.reshape(side, *batch, side), 0, -1)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_operators_are_their_matrices(name: str, known: bool) -> None:
    kind, shape = CASES[name]
    values = spectrum(shape)
    given = tf.placeholder(tf.complex128, shape if known else None)
    made = kind(given, input_output_dtype=tf.complex128)
    matrix = dense(values, made.block_depth)
    x = RANDOM.randn(matrix.shape[-1], 2) + 0j
    asked = [
        made.to_dense(), made.matmul(x), made.matmul(x, adjoint=True), made.solve(x),
        made.determinant(), made.log_abs_determinant(), made.trace(), made.diag_part(),
    ]  # fmt: skip
    found = run(asked, {given: values})
    adjoint = np.conj(np.swapaxes(matrix, -1, -2))
    expected = [
        matrix, matrix @ x, adjoint @ x, np.linalg.inv(matrix) @ x, np.linalg.det(matrix),
        np.linalg.slogdet(matrix)[1], np.trace(matrix, axis1=-2, axis2=-1),
        np.diagonal(matrix, axis1=-2, axis2=-1),
    ]  # fmt: skip
    for value, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-9)
    if known:
        assert made.shape.as_list() == list(matrix.shape)


def test_what_is_made_of_circulant_operators_is_circulant() -> None:
    kind = tf.linalg.LinearOperatorCirculant
    a, b = (kind(spectrum((4,)), tf.complex128, is_non_singular=True) for _ in range(2))
    made = [a.matmul(b), a.inverse(), a.adjoint(), a.solve(b), a.matmul(b, adjoint=True)]
    assert all(isinstance(each, kind) and each.name == kind.__name__ for each in made)
    da, db, *found = run([each.to_dense() for each in (a, b, *made)])
    inverse, adjoint = np.linalg.inv(da), np.conj(da.T)
    for value, wanted in zip(
        found, (da @ db, inverse, adjoint, inverse @ db, adjoint @ db), strict=True
    ):
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-9)


def test_a_product_of_positive_circulant_operators_is_positive() -> None:
    a, b = (tf.linalg.LinearOperatorCirculant([3.0, 1.0, 2.0], is_positive_definite=True),) * 2
    assert a.matmul(b).is_positive_definite and a.solve(b).is_positive_definite


def test_a_real_kernel_has_a_hermitian_spectrum() -> None:
    kernel = RANDOM.randn(6)
    real = tf.linalg.LinearOperatorCirculant(np.fft.fft(kernel), tf.complex128)
    np.testing.assert_allclose(run(real.convolution_kernel()), kernel, atol=1e-12)
    run(real.assert_hermitian_spectrum())
    other = tf.linalg.LinearOperatorCirculant(spectrum((6,)), tf.complex128)
    with pytest.raises(errors.InvalidArgumentError, match="not Hermitian"):
        run(other.assert_hermitian_spectrum())
    with pytest.raises(ValueError, match="always corresponds to a self-adjoint"):
        tf.linalg.LinearOperatorCirculant([1.0, 2.0], is_self_adjoint=False)
