"""Small networks, trained for a few steps; run in TensorFlow and in weft alike."""

from __future__ import annotations

from typing import Any

import numpy as np

_random = np.random.RandomState(11)
IMAGES = _random.randn(10, 8, 8, 2).astype(np.float32)
WORDS = _random.randint(0, 9, (10, 6))
LABELS = _random.randint(0, 3, (10,))
TARGETS = _random.randn(10, 1).astype(np.float32)


def images(L: Any, K: Any) -> tuple[Any, Any, Any, str]:
    """Convolutions of several kinds with batch normalization, in sequence."""
    model = K.Sequential(
        [
            L.Conv2D(4, 3, padding="same", input_shape=(8, 8, 2), kernel_regularizer="l2"),
            L.BatchNormalization(momentum=0.8),
            L.ReLU(),
            L.MaxPooling2D(),
            L.SeparableConv2D(5, 2, activation="elu"),
            L.BatchNormalization(axis=1, momentum=0.7, fused=False),
            L.DepthwiseConv2D(2),
            L.LeakyReLU(),
            L.Flatten(),
            L.Dropout(0.0),
            L.Dense(3, activation="softmax"),
        ]
    )
    return model, IMAGES, LABELS, "sparse_categorical_crossentropy"


def branches(L: Any, K: Any) -> tuple[Any, Any, Any, str]:
    """Branches that come together again; one layer in two places."""
    x = L.Input((8, 8, 2))
    shared = L.Conv2D(3, 1, activation="tanh")
    flipped = L.Lambda(lambda t: t[:, ::-1])(x)
    pooled = [L.GlobalAveragePooling2D()(shared(t)) for t in (x, flipped)]
    up = L.GlobalMaxPooling2D()(L.UpSampling2D()(L.Conv2DTranspose(3, 2, strides=2)(x)))
    both = L.add(pooled)
    joined = L.concatenate([L.multiply([both, up]), L.maximum(pooled), up])
    normal = L.LayerNormalization()(L.PReLU()(joined))
    return K.Model(x, L.Dense(1)(normal)), IMAGES, TARGETS, "mse"


def words(L: Any, K: Any) -> tuple[Any, Any, Any, str]:
    """Embeddings with a mask, attention to themselves, each step on its own."""
    x = L.Input((6,), dtype="int32")
    embedded = L.Embedding(9, 4, mask_zero=True)(x)
    steps = L.TimeDistributed(L.Dense(4, activation="relu"))(embedded)
    seen = L.Attention(use_scale=True)([steps, embedded])
    mean = L.GlobalAveragePooling1D()(seen)
    return (
        K.Model(x, L.Dense(3, activation="softmax")(mean)),
        WORDS,
        LABELS,
        "sparse_categorical_crossentropy",
    )


NETWORKS = {"images": images, "branches": branches, "words": words}


def train(tf: Any, name: str) -> dict[str, np.ndarray]:
    """Losses, weights before and after, and predictions of one network."""
    tf.keras.backend.clear_session()
    model, x, y, loss = NETWORKS[name](tf.keras.layers, tf.keras)
    random = np.random.RandomState(5)
    before = [
        np.abs(random.randn(*w.shape)) + 0.5 if "variance" in v.name else random.randn(*w.shape) / 2
        for v, w in zip(model.weights, model.get_weights(), strict=True)
    ]
    model.set_weights(before)
    model.compile(tf.keras.optimizers.SGD(0.05), loss)
    history = model.fit(x, y, batch_size=5, epochs=3, shuffle=False, verbose=0)
    found = {f"weight_{i}": value for i, value in enumerate(model.get_weights())}
    found["losses"] = np.array(history.history["loss"])
    found["evaluated"] = np.array(model.evaluate(x, y, batch_size=5, verbose=0))
    found["predicted"] = model.predict(x, batch_size=5)
    return found
