"""Copies of a model on several devices: they train, count and predict as one does on the batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

replicate, TowerOptimizer = (
    tf.contrib.estimator.replicate_model_fn,
    tf.contrib.estimator.TowerOptimizer,
)
DEVICES = ["/device:CPU:0", "/device:CPU:0"]
X = np.arange(8, dtype=np.float32).reshape(4, 2)
Y = np.array([[1.0], [2.0], [0.0], [4.0]], np.float32)
Reduction = tf.losses.Reduction


@pytest.fixture(autouse=True)
def _writers() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def model(wrap: Any = TowerOptimizer, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Any:
    def model_fn(features: Any, labels: Any, mode: Any, params: Any) -> Any:
        x = features["x"]
        made = tf.layers.dense(x, 1, name="dense", kernel_initializer=tf.ones_initializer())
        outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": made})}
        outputs["value"] = tf.estimator.export.RegressionOutput(made)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, {"y": made}, export_outputs=outputs)
        loss = tf.losses.mean_squared_error(labels, made, reduction=reduction)
        optimizer = wrap(tf.train.AdamOptimizer(params["rate"]))
        train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
        metrics = {"error": tf.metrics.mean_absolute_error(labels, made)}
        return tf.estimator.EstimatorSpec(
            mode, {"y": made}, loss, train_op if mode == "train" else None, metrics
        )

    return model_fn


def results(model_fn: Any, folder: Path) -> tuple[Any, Any, Any]:
    """(weights after some steps, what an evaluation counts, predictions)"""
    config = tf.estimator.RunConfig(tf_random_seed=1)
    estimator = tf.estimator.Estimator(model_fn, str(folder), config, params={"rate": 0.1})
    estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat(), steps=3)
    evaluated = estimator.evaluate(lambda: tf.data.Dataset.from_tensors(({"x": X}, Y)))
    predicted = estimator.predict(lambda: tf.data.Dataset.from_tensors(({"x": X}, Y)))
    return estimator.get_variable_value("dense/kernel"), evaluated, [p["y"] for p in predicted]


@pytest.mark.parametrize("reduction", [Reduction.SUM_BY_NONZERO_WEIGHTS, Reduction.SUM])
def test_copies_add_up_to_the_batch(tmp_path: Path, reduction: str) -> None:
    one = results(model(lambda optimizer: optimizer, reduction), tmp_path / "one")
    two = results(replicate(model(reduction=reduction), reduction, DEVICES), tmp_path / "two")
    np.testing.assert_allclose(one[0], two[0], rtol=1e-4)
    assert one[1]["global_step"] == two[1]["global_step"] == 3
    for name in ("loss", "error"):
        np.testing.assert_allclose(one[1][name], two[1][name], rtol=1e-4)
    np.testing.assert_allclose(one[2], two[2], rtol=1e-4)


def called(model_fn: Any, mode: str = "train", rows: int = 4) -> Any:
    return model_fn({"x": tf.constant(X[:rows])}, tf.constant(Y[:rows]), mode, {"rate": 0.1}, None)


def test_names_and_devices() -> None:
    spec = called(replicate(model(), devices=["/device:GPU:0", "/device:GPU:1"]))
    assert [v.op.name for v in tf.trainable_variables()] == ["dense/kernel", "dense/bias"]
    assert {v.device for v in tf.trainable_variables()} == {"/device:CPU:0"}
    graph = tf.get_default_graph()
    products = [graph.get_operation_by_name(f"{name}dense/MatMul") for name in ("", "tower_1/")]
    assert [op.device for op in products] == ["/device:GPU:0", "/device:GPU:1"]
    assert spec.loss.op.name == "loss" and spec.train_op.name == "Adam"
    assert graph.get_operation_by_name("train_op_placeholder").type == "NoOp"
    assert graph.get_operation_by_name("gradient_aggregating/AddN").device == "/device:CPU:0"
    assert graph.get_operation_by_name("split_inputs/split").device == "/device:CPU:0"
    assert graph.get_collection(TowerOptimizer.COLLECTION_FOR_GRAPH_STATES) == []


def test_exports_of_copies() -> None:
    spec = called(replicate(model(), devices=DEVICES), "infer")
    assert spec.predictions["y"].shape.as_list() == [4, 1]
    assert spec.export_outputs["serving_default"].outputs["y"].shape.as_list() == [4, 1]
    assert spec.export_outputs["value"].value.shape.as_list() == [4, 1]


def test_one_device_is_the_model_itself() -> None:
    spec = called(replicate(model(lambda optimizer: optimizer), devices=["/device:GPU:0"]))
    assert spec.train_op.name == "Adam" and spec.loss.op.name.startswith("mean_squared_error")
    assert {v.device for v in tf.trainable_variables()} == {"/device:GPU:0"}


def sparse_model(features: Any, labels: Any, mode: Any) -> Any:
    table = tf.get_variable("table", [8, 2], initializer=tf.ones_initializer())
    rows = tf.nn.embedding_lookup_sparse(table, features["ids"], None, combiner="sum")
    loss = tf.reduce_sum(tf.squeeze(rows) * labels)
    optimizer = TowerOptimizer(lambda: tf.train.GradientDescentOptimizer(1.0))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss))


def test_sparse_features_and_gradients() -> None:
    ids = tf.SparseTensor([[0, 0], [1, 0], [2, 0], [3, 0]], [1, 2, 1, 3], [4, 1])
    ids = tf.SparseTensor(ids.indices, tf.cast(ids.values, tf.int64), ids.dense_shape)
    labels = tf.constant([[1.0, 0.0], [2.0, 0.0], [0.0, 5.0], [1.0, 1.0]])
    spec = replicate(sparse_model, Reduction.SUM, DEVICES)({"ids": ids}, labels, "train")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(spec.train_op)
        table = session.run(tf.trainable_variables()[0])
    np.testing.assert_allclose(table[1:4], [[0, -4], [-1, 1], [0, 0]])


def test_what_cannot_be_copied() -> None:
    with pytest.raises(ValueError, match="Tower losses need to be reduced in some way, yet none"):
        replicate(model(), Reduction.NONE)
    with pytest.raises(
        ValueError, match="Batch size 3 needs to be divisible by the number of GPUs"
    ):
        called(replicate(model(), devices=DEVICES), rows=3)
    tf.reset_default_graph()
    with pytest.raises(ValueError, match="Please wrap optimizers with TowerOptimizer"):
        called(replicate(model(lambda optimizer: optimizer), devices=DEVICES))
    tf.reset_default_graph()
    calls: list[int] = []

    def uneven(features: Any, labels: Any, mode: Any, params: Any) -> Any:
        calls.append(1)
        spec = model()(features, labels, mode, params)
        if len(calls) == 1:
            TowerOptimizer(tf.train.GradientDescentOptimizer(1.0)).minimize(spec.loss)
        return spec

    with pytest.raises(ValueError, match="supposed to make the same optimizer calls"):
        called(replicate(uneven, devices=DEVICES))


def test_alone_it_is_the_optimizer_inside() -> None:
    weight = tf.Variable(1.0, name="weight")
    optimizer = TowerOptimizer(tf.train.AdamOptimizer())
    optimizer.minimize(weight * 2)
    assert optimizer.get_name() == "Adam" and optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(weight, "m").op.name == "weight/Adam"
    assert len(optimizer.variables()) == 4 and TowerOptimizer.has_been_used()
