"""Samples of decompositions, linear systems and tridiagonal matrices.

Singular vectors and eigenvectors are defined up to a sign, which is up to the library: those are
checked by what they multiply to, in test_linalg.py. So is what TensorFlow 1 refuses and
TensorFlow 2 answers with NaN.
"""

from __future__ import annotations

import numpy as np

from tests.ops.sample import Sample, c64, c128, f16, f32, f64, skip

SQUARE = [[4, 1, 2], [1.5, 5, -1], [-2, 0.5, 3]]
POSITIVE = [[4, 1, 0.5], [1, 5, -1], [0.5, -1, 3]]
TALL = [[1, 2], [3, -4], [0.5, 6], [-1, 2]]
BATCH = [SQUARE, [[1, 2, 0], [0, -3, 1], [2, 1, 5]]]
POSITIVE_BATCH = [POSITIVE, [[2, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 4]]]
COMPLEX = [[4 + 1j, 1 - 2j], [0.5j, 3 - 1j]]
HERMITIAN = [[4, 1 - 2j, 0.5], [1 + 2j, 5, -1j], [0.5, 1j, 3]]
COLUMNS = [[1, -2], [0.5, 3], [2, 1]]
SINGULAR = [[1, 2], [2, 4]]


def batch(matrix: list, count: int = 2) -> list:
    return [np.asarray(matrix) * (1 + 0.25 * i) for i in range(count)]


def _each(op: str, matrix: list, matrices: list, complex_matrix: list, **attrs) -> list[Sample]:
    """The usual dtypes and shapes of an op on square matrices."""
    return [
        Sample(op, f32(matrix), rtol=2e-5, **attrs),
        Sample(op, f64(matrix), rtol=1e-10, **attrs),
        Sample(op, f64(matrices), rtol=1e-10, **attrs),
        Sample(op, f32(matrices)[:0], **attrs),
        Sample(op, f32([[2.5]]), rtol=2e-5, **attrs),
        Sample(op, f64([[[2.5]], [[0.5]]]), rtol=1e-10, **attrs),
        Sample(op, f32(np.zeros((0, 0))), grad=False, **attrs),
        Sample(op, c128(complex_matrix), rtol=1e-10, **attrs),
        Sample(op, c64(complex_matrix), rtol=1e-4, **attrs),
        Sample(op, f16(matrix), rtol=2e-2, grad=False, **attrs),
        Sample(op, f32([[1, 2, 3]]), note="not square", **attrs),
        Sample(op, f32([1, 2, 3]), note="not a matrix", **attrs),
    ]


def _systems(op: str, **attrs) -> list[Sample]:
    return [
        Sample(op, f32(SQUARE), f32(COLUMNS), rtol=2e-5, **attrs),
        Sample(op, f64(SQUARE), f64(COLUMNS), rtol=1e-10, **attrs),
        Sample(op, f64(BATCH), f64(batch(COLUMNS)), rtol=1e-10, **attrs),
        Sample(op, c128(COMPLEX), c128([[1], [2j]]), rtol=1e-10, **attrs),
        Sample(op, f32(SQUARE), f32(np.zeros((3, 0))), grad=False, **attrs),
        Sample(op, f32(np.zeros((0, 0))), f32(np.zeros((0, 2))), grad=False, **attrs),
        Sample(op, f32(SQUARE), f32([[1], [2]]), note="sizes differ", **attrs),
    ]


