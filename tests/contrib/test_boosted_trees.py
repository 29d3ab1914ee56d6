"""tf.contrib.boosted_trees: the best split, growth layer by layer, Estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib.boosted_trees.estimator_batch import estimator
from weft.contrib.boosted_trees.proto import learner_pb2

import weft as tf
from weft.ops.trees import gradient_splits as splits
from weft.ops.trees.gradient_ensemble import Columns, Ensemble, prune
from weft.protos.contrib_trees import DecisionTreeConfig

LearnerConfig = learner_pb2.LearnerConfig


@pytest.fixture(autouse=True)
def _close_writers() -> Any:
    yield
    tf.summary.FileWriterCache.clear()


def examples(numbers: Any, gradients: Any, hessians: Any, nodes: Any) -> splits.Examples:
    return splits.Examples(
        np.array(numbers, np.float32).reshape(len(nodes), -1), [],
        np.array(nodes), np.array(gradients), np.array(hessians),
    )  # fmt: skip


def test_the_values_of_a_node() -> None:
    scalar = splits.Rule("scalar", l1=0.1, l2=1.0)
    value, gain, formed = scalar.judge(np.array([[2.4], [0.05]]), np.array([[0.4], [0.4]]))
    np.testing.assert_allclose(value[:, 0], [-2.3 / 1.4, 0])
    np.testing.assert_allclose(gain, [2.3**2 / 1.4, 0])
    assert formed.all()
    few = splits.Rule("diagonal", l2=1.0, least_weight=5.0)
    assert not few.judge(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))[2].any()
    both = [np.array([[1.0, 2.0]])], [np.array([[3.0, 1.0]]), np.array([[[3.0, 0], [0, 1.0]]])]
    for strategy, h in zip(("diagonal", "full"), both[1], strict=True):
        value, gain, _ = splits.Rule(strategy, l2=1.0).judge(both[0][0], h)
        np.testing.assert_allclose(value, [[-0.25, -1.0]])
        np.testing.assert_allclose(gain, [2.25])


def test_the_best_split_of_numbers() -> None:
    # The values are those of TensorFlow's test of BuildDenseInequalitySplits.
    given = examples([0.3, 0.52, 0.52], [[2.4], [-0.6], [8.0]], [[0.4], [0.38], [0.26]], [0, 0, 1])
    layer = splits.Layer(splits.Rule("scalar", l1=0.1, l2=1.0), given, 0.5)
    limits = [np.array([0.3, 0.52], np.float32)]
    found = splits.best_splits(layer, limits, [(0, 0)], np.ones(1, bool))
    rows = [[split.at, split.gain, split.left[0], split.right[0]] for split in found.values()]
    gain = 1.0083333333 + 0.0336134453 - 0.4604316546
    expected = [[0.3, gain, -0.91666666, 0.1680672], [0.52, 0.0, -3.4513274, 0.0]]
    np.testing.assert_allclose(rows, expected, rtol=1e-5, atol=1e-9)


def test_missing_numbers_and_ids() -> None:
    numbers = [np.nan, 1.0, 2.0, np.nan]
    gradients = [[1.0], [-1.0], [-1.0], [1.0]]
    given = examples(numbers, gradients, np.ones([4, 1]), [0, 0, 0, 0])
    given.ids = [(np.array([0, 1, 3, 3]), np.array([7, 8, 7, 9]))]
    layer = splits.Layer(splits.Rule("scalar", l2=1.0), given, 1.0)
    limits = splits.boundaries(given.numbers, np.ones(4), 10)
    assert limits[0].tolist() == [1.0, 2.0]
    by_number = splits.best_splits(layer, limits, [(0, 0)], np.array([True, False]))[0]
    assert (by_number.kind, by_number.at) == (splits.MISSING_RIGHT, 2.0)
    np.testing.assert_allclose([by_number.left[0], by_number.right[0]], [2 / 3, -2 / 3])
    by_id = splits.best_splits(layer, limits, [(0, 0)], np.array([False, True]))[0]
    assert (by_id.kind, by_id.at) == (splits.CATEGORY, 7)
    np.testing.assert_allclose(by_id.gain, 8 / 3)


def test_pruning() -> None:
    tree = DecisionTreeConfig()
    for left, right, gain in ((1, 2, 1.0), (3, 4, -1.0)):
        node = tree.nodes.add()
        split = node.dense_float_binary_split
        split.left_id, split.right_id, node.node_metadata.gain = left, right, gain
        node.node_metadata.original_leaf.vector.value.append(9.0)
    for value in (1.0, 2.0, 3.0):
        tree.nodes.add().leaf.vector.value.append(value)
    prune(tree)
    assert [node.WhichOneof("node") for node in tree.nodes] == [
        "dense_float_binary_split", "leaf", "leaf",
    ]  # fmt: skip
    assert [node.leaf.vector.value[0] for node in tree.nodes[1:]] == [9.0, 1.0]


def settings(**chosen: Any) -> Any:
    config = LearnerConfig(num_classes=2, **chosen)
    config.learning_rate_tuner.fixed.learning_rate = 0.1
    config.regularization.l2 = 0.01
    config.constraints.max_tree_depth = 2
    config.multi_class_strategy = config.multi_class_strategy or LearnerConfig.TREE_PER_CLASS
    config.growing_mode = config.growing_mode or LearnerConfig.LAYER_BY_LAYER
    config.pruning_mode = config.pruning_mode or LearnerConfig.PRE_PRUNE
    return config


def test_growth() -> None:
    ensemble = Ensemble("e")
    ensemble.load(0, b"")
    columns = Columns([np.array([[1.0], [2.0], [3.0], [4.0]])], [], [])
    labels = np.array([[1.0], [1.0], [5.0], [5.0]])

    def step() -> None:
        logits = ensemble.predict(columns, 1)[0]
        ensemble.add(columns, 2 * (logits - labels) / 4, np.full([4, 1], 0.5))

    step()
    ensemble.center()
    bias = ensemble.message.trees[0].nodes[0].leaf.vector.value[0]
    assert bias == 3.0 and ensemble.is_centering()
    step()
    ensemble.center()
    assert not ensemble.is_centering()
    step()
    ensemble.grow(settings(), columns, -1, 100)  # no boundaries yet
    assert ensemble.stats()["active_tree"] == 1
    step()
    ensemble.grow(settings(), columns, -1, 100)
    assert ensemble.stats() == {
        "num_trees": 1, "num_layers": 2, "active_tree": 2, "active_layer": 1,
        "attempted_trees": 3, "attempted_layers": 3,
    }  # fmt: skip
    assert ensemble.message.trees[1].nodes[0].dense_float_binary_split.threshold == 2.0
    assert ensemble.partitions(columns).tolist() == [1, 1, 2, 2]
    logits = ensemble.predict(columns, 1)[0][:, 0]
    np.testing.assert_allclose(logits, 3 + 0.1 * np.array([-1, -1, 1, 1]) * 2 / 1.01, rtol=1e-5)


def test_dropped_trees_share_their_weights() -> None:
    ensemble = Ensemble("e")
    ensemble.load(0, b"")
    for _ in range(3):
        ensemble._new_tree(0.6)
        ensemble.message.tree_metadata[-1].is_finalized = True
    config = settings()
    config.learning_rate_tuner.dropout.dropout_probability = 1.0
    assert ensemble.dropped(config, 1, True) == [1, 2]
    ensemble._share_weights([0, 1])
    np.testing.assert_allclose(list(ensemble.message.tree_weights), [0.4, 0.4, 0.4], rtol=1e-6)


def data(kind: str) -> Any:
    x = np.linspace(-1, 1, 64).astype(np.float32).reshape(-1, 1)
    x = np.concatenate([x, np.cos(9 * x)], 1)
    labels = {
        "binary": (x[:, 0] > 0.2).astype(np.int32),
        "several": np.digitize(x[:, 0], [-0.4, 0.3]).astype(np.int32),
        "number": (3 * np.sign(x[:, 0])).astype(np.float32).reshape(-1, 1),
    }[kind]
    return tf.estimator.inputs.numpy_input_fn({"x": x}, labels, 64, None, shuffle=False)


def learner() -> Any:
    config = LearnerConfig()
    config.learning_rate_tuner.fixed.learning_rate = 0.5
    config.constraints.max_tree_depth = 2
    config.regularization.l2 = 1.0 / 64
    return config


@pytest.mark.parametrize("strategy", ["DIAGONAL_HESSIAN", "FULL_HESSIAN", "TREE_PER_CLASS"])
def test_classes(strategy: str, tmp_path: Path) -> None:
    config = learner()
    config.multi_class_strategy = getattr(LearnerConfig, strategy)
    made = estimator.GradientBoostedDecisionTreeClassifier(
        config, 64, 3, 6, model_dir=str(tmp_path), center_bias=False
    )
    made.fit(input_fn=data("several"), steps=40)
    scores = made.evaluate(input_fn=data("several"), steps=1)
    assert scores["accuracy"] == 1.0
    with pytest.raises(ValueError, match=r"n_classes \(4\) doesn't match learner_config \(3\)"):
        estimator.GradientBoostedDecisionTreeClassifier(config, 64, 4)


def test_two_classes_and_leaves(tmp_path: Path) -> None:
    made = estimator.GradientBoostedDecisionTreeClassifier(
        learner(), lambda layer: 64, num_trees=2, model_dir=str(tmp_path), output_leaf_index=True
    )
    made.fit(input_fn=data("binary"), steps=100)
    scores = made.evaluate(input_fn=data("binary"), steps=1)
    assert scores["accuracy"] == 1.0 and scores["global_step"] < 100  # two trees were enough
    values = np.array([[-0.9, 0], [0.9, 0]], np.float32)
    found = list(made.predict(x={"x": values}))
    assert [row["class_ids"][0] for row in found] == [0, 1]
    assert len(found[0]["leaf_index"]) == 3  # the bias, and two trees


def test_numbers_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    for steps in (10, 10):
        made = estimator.GradientBoostedDecisionTreeRegressor(
            learner(), 64, model_dir=str(tmp_path), feature_columns=[
                tf.feature_column.numeric_column("x", shape=[2])
            ], use_core_libs=True,
        )  # fmt: skip
        made.fit(input_fn=data("number"), steps=steps)
    scores = made.evaluate(input_fn=data("number"), steps=1)
    assert scores["global_step"] == 20 and scores["loss"] < 0.1


def test_core_estimators(tmp_path: Path) -> None:
    config = learner()
    config.num_classes = 3
    made = estimator.CoreGradientBoostedDecisionTreeEstimator(
        config, 64, estimator.core_multiclass_head(3), 4,
        [tf.feature_column.numeric_column("x", shape=[2])], model_dir=str(tmp_path / "a"),
        center_bias=False,
    )  # fmt: skip
    made.train(data("several"), steps=30)
    assert made.evaluate(data("several"), steps=1)["accuracy"] == 1.0
    quantile = estimator.CoreGradientBoostedDecisionTreeQuantileRegressor(
        learner(), 64, 0.9, feature_columns=[tf.feature_column.numeric_column("x", shape=[2])],
        model_dir=str(tmp_path / "b"), center_bias=False,
    )  # fmt: skip
    quantile.train(data("number"), steps=20)
    assert np.isfinite(quantile.evaluate(data("number"), steps=1)["loss"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.learning_rate_tuner.line_search.SetInParent(), "Line search"),
        (lambda c: setattr(c, "weak_learner_type", 1), "Oblivious decision trees"),
    ],
)
def test_settings_that_cannot_be(change: Any, message: str) -> None:
    from weft.lib.contrib.boosted_trees.model import completed

    config = settings()
    change(config)
    with pytest.raises(ValueError, match=message):
        completed(config, 1, True)
    with pytest.raises(ValueError, match="Number of classes"):
        completed(LearnerConfig(), 1, True)
    with pytest.raises(ValueError, match="Center bias should be False"):
        completed(LearnerConfig(num_classes=3), 3, True)
