"""MobileNetV2: blocks that are narrow outside, wide inside, and add to their input."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import (
    Application,
    WeightFile,
    channels,
    conv,
    half_padding,
    norm,
    relu6,
)
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.applications.mobilenet import rows_and_columns, size_of_weights, usual_size
from weft.lib.keras.layers.merge import Add
from weft.lib.keras.layers.resizing import ZeroPadding2D
from weft.lib.keras.layers.separable import DepthwiseConv2D

FOLDER = "https://github.com/JonathanCMitchell/mobilenet_v2_keras/releases/download/v1.1/"
SIZES = (96, 128, 160, 192, 224)
ALPHAS = (0.35, 0.50, 0.75, 1.0, 1.3, 1.4)
# (filters, steps of the blocks with so many filters)
STAGES = (
    (16, (1,)),
    (24, (2, 1)),
    (32, (2, 1, 1)),
    (64, (2, 1, 1, 1)),
    (96, (1, 1, 1)),
    (160, (2, 1, 1)),
    (320, (1,)),
)
EXPANSION = 6


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours from -1 to 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="tf")


def _norm(x: Any, name: str) -> Any:
    return norm(x, name, epsilon=1e-3, momentum=0.999)


def _divisible(value: float) -> int:
    """The nearest multiple of 8 that is not less by more than a tenth."""
    rounded = max(8, int(value + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * value else rounded


def MobileNetV2(
    input_shape: Any = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    """A small network, for images of 224 x 224 or less."""
    chosen = Application(include_top, weights, input_tensor, input_shape, pooling, classes)
    _check(input_shape, input_tensor)
    given = input_shape
    if given is None and hasattr(input_tensor, "_keras_history"):
        given = input_tensor.shape.as_list()[1:]
    images = chosen.input(usual_size(given, SIZES), 32)
    if weights == "imagenet" and alpha not in ALPHAS:
        raise ValueError(
            "If imagenet weights are being loaded, alpha can be one of `0.35`, `0.50`, `0.75`, "
            "`1.0`, `1.3` or `1.4` only."
        )
    size = size_of_weights(images, SIZES, weights)
    x = ZeroPadding2D(half_padding(images, 3), name="Conv1_pad")(images)
    x = conv(x, _divisible(32 * alpha), 3, "Conv1", strides=(2, 2), padding="valid")
    x = relu6(_norm(x, "bn_Conv1"), "Conv1_relu")
    i = 0
    for filters, strides in STAGES:
        for stride in strides:
            x = _block(x, _divisible(int(filters * alpha)), stride, i)
            i += 1
    x = conv(x, _divisible(1280 * alpha) if alpha > 1.0 else 1280, 1, "Conv_1")
    x = chosen.top(relu6(_norm(x, "Conv_1_bn"), "out_relu"), "Logits")
    base = f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{size}"
    file = WeightFile(FOLDER, (f"{base}.h5", f"{base}_no_top.h5"))
    return chosen.model(images, x, f"mobilenetv2_{alpha:0.2f}_{size}", file)


def _check(input_shape: Any, input_tensor: Any) -> None:
    """A tensor's shape and the one that was asked for have to be the same."""
    if input_shape is None or not hasattr(input_tensor, "_keras_history"):
        return
    there = rows_and_columns(input_tensor.shape.as_list()[1:])
    if there[1] != rows_and_columns(input_shape)[1]:
        raise ValueError(
            f"input_shape: {input_shape} and input_tensor: {input_tensor} do not meet the same "
            "shape requirements"
        )


def _block(inputs: Any, filters: int, stride: int, i: int) -> Any:
    x, width = inputs, channels(inputs)
    prefix = f"block_{i}_" if i else "expanded_conv_"
    if i:
        x = conv(x, EXPANSION * width, 1, f"{prefix}expand", padding="same")
        x = relu6(_norm(x, f"{prefix}expand_BN"), f"{prefix}expand_relu")
    if stride == 2:
        x = ZeroPadding2D(half_padding(x, 3), name=f"{prefix}pad")(x)
    x = DepthwiseConv2D(
        3,
        strides=stride,
        use_bias=False,
        padding="same" if stride == 1 else "valid",
        name=f"{prefix}depthwise",
    )(x)
    x = relu6(_norm(x, f"{prefix}depthwise_BN"), f"{prefix}depthwise_relu")
    x = conv(x, filters, 1, f"{prefix}project", padding="same")
    x = _norm(x, f"{prefix}project_BN")
    if width == filters and stride == 1:
        return Add(name=f"{prefix}add")([inputs, x])
    return x
