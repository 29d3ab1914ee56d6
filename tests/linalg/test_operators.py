"""Every kind of linear operator against the dense matrix that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

L = tf.linalg
Make = Callable[[Any, Any], tuple[Any, np.ndarray]]


def draw(*shape: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    random = np.random.RandomState(seed + len(shape) + sum(shape))
    values = random.uniform(0.5, 1.5, shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * random.uniform(-1, 1, shape)
    return values.astype(dtype)


def invertible(*shape: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    return draw(*shape, dtype=dtype, seed=seed) + 3 * np.eye(shape[-1]).astype(dtype)


def positive(*shape: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    root = invertible(*shape, dtype=dtype, seed=seed)
    return root @ adjoint(root)


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


@np.errstate(all="ignore")  # NumPy warns of complex matrices with entries that are zero
def logarithm(x: np.ndarray) -> Any:
    """(sign, log |determinant|)"""
    return np.linalg.slogdet(x)


def diagonal(x: np.ndarray) -> np.ndarray:
    return x[..., None] * np.eye(x.shape[-1], dtype=x.dtype)


def kronecker(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    both = a[..., :, None, :, None] * b[..., None, :, None, :]
    rows, columns = both.shape[-4] * both.shape[-3], both.shape[-2] * both.shape[-1]
    return both.reshape(*both.shape[:-4], rows, columns)


def full(feed: Any, dtype: Any) -> Any:
    matrix = invertible(2, 3, 3, dtype=dtype)
    return L.LinearOperatorFullMatrix(feed(matrix)), matrix


def positive_full(feed: Any, dtype: Any) -> Any:
    matrix = positive(2, 3, 3, dtype=dtype)
    hints = {"is_self_adjoint": True, "is_positive_definite": True}
    return L.LinearOperatorFullMatrix(feed(matrix), **hints), matrix


def lower(feed: Any, dtype: Any) -> Any:
    matrix = invertible(2, 3, 3, dtype=dtype)
    return L.LinearOperatorLowerTriangular(feed(matrix)), np.tril(matrix)


def diag(feed: Any, dtype: Any) -> Any:
    entries = draw(2, 3, dtype=dtype)
    return L.LinearOperatorDiag(feed(entries)), diagonal(entries)


def identity(feed: Any, dtype: Any) -> Any:
    operator = L.LinearOperatorIdentity(
        feed(np.int32(3)), feed(np.array([2], np.int32)), dtype, assert_proper_shapes=True
    )
    return operator, np.broadcast_to(np.eye(3, dtype=dtype), (2, 3, 3))


def scaled(feed: Any, dtype: Any) -> Any:
    factors = draw(2, dtype=dtype)
    operator = L.LinearOperatorScaledIdentity(feed(np.int32(3)), feed(factors))
    return operator, factors[:, None, None] * np.eye(3, dtype=dtype)


def householder(feed: Any, dtype: Any) -> Any:
    axis = draw(2, 3, dtype=dtype)
    unit = (axis / np.linalg.norm(axis, axis=-1, keepdims=True))[..., None]
    return L.LinearOperatorHouseholder(feed(axis)), np.eye(3) - 2 * unit @ adjoint(unit)


def composition(feed: Any, dtype: Any) -> Any:
    a, b = invertible(2, 3, 3, dtype=dtype), invertible(3, 3, dtype=dtype, seed=1)
    factors = [L.LinearOperatorFullMatrix(feed(x)) for x in (a, b)]
    return L.LinearOperatorComposition(factors), a @ b


def inversion(feed: Any, dtype: Any) -> Any:
    operator, matrix = full(feed, dtype)
    return L.LinearOperatorInversion(operator), np.linalg.inv(matrix)


def adjoint_operator(feed: Any, dtype: Any) -> Any:
    operator, matrix = full(feed, dtype)
    return L.LinearOperatorAdjoint(operator), adjoint(matrix)


def kronecker_product(feed: Any, dtype: Any) -> Any:
    a, b = invertible(2, 2, 2, dtype=dtype), invertible(3, 3, dtype=dtype)
    c = draw(2, dtype=dtype)
    operators = [
        L.LinearOperatorFullMatrix(feed(a)),
        L.LinearOperatorLowerTriangular(feed(b)),
        L.LinearOperatorDiag(feed(c)),
    ]
    dense = kronecker(kronecker(a, np.tril(b)), diagonal(c))
    return L.LinearOperatorKronecker(operators), dense


def block_diag(feed: Any, dtype: Any) -> Any:
    a, b = invertible(2, 2, 2, dtype=dtype), draw(3, dtype=dtype)
    first = L.LinearOperatorFullMatrix(feed(a), is_square=True)
    operators = [first, L.LinearOperatorDiag(feed(b))]
    dense = np.zeros((2, 5, 5), dtype)
    dense[:, :2, :2], dense[:, 2:, 2:] = a, diagonal(b)
    return L.LinearOperatorBlockDiag(operators), dense


def low_rank(feed: Any, dtype: Any) -> Any:
    base, u, v = draw(2, 4, dtype=dtype), draw(2, 4, 2, dtype=dtype), draw(2, 4, 2, dtype=dtype)
    update = draw(2, 2, dtype=dtype)
    operator = L.LinearOperatorLowRankUpdate(
        L.LinearOperatorDiag(feed(base)), feed(u), feed(update), feed(v + 1)
    )
    return operator, diagonal(base) + u @ diagonal(update) @ adjoint(v + 1)


def positive_low_rank(feed: Any, dtype: Any) -> Any:
    base, u = draw(4), draw(2, 4, 2, dtype=dtype)
    kind = L.LinearOperatorDiag(
        feed(base.astype(dtype)), is_self_adjoint=True, is_positive_definite=True
    )
    return L.LinearOperatorLowRankUpdate(kind, feed(u)), diagonal(base) + u @ adjoint(u)


def toeplitz(feed: Any, dtype: Any) -> Any:
    column, row = draw(2, 3, dtype=dtype) + 2, draw(2, 3, dtype=dtype, seed=4)
    dense = np.zeros((2, 3, 3), dtype)
    for i in range(3):
        for j in range(3):
            dense[:, i, j] = column[:, i - j] if i >= j else row[:, j - i]
    return L.LinearOperatorToeplitz(feed(column), feed(row)), dense


KINDS: list[Make] = [
    full, positive_full, lower, diag, identity, scaled, householder, composition, inversion,
    adjoint_operator, kronecker_product, block_diag, low_rank, positive_low_rank, toeplitz,
]  # fmt: skip


def feeder(dynamic: bool) -> Callable[[Any], Any]:
    """Arguments as constants, or as tensors of unknown shape."""
    return (lambda x: tf.placeholder_with_default(x, None)) if dynamic else tf.constant


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def everything(operator: Any, dense: np.ndarray) -> dict[str, tuple[Any, np.ndarray]]:
    """Name -> (what the operator says, what the dense matrix says)."""
    x = draw(dense.shape[-1], 2, dtype=dense.dtype)
    sign, log = logarithm(dense)
    pairs = {
        "dense": (operator.to_dense(), dense),
        "shape": (operator.shape_tensor(), dense.shape),
        "batch": (operator.batch_shape_tensor(), dense.shape[:-2]),
        "rank": (operator.tensor_rank_tensor(), dense.ndim),
        "diagonal": (operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1)),
        "trace": (operator.trace(), np.trace(dense, axis1=-2, axis2=-1)),
        "determinant": (operator.determinant(), sign * np.exp(log)),
        "log": (operator.log_abs_determinant(), log),
        "sum": (operator.add_to_tensor(2 * dense), 3 * dense),
        "inverse": (operator.inverse().to_dense(), np.linalg.inv(dense)),
        "adjoint": (operator.H.to_dense(), adjoint(dense)),
        "vector": (operator.matvec(x[:, 0]), dense @ x[:, 0]),
        "solved vector": (operator.solvevec(x[:, 0]), np.linalg.inv(dense) @ x[:, 0]),
    }
    for transposed in (False, True):
        matrix = adjoint(dense) if transposed else dense
        product = operator.matmul(adjoint(x), adjoint=transposed, adjoint_arg=True)
        solution = operator.solve(x, adjoint=transposed)
        pairs[f"product {transposed}"] = product, matrix @ x
        pairs[f"solution {transposed}"] = solution, np.linalg.inv(matrix) @ x
    return pairs


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("make", KINDS)
def test_agrees_with_the_dense_matrix(make: Make, dtype: Any) -> None:
    """Real operators with known shapes, complex ones with unknown shapes."""
    dynamic = dtype is np.complex128
    operator, dense = make(feeder(dynamic), dtype)
    pairs = everything(operator, dense)
    if not dynamic:
        assert operator.shape.as_list() == list(dense.shape)
        assert pairs["product True"][0].shape.as_list() == [*dense.shape[:-1], 2]
    found = run({name: ours for name, (ours, _) in pairs.items()})
    for name, (_, theirs) in pairs.items():
        np.testing.assert_allclose(found[name], theirs, 1e-9, 1e-9, err_msg=name)


@pytest.mark.parametrize("make", [positive_full, identity, positive_low_rank])
def test_cholesky(make: Make) -> None:
    operator, dense = make(tf.constant, np.complex128)
    got = run(operator.cholesky().to_dense())
    np.testing.assert_allclose(got, np.linalg.cholesky(dense), atol=1e-12)


@pytest.mark.parametrize("square", [True, False])
def test_zeros(square: bool) -> None:
    shape = [2, 3, 3 if square else 4]
    hints = {} if square else {"is_square": False, "is_self_adjoint": False}
    operator = L.LinearOperatorZeros(*shape[1:], batch_shape=[2], **hints)
    x = draw(shape[-1], 5, dtype=np.float32)
    assert operator.matmul(x).shape.as_list() == [2, 3, 5]
    product, dense, trace = run([operator.matmul(x), operator.to_dense(), operator.trace()])
    assert not product.any()
    assert dense.shape == tuple(shape) and not dense.any()
    assert trace.tolist() == [0.0, 0.0]


def test_kronecker_and_composition_of_matrices_that_are_not_square() -> None:
    a, b = draw(2, 3), draw(3, 4)
    first, second = (L.LinearOperatorFullMatrix(x) for x in (a, b))
    product, x = L.LinearOperatorKronecker([first, second]), draw(12, 2)
    composed = L.LinearOperatorComposition([first, second])
    assert (product.is_square, composed.is_square) == (False, False)
    transposed = product.matmul(draw(6, 2), adjoint=True)
    got = run([product.matmul(x), transposed, product.diag_part(), composed.to_dense()])
    dense = np.kron(a, b)
    want = [dense @ x, dense.T @ draw(6, 2), np.diagonal(dense), a @ b]
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_systems_that_share_a_matrix() -> None:
    matrix, rhs = invertible(2, 3, 3), draw(4, 2, 3, 5)
    operator = L.LinearOperatorFullMatrix(matrix)
    solution = operator.solve(rhs)
    assert solution.shape.as_list() == [4, 2, 3, 5]
    np.testing.assert_allclose(run(solution), np.linalg.inv(matrix) @ rhs, rtol=1e-10)
    folded = [op for op in tf.get_default_graph().get_operations() if op.type == "MatrixSolve"]
    assert folded[0].inputs[0].shape.as_list() == [2, 3, 3]  # not repeated four times


def test_gradients_reach_a_variable() -> None:
    diagonal_ = tf.Variable([1.0, 2.0, 4.0], dtype=tf.float64)
    operator = L.LinearOperatorDiag(diagonal_)
    assert operator.variables == (diagonal_,)
    gradient = tf.gradients(operator.log_abs_determinant(), diagonal_)[0]
    np.testing.assert_allclose(run(gradient), [1.0, 0.5, 0.25])


def test_what_an_operator_was_made_of_has_its_old_names() -> None:
    diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    reflection = tf.linalg.LinearOperatorHouseholder([1.0, 0.0])
    assert diagonal._diag is diagonal.diag
    assert reflection._reflection_axis is reflection.reflection_axis
