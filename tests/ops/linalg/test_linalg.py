"""Linear algebra beyond samples: what decompositions multiply to, failures, public functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.graph.op_def import REGISTRY, raw
from weft.ops.linalg import linalg

RANDOM = np.random.RandomState(7)
MATRICES = {
    "square": RANDOM.randn(3, 3),
    "tall": RANDOM.randn(5, 3),
    "wide": RANDOM.randn(2, 4),
    "batch": RANDOM.randn(2, 3, 4, 3),
    "complex": RANDOM.randn(3, 3) + 1j * RANDOM.randn(3, 3),
    "complex_batch": RANDOM.randn(2, 4, 3) + 1j * RANDOM.randn(2, 4, 3),
}
by_matrix = pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)


def run(value: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(value, feeds)


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(x: np.ndarray) -> np.ndarray:
    return x + adjoint(x)


def kernel(name: str, *inputs: Any, compiled: bool, **attrs: Any) -> list[np.ndarray]:
    """An op's kernel on NumPy or compiled."""
    function = REGISTRY[name].kernel
    assert function is not None
    if not compiled:
        return function(np, *inputs, **attrs)
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        found = jax.jit(lambda *x: function(jnp, *x, **attrs))(*inputs)
        return jax.tree.map(np.asarray, found)


both_ways = pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])


@both_ways
@pytest.mark.parametrize("full", [False, True])
@by_matrix
def test_svd_multiplies_to_the_matrix(matrix: np.ndarray, full: bool, compiled: bool) -> None:
    s, u, v = kernel("Svd", matrix, compiled=compiled, compute_uv=True, full_matrices=full)
    least = min(matrix.shape[-2:])
    product = (u[..., :least] * s[..., None, :]) @ adjoint(v[..., :least])
    np.testing.assert_allclose(product, matrix, atol=1e-12)
    np.testing.assert_allclose(
        adjoint(u) @ u,
        np.broadcast_to(np.eye(u.shape[-1]), adjoint(u).shape[:-1] + u.shape[-1:]),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        adjoint(v) @ v,
        np.broadcast_to(np.eye(v.shape[-1]), adjoint(v).shape[:-1] + v.shape[-1:]),
        atol=1e-12,
    )
    assert np.all(np.diff(s.real, axis=-1) <= 0)
    assert {x.dtype for x in (s, u, v)} == {matrix.dtype}
    alone, *rest = kernel("Svd", matrix, compiled=compiled, compute_uv=False, full_matrices=full)
    np.testing.assert_allclose(alone, s, atol=1e-12)
    assert [x.shape for x in rest] == [(0,), (0,)]


@both_ways
@pytest.mark.parametrize("name", ["square", "complex", "batch"])
def test_eigenvectors_diagonalize(name: str, compiled: bool) -> None:
    matrix = hermitian(MATRICES[name][..., :3, :3])
    # Only the lower triangle counts.
    given = np.tril(matrix) + np.triu(np.full_like(matrix, 9), 1)
    e, v = kernel("SelfAdjointEigV2", given, compiled=compiled, compute_v=True)
    np.testing.assert_allclose(matrix @ v, v * e[..., None, :], atol=1e-12)
    assert np.all(np.diff(e.real, axis=-1) >= 0)
    alone, none = kernel("SelfAdjointEigV2", given, compiled=compiled, compute_v=False)
    np.testing.assert_allclose(alone, e, atol=1e-12)
    assert none.shape == (0,)


@both_ways
def test_older_form_of_eigenvectors(compiled: bool) -> None:
    matrix = hermitian(MATRICES["square"])
    found = kernel("SelfAdjointEig", matrix, compiled=compiled)
    e, v = found[0], found[1:]
    np.testing.assert_allclose(matrix @ v, v * e, atol=1e-12)


def test_exponential_op() -> None:
    matrix = MATRICES["square"]
    found = kernel("MatrixExponential", matrix, compiled=False)
    series, term = np.eye(3), np.eye(3)
    for k in range(1, 40):
        term = term @ matrix / k
        series = series + term
    np.testing.assert_allclose(found, series, rtol=1e-10)


def numeric_gradient(function: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    found = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        found[index] = (function(up) - function(down)) / (2 * step)
    return found


WEIGHTS = RANDOM.randn(5, 5)


def check_gradient(build: Any, x: np.ndarray) -> None:
    """The gradient of the scalar `build(tensor)` against finite differences."""
    given = tf.placeholder(tf.float64, x.shape)
    y = build(given)
    (grad,) = tf.gradients(y, given)
    with tf.Session() as session:
        found = session.run(grad, {given: x})
        wanted = numeric_gradient(lambda v: session.run(y, {given: v}), x)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 4), (2, 3, 2)])
