"""K-means: the graph of tf.contrib.factorization and the Estimators, against TensorFlow's."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.estimator import kmeans_programs as programs
from weft.core import flags
from weft.legacy.tensorflow_modules import MODULES

factorization = tf.contrib.factorization


@functools.cache
def recorded() -> dict[str, Any]:
    return json.loads(programs.RECORDED.read_text())


def close(ours: Any, theirs: Any) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    if theirs.dtype.kind in "iu":
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=3e-5)


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("name", programs.GRAPHS)
def test_graph(name: str, shards: int) -> None:
    theirs = recorded()["graphs"][f"{name}/{shards}"]
    with flags.XLA.override(False):
        ours = programs.graph(tf, factorization.KMeans, name, shards)
    assert ours["names"] == theirs["names"]
    for key in ("begun", "found"):
        assert len(ours[key]) == len(theirs[key])
        for mine, other in zip(ours[key], theirs[key], strict=True):
            close(mine, other)


@pytest.mark.parametrize("name", programs.ESTIMATORS)
def test_estimator(name: str, tmp_path: Path) -> None:
    theirs = recorded()["estimators"][name]
    with flags.XLA.override(False):
        ours = programs.estimator(tf, name, str(tmp_path))
    assert ours["tags"] == theirs["tags"]
    assert sorted(ours["variables"]) == sorted(theirs["variables"])
    for key, value in theirs["variables"].items():
        close(ours["variables"][key], value)
    for key in ("losses", "centers", "index", "transform"):
        close(ours[key], theirs[key])


def by_formula(batches: list[np.ndarray], centers: np.ndarray, steps: int) -> np.ndarray:
    """Mini-batches: `steps` batches go to the centers of a round, then the next one begins."""
    now, following = centers.astype(np.float64), centers.astype(np.float64)
    counts = np.ones(len(centers)) if steps == 1 else np.zeros(len(centers))
    wait = steps
    for batch in batches:
        # Points go to the centers of the step before, also where a round begins.
        nearest = np.square(batch[:, None] - now).sum(-1).argmin(1)
        if steps > 1 and wait <= 0:
            wait, now, counts = steps, following.copy(), np.zeros(len(centers))
        wait -= 1
        new = np.bincount(nearest, minlength=len(centers))
        total = np.zeros(centers.shape)
        np.add.at(total, nearest, batch)
        seen = np.maximum(counts + new, 1)[:, None]
        following += np.where(new[:, None] > 0, (total - new[:, None] * following) / seen, 0)
        counts += new
        now = following if steps == 1 else now
    return now


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_mini_batches(tmp_path: Path, steps: int) -> None:
    """Not recorded: there TensorFlow reads counts while it adds to them."""
    estimator = factorization.KMeansClustering(
        3, str(tmp_path), initial_clusters=programs.CENTERS, mini_batch_steps_per_iteration=steps
    )
    batch = tf.estimator.inputs.numpy_input_fn(
        programs.POINTS, batch_size=8, num_epochs=None, shuffle=False
    )
    with flags.XLA.override(False):
        estimator.train(batch, steps=8)
    batches = [programs.POINTS[np.arange(8 * i, 8 * i + 8) % 40] for i in range(8)]
    centers = by_formula(batches, programs.CENTERS, steps)
    np.testing.assert_allclose(estimator.cluster_centers(), centers, rtol=1e-4, atol=1e-5)
    kept = ["Variable", "clusters", "global_step", "initialized"]
    more = ["clusters_updated", "update_in_steps"] if steps > 1 else []
    assert sorted(estimator.get_variable_names()) == sorted(kept + more)


def test_chains_give_a_center_at_a_time() -> None:
    *_, initialized, init_op, _ = factorization.KMeans(
        tf.constant(programs.POINTS), 3, initial_clusters="kmc2", kmc2_chain_length=10
    ).training_graph()
    centers = tf.global_variables()[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in (1, 2, 3):
            assert not session.run(initialized)
            session.run(init_op)
            assert session.run(centers).shape == (number, 3)
        found = [int(np.abs(programs.POINTS - each).sum(1).argmin()) for each in
                 session.run(centers)]  # fmt: skip
        assert session.run(initialized)
    # The last of two parts that were wanted, and then of one.
    assert found[0] == 0 and 10 <= found[1] < 20 and 0 <= found[2] < 10


def test_contrib_gives_squares(tmp_path: Path) -> None:
    estimator = factorization.KMeansClustering(
        3, str(tmp_path), initial_clusters=programs.CENTERS, use_mini_batch=False
    )
    points = programs.input_fn(tf)
    estimator.train(points, steps=1)
    squares = np.square(programs.POINTS[:, None] - estimator.cluster_centers()).sum(-1)
    close(list(estimator.transform(points)), squares)
    assert estimator.score(points) == pytest.approx(squares.min(1).sum(), rel=1e-4)


def test_dictionaries_are_joined_by_name(tmp_path: Path) -> None:
    a, b = programs.POINTS[:, :1], programs.POINTS[:, 1:]
    estimator = tf.estimator.experimental.KMeans(
        3, str(tmp_path), initial_clusters=programs.CENTERS, use_mini_batch=False
    )
    estimator.train(lambda: {"b": tf.constant(b), "a": tf.constant(a)}, steps=1)
    plain = tf.estimator.experimental.KMeans(
        3, str(tmp_path / "plain"), initial_clusters=programs.CENTERS, use_mini_batch=False
    )
    plain.train(lambda: tf.constant(programs.POINTS), steps=1)
    close(estimator.cluster_centers(), plain.cluster_centers())


def test_mistakes() -> None:
    points = tf.constant(programs.POINTS)
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'best'"):
        factorization.KMeans(points, 2, initial_clusters="best")
    with pytest.raises(ValueError, match="Unsupported distance metric 'far'"):
        factorization.KMeans(points, 2, distance_metric="far")
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'kmc2'"):
        factorization.KMeansClustering(2, initial_clusters="kmc2")
    *_, init_op, _ = factorization.KMeans(
        points, 41, initial_clusters=factorization.KMEANS_PLUS_PLUS_INIT
    ).training_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="x >= y did not hold"):
            session.run(init_op)


def test_internal_names() -> None:
    """`clustering_ops.nearest_neighbors` is what programs use of the module."""
    assert MODULES["contrib.factorization.python.ops.clustering_ops"] == (
        "tf.contrib.factorization",
        "raw",
    )