SAMPLES = [
    *_each("Cholesky", POSITIVE, POSITIVE_BATCH, HERMITIAN),
    Sample("Cholesky", f32([[4, 99], [2, 5]]), note="only the lower triangle is read", grad=False),
    Sample("CholeskyGrad", f32(np.linalg.cholesky(POSITIVE)), f32(SQUARE), rtol=2e-5, grad=False),
    Sample("CholeskyGrad", f64(np.linalg.cholesky(POSITIVE_BATCH)), f64(BATCH), rtol=1e-10),
    Sample("CholeskyGrad", f64(np.zeros((0, 0))), f64(np.zeros((0, 0)))),
    *_each("MatrixInverse", SQUARE, BATCH, COMPLEX),
    *_each("MatrixInverse", SQUARE, BATCH, COMPLEX, adjoint=True)[:3],
    Sample("MatrixInverse", c128(COMPLEX), adjoint=True, rtol=1e-10),
    Sample("MatrixInverse", f64(SINGULAR), note="singular"),
    *_each("MatrixDeterminant", SQUARE, BATCH, COMPLEX),
    Sample("MatrixDeterminant", f64(SINGULAR), grad=False),
    *_each("LogMatrixDeterminant", SQUARE, BATCH, COMPLEX),
    Sample("LogMatrixDeterminant", f64([[0, 1], [1, 0]]), rtol=1e-10),
    Sample("LogMatrixDeterminant", f64([[0, 0], [1, 0]]), grad=False, note="singular"),
    *_systems("MatrixSolve"),
    *_systems("MatrixSolve", adjoint=True),
    Sample("MatrixSolve", f64(SINGULAR), f64([[1], [2]]), note="singular"),
    *_systems("MatrixTriangularSolve"),
    *_systems("MatrixTriangularSolve", adjoint=True),
    *_systems("MatrixTriangularSolve", lower=False),
    *_systems("MatrixTriangularSolve", lower=False, adjoint=True),
    Sample("MatrixSolveLs", f64(TALL), f64([[1], [2], [3], [-1]]), f64(0), rtol=1e-9),
    Sample("MatrixSolveLs", f64(TALL), f64([[1], [2], [3], [-1]]), f64(0.5), rtol=1e-9),
    Sample("MatrixSolveLs", f32(batch(TALL)), f32(batch(TALL)), f64(0.25), rtol=1e-4),
    Sample("MatrixSolveLs", f64(np.transpose(TALL)), f64([[1, 2], [3, -1]]), f64(0.5), rtol=1e-9),
    Sample("MatrixSolveLs", f64(TALL), f64([[1], [2], [3], [-1]]), f64(0), fast=False, rtol=1e-9),
    Sample(
        "MatrixSolveLs",
        f64([[1, 2], [2, 4], [3, 6]]),
        f64([[1], [2], [2]]),
        f64(0),
        fast=False,
        rtol=1e-9,
        note="rank deficient",
    ),
    Sample("MatrixSolveLs", f64(SINGULAR), f64([[1], [2]]), f64(0), note="rank deficient"),
    Sample("MatrixSolveLs", f64(TALL), f64([[1], [2], [3], [-1]]), f64(-1), note="negative"),
    Sample("Qr", f32(SQUARE), rtol=2e-5),
    Sample("Qr", f64(SQUARE), rtol=1e-9),
    Sample("Qr", f64(BATCH), rtol=1e-9),
    Sample("Qr", f64(TALL), rtol=1e-9),
    Sample("Qr", f64(TALL), full_matrices=True, rtol=1e-9, grad=False),
    Sample("Qr", f64(np.transpose(TALL)), rtol=1e-9, grad=False),
    Sample("Qr", c128(COMPLEX), rtol=1e-9, grad=False),
    Sample("Qr", f64([[1, 2], [0, 3]]), rtol=1e-9, note="triangular already"),
    Sample("Qr", f32([1, 2]), note="not a matrix"),
    *_each("Lu", SQUARE, BATCH, COMPLEX),
    Sample("Lu", f64([[0, 1, 2], [3, 4, 6], [7, 8, 0]]), output_idx_type="int64", rtol=1e-10),
    Sample("Lu", f64([[1, 2, 0], [0, 5, 3], [7, 8, 0]]), rtol=1e-10),
    Sample("Lu", f64([[0, 0], [1, 0]]), note="singular"),
    Sample("SelfAdjointEigV2", f64([[3.0]]), grad=False),
    Sample("SelfAdjointEigV2", f32(np.zeros((0, 0))), grad=False),
    Sample("SelfAdjointEigV2", f64([[3.0, 1.0]]), note="not square"),
    Sample("Svd", f64([[2.0]])),
    Sample("Svd", f64(np.zeros((0, 3))), grad=False),
    Sample("Svd", f64(np.zeros((2, 0))), full_matrices=True, grad=False),
    Sample("Svd", f32([1, 2]), note="not a matrix"),
    *(s for s in _each("MatrixSquareRoot", POSITIVE, POSITIVE_BATCH, COMPLEX)),
    Sample("MatrixLogarithm", c128(COMPLEX), rtol=1e-9),
    Sample("MatrixLogarithm", c128([COMPLEX, np.asarray(COMPLEX) * 2]), rtol=1e-9),
    Sample("MatrixLogarithm", c64(COMPLEX), rtol=1e-4),
    Sample("MatrixLogarithm", c64(np.zeros((0, 0)))),
    Sample("TridiagonalMatMul", f64([[1, 2, 9]]), f64([[3, 4, 5]]), f64([[9, 6, 7]]), f64(COLUMNS)),
    Sample(
        "TridiagonalMatMul",
        c128([[[1j, 2, 9]]]),
        c128([[[3, 4j, 5]]]),
        c128([[[9, 6, 7j]]]),
        c128([COLUMNS]),
    ),
    Sample("TridiagonalMatMul", f32([[1]]), f32([[3]]), f32([[9]]), f32([[1, 2]])),
    Sample("TridiagonalSolve", f64([[1, 2, 9], [3, 4, 5], [9, 6, 7]]), f64(COLUMNS), rtol=1e-9),
    Sample(
        "TridiagonalSolve",
        f64([[1, 2, 9], [0, 4, 5], [9, 6, 7]]),
        f64(COLUMNS),
        rtol=1e-9,
        note="exchanges rows",
    ),
    Sample(
        "TridiagonalSolve",
        f64([[1, 2, 9], [3, 4, 5], [9, 6, 7]]),
        f64(COLUMNS),
        rtol=1e-9,
        partial_pivoting=False,
    ),
    Sample(
        "TridiagonalSolve",
        c64([[[1, 2j, 9], [3, 4, 5], [9, 6, 7]]] * 2),
        c64([COLUMNS] * 2),
        rtol=1e-4,
    ),
    Sample("TridiagonalSolve", f32([[1], [2], [3]]), f32([[5, 6]])),
    skip(
        "SelfAdjointEig", "TensorFlow no longer runs it; checked in tests/ops/linalg/test_linalg.py"
    ),
    skip(
        "MatrixExponential",
        "TensorFlow no longer runs it; checked in tests/ops/linalg/test_linalg.py",
    ),
    *(
        skip(f"Batch{name}", f"the kernel of {name} under an older name")
        for name in (
            "Cholesky CholeskyGrad MatrixDeterminant MatrixInverse MatrixSolve MatrixSolveLs"
            " MatrixTriangularSolve SelfAdjointEig SelfAdjointEigV2 Svd"
        ).split()
    ),
]
