"""VGG16 and VGG19: convolutions of 3 x 3, five times halved."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications.common import Application, kernels
from weft.lib.keras.layers.convolutional import Conv2D
from weft.lib.keras.layers.core import Dense, Flatten
from weft.lib.keras.layers.pooling import MaxPooling2D

FOLDER = "https://github.com/fchollet/deep-learning-models/releases/download/v0.1/"
FILTERS = (64, 128, 256, 512, 512)
# name -> (convolutions of each block, the weights)
KINDS = {
    "vgg16": (
        (2, 2, 3, 3, 3),
        ("64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
    ),
    "vgg19": (
        (2, 2, 4, 4, 4),
        ("cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
    ),
}


def vgg(name: str, chosen: Application) -> Any:
    """The model of a kind."""
    counts, hashes = KINDS[name]
    x = images = chosen.input(224, 32)
    for block, (filters, count) in enumerate(zip(FILTERS, counts, strict=True), 1):
        for i in range(1, count + 1):
            layer = f"block{block}_conv{i}"
            x = Conv2D(filters, (3, 3), activation="relu", padding="same", name=layer)(x)
        x = MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    if chosen.include_top:
        x = Flatten(name="flatten")(x)
        x = Dense(4096, activation="relu", name="fc1")(x)
        x = Dense(4096, activation="relu", name="fc2")(x)
        x = Dense(chosen.classes, activation="softmax", name="predictions")(x)
    else:
        x = chosen.pooled(x)
    return chosen.model(images, x, name, kernels(FOLDER, name, *hashes))
