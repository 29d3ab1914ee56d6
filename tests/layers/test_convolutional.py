"""Convolution layers: variables, names, values against tf.nn, data formats and errors."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.running import run_initialized as run

IMAGES = np.random.RandomState(0).randn(2, 6, 5, 3).astype(np.float32)
LAYERS = [
    (tf.layers.conv1d, [2, 7, 3], "conv1d", {"kernel": [3, 3, 4]}),
    (tf.layers.conv2d, [2, 7, 6, 3], "conv2d", {"kernel": [3, 3, 3, 4]}),
    (tf.layers.conv3d, [2, 4, 5, 6, 3], "conv3d", {"kernel": [3, 3, 3, 3, 4]}),
    (tf.layers.conv2d_transpose, [2, 7, 6, 3], "conv2d_transpose", {"kernel": [3, 3, 4, 3]}),
    (tf.layers.conv3d_transpose, [2, 4, 5, 6, 3], "conv3d_transpose", {"kernel": [3, 3, 3, 4, 3]}),
    (
        tf.layers.separable_conv1d,
        [2, 7, 3],
        "separable_conv1d",
        {"depthwise_kernel": [3, 3, 1], "pointwise_kernel": [1, 3, 4]},
    ),
    (
        tf.layers.separable_conv2d,
        [2, 7, 6, 3],
        "separable_conv2d",
        {"depthwise_kernel": [3, 3, 3, 1], "pointwise_kernel": [1, 1, 3, 4]},
    ),
]


@pytest.mark.parametrize(("layer", "shape", "name", "kernels"), LAYERS, ids=[x[2] for x in LAYERS])
def test_variables_names_and_sharing(layer, shape, name, kernels) -> None:
    x = tf.zeros(shape)
    layer(x, 4, 3)
    layer(x, 4, 3)
    with tf.variable_scope("outer"):
        layer(x, 4, 3, name="own")
    with tf.variable_scope("outer", reuse=True):
        layer(x, 4, 3, name="own")
    made = {v.op.name: v.shape.as_list() for v in tf.trainable_variables()}
    wanted = {**kernels, "bias": [4]}
    assert made == {
        f"{scope}/{part}": shape
        for scope in (name, f"{name}_1", "outer/own")
        for part, shape in wanted.items()
    }


def test_values_are_those_of_tf_nn() -> None:
    layer = tf.layers.Conv2D(
        4,
        (3, 2),
        strides=(2, 1),
        padding="SAME",
        activation=tf.nn.relu,
        bias_initializer=tf.ones_initializer(),
    )
    y = layer(tf.constant(IMAGES))
    assert y.op.name == "conv2d/Relu"
    assert layer.compute_output_shape(IMAGES.shape).as_list() == y.shape.as_list()
    plain = tf.nn.relu(tf.nn.conv2d(IMAGES, layer.kernel, [1, 2, 1, 1], "SAME") + layer.bias)
    got, wanted = run(y, plain)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_channels_first_is_channels_last_transposed() -> None:
    first, last = tf.layers.Conv2D(4, 3, data_format="channels_first"), tf.layers.Conv2D(4, 3)
    y_last = last(tf.constant(IMAGES))
    y_first = first(tf.constant(IMAGES.transpose(0, 3, 1, 2)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([a.assign(b) for a, b in zip(first.weights, last.weights, strict=True)])
        got, wanted = session.run([y_first, y_last])
    np.testing.assert_allclose(got.transpose(0, 2, 3, 1), wanted, rtol=1e-4, atol=1e-5)


def test_causal_and_dilated() -> None:
    x = np.zeros([1, 8, 1], np.float32)
    x[0, 5] = 1
    y = tf.layers.conv1d(
        x, 1, 3, padding="causal", dilation_rate=2, kernel_initializer=tf.ones_initializer()
    )
    np.testing.assert_array_equal(run(y)[0][0, :, 0], [0, 0, 0, 0, 0, 1, 0, 1])


def test_transposed_shapes() -> None:
    x = tf.placeholder(tf.float32, [None, 5, 6, 2])
    assert tf.layers.conv2d_transpose(x, 3, 4, strides=2).shape.as_list() == [None, 12, 14, 3]
    same = tf.layers.conv2d_transpose(x, 3, 4, strides=(3, 2), padding="same")
    assert same.shape.as_list() == [None, 15, 12, 3]


def test_regularizers_are_collected_once() -> None:
    x = tf.ones([2, 4, 4, 1])
    for reuse in (None, True):
        tf.layers.conv2d(
            x,
            1,
            2,
            kernel_initializer=tf.ones_initializer(),
            kernel_regularizer=lambda w: 0.5 * tf.reduce_sum(w * w),
            activity_regularizer=tf.reduce_sum,
            name="c",
            reuse=reuse,
        )
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert losses[0].op.name == "c/kernel/Regularizer/mul_1"
    # The kernel once; each of the two outputs, per example.
    assert run(*losses) == [2.0, 36.0, 36.0]


def test_constraints_hold_after_an_update() -> None:
    w = tf.layers.Conv2D(
        1, 1, kernel_constraint=lambda w: tf.clip_by_value(w, -0.1, 0.1), use_bias=False
    )
    loss = tf.reduce_sum(w(tf.ones([1, 2, 2, 1])))
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(w.kernel).item() == pytest.approx(-0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data_format": "bad"}, "data_format"),
        ({"padding": "bad"}, "padding"),
        ({"padding": "causal"}, "Causal padding is only supported"),
        ({"strides": (1, 2, 3)}, "`strides` argument must be a tuple of 2 integers"),
        ({"kernel_size": (1, None)}, "including element None of type"),
    ],
)
def test_wrong_arguments(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        tf.layers.conv2d(tf.zeros([1, 5, 5, 2]), 3, **{"kernel_size": 3, **arguments})


def test_channels_must_be_known() -> None:
    x = tf.placeholder(tf.float32, [1, 5, 5, None])
    with pytest.raises(ValueError, match="channel dimension of the inputs should be defined"):
        tf.layers.conv2d(x, 3, 3)
    with pytest.raises(ValueError, match="expected ndim=4, found ndim=3"):
        tf.layers.conv2d(tf.zeros([1, 5, 2]), 3, 3)
