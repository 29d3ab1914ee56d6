"""tf.contrib.factorization: mixtures of Gaussians, against expectation-maximization in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

factorization = tf.contrib.factorization
RANDOM = np.random.RandomState(3)
CENTERS = np.array([[-3.0, 0.0], [4.0, 3.0], [0.0, -5.0]])
POINTS = np.concatenate([c + RANDOM.randn(20, 2) for c in CENTERS]).astype(np.float32)
FIRST = CENTERS + 0.5
SMALL = 1e-3


@pytest.fixture(autouse=True)
def closes_writers(leaves_nothing_behind: Any) -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def log_densities(points: Any, means: Any, covs: Any, diag: bool) -> np.ndarray:
    found = []
    for mean, cov in zip(means, covs, strict=True):
        cov = (np.diag(cov) if diag else cov) + SMALL * np.eye(2)
        away = points - mean
        squares = (away @ np.linalg.inv(cov) * away).sum(1)
        found.append(-0.5 * (squares + 2 * np.log(2 * np.pi) + np.log(np.linalg.det(cov))))
    return np.stack(found, 1)


def step(points: Any, weights: Any, means: Any, covs: Any, diag: bool) -> tuple[Any, ...]:
    """(log-likelihood of the points, new weights, new means, new covariances)"""
    joint = log_densities(points, means, covs, diag) + np.log(weights)
    total = np.log(np.exp(joint).sum(1))
    shares = np.exp(joint - total[:, None])
    counts = shares.sum(0)
    means = shares.T @ points / counts[:, None]
    covs = [
        (points.T * shares[:, k]) @ points / counts[k]
        - np.outer(means[k], means[k])
        + SMALL * np.eye(2)
        for k in range(len(means))
    ]
    return total, counts / counts.sum(), means, [np.diag(c) if diag else c for c in covs]


def beginning(diag: bool) -> tuple[Any, ...]:
    cov = np.cov(POINTS.T) + SMALL * np.eye(2)
    return np.full(3, 1 / 3), FIRST, [np.diag(cov) if diag else cov] * 3


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_steps(kind: str) -> None:
    diag = kind == "diag"
    made = factorization.GmmAlgorithm(
        [tf.constant(POINTS)], 3, tf.constant(FIRST, tf.float32), covariance_type=kind
    )
    names = [variable.name for variable in tf.global_variables()]
    assert names == ["clusters:0", "clusters_covs:0", "alphas:0", "initialized:0"]
    expected = beginning(diag)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert not sess.run(made.is_initialized())
        sess.run(made.init_ops())
        assert sess.run(made.is_initialized())
        for _ in range(3):
            total, *after = step(POINTS, *expected, diag)
            np.testing.assert_allclose(sess.run(made.scores())[:, 0], total, rtol=1e-4)
            np.testing.assert_allclose(
                sess.run(made.log_likelihood_op()), np.log(np.exp(total).sum()), rtol=1e-4
            )
            sess.run(made.training_ops())
            found = sess.run([made.alphas(), made.clusters(), made.covariances()])
            np.testing.assert_allclose(found[0], after[0], rtol=1e-4)
            np.testing.assert_allclose(found[1][:, 0], after[1], rtol=1e-3, atol=1e-4)
            np.testing.assert_allclose(found[2], after[2], rtol=1e-2, atol=1e-3)
            expected = tuple(after)
        (classes,) = sess.run(made.assignments())
        np.testing.assert_array_equal(classes, np.repeat([0, 1, 2], 20))


# Means move with the covariances alone, as in TensorFlow.
TRAINED = [("w", ["alphas"]), ("m", []), ("mc", ["clusters", "clusters_covs"])]


@pytest.mark.parametrize(("params", "moved"), TRAINED)
def test_only_some_parameters_are_trained(params: str, moved: list[str]) -> None:
    made = factorization.GmmAlgorithm(
        [tf.constant(POINTS)], 3, tf.constant(FIRST, tf.float32), params
    )
    variables = {v.op.name: v for v in tf.global_variables()}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(made.init_ops())
        before = sess.run(variables)
        sess.run(made.training_ops())
        after = sess.run(variables)
    assert [n for n in variables if not np.array_equal(before[n], after[n])] == moved


def test_shards_are_one_set_of_points() -> None:
    parts = [tf.constant(POINTS[::2]), tf.constant(POINTS[1::2])]
    _, _, ((first, second),), train, init, _ = factorization.gmm(parts, FIRST, 3, 0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(init)
        for _ in range(5):
            sess.run(train)
        expected = np.repeat([0, 1, 2], 20)
        np.testing.assert_array_equal(sess.run(first), expected[::2])
        np.testing.assert_array_equal(sess.run(second), expected[1::2])


def test_an_unknown_covariance() -> None:
    with pytest.raises(Exception, match="programmer error: Invalid covariance type: round"):
        factorization.gmm(tf.constant(POINTS), "random", 3, 0, "round")


def test_the_estimator(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return {"a": tf.constant(POINTS[:, :1]), "b": tf.constant(POINTS[:, 1:])}, None

    model = factorization.GMM(3, str(tmp_path), initial_clusters=FIRST)
    model.fit(input_fn=input_fn, steps=30)
    assert sorted(map(int, np.round(model.weights() * 60))) == [20, 20, 20]
    true = np.array([POINTS[i : i + 20].mean(0) for i in (0, 20, 40)])
    np.testing.assert_allclose(model.clusters(), true, atol=0.1)
    assert model.covariances().shape == (3, 2, 2)
    classes = list(model.predict_assignments(input_fn=input_fn))
    np.testing.assert_array_equal(classes, np.repeat([0, 1, 2], 20))
    scores = log_densities(POINTS, model.clusters(), model.covariances(), False)
    likelihood = np.log((np.exp(scores) * model.weights()).sum())
    np.testing.assert_allclose(model.score(input_fn=input_fn, steps=1), likelihood, rtol=1e-3)


def test_first_means_are_points(tmp_path: Path) -> None:
    model = factorization.GMM(2, str(tmp_path), params="w", random_seed=5)
    model.fit(input_fn=lambda: (tf.constant(POINTS), None), steps=1)
    for mean in model.clusters():
        assert (POINTS == mean).all(1).any()
