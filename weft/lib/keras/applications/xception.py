"""Xception: separable convolutions throughout, in blocks that add to their input."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import Application, application, conv, kernels, norm, relu
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.layers.merge import Add
from weft.lib.keras.layers.pooling import MaxPooling2D
from weft.lib.keras.layers.separable import SeparableConv2D

FOLDER = "https://github.com/fchollet/deep-learning-models/releases/download/v0.4/"
HASHES = ("0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97")


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours from -1 to 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="tf")


def _separable(x: Any, filters: int, name: str) -> Any:
    x = SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x)
    return norm(x, f"{name}_bn")


def _halved(x: Any, filters: tuple[int, int], block: int, active: bool = True) -> Any:
    """A block that halves the image; its input comes along by a convolution."""
    residual = norm(conv(x, filters[1], (1, 1), strides=(2, 2), padding="same"))
    if active:
        x = relu(x, f"block{block}_sepconv1_act")
    x = _separable(x, filters[0], f"block{block}_sepconv1")
    x = relu(x, f"block{block}_sepconv2_act")
    x = _separable(x, filters[1], f"block{block}_sepconv2")
    pool = MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"block{block}_pool")
    return Add()([pool(x), residual])


def _same_size(x: Any, block: int) -> Any:
    residual = x
    for i in range(1, 4):
        x = relu(x, f"block{block}_sepconv{i}_act")
        x = _separable(x, 728, f"block{block}_sepconv{i}")
    return Add()([x, residual])


@application
def Xception(chosen: Application) -> Any:
    """A network for images of 299 x 299."""
    images = chosen.input(299, 71)
    x = conv(images, 32, (3, 3), "block1_conv1", strides=(2, 2))
    x = relu(norm(x, "block1_conv1_bn"), "block1_conv1_act")
    x = conv(x, 64, (3, 3), "block1_conv2")
    x = relu(norm(x, "block1_conv2_bn"), "block1_conv2_act")
    x = _halved(x, (128, 128), 2, active=False)
    x = _halved(x, (256, 256), 3)
    x = _halved(x, (728, 728), 4)
    for block in range(5, 13):
        x = _same_size(x, block)
    x = _halved(x, (728, 1024), 13)
    for i, filters in ((1, 1536), (2, 2048)):
        x = _separable(x, filters, f"block14_sepconv{i}")
        x = relu(x, f"block14_sepconv{i}_act")
    x = chosen.top(x, "predictions", "avg_pool" if chosen.include_top else None)
    return chosen.model(images, x, "xception", kernels(FOLDER, "xception", *HASHES))
