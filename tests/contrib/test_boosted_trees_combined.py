"""tf.contrib.boosted_trees: trees that rank, and trees beside a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib.boosted_trees import estimator_batch
from weft.contrib.boosted_trees.proto import learner_pb2

import weft as tf

estimator = estimator_batch.estimator
combined = estimator_batch.dnn_tree_combined_estimator
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(64, 2).astype(np.float32)
SCORE = np.sign(X[:, 0]) + (X[:, 1] > 0.5)


@pytest.fixture(autouse=True)
def _close_writers() -> Any:
    yield
    tf.summary.FileWriterCache.clear()


def learner(classes: int = 2) -> Any:
    config = learner_pb2.LearnerConfig()
    config.num_classes = classes
    config.learning_rate_tuner.fixed.learning_rate = 0.5
    config.constraints.max_tree_depth = 2
    config.regularization.l2 = 1.0 / 64
    return config


# ---- ranking -----------------------------------------------------------------------------------


def pairs() -> Any:
    """Each example beside the next: whether it is better."""
    other = np.roll(X, 1, 0)
    better = (SCORE > np.roll(SCORE, 1)).astype(np.int32)[:, None]
    features = {"a.x": tf.constant(X), "b.x": tf.constant(other)}
    return features, tf.constant(better)


def single() -> Any:
    return tf.data.Dataset.from_tensors({"x": X})


def binary_head() -> Any:
    return tf.contrib.estimator.binary_classification_head()


@pytest.mark.parametrize("is_core", [False, True])
def test_ranking(tmp_path: Path, is_core: bool) -> None:
    column = tf.feature_column.numeric_column("x", shape=[2])
    if is_core:
        made = estimator.CoreGradientBoostedDecisionTreeRanker(
            learner(), 64, binary_head(), ("a", "b"), 5, [column], model_dir=str(tmp_path)
        )
        made.train(pairs, steps=100)
        measured = made.evaluate(pairs, steps=1)
        scores = [each["logits"][0] for each in made.predict(single)]
    else:
        made = estimator.GradientBoostedDecisionTreeRanker(
            learner(), 64, binary_head(), ("a", "b"), 5, [column], model_dir=str(tmp_path),
            use_core_libs=True, output_leaf_index=True,
        )  # fmt: skip
        made.fit(input_fn=pairs, steps=100)
        measured = made.evaluate(input_fn=pairs, steps=1)
        found = list(made.predict(input_fn=single))
        scores = [each["logits"][0] for each in found]
        assert len(found[0]["leaf_index"]) == 5
    assert measured["global_step"] < 100  # five trees were enough
    # Better examples have better scores, on the whole.
    assert measured["auc"] > 0.75
    groups = [np.mean(np.array(scores)[each == SCORE]) for each in np.unique(SCORE)]
    assert groups[0] < groups[-1]


def test_the_logit_of_a_pair_is_the_difference(tmp_path: Path) -> None:
    column = tf.feature_column.numeric_column("x", shape=[2])
    made = estimator.CoreGradientBoostedDecisionTreeRanker(
        learner(), 64, binary_head(), ("a", "b"), 3, [column], model_dir=str(tmp_path)
    )
    made.train(pairs, steps=20)
    scores = np.array([each["logits"][0] for each in made.predict(single)])
    logits = scores - np.roll(scores, 1)
    better = SCORE > np.roll(SCORE, 1)
    losses = np.log1p(np.exp(np.where(better, -logits, logits)))
    found = made.evaluate(pairs, steps=1)["average_loss"]
    np.testing.assert_allclose(found, losses.mean(), rtol=1e-4)


@pytest.mark.parametrize(
    ("keys", "message"),
    [(("a",), "You must provide keys for ranking"), (("a", None), "Both pair keys should")],
)
def test_wrong_keys(keys: Any, message: str) -> None:
    made = estimator.CoreGradientBoostedDecisionTreeRanker(learner(), 64, binary_head(), keys, 3)
    with pytest.raises(ValueError, match=message):
        made.train(pairs, steps=1)


# ---- a network and trees -----------------------------------------------------------------------


def rows(kind: str) -> Any:
    labels = {
        "binary": (SCORE > 0).astype(np.int32)[:, None],
        "number": SCORE.astype(np.float32)[:, None],
    }[kind]
    return lambda: ({"x": tf.constant(X)}, tf.constant(labels))


def columns(core: bool) -> list[Any]:
    if core:
        return [tf.feature_column.numeric_column("x", shape=[2])]
    return [tf.contrib.layers.real_valued_column("x", dimension=2)]


@pytest.mark.parametrize("core", [False, True])
@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_trees_begin_after_the_network(tmp_path: Path, kind: str, core: bool) -> None:
    made = getattr(combined, f"DNNBoostedTreeCombined{kind}")(
        [2], columns(core), learner(), 3, 64, model_dir=str(tmp_path), dnn_steps_to_train=6,
        tree_feature_columns=[], use_core_versions=core,
    )  # fmt: skip
    data = rows("binary" if kind == "Classifier" else "number")
    made.fit(input_fn=data, steps=6)
    before = made.evaluate(input_fn=data, steps=1)
    layers = ("dnn/hiddenlayer_0", "dnn/logits")
    names = {f"{layer}/{part}" for layer in layers for part in ("weights", "biases")}
    assert names <= set(made.get_variable_names())
    weights = made.get_variable_value("dnn/logits/weights")
    made.fit(input_fn=data, steps=100)
    after = made.evaluate(input_fn=data, steps=1)
    assert before["global_step"] < after["global_step"] < 60  # three trees were enough
    assert after["loss"] < before["loss"]
    # Once trees grow, the network stays as it is.
    last = made.get_variable_value("dnn/logits/weights")
    assert np.abs(last - weights).max() < 0.05
    assert len(list(made.predict(input_fn=lambda: {"x": tf.constant(X)}))) == 64


@pytest.mark.parametrize("loss", [None, "squared"])
def test_trees_learn_from_the_network(tmp_path: Path, loss: Any) -> None:
    if loss:
        loss = estimator_batch.distillation_loss.create_dnn_to_tree_squared_loss_fn(2)
    made = combined.CoreDNNBoostedTreeCombinedEstimator(
        [4], columns(True), learner(), 2, 64, binary_head(), str(tmp_path),
        dnn_steps_to_train=3, tree_feature_columns=columns(True), dnn_input_layer_to_tree=False,
        dnn_to_tree_distillation_param=(0.5, loss),
    )  # fmt: skip
    made.train(rows("binary"), steps=50)
    # Predictions are those of the trees alone: as many as leaves.
    logits = {float(each["logits"][0]) for each in made.predict(single)}
    assert 1 < len(logits) <= 16
    assert made.evaluate(rows("binary"), steps=1)["accuracy"] > 0.9


def test_the_distillation_losses() -> None:
    dnn, tree = RANDOM.randn(6, 1), RANDOM.randn(6, 1)
    p, q = (1 / (1 + np.exp(-each)) for each in (dnn, tree))
    weights = RANDOM.rand(6, 1)
    expected = {
        "squared": (weights * (p - q) ** 2).mean(),
        "cross_entropy": -(weights * (p * np.log(q) + (1 - p) * np.log(1 - q))).mean(),
    }
    tensors = [tf.constant(each, tf.float32) for each in (dnn, tree, weights)]
    made = {
        name: getattr(estimator_batch.distillation_loss, f"create_dnn_to_tree_{name}_loss_fn")(2)(
            *tensors
        )
        for name in expected
    }
    with tf.Session() as sess:
        for name, found in sess.run(made).items():
            np.testing.assert_allclose(found, expected[name], rtol=1e-5)


def test_what_must_be_given(tmp_path: Path) -> None:
    made = combined.CoreDNNBoostedTreeCombinedEstimator(
        [4], [], learner(), 2, 64, binary_head(), str(tmp_path)
    )
    with pytest.raises(ValueError, match="dnn_feature_columns must be specified"):
        made.train(rows("binary"), steps=1)
