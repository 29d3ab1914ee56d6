"""Models whose graphs and results are recorded from TensorFlow 1.15: one line for each layer.

The seeds of operations follow from the number of nodes made before them, so a program gives
TensorFlow's numbers only where all nodes are TensorFlow's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Name: (the layer, where `L` is keras.layers; the shape of its inputs).
LAYERS: dict[str, tuple[str, tuple[int, ...]]] = {
    "dense": ("L.Dense(4)", (3, 5)),
    "dense_3d": ("L.Dense(4, use_bias=False)", (3, 2, 5)),
    "dense_penalties": (
        "L.Dense(4, activation='relu', kernel_regularizer='l2', bias_regularizer='l1',"
        " activity_regularizer='l2', kernel_constraint='max_norm')",
        (3, 5),
    ),
    "dense_double": ("L.Dense(4, dtype='float64')", (3, 5)),
    "selu": ("L.Dense(4, activation='selu')", (3, 5)),
    "hard_sigmoid": ("L.Dense(4, activation='hard_sigmoid')", (3, 5)),
    "relu": ("L.ReLU(max_value=0.5, negative_slope=0.1, threshold=0.05)", (4, 3, 2)),
    "thresholded_relu": ("L.ThresholdedReLU(0.3)", (4, 3)),
    "prelu": ("L.PReLU(shared_axes=[1], alpha_initializer='uniform')", (4, 3, 2)),
    "reshape": ("L.Reshape((-1, 2))", (3, 10)),
    "masking": ("L.Masking()", (3, 4, 2)),
    "spatial_dropout2d": ("L.SpatialDropout2D(0.3)", (3, 4, 5, 2)),
    "spatial_dropout3d": ("L.SpatialDropout3D(0.3)", (3, 4, 5, 2, 2)),
    "conv1d_causal": ("L.Conv1D(4, 3, padding='causal', dilation_rate=2)", (3, 9, 2)),
    "conv2d": ("L.Conv2D(4, (3, 2), strides=(2, 1), padding='same')", (3, 9, 8, 2)),
    "conv2d_dilated": ("L.Conv2D(4, 3, dilation_rate=2)", (3, 9, 8, 2)),
    "conv2d_transpose": (
        "L.Conv2DTranspose(4, 3, strides=2, padding='same', output_padding=1)",
        (2, 5, 6, 2),
    ),
    "conv3d_transpose": ("L.Conv3DTranspose(4, 3, strides=(2, 1, 1))", (2, 3, 4, 3, 2)),
    "separable_conv1d": ("L.SeparableConv1D(4, 3, depth_multiplier=2)", (2, 7, 3)),
    "depthwise_conv2d": ("L.DepthwiseConv2D(3, depth_multiplier=2)", (2, 7, 6, 3)),
    "locally_connected1d": ("L.LocallyConnected1D(3, 2, implementation=2)", (2, 5, 3)),
    "locally_connected2d": ("L.LocallyConnected2D(3, 2, activation='tanh')", (2, 5, 4, 3)),
    "batch_norm": ("L.BatchNormalization(momentum=0.9)", (4, 3)),
    "batch_norm_fused": ("L.BatchNormalization(scale=False, center=False)", (4, 3, 2, 5)),
    "batch_norm_renorm": ("L.BatchNormalization(renorm=True)", (4, 3)),
    "layer_norm": ("L.LayerNormalization()", (4, 3, 2)),
    "time_distributed": ("L.TimeDistributed(L.Conv2D(3, 2))", (2, 3, 4, 5, 2)),
    "simple_rnn": ("L.SimpleRNN(3, dropout=0.3, recurrent_dropout=0.2)", (2, 4, 5)),
    "simple_rnn_unrolled": ("L.SimpleRNN(3, unroll=True, return_sequences=True)", (2, 4, 5)),
    "gru": ("L.GRU(3, go_backwards=True, return_state=True)", (2, 4, 5)),
    "gru_dropout": ("L.GRU(3, dropout=0.3, recurrent_dropout=0.2)", (2, 4, 5)),
    "gru_at_once": ("L.GRU(3, implementation=2)", (2, 4, 5)),
    "gru_at_once_dropout": (
        "L.GRU(3, implementation=2, dropout=0.3, recurrent_dropout=0.2)",
        (2, 4, 5),
    ),
    "gru_reset_after": ("L.GRU(3, reset_after=True)", (2, 4, 5)),
    "gru_reset_after_at_once": ("L.GRU(3, reset_after=True, implementation=2)", (2, 4, 5)),
    "gru_without_bias": ("L.GRU(3, reset_after=True, use_bias=False)", (2, 4, 5)),
    "lstm": ("L.LSTM(3, return_sequences=True)", (2, 4, 5)),
    "lstm_dropout": ("L.LSTM(3, dropout=0.3, recurrent_dropout=0.2)", (2, 4, 5)),
    "lstm_at_once": ("L.LSTM(3, implementation=2, dropout=0.3)", (2, 4, 5)),
    "lstm_unrolled": ("L.LSTM(3, unroll=True)", (2, 4, 5)),
    "stacked_cells": ("L.RNN([L.LSTMCell(3), L.GRUCell(4)], return_state=True)", (2, 4, 5)),
    "gru_v2": ("tf.compat.v2.keras.layers.GRU(3, return_state=True)", (2, 4, 5)),
    "lstm_v2": ("tf.compat.v2.keras.layers.LSTM(3)", (2, 4, 5)),
    "conv_lstm2d": (
        "L.ConvLSTM2D(3, 2, padding='same', dropout=0.2, return_sequences=True)",
        (2, 3, 5, 4, 2),
    ),
    "attention": ("lambda x: L.AdditiveAttention(causal=True)([x, x])", (2, 4, 5)),
    "bidirectional": ("L.Bidirectional(L.LSTM(3, return_sequences=True))", (2, 4, 5)),
}
# Recurrent layers after a mask.
MASKED = ["simple_rnn", "simple_rnn_unrolled", "lstm", "lstm_unrolled", "bidirectional"]
OPTIMIZERS = {
    name.lower(): "K.optimizers." + made
    for name, made in [
        ("SGD", "SGD(0.1, momentum=0.9, nesterov=True, decay=0.01)"),
        ("RMSprop", "RMSprop(0.01, centered=True, decay=0.1)"),
        ("RMSprop_momentum", "RMSprop(0.01, momentum=0.5)"),
        ("Adam", "Adam(0.01, amsgrad=True, decay=0.1)"),
        ("Adagrad", "Adagrad(0.1)"),
        ("Adadelta", "Adadelta(1.0)"),
        ("Adamax", "Adamax(0.01)"),
        ("Nadam", "Nadam(0.01)"),
        ("Ftrl", "Ftrl(0.1, l2_shrinkage_regularization_strength=0.01)"),
        ("Piecewise", "Adam(K.optimizers.schedules.PiecewiseConstantDecay([1], [0.1, 0.01]))"),
        ("Polynomial", "SGD(K.optimizers.schedules.PolynomialDecay(0.1, 4, 0.01))"),
    ]
}

LOSSES = (
    "mae mape msle hinge squared_hinge categorical_hinge logcosh kld poisson cosine_similarity "
    "binary_crossentropy categorical_crossentropy huber_loss"
).split()


def names() -> list[str]:
    """The name of every case."""
    masked = ["masked/" + name for name in MASKED]
    optimizers = [kind + name for kind in ("optimizer/", "sparse/") for name in OPTIMIZERS]
    losses = ["loss/" + name for name in LOSSES]
    return ["layer/" + name for name in LAYERS] + masked + optimizers + losses


def _inputs(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return (np.random.RandomState(3).rand(*shape).astype(dtype) - 0.4) * 2


def _model(tf: Any, case: str) -> tuple[Any, np.ndarray]:
    keras = tf.keras
    kind, name = case.split("/")
    if kind == "loss":
        activation = {"input_shape": (4,), "activation": "softmax"}
        return keras.Sequential([keras.layers.Dense(3, **activation)]), _inputs((6, 4), "float32")
    if kind == "sparse":
        layers = [keras.layers.Embedding(6, 3, input_length=4), keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        return model, np.random.RandomState(1).randint(0, 6, (8, 4))
    expression, shape = LAYERS["dense" if kind == "optimizer" else name]
    x = _inputs(shape, "float64" if "double" in name else "float32")
    made = eval(expression, {"L": keras.layers, "K": keras, "tf": tf})
    tensor = keras.Input(shape=x.shape[1:], dtype=x.dtype.name)
    inner = keras.layers.Masking()(tensor) if kind == "masked" else tensor
    return keras.Model(tensor, made(inner)), x


def observe(tf: Any, case: str) -> dict[str, Any]:
    """The nodes of a model that was trained and asked, and its numbers."""
    keras = tf.keras
    keras.backend.clear_session()
    tf.set_random_seed(7)
    np.random.seed(7)
    model, x = _model(tf, case)
    if case.startswith("masked"):
        x[0, 2:] = 0
    name = case.partition("/")[2]
    optimizer = eval(OPTIMIZERS[name], {"K": keras}) if name in OPTIMIZERS else "sgd"
    of_loss = {"metrics": ["accuracy"], "weighted_metrics": ["mae"]} if name in LOSSES else {}
    model.compile(optimizer, name if name in LOSSES else "mse", **of_loss)
    before = _as_list(model.predict(x))
    targets = [(np.random.rand(*y.shape) > 0.5).astype(y.dtype) for y in before]
    losses = [np.ravel(model.train_on_batch(x, targets)) for _ in range(3)]
    numbers = [*before, *losses, *_as_list(model.predict(x))]
    operations = tf.get_default_graph().get_operations()
    return {
        # But for those of gradients, which are other tests' concern.
        "nodes": [op.type + " " + op.name for op in operations if "gradients/" not in op.name],
        "numbers": np.concatenate([np.ravel(each) for each in numbers]).tolist(),
        "shapes": [str(output.shape) for output in model.outputs],
        "weights": [weight.name for weight in model.weights],
    }


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
