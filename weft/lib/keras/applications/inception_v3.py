"""InceptionV3: branches of convolutions of several sizes, joined after each block."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import (
    Application,
    application,
    conv,
    joined,
    kernels,
    norm,
    relu,
)
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.layers.pooling import AveragePooling2D, MaxPooling2D

FOLDER = "https://github.com/fchollet/deep-learning-models/releases/download/v0.5/"
HASHES = ("9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63")

# A branch is a list of convolutions: (filters, rows, columns), a step of 2 where it ends in "/2".
Step = tuple[Any, ...]


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours from -1 to 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="tf")


def _conv(x: Any, filters: int, rows: int, columns: int, half: str = "") -> Any:
    """A convolution, normalized; one that halves the image has no padding."""
    strides, padding = ((2, 2), "valid") if half else ((1, 1), "same")
    x = conv(x, filters, (rows, columns), strides=strides, padding=padding)
    return relu(norm(x, scale=False))


def _branch(x: Any, *steps: Step) -> Any:
    for step in steps:
        x = _conv(x, *step)
    return x


def _averaged(x: Any, filters: int) -> Any:
    x = AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x)
    return _conv(x, filters, 1, 1)


def _largest(x: Any) -> Any:
    return MaxPooling2D((3, 3), strides=(2, 2))(x)


def _valid(x: Any, filters: int, size: int) -> Any:
    return relu(norm(conv(x, filters, (size, size), padding="valid"), scale=False))


def _small(x: Any, pooled: int, name: str) -> Any:
    """35 x 35."""
    one = _branch(x, (64, 1, 1))
    five = _branch(x, (48, 1, 1), (64, 5, 5))
    three = _branch(x, (64, 1, 1), (96, 3, 3), (96, 3, 3))
    return joined([one, five, three, _averaged(x, pooled)], name)


def _middle(x: Any, width: int, name: str) -> Any:
    """17 x 17."""
    one = _branch(x, (192, 1, 1))
    seven = _branch(x, (width, 1, 1), (width, 1, 7), (192, 7, 1))
    twice = ((width, 1, 1), (width, 7, 1), (width, 1, 7), (width, 7, 1), (192, 1, 7))
    return joined([one, seven, _branch(x, *twice), _averaged(x, 192)], name)


def _large(x: Any, i: int) -> Any:
    """8 x 8; two branches fork once more."""
    one = _branch(x, (320, 1, 1))
    three = _branch(x, (384, 1, 1))
    three = joined([_conv(three, 384, 1, 3), _conv(three, 384, 3, 1)], f"mixed9_{i}")
    twice = _branch(x, (448, 1, 1), (384, 3, 3))
    twice = joined([_conv(twice, 384, 1, 3), _conv(twice, 384, 3, 1)])
    return joined([one, three, twice, _averaged(x, 192)], f"mixed{9 + i}")


@application
def InceptionV3(chosen: Application) -> Any:
    """A network for images of 299 x 299."""
    images = chosen.input(299, 75)
    x = _conv(images, 32, 3, 3, "/2")
    x = _largest(_conv(_valid(x, 32, 3), 64, 3, 3))
    x = _largest(_valid(_valid(x, 80, 1), 192, 3))
    for i, pooled in enumerate((32, 64, 64)):
        x = _small(x, pooled, f"mixed{i}")
    three = _branch(x, (384, 3, 3, "/2"))
    twice = _branch(x, (64, 1, 1), (96, 3, 3), (96, 3, 3, "/2"))
    x = joined([three, twice, _largest(x)], "mixed3")
    for i, width in enumerate((128, 160, 160, 192), 4):
        x = _middle(x, width, f"mixed{i}")
    three = _branch(x, (192, 1, 1), (320, 3, 3, "/2"))
    seven = _branch(x, (192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3, "/2"))
    x = joined([three, seven, _largest(x)], "mixed8")
    x = _large(_large(x, 0), 1)
    x = chosen.top(x, "predictions", "avg_pool" if chosen.include_top else None)
    return chosen.model(images, x, "inception_v3", kernels(FOLDER, "inception_v3", *HASHES))
