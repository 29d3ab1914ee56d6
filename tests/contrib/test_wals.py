"""tf.contrib.factorization: weighted alternating least squares, against the equations in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

factorization = tf.contrib.factorization
RANDOM = np.random.RandomState(1)
ROWS, COLS, WIDTH = 5, 7, 2
MATRIX = (RANDOM.rand(ROWS, COLS) * (RANDOM.rand(ROWS, COLS) > 0.4)).astype(np.float32)
MATRIX[2, 3] = 0.7
U = RANDOM.randn(ROWS, WIDTH).astype(np.float32)
V = RANDOM.randn(COLS, WIDTH).astype(np.float32)
ROW_WEIGHTS, COL_WEIGHTS = 0.5 + RANDOM.rand(ROWS), 0.5 + RANDOM.rand(COLS)
W0, LAMBDA = 0.1, 0.3


@pytest.fixture(autouse=True)
def closes_writers(leaves_nothing_behind: Any) -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def weights(row: Any = ROW_WEIGHTS, col: Any = COL_WEIGHTS) -> np.ndarray:
    return W0 + np.outer(row, col) * (MATRIX != 0)


def solved(matrix: Any, weight: Any, factors: Any) -> np.ndarray:
    """The rows that are best, one by one."""
    identity = LAMBDA * np.eye(WIDTH)
    return np.stack(
        [
            np.linalg.solve((factors.T * w) @ factors + identity, (factors.T * w) @ row)
            for row, w in zip(matrix, weight, strict=True)
        ]
    )


def sparse(matrix: Any, rows: Any = None) -> tf.SparseTensor:
    kept = np.zeros_like(matrix)
    chosen = slice(None) if rows is None else rows
    kept[chosen] = matrix[chosen]
    indices = np.argwhere(kept)
    return tf.SparseTensor(indices, kept[tuple(indices.T)].astype(np.float32), matrix.shape)


def model(**more: Any) -> Any:
    given = dict(
        unobserved_weight=W0, regularization=LAMBDA, row_init=U, col_init=V,
        row_weights=ROW_WEIGHTS, col_weights=COL_WEIGHTS,
    )  # fmt: skip
    return factorization.WALSModel(ROWS, COLS, WIDTH, **{**given, **more})


def started(sess: Any, made: Any) -> None:
    sess.run(tf.local_variables_initializer())
    sess.run(made.initialize_op)
    sess.run(made.worker_init)


CACHES = [(True, True), (True, False), (False, True), (False, False)]


@pytest.mark.parametrize(("of_factors", "of_gramians"), CACHES)
def test_sweeps(of_factors: bool, of_gramians: bool) -> None:
    made = model(use_factors_weights_cache=of_factors, use_gramian_cache=of_gramians)
    rows = made.update_row_factors(sparse(MATRIX))
    cols = made.update_col_factors(sparse(MATRIX))
    u, v, weight = U, V, weights()
    with tf.Session() as sess:
        started(sess, made)
        for _ in range(2):
            sess.run(made.row_update_prep_gramian_op)
            sess.run(made.initialize_row_update_op)
            u = solved(MATRIX, weight, v)
            found = sess.run(rows)
            np.testing.assert_allclose(found[0], u, rtol=1e-4, atol=1e-5)
            loss = (weight * (MATRIX - u @ v.T) ** 2).sum()
            squares = LAMBDA * ((u**2).sum() + (v**2).sum())
            np.testing.assert_allclose(found[2:], [loss, squares, weight.sum()], rtol=1e-4)
            np.testing.assert_allclose(sess.run(made.row_factors[0]), found[0], rtol=1e-6)
            sess.run(made.col_update_prep_gramian_op)
            sess.run(made.initialize_col_update_op)
            v = solved(MATRIX.T, weight.T, u)
            sess.run(cols)
            np.testing.assert_allclose(sess.run(made.col_factors[0]), v, rtol=1e-4, atol=1e-5)


def test_some_rows_of_a_transposed_matrix_in_shards() -> None:
    made = model(
        num_row_shards=2, num_col_shards=3, row_init=[U[:3], U[3:]],
        col_init=[V[:3], V[3:5], V[5:]], row_weights=[ROW_WEIGHTS[:3], ROW_WEIGHTS[3:]],
        col_weights=[COL_WEIGHTS[:3], COL_WEIGHTS[3:5], COL_WEIGHTS[5:]],
    )  # fmt: skip
    chosen = [4, 1, 3]
    part = sparse(MATRIX, chosen)
    flipped = tf.SparseTensor(tf.reverse(part.indices, [1]), part.values, [COLS, ROWS])
    new, update, loss, _, total = made.update_row_factors(flipped, transpose_input=True)
    best = solved(MATRIX, weights(), V)
    with tf.Session() as sess:
        started(sess, made)
        sess.run(made.row_update_prep_gramian_op)
        sess.run(made.initialize_row_update_op)
        found, _, loss, total = sess.run([new, update, loss, total])
        ordered = sorted(chosen)
        np.testing.assert_allclose(found, best[ordered], rtol=1e-4, atol=1e-5)
        after = np.concatenate(sess.run(made.row_factors))
    expected = U.copy()
    expected[chosen] = best[chosen]
    np.testing.assert_allclose(after, expected, rtol=1e-4, atol=1e-5)
    each = weights()[chosen] * (MATRIX - best @ V.T)[chosen] ** 2
    np.testing.assert_allclose(loss, each.sum() * ROWS / 3, rtol=1e-4)
    observed = (weights() - W0)[chosen].sum() * ROWS / 3
    np.testing.assert_allclose(total, W0 * ROWS * COLS + observed, rtol=1e-4)


@pytest.mark.parametrize("given", [None, 2.0, [0.5, 1.5, 2.5, 0.1, 1.0]])
def test_projections(given: Any) -> None:
    made = model()
    new = made.project_row_factors(sparse(MATRIX), projection_weights=given)
    weight = weights(row=np.broadcast_to(1.0 if given is None else given, ROWS))
    with tf.Session() as sess:
        started(sess, made)
        sess.run(made.row_update_prep_gramian_op)
        sess.run(made.initialize_row_update_op)
        np.testing.assert_allclose(sess.run(new), solved(MATRIX, weight, V), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(sess.run(made.row_factors[0]), U)


def test_without_weights_all_entries_count_alike() -> None:
    made = model(row_weights=None, col_weights=None)
    new, _, loss, _, total = made.update_row_factors(sparse(MATRIX))
    weight = np.full_like(MATRIX, W0)
    best = solved(MATRIX, weight, V)
    with tf.Session() as sess:
        started(sess, made)
        sess.run(made.row_update_prep_gramian_op)
        sess.run(made.initialize_row_update_op)
        found = sess.run([new, loss, total])
    np.testing.assert_allclose(found[0], best, rtol=1e-4, atol=1e-5)
    expected = [(weight * (MATRIX - best @ V.T) ** 2).sum(), weight.sum()]
    np.testing.assert_allclose(found[1:], expected, rtol=1e-4)


def test_names_of_variables() -> None:
    model(num_row_shards=2, row_init="random", row_weights=1.0)
    assert [v.op.name for v in tf.global_variables()] == [
        "row_weights_shard_0", "row_weights_shard_1", "col_weights_shard_0",
        "row_factors_shard_0", "row_factors_shard_1", "col_factors_shard_0",
        "row_gramian", "col_gramian",
    ]  # fmt: skip
    assert [v.op.name for v in tf.local_variables()][:3] == [
        "transient_vars/row_factors_cache_shard_0",
        "transient_vars/row_factors_cache_shard_1",
        "transient_vars/col_factors_cache_shard_0",
    ]


def test_names_in_scopes() -> None:
    model(use_scoped_vars=True)
    names = [v.op.name for v in tf.global_variables()]
    assert names[0] == "row_weights/row_weights_shard_0"


def test_wrong_weights() -> None:
    with pytest.raises(ValueError, match="Invalid weight initialization argument"):
        model(row_weights=-1.0)


# ---- the Estimator -----------------------------------------------------------------------------


def whole(project_row: bool | None = None, **more: Any) -> Any:
    def input_fn() -> Any:
        features = {"input_rows": sparse(MATRIX), "input_cols": sparse(MATRIX.T)}
        if project_row is not None:
            features["project_row"] = tf.constant(project_row)
        return {**features, **more}, None

    return input_fn


def estimator(folder: Path, **more: Any) -> Any:
    return factorization.WALSMatrixFactorization(
        ROWS, COLS, WIDTH, W0, LAMBDA, U, V, row_weights=ROW_WEIGHTS, col_weights=COL_WEIGHTS,
        model_dir=str(folder), **more,
    )  # fmt: skip


@pytest.mark.parametrize("cached", [True, False])
def test_training_ends_after_so_many_sweeps(tmp_path: Path, cached: bool) -> None:
    made = estimator(tmp_path, max_sweeps=3, use_factors_weights_cache_for_training=cached)
    made.fit(input_fn=whole())
    weight = weights()
    u = solved(MATRIX, weight, V)
    v = solved(MATRIX.T, weight.T, u)
    u = solved(MATRIX, weight, v)
    np.testing.assert_allclose(made.get_row_factors()[0], u, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(made.get_col_factors()[0], v, rtol=1e-3, atol=1e-4)
    assert made.get_variable_value("completed_sweeps") == 3
    assert made.get_variable_value("global_step") == 3
    rest = (weight * (MATRIX - u @ v.T) ** 2).sum()
    loss = rest + LAMBDA * ((u**2).sum() + (v**2).sum())
    np.testing.assert_allclose(made.get_variable_value("WALS_loss"), loss, rtol=1e-4)
    error = np.sqrt(rest / weight.sum())
    np.testing.assert_allclose(made.get_variable_value("WALS_RWSE"), error, rtol=1e-4)


def test_projections_and_evaluation(tmp_path: Path) -> None:
    made = estimator(tmp_path, max_sweeps=2)
    made.fit(input_fn=whole())
    u, v = made.get_row_factors()[0], made.get_col_factors()[0]
    weight = weights()
    of_rows = np.stack(list(made.get_projections(whole(True, projection_weights=ROW_WEIGHTS))))
    # The gramian of the columns is that which the last sweep over rows has read.
    old = LAMBDA * np.eye(WIDTH) + W0 * V.T @ V
    best = [
        np.linalg.solve(old + (v.T * (w - W0)) @ v, (v.T * w) @ row)
        for row, w in zip(MATRIX, weight, strict=True)
    ]
    np.testing.assert_allclose(of_rows, best, rtol=1e-3, atol=1e-4)
    of_cols = np.stack(list(made.get_projections(whole(False, projection_weights=COL_WEIGHTS))))
    np.testing.assert_allclose(of_cols, v, rtol=1e-3, atol=1e-4)
    loss = made.evaluate(input_fn=whole(False), steps=1)["loss"]
    rest = (weight * (MATRIX - u @ v.T) ** 2).sum()
    np.testing.assert_allclose(loss, rest + LAMBDA * ((u**2).sum() + (v**2).sum()), rtol=1e-4)


# ---- the operations ----------------------------------------------------------------------------


def equations(**changed: Any) -> Any:
    indices = np.argwhere(MATRIX)
    given = {
        "factors": V,
        "factor_weights": COL_WEIGHTS,
        "unobserved_weights": W0,
        "input_weights": ROW_WEIGHTS,
        "input_indices": indices,
        "input_values": MATRIX[tuple(indices.T)],
        "entry_weights": [],
        "input_block_size": ROWS,
        "input_is_transpose": False,
    }
    with tf.Session() as sess:
        return sess.run(tf.raw_ops.WALSComputePartialLhsAndRhs(**{**given, **changed}))


def test_equations_with_weights_of_entries() -> None:
    indices = np.argwhere(MATRIX)
    each = ROW_WEIGHTS[indices[:, 0]] * COL_WEIGHTS[indices[:, 1]]
    found = equations(factor_weights=[], input_weights=[], entry_weights=each)
    for mine, theirs in zip(found, equations(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    expected = [(V.T * (w - W0)) @ V for w in weights()]
    np.testing.assert_allclose(found.partial_lhs, expected, rtol=1e-4)
    flipped = equations(input_indices=indices[:, ::-1], input_is_transpose=True)
    np.testing.assert_allclose(flipped.partial_rhs, found.partial_rhs, rtol=1e-5)


WRONG = [
    ({"factors": V[0]}, "Input factors should be a matrix."),
    ({"unobserved_weights": [W0]}, "Input unobserved_weights should be a scalar."),
    ({"input_values": MATRIX[0]}, "Input input_values' length should match the first dimension"),
    ({"entry_weights": [1.0]}, "To specify the weights for observed entries, either"),
]


@pytest.mark.parametrize(("changed", "message"), WRONG)
def test_wrong_equations(changed: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        equations(**changed)


@pytest.mark.parametrize(("flip_a", "flip_b"), CACHES)
def test_products_at_some_places(flip_a: bool, flip_b: bool) -> None:
    places = [[4, 6], [0, 0], [4, 6], [2, 5]]
    product = tf.raw_ops.MaskedMatmul(
        a=U.T if flip_a else U, b=V if flip_b else V.T, mask_indices=places,
        transpose_a=flip_a, transpose_b=flip_b,
    )  # fmt: skip
    with tf.Session() as sess:
        found = sess.run(product)
    np.testing.assert_allclose(found, [(U @ V.T)[i, j] for i, j in places], rtol=1e-5)


@pytest.mark.parametrize(
    ("a", "places", "message"),
    [
        (U, [[0, 7]], r"In mask_indices\[0, :\], the column index 7 is out of bounds \[0, 7\)"),
        (U[:, :1], [[0, 0]], r"a has shape \[5,1\], while b has shape \[7,2\]"),
        (U, [[0]], "mask_indices should be a matrix of shape"),
    ],
)
def test_wrong_products(a: Any, places: Any, message: str) -> None:
    product = tf.raw_ops.MaskedMatmul(
        a=a, b=V, mask_indices=places, transpose_a=False, transpose_b=True
    )
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(product)