def test_gradient_of_svd(shape: tuple[int, ...]) -> None:
    def build(x: Any) -> Any:
        s, u, v = linalg.svd(x)
        # Products in which the free signs cancel.
        left = tf.matmul(u * tf.expand_dims(s**2, -2), u, transpose_b=True)
        right = tf.matmul(v * tf.expand_dims(tf.exp(s), -2), v, transpose_b=True)
        rows, columns = shape[-2:]
        return (
            tf.reduce_sum(left * WEIGHTS[:rows, :rows])
            + tf.reduce_sum(right * WEIGHTS[:columns, :columns])
            + tf.reduce_sum(tf.sin(s))
        )

    check_gradient(build, RANDOM.randn(*shape))


@pytest.mark.parametrize("compute_uv", [True, False])
def test_gradient_of_singular_values(compute_uv: bool) -> None:
    def build(x: Any) -> Any:
        found = linalg.svd(x, compute_uv=compute_uv)
        return tf.reduce_sum(tf.sin(found[0] if compute_uv else found))

    check_gradient(build, RANDOM.randn(3, 4))


@pytest.mark.parametrize("full", [True, False])
def test_gradient_of_full_svd(full: bool) -> None:
    def build(x: Any) -> Any:
        s, u, v = linalg.svd(x, full_matrices=full)
        product = tf.matmul(u * tf.expand_dims(s, -2), v[..., :3], transpose_b=True)
        return tf.reduce_sum(product * WEIGHTS[:3, :4])

    check_gradient(build, RANDOM.randn(3, 4))


def test_gradient_of_eigenvectors() -> None:
    def build(x: Any) -> Any:
        e, v = linalg.self_adjoint_eig(x)
        product = tf.matmul(v * tf.expand_dims(tf.exp(e), -2), v, transpose_b=True)
        return tf.reduce_sum(product * WEIGHTS[:3, :3]) + tf.reduce_sum(tf.sin(e))

    check_gradient(build, RANDOM.randn(3, 3))


def test_gradient_of_eigenvalues() -> None:
    check_gradient(
        lambda x: tf.reduce_sum(tf.sin(linalg.self_adjoint_eigvals(x))), RANDOM.randn(3, 3)
    )


def test_gradients_that_are_not_defined() -> None:
    def gradient_of(y: Any, x: Any) -> None:
        tf.gradients(y, x, grad_ys=y)

    complex_one = tf.constant(MATRICES["complex"])
    with pytest.raises(NotImplementedError, match="not implemented for complex types"):
        gradient_of(linalg.svd(complex_one)[1], complex_one)
    with pytest.raises(NotImplementedError, match="QrGrad not implemented for dtype"):
        gradient_of(linalg.qr(complex_one)[0], complex_one)
    unknown = tf.placeholder(tf.float32)
    with pytest.raises(NotImplementedError, match="unknown inner matrix shape"):
        gradient_of(linalg.svd(unknown)[1], unknown)
    with pytest.raises(NotImplementedError, match="dynamic shapes"):
        gradient_of(linalg.qr(unknown)[0], unknown)
    wide = tf.constant(MATRICES["wide"])
    with pytest.raises(NotImplementedError, match="ncols > nrows"):
        gradient_of(linalg.qr(wide)[0], wide)
    with pytest.raises(NotImplementedError, match=r"abs\(m - n\) > 1"):
        gradient_of(linalg.svd(wide, full_matrices=True)[1], wide)
    slow = raw.MatrixSolveLs(wide, wide, 0.0, fast=False)
    with pytest.raises(ValueError, match="fast=False"):
        gradient_of(slow, wide)


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
COLUMN = np.array([[1.0], [2.0]])
NO_PIVOT = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    "op, inputs, attrs, message",
    [
        ("Cholesky", [SINGULAR - 3], {}, "Cholesky decomposition was not successful"),
        ("MatrixInverse", [SINGULAR], {}, "Input is not invertible"),
        ("MatrixSolve", [SINGULAR, COLUMN], {}, "Input matrix is not invertible"),
        ("MatrixTriangularSolve", [np.diag([1.0, 0]), COLUMN], {}, "not invertible"),
        ("Lu", [SINGULAR], {}, "Input is not invertible"),
        ("TridiagonalSolve", [np.array([[1.0], [0.0], [1.0]]), COLUMN[:1]], {}, "value zero"),
        ("TridiagonalSolve", [np.zeros((3, 2)), COLUMN], {}, "not invertible"),
        ("TridiagonalSolve", [NO_PIVOT, COLUMN], {"partial_pivoting": False}, "requires pivoting"),
    ],
)
def test_matrices_that_cannot_be_solved(
    op: str, inputs: Any, attrs: dict[str, Any], message: str
) -> None:
    y = getattr(raw, op)(*inputs, **attrs)
    with pytest.raises(errors.InvalidArgumentError, match=message):
        run(y)


