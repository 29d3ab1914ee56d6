"""contrib.layers: names, normalizers, collections; TensorFlow's own tests cover far more."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.running import run_initialized as run

layers = tf.contrib.layers


def names():
    return [v.op.name for v in tf.global_variables()]


def test_names_of_layers() -> None:
    x = tf.zeros([2, 8, 8, 3])
    y = layers.conv2d(x, 4, 3, normalizer_fn=layers.batch_norm)
    y = layers.conv2d(y, 4, 3, scope="own")
    y = layers.max_pool2d(y, 2, scope="pool")
    assert y.op.name == "pool/MaxPool"
    layers.fully_connected(layers.flatten(y), 5)
    assert names() == [
        "Conv/weights",
        "Conv/BatchNorm/beta",
        "Conv/BatchNorm/moving_mean",
        "Conv/BatchNorm/moving_variance",
        "own/weights",
        "own/biases",
        "fully_connected/weights",
        "fully_connected/biases",
    ]
    assert len(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)) == 8
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2


def test_repeat_stack_and_end_points() -> None:
    x = tf.zeros([2, 8, 8, 3])
    with tf.contrib.framework.arg_scope([layers.conv2d], outputs_collections="ends"):
        y = layers.repeat(x, 2, layers.conv2d, 4, [3, 3], scope="conv")
    layers.stack(layers.flatten(y), layers.fully_connected, [6, 5], scope="fc")
    assert list(layers.utils.convert_collection_to_dict("ends")) == ["conv/conv_1", "conv/conv_2"]
    assert [n for n in names() if "weights" in n] == [
        "conv/conv_1/weights",
        "conv/conv_2/weights",
        "fc/fc_1/weights",
        "fc/fc_2/weights",
    ]


@pytest.mark.parametrize("rank", [2, 4])
@pytest.mark.parametrize("fused", [True, False])
def test_batch_norm_that_updates_at_once(rank, fused) -> None:
    x = np.random.RandomState(0).randn(6, *[2, 2][: rank - 2], 3).astype(np.float32) + 2
    training = tf.placeholder(tf.bool, [])
    y = layers.batch_norm(
        x, decay=0.5, scale=True, updates_collections=None, is_training=training, fused=fused
    )
    mean = tf.contrib.framework.get_variables("BatchNorm/moving_mean")[0]
    axes = tuple(range(rank - 1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run(y, {training: True})
        np.testing.assert_allclose(got.mean(axes), 0, atol=1e-5)
        np.testing.assert_allclose(session.run(mean), x.mean(axes) / 2, rtol=1e-4)
        session.run(y, {training: False})
        np.testing.assert_allclose(session.run(mean), x.mean(axes) / 2, rtol=1e-4)


def test_norms_of_single_examples() -> None:
    x = np.random.RandomState(1).randn(2, 5, 5, 4).astype(np.float32) * 3 + 1
    by_layer, by_channel, by_group = run(
        layers.layer_norm(x), layers.instance_norm(x), layers.group_norm(x, 2)
    )

    def normalized(v, axes):
        mean, variance = v.mean(axes, keepdims=True), v.var(axes, keepdims=True)
        return (v - mean) / np.sqrt(variance + 1e-6)

    np.testing.assert_allclose(by_layer, normalized(x, (1, 2, 3)), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(by_channel, normalized(x, (1, 2)), rtol=1e-3, atol=1e-4)
    groups = normalized(x.reshape(2, 5, 5, 2, 2), (1, 2, 4)).reshape(x.shape)
    np.testing.assert_allclose(by_group, groups, rtol=1e-3, atol=1e-4)


def test_initializers_and_regularizers() -> None:
    he = layers.variance_scaling_initializer(seed=1)([3, 3, 50, 200])
    xavier = layers.xavier_initializer(seed=1)([300, 500])
    w = tf.constant([[1.0, -2.0], [3.0, -4.0]])
    found = run(
        he, xavier, layers.l1_regularizer(0.5)(w), layers.l2_regularizer(0.5)(w),
        layers.l1_l2_regularizer(1.0, 2.0)(w),
    )  # fmt: skip
    # A truncated normal of variance 1.3 * 2 / n has about 2 / n left.
    assert found[0].std() == pytest.approx((2 / 450) ** 0.5, rel=0.02)
    assert np.abs(found[1]).max() == pytest.approx((6 / 800) ** 0.5, rel=1e-3)
    assert found[2:] == [5.0, 7.5, 40.0]
    assert layers.l2_regularizer(0.0)(w) is None
    with pytest.raises(ValueError, match="scale cannot be an integer"):
        layers.l2_regularizer(1)


def test_small_layers() -> None:
    x = tf.constant([[1.0, 4.0, 3.0, 2.0]])
    one_hot, out, unit, soft = run(
        layers.one_hot_encoding([1, 0], 3),
        layers.maxout(x, 2),
        layers.unit_norm(x, 1),
        layers.softmax(x),
    )
    np.testing.assert_array_equal(one_hot, [[0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(out, [[4, 3]])
    assert np.square(unit).sum() == pytest.approx(1, rel=1e-5)
    assert soft.sum() == pytest.approx(1)


def test_embed_sequence_shares_its_table() -> None:
    ids = tf.constant([[1, 2], [2, 1]])
    a = layers.embed_sequence(ids, 5, 3, scope="table")
    b = layers.embed_sequence(ids, unique=True, scope="table", reuse=True)
    one, other = run(a, b)
    np.testing.assert_array_equal(one, other)
    assert names() == ["table/embeddings"]


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", tf.train.AdagradOptimizer])
def test_optimize_loss(optimizer) -> None:
    v = tf.get_variable("v", initializer=[4.0, -2.0])
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(v * v)
    train = layers.optimize_loss(loss, step, 0.1, optimizer, clip_gradients=1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(train) for _ in range(5)]
        assert losses == sorted(losses, reverse=True) and session.run(step) == 5
    with pytest.raises(ValueError, match="Optimizer name should be one of"):
        layers.optimize_loss(loss, step, 0.1, "Best", name="other")


def test_a_scaled_gradient_is_one_call_of_a_function(sess: tf.Session) -> None:
    x = tf.constant([1.0, 2.0])
    y = tf.contrib.layers.scale_gradient(x, 3.0)
    assert y.op.type.startswith("scale_gradient_") and len(y.graph.get_operations()) == 3
    np.testing.assert_array_equal(sess.run(tf.gradients(y * y, x)[0]), [6.0, 12.0])


def test_divisive_normalization_is_a_convolution_of_squares() -> None:
    y = tf.contrib.layers.gdn(tf.ones([2, 4, 4, 3]))
    kinds = [op.type for op in y.graph.get_operations()]
    assert kinds[-5:] == ["Square", "Conv2D", "BiasAdd", "Sqrt", "RealDiv"] and len(kinds) == 34
