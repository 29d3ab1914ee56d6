"""MobileNet: depthwise convolutions, then pointwise ones; `alpha` scales the width."""

from __future__ import annotations

import warnings
from typing import Any

from weft.lib.keras import backend as K
from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import Application, WeightFile, conv, norm, relu6
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.layers.core import Activation, Reshape
from weft.lib.keras.layers.dropout import Dropout
from weft.lib.keras.layers.global_pooling import GlobalAveragePooling2D
from weft.lib.keras.layers.resizing import ZeroPadding2D
from weft.lib.keras.layers.separable import DepthwiseConv2D

FOLDER = "https://github.com/fchollet/deep-learning-models/releases/download/v0.6/"
SIZES = (128, 160, 192, 224)
ALPHAS = {0.25: "2_5", 0.50: "5_0", 0.75: "7_5", 1.0: "1_0"}
# (filters, step) of each block
BLOCKS = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *((512, 1),) * 5,
    *((1024, 2), (1024, 1)),
)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours from -1 to 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="tf")


def rows_and_columns(shape: Any) -> tuple[Any, Any]:
    return (shape[1], shape[2]) if K.image_data_format() == "channels_first" else tuple(shape[:2])


def usual_size(input_shape: Any, sizes: tuple[int, ...]) -> int:
    """The size of square images that there are weights for, else 224."""
    if input_shape is None:
        return 224
    rows, columns = rows_and_columns(input_shape)
    return rows if rows == columns and rows in sizes else 224


def size_of_weights(images: Any, sizes: tuple[int, ...], weights: Any) -> Any:
    """The size in a model's name; that of its weights, if there are some for ImageNet."""
    rows, columns = rows_and_columns(images.shape.as_list()[1:])
    if weights == "imagenet" and (rows != columns or rows not in sizes):
        warnings.warn(
            "`input_shape` is undefined or non-square, or `rows` is not in "
            f"{list(sizes)}. Weights for input shape (224, 224) will be loaded as the default.",
            stacklevel=3,
        )
        return 224
    return rows


def MobileNet(
    input_shape: Any = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    """A small network, for images of 224 x 224 or less."""
    chosen = Application(include_top, weights, input_tensor, input_shape, pooling, classes)
    images = chosen.input(usual_size(input_shape, SIZES), 32)
    if weights == "imagenet":
        _check(alpha, depth_multiplier)
    size = size_of_weights(images, SIZES, weights)
    x = ZeroPadding2D(((0, 1), (0, 1)), name="conv1_pad")(images)
    x = conv(x, int(32 * alpha), (3, 3), "conv1", strides=(2, 2), padding="valid")
    x = relu6(norm(x, "conv1_bn"), "conv1_relu")
    for i, (filters, stride) in enumerate(BLOCKS, 1):
        x = _block(x, int(filters * alpha), depth_multiplier, stride, i)
    if include_top:
        x = _top(x, int(1024 * alpha), dropout, classes)
    else:
        x = chosen.pooled(x)
    base = f"mobilenet_{ALPHAS.get(alpha)}_{size}_tf"
    file = WeightFile(FOLDER, (f"{base}.h5", f"{base}_no_top.h5"))
    return chosen.model(images, x, f"mobilenet_{alpha:0.2f}_{size}", file)


def _check(alpha: float, depth_multiplier: int) -> None:
    if depth_multiplier != 1:
        raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1")
    if alpha not in ALPHAS:
        raise ValueError(
            "If imagenet weights are being loaded, alpha can be one of`0.25`, `0.50`, `0.75` or "
            "`1.0` only."
        )


def _block(x: Any, filters: int, depth_multiplier: int, stride: int, i: int) -> Any:
    if stride != 1:
        x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{i}")(x)
    x = DepthwiseConv2D(
        (3, 3),
        padding="same" if stride == 1 else "valid",
        depth_multiplier=depth_multiplier,
        strides=(stride, stride),
        use_bias=False,
        name=f"conv_dw_{i}",
    )(x)
    x = relu6(norm(x, f"conv_dw_{i}_bn"), f"conv_dw_{i}_relu")
    x = conv(x, filters, (1, 1), f"conv_pw_{i}", padding="same")
    return relu6(norm(x, f"conv_pw_{i}_bn"), f"conv_pw_{i}_relu")


def _top(x: Any, width: int, dropout: float, classes: int) -> Any:
    first = K.image_data_format() == "channels_first"
    x = GlobalAveragePooling2D()(x)
    x = Reshape((width, 1, 1) if first else (1, 1, width), name="reshape_1")(x)
    x = Dropout(dropout, name="dropout")(x)
    x = conv(x, classes, (1, 1), "conv_preds", padding="same", use_bias=True)
    x = Reshape((classes,), name="reshape_2")(x)
    return Activation("softmax", name="act_softmax")(x)
