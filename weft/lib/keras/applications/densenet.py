"""DenseNet121, DenseNet169 and DenseNet201: each layer sees the outputs of all before it."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import (
    Application,
    application,
    channels,
    conv,
    joined,
    kernels,
    norm,
    relu,
)
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from weft.lib.keras.layers.resizing import ZeroPadding2D

FOLDER = "https://github.com/keras-team/keras-applications/releases/download/densenet/"
EPSILON = 1.001e-5
GROWTH = 32
# name -> (layers of each block, the weights)
KINDS = {
    "densenet121": (
        (6, 12, 24, 16),
        ("9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
    ),
    "densenet169": (
        (6, 12, 32, 32),
        ("d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
    ),
    "densenet201": (
        (6, 12, 48, 32),
        ("1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
    ),
}


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours with mean 0 and deviation 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="torch")


def _active(x: Any, name: str) -> Any:
    return relu(norm(x, f"{name}bn", epsilon=EPSILON), f"{name}relu")


def _layer(x: Any, name: str) -> Any:
    new = conv(_active(x, f"{name}_0_"), 4 * GROWTH, 1, f"{name}_1_conv")
    new = conv(_active(new, f"{name}_1_"), GROWTH, 3, f"{name}_2_conv", padding="same")
    return joined([x, new], f"{name}_concat")


def _transition(x: Any, name: str) -> Any:
    """Half as many channels, of an image of half the size."""
    x = _active(x, f"{name}_")
    x = conv(x, channels(x) // 2, 1, f"{name}_conv")
    return AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _densenet(name: str, chosen: Application) -> Any:
    counts, hashes = KINDS[name]
    images = chosen.input(224, 32)
    x = ZeroPadding2D(((3, 3), (3, 3)))(images)
    x = _active(conv(x, 64, 7, "conv1/conv", strides=2), "conv1/")
    x = ZeroPadding2D(((1, 1), (1, 1)))(x)
    x = MaxPooling2D(3, strides=2, name="pool1")(x)
    for block, count in enumerate(counts, 2):
        for i in range(1, count + 1):
            x = _layer(x, f"conv{block}_block{i}")
        if block < 5:
            x = _transition(x, f"pool{block}")
    x = chosen.top(_active(x, ""), "fc1000", "avg_pool", "max_pool")
    return chosen.model(images, x, name, kernels(FOLDER, name, *hashes))


@application
def DenseNet121(chosen: Application) -> Any:
    """A densely connected network of 121 layers, for images of 224 x 224."""
    return _densenet("densenet121", chosen)


@application
def DenseNet169(chosen: Application) -> Any:
    """A densely connected network of 169 layers, for images of 224 x 224."""
    return _densenet("densenet169", chosen)


@application
def DenseNet201(chosen: Application) -> Any:
    """A densely connected network of 201 layers, for images of 224 x 224."""
    return _densenet("densenet201", chosen)
