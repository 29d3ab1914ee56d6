"""tf.contrib.opt: variables and gradients that are cut, LARS, RegAdagrad; gdn; nn; estimators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

OPT = tf.contrib.opt


@pytest.fixture(autouse=True)
def close_event_files() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def after(steps: int, train: Any, *values: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        return session.run(list(values))


def _cut(rows: np.ndarray, most: float) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows * np.minimum(1, most / norms)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_a_variable_have_no_large_norms(use_resource: bool, sparse: bool) -> None:
    start = np.float32([[0, 1], [2, 3], [4, 5]])
    v = tf.Variable(start, use_resource=use_resource)
    grad: Any = tf.constant([[0.1, 0.1]] * (2 if sparse else 3))
    if sparse:
        grad = tf.IndexedSlices(grad, tf.constant([0, 2]), tf.constant([3, 2]))
    inner = tf.train.GradientDescentOptimizer(3.0)
    train = OPT.VariableClippingOptimizer(inner, {v: [1]}, 2.0).apply_gradients([(grad, v)])
    (found,) = after(1, train, v)
    touched = [0, 2] if sparse else [0, 1, 2]
    expected = start.copy()
    expected[touched] = _cut(start[touched] - 0.3, 2.0)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_task_without_examples_keeps_its_momentum(use_resource: bool) -> None:
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    grad = tf.placeholder_with_default([0.0, 0.0], [2])
    opt = OPT.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9))
    train = opt.apply_gradients([(grad, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {grad: [1.0, 1.0]})
        session.run(train)
        np.testing.assert_allclose(session.run(v), [0.9, 1.9], rtol=1e-6)
        np.testing.assert_allclose(session.run(opt.get_slot(v, "momentum")), [1, 1])
    with pytest.raises(TypeError, match=r"must be an instance of tf\.train\.Optimizer"):
        OPT.MultitaskOptimizerWrapper(object())


def test_gradients_cut_to_a_norm_of_those_that_are_not_zero() -> None:
    v = tf.Variable([0.0, 0.0])
    grads = [tf.constant([3.0, 4.0]), tf.constant([0.0, 0.0]), None]
    pairs, norm = OPT.clip_gradients_by_global_norm([(g, v) for g in grads], 1.0)
    with tf.Session() as session:
        assert session.run(norm) == 5
        np.testing.assert_allclose(session.run(pairs[0][0]), [0.6, 0.8], rtol=1e-6)
    assert pairs[2][0] is None


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
def test_rates_in_proportion_to_norms(nesterov: bool, use_resource: bool) -> None:
    start, grad = np.float32([3, 4]), np.float32([0.6, 0.8])
    v = tf.Variable(start, use_resource=use_resource)
    bias = tf.Variable(start, name="bias", use_resource=use_resource)
    opt = OPT.LARSOptimizer(
        2.0, 0.9, weight_decay=0.01, eeta=0.1, skip_list=["bias"], use_nesterov=nesterov
    )
    train = opt.apply_gradients([(tf.constant(grad), v), (tf.constant(grad), bias)])
    found = after(2, train, v, bias)
    expected = []
    for skipped in (False, True):
        w, kept = start.astype(float), np.zeros(2)
        for _ in range(2):
            size, slope = np.linalg.norm(w), np.linalg.norm(grad)
            rate = 2.0 if skipped else 2.0 * 0.1 * size / (slope + 0.01 * size)
            step = rate * (grad if skipped else grad + 0.01 * w)
            kept = 0.9 * kept + step
            w = w - (step + 0.9 * kept if nesterov else kept)
        expected.append(w)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="momentum should be positive"):
        OPT.LARSOptimizer(0.1, momentum=-1.0)


@pytest.mark.parametrize("use_resource", [False, True])
def test_sums_of_squares_that_are_left_alone(use_resource: bool) -> None:
    v = tf.Variable([1.0], use_resource=use_resource)
    opt = OPT.RegAdagradOptimizer(0.5, initial_accumulator_value=1.0)
    with opt.avoid_updating_slots():
        train = opt.apply_gradients([(tf.constant([1.0]), v)])
    assert after(2, train, v, opt.get_slot(v, "accumulator")) == [[0.0], [1.0]]
    plain = opt.apply_gradients([(tf.constant([1.0]), v)])
    assert after(1, plain, opt.get_slot(v, "accumulator")) == [[2.0]]


# ---- layers, functions ---------------------------------------------------------------------------


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize(
    ("format", "rank"),
    [("channels_last", 4), ("channels_first", 4), ("channels_last", 3), ("channels_first", 5)],
)
def test_channels_over_a_norm_of_all(inverse: bool, format: str, rank: int) -> None:
    x = np.random.RandomState(0).rand(*range(2, 2 + rank)).astype(np.float32)
    made = tf.contrib.layers.gdn(tf.constant(x), inverse=inverse, data_format=format)
    names = [v.name for v in tf.trainable_variables()]
    assert names == ["gdn/reparam_beta:0", "gdn/reparam_gamma:0"]
    (found,) = after(0, None, made)
    norm = np.sqrt(1 + 0.1 * x**2)  # gamma begins as a tenth of the identity
    np.testing.assert_allclose(found, x * norm if inverse else x / norm, rtol=1e-5)
    with pytest.raises(ValueError, match="Unsupported `data_format` for GDN layer: NHWC"):
        tf.contrib.layers.GDN(data_format="NHWC")


def test_a_smooth_ramp() -> None:
    x = tf.constant([-1.0, 0.0, 2.0, 50.0])
    y = tf.contrib.nn.scaled_softplus(x, 0.5, clip=6.0)
    values, slopes = after(0, None, y, tf.gradients(y, x)[0])
    given = np.array([-1.0, 0.0, 2.0, 50.0])
    np.testing.assert_allclose(values, np.minimum(0.5 * np.logaddexp(0, given / 0.5), 6), rtol=1e-5)
    np.testing.assert_allclose(slopes, [*(1 / (1 + np.exp(-given[:3] / 0.5))), 0], rtol=1e-5)


def test_a_sampled_loss_of_one_true_class() -> None:
    weights, biases = np.float32(np.eye(4)), np.zeros(4, np.float32)
    inputs, labels = np.float32([[1, 2, 3, 4]]), np.array([[2]])
    sampled = ([0, 1], tf.constant([[0.5]]), tf.constant([0.5, 0.5]))
    loss = tf.contrib.nn.sampled_sparse_softmax_loss(
        weights, biases, labels, inputs, 2, 4, sampled, remove_accidental_hits=False
    )
    logits = np.array([3, 1, 2]) - np.log(0.5)
    expected = -logits[0] + np.log(np.exp(logits).sum())
    np.testing.assert_allclose(after(0, None, loss)[0], [expected], rtol=1e-5)


# ---- tf.contrib.estimator ------------------------------------------------------------------------


def test_features_that_come_back_with_predictions() -> None:
    column = tf.feature_column.numeric_column("x")
    model = tf.estimator.LinearRegressor([column])

    def inputs() -> Any:
        sparse = tf.SparseTensor([[0, 0]], ["a"], [2, 1])
        features = {"x": tf.constant([[1.0], [2.0]]), "id": tf.constant([7, 8]), "tag": sparse}
        return features, tf.constant([[1.0], [2.0]])

    forward = tf.contrib.estimator.forward_features
    both = forward(model, ["id", "tag"], {"tag": "none"})
    both.train(inputs, steps=1)
    rows = list(both.predict(lambda: tf.data.Dataset.from_tensors(inputs()[0])))
    assert [row["id"] for row in rows] == [7, 8]
    assert [row["tag"][0] for row in rows] == [b"a", b"none"]
    with pytest.raises(ValueError, match='Key "y" is not in features dict'):
        forward(model, "y").train(inputs, steps=1)
    with pytest.raises(TypeError, match="keys should be either a string or a list"):
        forward(model, 1)


def test_an_optimizer_with_small_gradients() -> None:
    v = tf.Variable([0.0, 0.0])
    inner = tf.train.GradientDescentOptimizer(1.0)
    opt = tf.contrib.estimator.clip_gradients_by_norm(inner, 1.0)
    train = opt.apply_gradients([(tf.constant([3.0, 4.0]), v)])
    np.testing.assert_allclose(after(1, train, v)[0], [-0.6, -0.8], rtol=1e-6)
