"""InceptionResNetV2: the branches of Inception, added to what they come from."""

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
from weft.lib.keras.layers.lambda_layer import Lambda
from weft.lib.keras.layers.pooling import AveragePooling2D, MaxPooling2D

FOLDER = "https://github.com/fchollet/deep-learning-models/releases/download/v0.7/"
HASHES = ("e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4")

# Kind of a block -> its branches, each a list of (filters, size).
BRANCHES: dict[str, tuple[tuple[tuple[int, Any], ...], ...]] = {
    "block35": (((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3))),
    "block17": (((192, 1),), ((128, 1), (160, (1, 7)), (192, (7, 1)))),
    "block8": (((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1)))),
}


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours from -1 to 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="tf")


def _conv(x: Any, filters: int, size: Any, half: str = "", name: str | None = None) -> Any:
    strides, padding = (2, "valid") if half else (1, "same")
    x = conv(x, filters, size, name, strides=strides, padding=padding)
    x = norm(x, name and f"{name}_bn", scale=False)
    return relu(x, name and f"{name}_ac")


def _valid(x: Any, filters: int, size: int) -> Any:
    return relu(norm(conv(x, filters, size, padding="valid"), scale=False))


def _branch(x: Any, *steps: tuple[Any, ...]) -> Any:
    for step in steps:
        x = _conv(x, *step)
    return x


def scaled_sum(inputs: Any, scale: float) -> Any:
    """The first of two, and some of the second."""
    return inputs[0] + inputs[1] * scale


def _block(x: Any, kind: str, i: int, scale: float, active: bool = True) -> Any:
    name = f"{kind}_{i}"
    mixed = joined([_branch(x, *steps) for steps in BRANCHES[kind]], f"{name}_mixed")
    up = conv(mixed, channels(x), 1, f"{name}_conv", use_bias=True, padding="same")
    shape = tuple(x.shape.as_list()[1:])
    add = Lambda(scaled_sum, output_shape=shape, arguments={"scale": scale}, name=name)
    x = add([x, up])
    return relu(x, f"{name}_ac") if active else x


@application
def InceptionResNetV2(chosen: Application) -> Any:
    """A network for images of 299 x 299."""
    images = chosen.input(299, 75)
    x = _conv(images, 32, 3, "/2")
    x = MaxPooling2D(3, strides=2)(_conv(_valid(x, 32, 3), 64, 3))
    x = MaxPooling2D(3, strides=2)(_valid(_valid(x, 80, 1), 192, 3))
    x = _first(x)
    for i in range(1, 11):
        x = _block(x, "block35", i, 0.17)
    x = _reduced(x, "mixed_6a", ((384, 3, "/2"),), ((256, 1), (256, 3), (384, 3, "/2")))
    for i in range(1, 21):
        x = _block(x, "block17", i, 0.1)
    deep = ((256, 1), (288, 3), (320, 3, "/2"))
    x = _reduced(x, "mixed_7a", ((256, 1), (384, 3, "/2")), ((256, 1), (288, 3, "/2")), deep)
    for i in range(1, 10):
        x = _block(x, "block8", i, 0.2)
    x = _block(x, "block8", 10, 1.0, active=False)
    x = _conv(x, 1536, 1, name="conv_7b")
    x = chosen.top(x, "predictions", "avg_pool" if chosen.include_top else None)
    file = kernels(FOLDER, "inception_resnet_v2", *HASHES)
    return chosen.model(images, x, "inception_resnet_v2", file)


def _first(x: Any) -> Any:
    branches = [
        _branch(x, (96, 1)),
        _branch(x, (48, 1), (64, 5)),
        _branch(x, (64, 1), (96, 3), (96, 3)),
    ]
    pool = AveragePooling2D(3, strides=1, padding="same")(x)
    return joined([*branches, _conv(pool, 64, 1)], "mixed_5b")


def _reduced(x: Any, name: str, *branches: Any) -> Any:
    made = [_branch(x, *steps) for steps in branches]
    return joined([*made, MaxPooling2D(3, strides=2, padding="valid")(x)], name)
