"""Channels first is channels last, transposed."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

L = tf.keras.layers


FIRST = {"data_format": "channels_first"}
MAKERS = {
    "conv1d": (1, lambda **f: L.Conv1D(3, 2, **f)),
    "conv1d_causal": (1, lambda **f: L.Conv1D(3, 2, padding="causal", **f)),
    "conv2d": (2, lambda **f: L.Conv2D(3, 2, strides=2, padding="same", **f)),
    "conv2d_dilated": (2, lambda **f: L.Conv2D(3, 2, dilation_rate=2, **f)),
    "conv3d": (3, lambda **f: L.Conv3D(3, 2, **f)),
    "conv2d_transpose": (2, lambda **f: L.Conv2DTranspose(3, 2, strides=2, **f)),
    "conv2d_transpose_dilated": (2, lambda **f: L.Conv2DTranspose(3, 2, dilation_rate=2, **f)),
    "conv3d_transpose": (3, lambda **f: L.Conv3DTranspose(3, 2, strides=2, **f)),
    "separable_conv1d": (1, lambda **f: L.SeparableConv1D(3, 2, **f)),
    "separable_conv2d": (2, lambda **f: L.SeparableConv2D(3, 2, **f)),
    "depthwise_conv2d": (2, lambda **f: L.DepthwiseConv2D(2, depth_multiplier=2, **f)),
    "max_pooling1d": (1, lambda **f: L.MaxPooling1D(**f)),
    "average_pooling2d": (2, lambda **f: L.AveragePooling2D(padding="same", **f)),
    "max_pooling3d": (3, lambda **f: L.MaxPooling3D(**f)),
    "up_sampling2d": (2, lambda **f: L.UpSampling2D((2, 3), **f)),
    "up_sampling3d": (3, lambda **f: L.UpSampling3D(**f)),
    "zero_padding3d": (3, lambda **f: L.ZeroPadding3D((1, 2, 0), **f)),
    "cropping3d": (3, lambda **f: L.Cropping3D(((1, 0), (0, 2), (1, 1)), **f)),
    "spatial_dropout2d": (2, lambda **f: L.SpatialDropout2D(0.5, **f)),
    "locally_connected2d": (2, lambda **f: L.LocallyConnected2D(3, 2, use_bias=False, **f)),
    "batch_normalization": (2, lambda **f: L.BatchNormalization(axis=1 if f else -1)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_transposed(name) -> None:
    rank, make = MAKERS[name]
    x = np.random.RandomState(0).randn(2, *range(5, 5 + rank), 2).astype(np.float32)
    ahead, back = (0, rank + 1, *range(1, rank + 1)), (0, *range(2, rank + 2), 1)
    last, first = make(), make(**FIRST)
    y_last = last(tf.constant(x))
    y_first = first(tf.constant(x.transpose(ahead)))
    shape = first.compute_output_shape(x.transpose(ahead).shape)
    assert tf.TensorShape(shape).as_list() == y_first.shape.as_list()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        if "locally" in name:
            # Patches have their channels first too.
            kernel = session.run(last.kernel).reshape(-1, 4, 2, 3).transpose(0, 2, 1, 3)
            first.kernel.load(kernel.reshape(-1, 8, 3), session)
        else:
            session.run([a.assign(b) for a, b in zip(first.weights, last.weights, strict=True)])
        got, wanted = session.run([y_first, y_last])
    np.testing.assert_allclose(got.transpose(back), wanted, rtol=1e-4, atol=1e-5)


def test_the_default_of_the_backend() -> None:
    tf.keras.backend.set_image_data_format("channels_first")
    try:
        layers = [L.Conv2D(1, 1), L.MaxPooling2D(), L.Flatten(), L.Conv1D(1, 1)]
    finally:
        tf.keras.backend.set_image_data_format("channels_last")
    assert [layer.data_format for layer in layers] == ["channels_first"] * 3 + ["channels_last"]
