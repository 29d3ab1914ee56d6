# %% [markdown]
# # The same network in Keras
#
# A model of layers, compiled, fitted, evaluated, its weights saved and loaded. As a program:
# `python examples/keras_digits.py [--epochs 8]`

# %%
import argparse
import os
import tempfile

import digits
import numpy as np

import weft as tf

parser = argparse.ArgumentParser(description="Train a Keras model that reads digits.")
parser.add_argument("--epochs", type=int, default=8, help="passes over the pictures (8)")
options, _ = parser.parse_known_args()

# %%
train_images, train_labels = digits.draw(4000, seed=1)
test_images, test_labels = digits.draw(500, seed=2)
tf.set_random_seed(1)

# %%
layers = tf.keras.layers


def new_model():
    """A convolutional network, ready to be trained."""
    model = tf.keras.Sequential(
        [
            layers.Conv2D(8, 3, activation="relu", input_shape=(digits.SIZE, digits.SIZE, 1)),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.1),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.005),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


model = new_model()
model.summary()

# %%
history = model.fit(
    train_images,
    train_labels,
    batch_size=64,
    epochs=options.epochs,
    validation_split=0.1,
    callbacks=[tf.keras.callbacks.EarlyStopping(patience=2)],
    verbose=2,
)

# %%
loss, accuracy = model.evaluate(test_images, test_labels, verbose=0)
print(f"Test accuracy: {accuracy:.3f}")
chances = model.predict(test_images[:3])
for picture, chance in zip(test_images, chances, strict=False):
    print(digits.printed(picture))
    print(f"is a {np.argmax(chance)} ({chance.max():.0%})")

# %% [markdown]
# Weights go into a checkpoint, and from there into another model.

# %%
path = os.path.join(tempfile.mkdtemp(prefix="keras_digits_"), "weights")
model.save_weights(path)
other = new_model()
other.load_weights(path)
same = np.allclose(other.predict(test_images[:3]), chances, atol=1e-5)
print("Loaded weights give the same answers:", same)
