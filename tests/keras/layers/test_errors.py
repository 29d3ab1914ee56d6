"""What layers say to wrong settings and inputs."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

L = tf.keras.layers


def x(*shape, dtype=tf.float32):
    return tf.placeholder(dtype, shape)


SETTINGS = [
    (lambda: L.Permute((0, 1)), ValueError, "Invalid permutation `dims` for Permute Layer"),
    (lambda: L.SpatialDropout2D(0.1, data_format="bad"), ValueError, "data_format must be in"),
    (lambda: L.Conv2D(1, 2, padding="causal"), ValueError, "Causal padding is only supported"),
    (lambda: L.Conv2D(1, (1, 2, 3)), ValueError, "`kernel_size` argument must be a tuple of 2"),
    (lambda: L.Conv2D(1, 1, data_format="NHWC"), ValueError, "`data_format` argument must be one"),
    (lambda: L.MaxPooling2D(padding="full"), ValueError, "`padding` argument must be a list/tuple"),
    (
        lambda: L.Conv2DTranspose(1, 2, strides=2, output_padding=2),
        ValueError,
        r"Stride \(2, 2\) must be greater than output padding \(2, 2\)",
    ),
    (lambda: L.UpSampling2D(interpolation="cubic"), ValueError, "`interpolation` argument should"),
    (lambda: L.ZeroPadding2D((1, 2, 3)), ValueError, "`padding` should have two elements"),
    (
        lambda: L.ZeroPadding2D(None),
        ValueError,
        r"an int, a tuple of 2 ints \(symmetric_height_pad",
    ),
    (lambda: L.ZeroPadding3D(((1, 2, 3), 1, 1)), ValueError, "1st entry of padding"),
    (lambda: L.Cropping2D((1,)), ValueError, "`cropping` should have two elements. Found"),
    (lambda: L.Cropping3D((1, 2)), ValueError, "`cropping` should have 3 elements. Found"),
    (lambda: L.Cropping3D(None), ValueError, r"symmetric_dim1_crop, symmetric_dim2_crop"),
    (lambda: L.ReLU(max_value=-1), ValueError, "max_value of Relu layer cannot be negative"),
    (lambda: L.ReLU(negative_slope=-1), ValueError, "negative_slope of Relu layer cannot be"),
    (lambda: L.Dot("a"), TypeError, "Invalid type for `axes` - should be a list or an int"),
    (lambda: L.Dot((1, 2, 3)), ValueError, "should contain two elements"),
    (lambda: L.Dot((1, "a")), ValueError, 'list elements should be "int"'),
    (lambda: L.BatchNormalization(axis="a"), TypeError, "axis must be int or list, type given"),
    (
        lambda: L.BatchNormalization(renorm=True, renorm_clipping={"r": 1}),
        ValueError,
        r"renorm_clipping \{'r': 1\} contains keys not in \['rmax', 'rmin', 'dmax'\]",
    ),
    (lambda: L.LayerNormalization(axis="a"), ValueError, "Expected an int or a list/tuple of ints"),
    (
        lambda: L.LocallyConnected1D(1, 2, padding="same"),
        ValueError,
        'only "valid" is supported if implementation is 1',
    ),
    (
        lambda: L.TimeDistributed(tf.nn.relu),
        ValueError,
        "Please initialize `TimeDistributed` layer",
    ),
    (lambda: L.Dense(3, unknown=1), TypeError, "Keyword argument not understood"),
    (lambda: L.Activation("bad"), ValueError, "Unknown activation function:bad"),
    (lambda: L.Dense(1, kernel_initializer="bad"), ValueError, "Unknown initializer: ?bad"),
    (lambda: L.Dense(1, kernel_constraint="bad"), ValueError, "Unknown constraint: bad"),
]

CALLS = [
    (lambda: L.Dense(3)(x(2, None)), ValueError, "last dimension of the inputs to `Dense`"),
    (lambda: L.Dense(3)(x(2)), ValueError, "expected min_ndim=2, found ndim=1"),
    (lambda: L.Dense(3)(x(2, 3, dtype=tf.int32)), TypeError, "non-floating point dtype"),
    (lambda: L.Dense(3).compute_output_shape((2, None)), ValueError, "innermost dimension"),
    (
        lambda: L.Reshape((2, 2)).compute_output_shape((None, 5)),
        ValueError,
        "total size of new array must be unchanged",
    ),
    (
        lambda: L.Reshape((-1, -1)).compute_output_shape((3, 4)),
        ValueError,
        "Can only specify one unknown dimension",
    ),
    (lambda: L.Conv2D(1, 1)(x(1, 5, 5, None)), ValueError, "channel dimension of the inputs"),
    (lambda: L.Conv2D(1, 1)(x(1, 5, 5)), ValueError, "expected ndim=4, found ndim=3"),
    (lambda: L.DepthwiseConv2D(1)(x(1, 5, 5, None)), ValueError, "to `DepthwiseConv2D` should be"),
    (lambda: L.Conv2DTranspose(1, 1).build((1, 5, 2)), ValueError, "Inputs should have rank 4"),
    (lambda: L.LocallyConnected2D(1, 1)(x(1, None, 5, 2)), ValueError, "should be fully-defined"),
    (lambda: L.LocallyConnected1D(1, 1)(x(1, 5, None)), ValueError, "Axis 2 of input"),
    (
        lambda: L.LocallyConnected1D(1, 1, implementation=4)(x(1, 5, 2)),
        ValueError,
        "Unrecognized implementation mode: 4",
    ),
    (
        lambda: L.LocallyConnected1D(1, 2, padding="causal", implementation=2)(x(1, 5, 2)),
        NotImplementedError,
        'Padding type causal not supported. Only "valid" and "same" are implemented',
    ),
    (lambda: L.PReLU(shared_axes=[5])(x(2, 3)), IndexError, "out of range"),
    (lambda: L.Add()(x(2, 3)), ValueError, "A merge layer should be called on a list of inputs"),
    (lambda: L.Add()([x(2, 3)]), ValueError, "at least 2 inputs. Got 1 inputs"),
    (lambda: L.Add()([x(2, 3), x(4, 3)]), ValueError, "tensors with different batch sizes"),
    (lambda: L.Add()([x(2, 3), x(2, 4)]), ValueError, r"be broadcast together with shapes \(3,\)"),
    (lambda: L.Subtract()([x(2, 3)] * 3), ValueError, "called on exactly 2 inputs"),
    (lambda: L.Concatenate()(x(2, 3)), ValueError, "should be called on a list of at least 2"),
    (lambda: L.Concatenate()([x(2, 3), x(3, 3)]), ValueError, "matching shapes except for"),
    (lambda: L.Dot(1)([x(2, 3)] * 3), ValueError, "should be called on a list of 2 inputs"),
    (lambda: L.Dot(1)([x(2, 3), x(2, 4)]), ValueError, "Dimension incompatibility 3 != 4"),
    (lambda: L.Add().compute_mask([1, 2], [None]), ValueError, "should have the same length"),
    (lambda: L.Add().compute_mask([1, 2], 3), ValueError, "`mask` should be a list"),
    (lambda: L.Attention()(x(2, 3, 4)), ValueError, "Attention layer must be called on a list"),
    (lambda: L.Attention()([x(2, 3, 4)] * 4), ValueError, "list of length 2 or 3.*length: 4"),
    (
        lambda: L.Attention()([x(2, 3, 4)] * 2, mask=[None] * 3),
        ValueError,
        "mask must be a list of length 2.*length: 3",
    ),
    (lambda: L.BatchNormalization(axis=4)(x(2, 3)), ValueError, "Invalid axis: 4"),
    (lambda: L.BatchNormalization(axis=[1, -1])(x(2, 3)), ValueError, "Duplicate axis"),
    (lambda: L.BatchNormalization()(x(2, None)), ValueError, "undefined `axis` dimension"),
    (
        lambda: L.BatchNormalization(axis=0, virtual_batch_size=2)(x(2, 3)),
        ValueError,
        "axis cannot include 0",
    ),
    (lambda: L.BatchNormalization(virtual_batch_size=0)(x(2, 3)), ValueError, "positive integer"),
    (lambda: L.LayerNormalization(axis=2)(x(2, 3)), ValueError, "Invalid axis: 2"),
    (lambda: L.TimeDistributed(L.Dense(1))(x(2, 3)), ValueError, "at least 3 dimensions"),
    (
        lambda: L.Embedding(3, 2, input_length=4).compute_output_shape((2, 5)),
        ValueError,
        r'"input_length" is 4, but received input has shape \(2, 5\)',
    ),
    (lambda: L.RepeatVector(2)(x(2, 3, 4)), ValueError, "expected ndim=2, found ndim=3"),
]


@pytest.mark.parametrize(("make", "error", "message"), SETTINGS)
def test_wrong_settings(make, error, message) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(("call", "error", "message"), CALLS)
def test_wrong_inputs(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_mask_that_cannot_be_used() -> None:
    steps = tf.ones([2, 3, 4])
    steps._keras_mask = tf.constant(np.ones([2, 3], bool))
    with pytest.raises(TypeError, match="does not support masking, but was passed an input_mask"):
        L.Flatten().compute_mask(steps, steps._keras_mask)
    # In a call it is dropped.
    assert L.Flatten()(steps)._keras_mask is None
