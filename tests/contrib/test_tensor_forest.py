"""tf.contrib.tensor_forest: forests grow, predict, and are saved."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.tensor_forest import estimator as forest_estimator
from weft.lib.train.sessions.scaffold import initialize_resources
from weft.ops.trees.forest_objects import Tree, TreeParams

forest = tf.contrib.tensor_forest


def two_moons(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes that no single threshold separates."""
    random = np.random.RandomState(seed)
    x = random.uniform(-1, 1, (count, 4)).astype(np.float32)
    return x, ((x[:, 0] > 0) ^ (x[:, 2] > 0.2)).astype(np.int32)


def test_a_leaf_splits_by_the_best_of_its_candidates() -> None:
    tree = Tree("t")
    tree.create(TreeParams(2, 1, num_splits=8, split_after_samples=8), b"")
    x = np.arange(8, dtype=np.float32)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    tree.train(x, y, np.zeros(0), seed=1)
    assert (tree.feature, tree.threshold[0]) == ([0, -1, -1], 2.0)
    np.testing.assert_allclose(tree.predict(np.array([[1.0], [5.0]])), [[1, 0], [0, 1]])
    tree.train(x, y, np.zeros(0), seed=1)
    assert len(tree.feature) == 3  # pure leaves stay


def test_a_regression_leaf_predicts_the_weighted_mean() -> None:
    tree = Tree("t")
    tree.create(TreeParams(1, 1, regression=True, max_nodes=1), b"")
    tree.train(np.zeros((2, 1)), np.array([1.0, 4.0]), np.array([1.0, 2.0]), seed=1)
    np.testing.assert_allclose(tree.predict(np.zeros((1, 1))), [[3.0]])


def test_classification(tmp_path: Path) -> None:
    params = forest.ForestHParams(
        num_classes=2, num_features=4, num_trees=8, max_nodes=60, split_after_samples=20,
        base_random_seed=1,
    ).fill()  # fmt: skip
    x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
    graphs = forest.RandomForestGraphs(params)
    train, loss = graphs.training_graph(x, y), graphs.training_loss(x, y)
    probabilities, _, variance = graphs.inference_graph(x)
    resources = tf.get_collection(tf.GraphKeys.RESOURCES)
    data, test = two_moons(400, 0), two_moons(200, 1)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(initialize_resources(resources))
        before = session.run(loss)
        for _ in range(6):
            session.run(train, {x: data[0], y: data[1]})
        assert session.run(loss) < before == -1.0
        found, spread = session.run([probabilities, variance], {x: test[0]})
        importances = session.run(graphs.feature_importances())
        path = saver.save(session, str(tmp_path / "forest"))
    assert (found.argmax(1) == test[1]).mean() > 0.9
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
    assert spread.min() >= 0 and importances[[0, 2]].sum() > 0.5
    with tf.Session() as session:
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(probabilities, {x: test[0]}), found)


def test_bagging() -> None:
    random.seed(0)
    params = forest.ForestHParams(
        num_classes=2, num_features=4, num_trees=3, max_nodes=20, split_after_samples=20,
        bagging_fraction=0.5, feature_bagging_fraction=0.5, base_random_seed=1,
    ).fill()  # fmt: skip
    assert [len(features) for features in params.bagged_features or []] == [2, 2, 2]
    data = two_moons(100, 0)
    graphs = forest.RandomForestGraphs(params)
    train = graphs.training_graph(*data)
    with tf.Session() as session:
        session.run(initialize_resources(tf.get_collection(tf.GraphKeys.RESOURCES)))
        for _ in range(3):
            session.run(train)
        assert session.run(graphs.average_size()) > 1


def test_early_stopping() -> None:
    losses = iter([5.0, 4.0, 3.9999, 4.0, 4.0, 3.0, 3.0, 3.0, 3.0, 3.0])
    step = tf.train.get_or_create_global_step()
    counted = tf.assign_add(step, 1)
    loss = tf.py_func(lambda _: np.float32(next(losses)), [counted], tf.float32)
    hook = forest_estimator.TensorForestLossHook(2, 0.001, loss)
    seen = 0
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(counted)
            seen += 1
    # The first run only says where the steps begin; 4.0 is then the least until three more.
    assert seen == 5


def test_estimator(tmp_path: Path) -> None:
    params = forest.ForestHParams(
        num_classes=2, num_features=4, num_trees=8, max_nodes=60, split_after_samples=20,
        base_random_seed=3,
    )  # fmt: skip
    estimator = forest.client.random_forest.TensorForestEstimator(params, model_dir=str(tmp_path))
    x, y = two_moons(400, 0)
    estimator.fit(x=x, y=y, steps=6, batch_size=200)
    metrics = forest.client.eval_metrics
    spec = tf.contrib.learn.MetricSpec(
        metrics.get_metric("accuracy"), prediction_key=metrics.get_prediction_key("accuracy")
    )
    found = estimator.evaluate(x=x, y=y, metrics={"own": spec})
    assert found["own"] == found["accuracy"] > 0.9 and found["global_step"] == 6
    tf.summary.FileWriterCache.clear()


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="hoeffding"):
        forest.ForestHParams(num_classes=2, num_features=4, split_finish_name="hoeffding").fill()
    with pytest.raises(AttributeError, match="num_classes"):
        forest.ForestHParams(num_features=4).fill()
