"""Inception, the second version: the one that brought batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.contrib.framework.arg_scope import arg_scope
from weft.lib.contrib.layers import arrays, convolutions
from weft.lib.contrib.slim.nets import inception_parts as parts
from weft.lib.contrib.slim.nets.inception_parts import Net
from weft.ops.state import variable_scope as vs

_STEM = """
MaxPool_2a_3x3/2
64@Conv2d_2b_1x1~0.1
192@Conv2d_2c_3x3
MaxPool_3a_3x3/2
"""

# End point -> depths: of the 1x1 branch, of the 3x3 branch, of the one with two 3x3, of the one
# after the pool. Where the images are halved there is no 1x1 branch, and the pool ends the last.
_MIXED = {
    "Mixed_3b": (64, 64, 64, 64, 96, 32),
    "Mixed_3c": (64, 64, 96, 64, 96, 64),
    "Mixed_4a": (128, 160, 64, 96),
    "Mixed_4b": (224, 64, 96, 96, 128, 128),
    "Mixed_4c": (192, 96, 128, 96, 128, 128),
    "Mixed_4d": (160, 128, 160, 128, 160, 96),
    "Mixed_4e": (96, 128, 192, 160, 192, 96),
    "Mixed_5a": (128, 192, 192, 256),
    "Mixed_5b": (352, 192, 320, 160, 224, 128),
    "Mixed_5c": (352, 192, 320, 192, 224, 128),
}


def _row(name: str, depths: tuple[int, ...]) -> str:
    halves = len(depths) == 4
    first, wide, second, double = depths if halves else depths[1:5]
    single = f"{first}@Conv2d_0a_1x1~0.09 {wide}@Conv2d_{'1a_3x3/2' if halves else '0b_3x3'}"
    twice = (
        f"{second}@Conv2d_0a_1x1~0.09 {double}@Conv2d_0b_3x3"
        f" {double}@Conv2d_{'1a_3x3/2' if halves else '0c_3x3'}"
    )
    if halves:
        return f"{name} = {single} | {twice} | MaxPool_1a_3x3/2"
    pool = "MaxPool_0a_3x3" if name == "Mixed_5c" else "AvgPool_0a_3x3"
    one, pooled = depths[0], depths[5]
    return f"{name} = {one}@Conv2d_0a_1x1 | {single} | {twice} | {pool} {pooled}@Conv2d_0b_1x1~0.1"


_TABLE = _STEM + "\n".join(_row(name, depths) for name, depths in _MIXED.items())


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> Net:
    """The net up to an end point, and all end points so far."""
    depth = parts.depths(min_depth, depth_multiplier)
    first = "Conv2d_1a_7x7"
    with (
        vs.variable_scope(scope, "InceptionV2", [inputs]),
        arg_scope([*parts.LAYERS, convolutions.separable_conv2d], stride=1, padding="SAME"),
    ):
        net = convolutions.separable_conv2d(
            inputs,
            depth(64),
            [7, 7],
            depth_multiplier=min(int(depth(64) / 3), 8),
            stride=2,
            weights_initializer=parts.truncated(1.0),
            scope=first,
        )
        end_points = {first: net}
        table = parts.Table(_TABLE, depth, {})
        found = final_endpoint == first or table.build(inputs, end_points, final_endpoint)
    return parts.finished(net, end_points, found, final_endpoint)


def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Any] = arrays.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> Net:
    """Logits of images of 224 by 224, and the end points."""
    parts.depths(min_depth, depth_multiplier)
    given = inputs, num_classes
    with parts.opened(scope, "InceptionV2", given, reuse, is_training) as opened:
        net, end_points = inception_v2_base(
            inputs, scope=opened, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        return parts.classified(
            net, end_points, [7, 7], num_classes, dropout_keep_prob, prediction_fn, spatial_squeeze
        )


inception_v2.default_image_size = 224  # type: ignore[attr-defined]


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    return parts.inception_arg_scope(weight_decay, True, batch_norm_var_collection)
