"""Optimizers of tf.contrib.opt that even gradients out with matrices, against their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.opt import matrix_functions

W = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], np.float32)
G = np.array([[0.1, -0.2, 0.3], [0.5, 0.4, -0.6]], np.float32)


def power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**exponent) @ vectors.T


def after(optimizer: Any, start: Any, grads: Any, step: Any, resource: bool = False) -> Any:
    """The variable after a step for each of `grads`."""
    var = tf.get_variable("var", initializer=start, use_resource=resource)
    fed = tf.placeholder(tf.float32, np.shape(grads[0]))
    train = optimizer.apply_gradients([(fed, var)], global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for grad in grads:
            session.run(train, {fed: grad})
        return session.run(var)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("iterative", [False, True])
def test_shampoo(iterative: bool, resource: bool) -> None:
    step = tf.train.create_global_step()
    optimizer = tf.contrib.opt.ShampooOptimizer(
        step, gbar_decay=0.5, learning_rate=0.1, epsilon=1e-2, use_iterative_root=iterative
    )
    made = after(optimizer, W, [G, -2 * G], step, resource)
    expected, running, matrices = W.astype(float), 0.0, [0.0, 0.0]
    for grad in (G.astype(float), -2.0 * G):
        running = 0.5 * running + grad
        matrices = [matrices[0] + grad @ grad.T, matrices[1] + grad.T @ grad]
        factors = [power(m / n + 1e-2 * np.eye(n), -0.25) for m, n in zip(matrices, (2, 3))]  # noqa: B905
        expected = expected - 0.1 * factors[0].T @ running @ factors[1]
    np.testing.assert_allclose(made, expected, rtol=2e-3, atol=1e-4)


def test_shampoo_of_long_dimensions() -> None:
    """Squares in the place of matrices; the first dimension is too long."""
    step = tf.train.create_global_step()
    optimizer = tf.contrib.opt.ShampooOptimizer(step, max_matrix_size=2, epsilon=0.0)
    made = after(optimizer, W.T.copy(), [G.T.copy()], step)
    grad = G.T.astype(float)
    squares = (grad * grad).sum(1) / 3
    evened = grad * squares[:, None] ** -0.25 @ power(grad.T @ grad / 2, -0.25)
    np.testing.assert_allclose(made, W.T - evened, rtol=1e-3, atol=1e-4)


def test_shampoo_of_few_rows() -> None:
    step = tf.train.create_global_step()
    optimizer = tf.contrib.opt.ShampooOptimizer(step, max_matrix_size=2)
    table = tf.get_variable("table", initializer=np.ones([4, 3], np.float32))
    train = optimizer.minimize(tf.reduce_sum(tf.gather(table, [1, 3]) * G), step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        made = session.run(table)
    grad = G.astype(float)
    rows, columns = (grad * grad).sum(1), (grad * grad).sum(0)
    expected = np.ones([4, 3])
    expected[[1, 3]] -= grad * rows[:, None] ** -0.25 * columns**-0.25
    np.testing.assert_allclose(made, expected, rtol=1e-4)


def test_shampoo_now_and_then() -> None:
    """Powers are of the second step, matrices of the first and second."""
    step = tf.train.create_global_step()
    optimizer = tf.contrib.opt.ShampooOptimizer(
        step, svd_interval=2, learning_rate=lambda t: 0.1 * t, epsilon=1e-2
    )
    made = after(optimizer, W, [G, G, G], step)
    assert optimizer.get_slot_names() == ["Gbar_0", "Gbar_1", "H_0", "H_1", "gbar"]
    left = power(2 * G @ G.T / 2 + 1e-2 * np.eye(2), -0.25)
    right = power(2 * G.T @ G / 3 + 1e-2 * np.eye(3), -0.25)
    expected = W - 0.1 * G - (0.2 + 0.3) * left @ G @ right
    np.testing.assert_allclose(made, expected, rtol=1e-3, atol=1e-4)


def test_roots_of_matrices() -> None:
    random = np.random.RandomState(0).randn(4, 4).astype(np.float32)
    matrix = random @ random.T + np.eye(4, dtype=np.float32)
    square = matrix_functions.matrix_square_root(tf.constant(matrix), 4, 100, 0.0)
    cube = matrix_functions.matrix_inverse_pth_root(tf.constant(matrix), 4, -1 / 3)
    one = matrix_functions.matrix_inverse_pth_root(tf.constant([[4.0]]), 1, -0.5)
    with tf.Session() as session:
        root, inverse, half = session.run([square, cube, one])
    np.testing.assert_allclose(root @ root, matrix, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(inverse, power(matrix.astype(float), -1 / 3), atol=1e-4)
    np.testing.assert_allclose(half, [[0.5]], rtol=1e-5)


def moved(means: np.ndarray, mean: np.ndarray, window: int, eps: float) -> np.ndarray:
    values, u = np.linalg.eigh(means.T @ means + 1e-6 * np.eye(window))
    roots, along = np.sqrt(values), u.T @ means.T @ mean
    inside = means @ u @ (along / (roots + 1e-2) ** 3)
    if roots.min() <= eps:
        return inside
    return inside + (mean - means @ u @ (along / values)) / roots.min()


@pytest.mark.parametrize("eps", [1e-4, 10.0])
def test_ggt(eps: float) -> None:
    first = tf.get_variable("b", initializer=W[0])
    second = tf.get_variable("a", initializer=np.float32(1.5))
    optimizer = tf.contrib.opt.GGTOptimizer(0.01, window=3, eps=eps)
    fed = [tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [])]
    train = optimizer.apply_gradients(zip(fed, (first, second), strict=True))
    grads = [(np.float32([1, 2, 3]), 0.5), (np.float32([-1, 0.5, 2]), 1.0)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for pair in grads:
            session.run(train, dict(zip(fed, pair, strict=True)))
        made = session.run([second, *tf.unstack(first)])
    # Variables are in the order of their names.
    flat, mean, rows = np.array([1.5, *W[0]]), np.zeros(4), np.zeros([3, 4])
    for i, (long, short) in enumerate(grads):
        mean = 0.9 * mean + 0.1 * np.array([short, *long])
        rows[i] = mean
        flat = flat - 0.01 * moved(rows.T / np.sqrt(i + 1), mean, 3, eps)
    np.testing.assert_allclose(made, flat, rtol=1e-2)


def test_ggt_has_no_sparse_steps() -> None:
    table = tf.get_variable("table", [4, 2])
    with pytest.raises(NotImplementedError, match="Sparse gradient updates are not supported"):
        tf.contrib.opt.GGTOptimizer().minimize(tf.reduce_sum(tf.gather(table, [1])))
