"""NASNetLarge and NASNetMobile: two kinds of cells that a search found, stacked.

A cell takes the outputs of the two before it.
"""

from __future__ import annotations

from typing import Any

from weft.lib.keras import backend as K
from weft.lib.keras.applications import imagenet_utils
from weft.lib.keras.applications.common import (
    Application,
    WeightFile,
    channels,
    conv,
    half_padding,
    joined,
    norm,
    relu,
)
from weft.lib.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from weft.lib.keras.layers.merge import Add
from weft.lib.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from weft.lib.keras.layers.resizing import Cropping2D, ZeroPadding2D
from weft.lib.keras.layers.separable import SeparableConv2D

FOLDER = "https://github.com/titu1994/Keras-NASNet/releases/download/v1.2/"
MOBILE = WeightFile(
    FOLDER,
    ("NASNet-mobile.h5", "NASNet-mobile-no-top.h5"),
    ("020fb642bf7360b370c678b08e0adf61", "1ed92395b5b598bdda52abe5c0dbfd63"),
    ("nasnet_mobile.h5", "nasnet_mobile_no_top.h5"),
)
LARGE = WeightFile(
    FOLDER,
    ("NASNet-large.h5", "NASNet-large-no-top.h5"),
    ("11577c9a518f0070763c2b964a382f17", "d81d89dc07e6e56530c4e77faddd61b5"),
    ("nasnet_large.h5", "nasnet_large_no_top.h5"),
)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Colours from -1 to 1, of colours from 0 to 255."""
    return imagenet_utils.preprocess_input(x, data_format, mode="tf")


def NASNetLarge(
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    """The network for images of 331 x 331."""
    chosen = Application(include_top, weights, input_tensor, input_shape, pooling, classes)
    return _nasnet(chosen, 331, filters=168, blocks=6, stem=96, skip_reduction=True, file=LARGE)


def NASNetMobile(
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Any:
    """The small network, for images of 224 x 224."""
    chosen = Application(include_top, weights, input_tensor, input_shape, pooling, classes)
    return _nasnet(chosen, 224, filters=44, blocks=4, stem=32, skip_reduction=False, file=MOBILE)


def _nasnet(
    chosen: Application,
    size: int,
    filters: int,
    blocks: int,
    stem: int,
    skip_reduction: bool,
    file: WeightFile,
) -> Any:
    if K.image_data_format() != "channels_last":
        raise ValueError("NASNet is only there for images with their channels last.")
    images = chosen.input(size, 32, flat=True)
    x = conv(
        images,
        stem,
        (3, 3),
        "stem_conv1",
        strides=(2, 2),
        padding="valid",
        kernel_initializer="he_normal",
    )
    x, before = _norm(x, "stem_bn1"), None
    x, before = _reduction(x, before, filters // 4, "stem_1")
    x, before = _reduction(x, before, filters // 2, "stem_2")
    for stage in range(3):
        if stage:
            x, reduced = _reduction(x, before, filters * 2**stage, f"reduce_{stage * blocks}")
            before = before if skip_reduction else reduced
        for i in range(blocks):
            number = stage * blocks + i + (stage > 0)
            x, before = _normal(x, before, filters * 2**stage, str(number))
    x = chosen.top(relu(x), "predictions")
    return chosen.model(images, x, "NASNet", file)


# ---- the parts of cells ----


def _norm(x: Any, name: str) -> Any:
    return norm(x, name, momentum=0.9997, epsilon=1e-3)


def _conv(x: Any, filters: int, name: str) -> Any:
    return conv(x, filters, (1, 1), name, padding="same", kernel_initializer="he_normal")


def _separable(x: Any, filters: int, size: int, name: str, stride: int = 1) -> Any:
    """Two separable convolutions, the first of which may halve the image."""
    with K.name_scope(f"separable_conv_block_{name}"):
        for i in (1, 2):
            x = relu(x)
            half = i == 1 and stride == 2
            if half:
                pad = half_padding(x, size)
                x = ZeroPadding2D(pad, name=f"separable_conv_1_pad_{name}")(x)
            x = SeparableConv2D(
                filters,
                (size, size),
                strides=(2, 2) if half else (1, 1),
                name=f"separable_conv_{i}_{name}",
                padding="valid" if half else "same",
                use_bias=False,
                kernel_initializer="he_normal",
            )(x)
            x = _norm(x, f"separable_conv_{i}_bn_{name}")
    return x


def _add(x: Any, y: Any, name: str | None = None) -> Any:
    return Add(name=name)([x, y])


def _adjusted(before: Any, x: Any, filters: int, cell: str) -> Any:
    """The output of the cell before the last, in the size and width of the last."""
    if before is None:
        return x
    if before.shape.as_list()[2] != x.shape.as_list()[2]:
        return _halved(before, filters, cell)
    if channels(before) != filters:
        projected = _conv(relu(before), filters, f"adjust_conv_projection_{cell}")
        return _norm(projected, f"adjust_bn_{cell}")
    return before


def _halved(x: Any, filters: int, cell: str) -> Any:
    """Every other pixel, and those between them, side by side."""
    x = relu(x, f"adjust_relu_1_{cell}")
    moved = Cropping2D(((1, 0), (1, 0)))(ZeroPadding2D(((0, 1), (0, 1)))(x))
    halves = []
    for i, each in ((1, x), (2, moved)):
        name = f"adjust_avg_pool_{i}_{cell}"
        each = AveragePooling2D((1, 1), strides=(2, 2), padding="valid", name=name)(each)
        halves.append(_conv(each, filters // 2, f"adjust_conv_{i}_{cell}"))
    return _norm(joined(halves), f"adjust_bn_{cell}")


def _squeezed(x: Any, filters: int, kind: str, cell: str) -> Any:
    return _norm(_conv(relu(x), filters, f"{kind}_conv_1_{cell}"), f"{kind}_bn_1_{cell}")


def _normal(x: Any, before: Any, filters: int, cell: str) -> tuple[Any, Any]:
    """A cell that keeps the size; (its output, its input)."""
    with K.name_scope(f"normal_A_block_{cell}"):
        p = _adjusted(before, x, filters, cell)
        h = _squeezed(x, filters, "normal", cell)

        def separable(source: Any, size: int, name: str) -> Any:
            return _separable(source, filters, size, f"normal_{name}_{cell}")

        def average(source: Any, name: str) -> Any:
            pool = AveragePooling2D(
                (3, 3), strides=(1, 1), padding="same", name=f"normal_{name}_{cell}"
            )
            return pool(source)

        pairs = [
            (separable(h, 5, "left1"), separable(p, 3, "right1")),
            (separable(p, 5, "left2"), separable(p, 3, "right2")),
            (average(h, "left3"), p),
            (average(p, "left4"), average(p, "right4")),
            (separable(h, 3, "left5"), h),
        ]
        sums = [_add(*pair, f"normal_add_{i}_{cell}") for i, pair in enumerate(pairs, 1)]
        return joined([p, *sums], f"normal_concat_{cell}"), x


def _reduction(x: Any, before: Any, filters: int, cell: str) -> tuple[Any, Any]:
    """A cell that halves the size; (its output, its input)."""
    with K.name_scope(f"reduction_A_block_{cell}"):
        p = _adjusted(before, x, filters, cell)
        h = _squeezed(x, filters, "reduction", cell)
        padded = ZeroPadding2D(half_padding(h, 3), name=f"reduction_pad_1_{cell}")(h)

        def separable(source: Any, size: int, name: str, stride: int = 2) -> Any:
            return _separable(source, filters, size, f"reduction_{name}_{cell}", stride)

        def pooled(kind: Any, name: str) -> Any:
            name = f"reduction_{name}_{cell}"
            return kind((3, 3), strides=(2, 2), padding="valid", name=name)(padded)

        first = _add(separable(h, 5, "left1"), separable(p, 7, "right1"), f"reduction_add_1_{cell}")
        second = _add(
            pooled(MaxPooling2D, "left2"), separable(p, 7, "right2"), f"reduction_add_2_{cell}"
        )
        third = _add(
            pooled(AveragePooling2D, "left3"), separable(p, 5, "right3"), f"reduction_add3_{cell}"
        )
        average = AveragePooling2D(
            (3, 3), strides=(1, 1), padding="same", name=f"reduction_left4_{cell}"
        )
        fourth = _add(second, average(first))
        fifth = _add(
            separable(first, 3, "left4", 1),
            pooled(MaxPooling2D, "right5"),
            f"reduction_add4_{cell}",
        )
        return joined([second, third, fourth, fifth], f"reduction_concat_{cell}"), x
