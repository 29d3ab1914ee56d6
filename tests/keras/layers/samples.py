"""The layers of tf.keras.layers, each with settings that make a difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.keras.layers.observe import Sample

_random = np.random.RandomState(7)


def normal(*shape: int) -> np.ndarray:
    return _random.randn(*shape).astype(np.float32)


def integers(*shape: int, below: int = 5) -> np.ndarray:
    return _random.randint(0, below, shape).astype(np.int32)


FLAT = normal(3, 4)
STEPS = normal(3, 6, 4)
IMAGES = normal(2, 7, 6, 3)
VOLUMES = normal(2, 4, 5, 4, 2)
KEPT = np.array([[1, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]], bool)
PADDED = STEPS * KEPT[:, :, None].astype(np.float32)
WORDS = np.array([[1, 4, 0], [2, 0, 0]], np.int32)


def one(name: str, make: Any, x: np.ndarray, **options: Any) -> Sample:
    return Sample(name, make, [x], **options)


CORE = [
    one("dense", lambda L: L.Dense(5, activation="tanh"), FLAT),
    one("dense_more_axes", lambda L: L.Dense(2, use_bias=False), STEPS),
    one(
        "dense_regularized",
        lambda L: L.Dense(
            2,
            kernel_initializer="glorot_normal",
            kernel_regularizer="l1_l2",
            bias_regularizer="l1_l2",
            activity_regularizer="l1_l2",
            kernel_constraint="non_neg",
            bias_constraint="max_norm",
            name="own",
        ),
        FLAT,
    ),
    one("dense_double", lambda L: L.Dense(2, dtype="float64"), FLAT.astype(np.float64)),
    one("dense_masked", lambda L: L.Dense(2), STEPS, masks=[KEPT]),
    one("activation", lambda L: L.Activation("softplus"), FLAT),
    one("activity_regularization", lambda L: L.ActivityRegularization(l1=0.1, l2=0.2), FLAT),
    one("masking", lambda L: L.Masking(), PADDED),
    one("masking_value", lambda L: L.Masking(mask_value=2.0), np.where(KEPT[:, :, None], STEPS, 2)),
    one("flatten", lambda L: L.Flatten(), IMAGES),
    one("flatten_first", lambda L: L.Flatten(data_format="channels_first"), IMAGES),
    one("flatten_unknown", lambda L: L.Flatten(), IMAGES, shapes=[(None, None, 6, 3)]),
    one("reshape", lambda L: L.Reshape((3, -1)), STEPS),
    one("reshape_unknown", lambda L: L.Reshape((-1, 2)), STEPS, shapes=[(None, None, 4)]),
    one("permute", lambda L: L.Permute((3, 1, 2)), IMAGES),
    one("repeat_vector", lambda L: L.RepeatVector(3), FLAT),
    one("dropout", lambda L: L.Dropout(0.5), FLAT, masks=[np.array([True, False, True])]),
    one("spatial_dropout1d", lambda L: L.SpatialDropout1D(0.5), STEPS),
    one("spatial_dropout2d", lambda L: L.SpatialDropout2D(0.5), IMAGES),
    one("spatial_dropout3d", lambda L: L.SpatialDropout3D(0.5), VOLUMES),
    one("lambda", lambda L: L.Lambda(lambda x, by: x * by, arguments={"by": 3.0}), FLAT),
    one("embedding", lambda L: L.Embedding(6, 3), WORDS),
    one("embedding_masked", lambda L: L.Embedding(6, 3, mask_zero=True, input_length=3), WORDS),
    one("embedding_of_floats", lambda L: L.Embedding(6, 2), WORDS.astype(np.float32)),
]

ACTIVATIONS = [
    one("leaky_relu", lambda L: L.LeakyReLU(0.2), FLAT),
    one("prelu", lambda L: L.PReLU(), STEPS),
    one("prelu_shared", lambda L: L.PReLU("ones", shared_axes=[1, 2]), IMAGES),
    one("elu", lambda L: L.ELU(0.7), FLAT),
    one("thresholded_relu", lambda L: L.ThresholdedReLU(0.3), FLAT),
    one("softmax", lambda L: L.Softmax(), FLAT),
    one("softmax_axis", lambda L: L.Softmax(axis=1), STEPS),
    one("relu", lambda L: L.ReLU(), FLAT),
    one("relu_all", lambda L: L.ReLU(max_value=1.0, negative_slope=0.1, threshold=0.2), FLAT),
    one("gaussian_noise", lambda L: L.GaussianNoise(0.5), FLAT),
    one("gaussian_dropout", lambda L: L.GaussianDropout(0.5), FLAT),
    one("alpha_dropout", lambda L: L.AlphaDropout(0.5), FLAT),
]

CONVOLUTIONS = [
    one("conv1d", lambda L: L.Conv1D(4, 3), STEPS),
    one("conv1d_causal", lambda L: L.Conv1D(2, 3, padding="causal", dilation_rate=2), STEPS),
    one("conv2d", lambda L: L.Conv2D(4, 3, activation="relu"), IMAGES),
    one("conv2d_strided", lambda L: L.Conv2D(2, (3, 2), strides=(2, 1), padding="same"), IMAGES),
    one("conv2d_dilated", lambda L: L.Conv2D(2, 2, dilation_rate=(2, 1)), IMAGES),
    one(
        "conv2d_plain",
        lambda L: L.Conv2D(2, 2, use_bias=False),
        IMAGES,
        shapes=[(None, None, None, 3)],
    ),
    one("conv3d", lambda L: L.Conv3D(2, 2, strides=(1, 2, 1), padding="same"), VOLUMES),
    one("conv2d_transpose", lambda L: L.Conv2DTranspose(2, 3, strides=2), IMAGES),
    one(
        "conv2d_transpose_padded",
        lambda L: L.Conv2DTranspose(2, 3, strides=(2, 3), padding="same", output_padding=(1, 0)),
        IMAGES,
    ),
    one("conv2d_transpose_dilated", lambda L: L.Conv2DTranspose(2, 3, dilation_rate=2), IMAGES),
    one("conv3d_transpose", lambda L: L.Conv3DTranspose(2, 2, strides=2), VOLUMES),
    one("conv3d_transpose_same", lambda L: L.Conv3DTranspose(2, 3, padding="same"), VOLUMES),
    one("separable_conv1d", lambda L: L.SeparableConv1D(4, 3, depth_multiplier=2), STEPS),
    one("separable_conv1d_causal", lambda L: L.SeparableConv1D(2, 3, padding="causal"), STEPS),
    one("separable_conv2d", lambda L: L.SeparableConv2D(4, 3, strides=2, padding="same"), IMAGES),
    one("separable_conv2d_dilated", lambda L: L.SeparableConv2D(4, 2, dilation_rate=2), IMAGES),
    one("depthwise_conv2d", lambda L: L.DepthwiseConv2D(3, depth_multiplier=2), IMAGES),
    one("depthwise_conv2d_same", lambda L: L.DepthwiseConv2D((3, 2), (2, 2), "same"), IMAGES),
    one("locally_connected1d", lambda L: L.LocallyConnected1D(3, 2, strides=2), STEPS),
    one(
        "locally_connected1d_2",
        lambda L: L.LocallyConnected1D(3, 3, padding="same", implementation=2),
        STEPS,
    ),
    one("locally_connected1d_3", lambda L: L.LocallyConnected1D(3, 2, implementation=3), STEPS),
    one(
        "locally_connected1d_first",
        lambda L: L.LocallyConnected1D(3, 2, data_format="channels_first", implementation=2),
        STEPS,
    ),
    one("locally_connected2d", lambda L: L.LocallyConnected2D(2, 3, activation="relu"), IMAGES),
    one(
        "locally_connected2d_2",
        lambda L: L.LocallyConnected2D(2, (2, 3), strides=(2, 1), implementation=2),
        IMAGES,
    ),
    one(
        "locally_connected2d_3",
        lambda L: L.LocallyConnected2D(2, 3, padding="same", implementation=3),
        IMAGES,
    ),
    one(
        "locally_connected2d_first",
        lambda L: L.LocallyConnected2D(2, 3, data_format="channels_first", implementation=3),
        IMAGES.transpose(0, 3, 1, 2),
    ),
]

SIZES = [
    one("up_sampling1d", lambda L: L.UpSampling1D(3), STEPS),
    one("up_sampling2d", lambda L: L.UpSampling2D((2, 3)), IMAGES),
    one("up_sampling2d_bilinear", lambda L: L.UpSampling2D(2, interpolation="bilinear"), IMAGES),
    one("up_sampling2d_first", lambda L: L.UpSampling2D(2, "channels_first"), IMAGES),
    one("up_sampling3d", lambda L: L.UpSampling3D((1, 2, 3)), VOLUMES),
    one("zero_padding1d", lambda L: L.ZeroPadding1D((1, 2)), STEPS),
    one("zero_padding2d", lambda L: L.ZeroPadding2D(((1, 0), (2, 3))), IMAGES),
    one("zero_padding2d_first", lambda L: L.ZeroPadding2D((1, 2), "channels_first"), IMAGES),
    one("zero_padding3d", lambda L: L.ZeroPadding3D(2), VOLUMES),
    one("cropping1d", lambda L: L.Cropping1D((2, 0)), STEPS),
    one("cropping2d", lambda L: L.Cropping2D(((1, 2), (0, 1))), IMAGES),
    one(
        "cropping2d_first",
        lambda L: L.Cropping2D(1, "channels_first"),
        IMAGES,
        shapes=[(None, 7, None, 3)],
    ),
    one("cropping3d", lambda L: L.Cropping3D(((1, 0), (0, 2), (1, 1))), VOLUMES),
    one("max_pooling1d", lambda L: L.MaxPooling1D(), STEPS),
    one("max_pooling1d_same", lambda L: L.MaxPooling1D(3, 2, "same"), STEPS),
    one("average_pooling1d", lambda L: L.AveragePooling1D(2, 1), STEPS),
    one(
        "average_pooling1d_first", lambda L: L.AveragePooling1D(data_format="channels_first"), STEPS
    ),
    one("max_pooling2d", lambda L: L.MaxPooling2D(), IMAGES),
    one("max_pooling2d_same", lambda L: L.MaxPooling2D((3, 2), (2, 2), "same"), IMAGES),
    one("average_pooling2d", lambda L: L.AveragePooling2D((2, 3), padding="same"), IMAGES),
    one("max_pooling3d", lambda L: L.MaxPooling3D(), VOLUMES),
    one(
        "max_pooling3d_first",
        lambda L: L.MaxPooling3D(2, data_format="channels_first"),
        VOLUMES.transpose(0, 4, 1, 2, 3),
    ),
    one("average_pooling3d", lambda L: L.AveragePooling3D((1, 2, 2), padding="same"), VOLUMES),
    one("global_average_pooling1d", lambda L: L.GlobalAveragePooling1D(), STEPS),
    one(
        "global_average_pooling1d_masked", lambda L: L.GlobalAveragePooling1D(), STEPS, masks=[KEPT]
    ),
    one(
        "global_average_pooling1d_first",
        lambda L: L.GlobalAveragePooling1D("channels_first"),
        STEPS,
    ),
    one("global_max_pooling1d", lambda L: L.GlobalMaxPooling1D(), STEPS),
    one("global_average_pooling2d", lambda L: L.GlobalAveragePooling2D(), IMAGES),
    one("global_max_pooling2d", lambda L: L.GlobalMaxPooling2D("channels_first"), IMAGES),
    one("global_average_pooling3d", lambda L: L.GlobalAveragePooling3D(), VOLUMES),
    one("global_max_pooling3d", lambda L: L.GlobalMaxPooling3D(), VOLUMES),
]

BOTH = (1, 0)
NORMALIZATIONS = [
    one(
        "batch_normalization_fused",
        lambda L: L.BatchNormalization(momentum=0.9),
        IMAGES,
        phases=BOTH,
    ),
    one(
        "batch_normalization_not_fused",
        lambda L: L.BatchNormalization(fused=False),
        IMAGES,
        phases=BOTH,
    ),
    one(
        "batch_normalization_plain",
        lambda L: L.BatchNormalization(scale=False, center=False),
        IMAGES,
        phases=BOTH,
    ),
    one("batch_normalization_flat", lambda L: L.BatchNormalization(epsilon=0.1), FLAT, phases=BOTH),
    one("batch_normalization_axis_1", lambda L: L.BatchNormalization(axis=1), STEPS, phases=BOTH),
    one(
        "batch_normalization_axes", lambda L: L.BatchNormalization(axis=[1, 3]), IMAGES, phases=BOTH
    ),
    one(
        "batch_normalization_volumes",
        lambda L: L.BatchNormalization(fused=False),
        VOLUMES,
        phases=BOTH,
    ),
    one(
        "batch_normalization_renorm",
        lambda L: L.BatchNormalization(
            renorm=True,
            renorm_clipping={"rmax": 1.5, "rmin": 0.5, "dmax": 0.3},
            renorm_momentum=0.8,
        ),
        IMAGES,
        phases=BOTH,
    ),
    one(
        "batch_normalization_virtual",
        lambda L: L.BatchNormalization(virtual_batch_size=2),
        normal(6, 4),
        phases=BOTH,
    ),
    one(
        "batch_normalization_frozen",
        lambda L: L.BatchNormalization(trainable=False),
        FLAT,
        phases=BOTH,
    ),
    one(
        "batch_normalization_half",
        lambda L: L.BatchNormalization(),
        IMAGES.astype(np.float16),
        phases=BOTH,
    ),
    one(
        "batch_normalization_regularized",
        lambda L: L.BatchNormalization(
            beta_regularizer="l1_l2", gamma_regularizer="l1_l2", gamma_constraint="non_neg"
        ),
        FLAT,
        phases=BOTH,
    ),
    one("layer_normalization", lambda L: L.LayerNormalization(), STEPS),
    one(
        "layer_normalization_axes", lambda L: L.LayerNormalization(axis=[1, 2], epsilon=0.1), STEPS
    ),
    one("layer_normalization_middle", lambda L: L.LayerNormalization(axis=1, scale=False), IMAGES),
]

A, B, C = normal(3, 4), normal(3, 4), normal(3, 4)
MERGES = [
    Sample("add", lambda L: L.Add(), [A, B, C]),
    Sample("add_broadcast", lambda L: L.Add(), [normal(3, 5, 4), A]),
    Sample("add_masked", lambda L: L.Add(), [STEPS, STEPS + 1], masks=[KEPT, ~KEPT]),
    Sample("add_one_masked", lambda L: L.Add(), [STEPS, STEPS + 1], masks=[KEPT, None]),
    Sample("subtract", lambda L: L.Subtract(), [A, B]),
    Sample("multiply", lambda L: L.Multiply(), [A, B, C]),
    Sample("average", lambda L: L.Average(), [A, B, C]),
    Sample("maximum", lambda L: L.Maximum(), [A, B, C]),
    Sample("minimum", lambda L: L.Minimum(), [A, B, C]),
    Sample("concatenate", lambda L: L.Concatenate(), [A, normal(3, 2)]),
    Sample(
        "concatenate_steps",
        lambda L: L.Concatenate(axis=1),
        [STEPS, normal(3, 2, 4)],
        masks=[KEPT, KEPT[:, :2]],
    ),
    Sample("concatenate_features", lambda L: L.Concatenate(), [STEPS, STEPS], masks=[KEPT, ~KEPT]),
    Sample("dot", lambda L: L.Dot(axes=1), [A, B]),
    Sample("dot_normalized", lambda L: L.Dot(axes=-1, normalize=True), [A, B]),
    Sample("dot_axes", lambda L: L.Dot(axes=(1, 2)), [normal(3, 4, 2), normal(3, 5, 4)]),
    Sample("attention", lambda L: L.Attention(), [normal(2, 3, 4), normal(2, 5, 4)]),
    Sample(
        "attention_scaled",
        lambda L: L.Attention(use_scale=True),
        [normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 4)],
    ),
    Sample(
        "attention_causal", lambda L: L.Attention(causal=True), [normal(2, 4, 3), normal(2, 4, 3)]
    ),
    Sample(
        "attention_masked",
        lambda L: L.Attention(),
        [normal(2, 2, 4), normal(2, 3, 4)],
        masks=[np.array([[1, 0], [1, 1]], bool), np.array([[1, 1, 0], [1, 0, 0]], bool)],
    ),
    Sample(
        "additive_attention", lambda L: L.AdditiveAttention(), [normal(2, 3, 4), normal(2, 5, 4)]
    ),
    Sample(
        "additive_attention_plain",
        lambda L: L.AdditiveAttention(use_scale=False),
        [normal(2, 3, 4), normal(2, 5, 4)],
    ),
    one("time_distributed", lambda L: L.TimeDistributed(L.Dense(3, activation="relu")), STEPS),
    one(
        "time_distributed_unknown",
        lambda L: L.TimeDistributed(L.Dense(3)),
        STEPS,
        shapes=[(None, None, 4)],
    ),
    one("time_distributed_conv", lambda L: L.TimeDistributed(L.Conv2D(2, 2)), VOLUMES),
    one(
        "time_distributed_batch",
        lambda L: L.TimeDistributed(L.Flatten()),
        VOLUMES,
        shapes=[(2, 4, 5, 4, 2)],
    ),
    one("time_distributed_masked", lambda L: L.TimeDistributed(L.Dense(2)), STEPS, masks=[KEPT]),
    one(
        "time_distributed_norm",
        lambda L: L.TimeDistributed(L.BatchNormalization()),
        STEPS,
        phases=BOTH,
    ),
    one(
        "time_distributed_embedding",
        lambda L: L.TimeDistributed(L.Embedding(6, 2, mask_zero=True)),
        integers(2, 3, 4),
    ),
]

EMPTY = STEPS[:0]
UNKNOWN = [
    one(
        "global_average_pooling1d_masked_unknown",
        lambda L: L.GlobalAveragePooling1D(),
        STEPS,
        shapes=[(None, None, 4)],
        masks=[KEPT],
    ),
    one(
        "global_average_pooling1d_masked_first",
        lambda L: L.GlobalAveragePooling1D("channels_first"),
        STEPS.transpose(0, 2, 1),
        masks=[KEPT],
    ),
    one(
        "conv2d_transpose_unknown",
        lambda L: L.Conv2DTranspose(2, 3, strides=(2, 1), output_padding=(1, 0)),
        IMAGES,
        shapes=[(None, None, None, 3)],
    ),
    one(
        "batch_normalization_unknown",
        lambda L: L.BatchNormalization(axis=[1, 3]),
        IMAGES,
        shapes=[(None, 7, None, 3)],
        phases=BOTH,
    ),
    one("layer_normalization_turned", lambda L: L.LayerNormalization(axis=[-1, -2]), STEPS),
    one("conv1d_empty", lambda L: L.Conv1D(2, 3), EMPTY, shapes=[(None, 6, 4)]),
    one("dense_empty", lambda L: L.Dense(2), EMPTY, shapes=[(None, None, 4)]),
    one("max_pooling1d_empty", lambda L: L.MaxPooling1D(), EMPTY, shapes=[(None, 6, 4)]),
    one(
        "time_distributed_empty",
        lambda L: L.TimeDistributed(L.Dense(2)),
        EMPTY,
        shapes=[(None, 6, 4)],
    ),
    one("prelu_shared_last", lambda L: L.PReLU("ones", shared_axes=[-1]), IMAGES),
]

SAMPLES = [*CORE, *ACTIVATIONS, *CONVOLUTIONS, *SIZES, *NORMALIZATIONS, *MERGES, *UNKNOWN]
