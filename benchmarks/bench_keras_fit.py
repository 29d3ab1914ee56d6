"""How long does a training step of `Model.fit` take: batches cut, callbacks, metrics and all?

A network of one hidden layer with dropout on pictures of 28 x 28, 32 a step, shuffled, with Adam
and accuracy. TensorFlow needs a version with Keras 2 (2.15 or before).
"""

import statistics
import time

import numpy as np
from common import arguments, load, report

PICTURES, BATCH, SAMPLES = 6_400, 32, 9


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    layers = tf.keras.layers
    random = np.random.default_rng(0)
    x = random.random((PICTURES, 784), np.float32)
    y = (x[:, :10]).argmax(1)
    model = tf.keras.Sequential(
        [
            layers.Dense(128, activation="relu", input_shape=(784,)),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    losses, spans = [], []
    for _ in range(SAMPLES + 1):
        start = time.perf_counter()
        history = model.fit(x, y, BATCH, epochs=1, verbose=0).history
        spans.append((time.perf_counter() - start) / (PICTURES / BATCH))
        losses.append(float(history["loss"][0]))
    assert losses[-1] < losses[0], "it does not learn"
    # The first epoch makes and compiles the step.
    report("keras_fit", impl, statistics.median(spans[1:]), loss=losses[-1])


if __name__ == "__main__":
    main()