def test_svd_of_what_is_not_finite() -> None:
    s, _, _ = run(linalg.svd(tf.constant([[1.0, np.nan], [0.0, 1.0]])))
    assert np.isnan(s).all()


@both_ways
def test_lu_permutation(compiled: bool) -> None:
    matrix = RANDOM.randn(2, 5, 5)
    packed, order = kernel("Lu", matrix, compiled=compiled, output_idx_type=tf.int32)
    lower = np.tril(packed, -1) + np.eye(5)
    product = lower @ np.triu(packed)
    for whole, rows, want in zip(product, order, matrix, strict=True):
        np.testing.assert_allclose(whole[np.argsort(rows)], want, atol=1e-12)


@pytest.mark.parametrize(
    "order, axis",
    [
        ("euclidean", None), ("euclidean", 1), ("fro", (-2, -1)), (1, 0), (1, (0, 1)), (2, None),
        (2, (-1, 0)), (np.inf, 1), (np.inf, (1, 2)), (3, 0), (0.5, None), (2, (1, 2)), (1, None),
        (np.inf, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("known", [True, False])
def test_norm(order: Any, axis: Any, keepdims: bool, known: bool) -> None:
    x = RANDOM.randn(3, 4, 2)
    given = tf.placeholder(tf.float64, x.shape if known else None)
    found = run(linalg.norm(given, order, axis, keepdims), {given: x})
    flat = x.ravel() if axis is None else x
    numpy_order = None if order in ("euclidean", "fro") else order
    want = np.linalg.norm(flat, numpy_order, axis)
    if keepdims:
        for a in sorted(range(3) if axis is None else np.ravel(axis) % 3):
            want = np.expand_dims(want, a)
    np.testing.assert_allclose(found, want, rtol=1e-10)


def test_norm_refuses() -> None:
    for order in ("fro", -7, -1.1, 0):
        with pytest.raises(ValueError, match="'ord' must be a supported vector norm"):
            linalg.norm([1.0], ord=order)
    for order in ("foo", -7, -1.1, 1.1):
        with pytest.raises(ValueError, match="'ord' must be a supported matrix norm"):
            linalg.norm([[1.0]], ord=order, axis=[-2, -1])
    for axis in ([], [1, 2, 3], [[1]], [[1], [2]], [3.1415], [1, 1], 1.5):
        with pytest.raises(ValueError, match="'axis' must be None, an integer, or a tuple"):
            linalg.norm([[1.0]], axis=axis)


def test_normalize() -> None:
    scaled, length = run(linalg.normalize([[3.0, 4.0], [6.0, 8.0]], axis=1))
    np.testing.assert_allclose(length, [[5], [10]])
    np.testing.assert_allclose(scaled, [[0.6, 0.8], [0.6, 0.8]])


def test_eye() -> None:
    np.testing.assert_array_equal(run(linalg.eye(2)), np.eye(2, dtype=np.float32))
    np.testing.assert_array_equal(run(linalg.eye(2, 3, dtype=tf.int32)), np.eye(2, 3))
    found = run(linalg.eye(3, 2, batch_shape=[2, 1], dtype=tf.complex64))
    assert found.shape == (2, 1, 3, 2) and found.dtype == np.complex64
    rows, batch = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [None])
    y = linalg.eye(rows, batch_shape=batch)
    assert run(y, {rows: 2, batch: [3]}).shape == (3, 2, 2)
    with pytest.raises(TypeError, match="positive integer"):
        linalg.eye(2.5)


def test_names() -> None:
    linalg.cholesky_solve(tf.eye(2), tf.eye(2))
    assert linalg.eye(2).name == "eye_2/diag:0"
    assert linalg.adjoint(tf.zeros([2, 2], tf.complex64)).op.name.startswith("adjoint/")
    assert linalg.matrix_inverse(tf.eye(2), name="mine").name == "mine:0"
    assert linalg.logdet(tf.eye(2)).op.name == "logdet/mul"


def test_determinants() -> None:
    matrix = MATRICES["square"] @ MATRICES["square"].T
    sign, log = run(linalg.slogdet(tf.constant(matrix)))
    np.testing.assert_allclose(sign * np.exp(log), np.linalg.det(matrix))
    np.testing.assert_allclose(run(linalg.logdet(tf.constant(matrix))), log)


@pytest.mark.parametrize("name", ["tall", "wide", "square", "batch"])
@pytest.mark.parametrize("fast", [True, False])
def test_least_squares(name: str, fast: bool) -> None:
    matrix = MATRICES[name]
    rhs = RANDOM.randn(*matrix.shape[:-1], 2)
    found = run(linalg.matrix_solve_ls(matrix, rhs, fast=fast))
    np.testing.assert_allclose(found, np.linalg.pinv(matrix) @ rhs, atol=1e-9)


def test_rank_and_pseudo_inverse() -> None:
    matrix = np.stack([np.outer([1.0, 2, 3], [1, 1]), RANDOM.randn(3, 2)])
    assert run(linalg.matrix_rank(matrix)).tolist() == [1, 2]
    np.testing.assert_allclose(run(linalg.pinv(matrix)), np.linalg.pinv(matrix), atol=1e-10)
    given = tf.placeholder(tf.float64)
    found = run(linalg.pinv(given, validate_args=True), {given: matrix})
    np.testing.assert_allclose(found, np.linalg.pinv(matrix), atol=1e-10)
    with pytest.raises(TypeError, match="float"):
        linalg.pinv([[1, 2]])
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        linalg.matrix_rank([1.0])


@pytest.mark.parametrize("scale", [0.0, 0.01, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_matrix_exponential(scale: float, dtype: Any) -> None:
    from scipy.linalg import expm

    matrix = (scale * RANDOM.uniform(-1, 0.2, (2, 3, 3))).astype(dtype)
    found = run(linalg.expm(matrix))
    want = np.stack([expm(m.astype(np.complex128)) for m in matrix])
    assert found.dtype == dtype
    np.testing.assert_allclose(found, want, rtol=2e-3 if dtype == np.float32 else 1e-8, atol=1e-6)


@pytest.mark.parametrize("form", ["compact", "sequence", "matrix"])
def test_tridiagonal(form: str) -> None:
    above, middle, below = RANDOM.randn(3, 4)
    matrix = np.diag(middle + 3) + np.diag(above[:-1], 1) + np.diag(below[1:], -1)
    rhs = RANDOM.randn(4, 2)
    diagonals: Any = {
        "compact": tf.constant(np.stack([above, middle + 3, below])),
        "sequence": [tf.constant(x) for x in (above, middle + 3, below)],
        "matrix": tf.constant(matrix),
    }[form]
    solved = linalg.tridiagonal_solve(diagonals, tf.constant(rhs), form)
    product = linalg.tridiagonal_matmul(diagonals, tf.constant(rhs), form)
    vector = linalg.tridiagonal_solve(diagonals, tf.constant(rhs[:, 0]), form)
    turned = linalg.tridiagonal_solve(diagonals, tf.constant(rhs.T), form, transpose_rhs=True)
    found = run([solved, product, vector, turned])
    want = np.linalg.solve(matrix, rhs)
    np.testing.assert_allclose(found[0], want, atol=1e-12)
    np.testing.assert_allclose(found[1], matrix @ rhs, atol=1e-12)
    np.testing.assert_allclose(found[2], want[:, 0], atol=1e-12)
    np.testing.assert_allclose(found[3], want.T, atol=1e-12)


def test_tridiagonal_refuses() -> None:
    rhs, compact = tf.zeros([3, 1]), tf.zeros([3, 3])
    with pytest.raises(ValueError, match="Unrecognized diagonals_format"):
        linalg.tridiagonal_solve(compact, rhs, "triples")
    with pytest.raises(ValueError, match="Expected 3 diagonals got 2"):
        linalg.tridiagonal_solve(tf.zeros([2, 3]), rhs)
    with pytest.raises(ValueError, match="rank at least 2, got 1"):
        linalg.tridiagonal_solve(tf.zeros([3]), rhs)
    with pytest.raises(ValueError, match="rank of rhs to be 1 or 2, got 3"):
        linalg.tridiagonal_solve(compact, tf.zeros([1, 3, 1]))
    with pytest.raises(ValueError, match="got 3 and 4"):
        linalg.tridiagonal_solve(compact, tf.zeros([4, 1]))
    with pytest.raises(ValueError, match="size of the matrix needs to be known"):
        linalg.tridiagonal_solve(tf.placeholder(tf.float32, [None, None]), rhs, "matrix")
