"""Inception, the first version (GoogLeNet), with batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.contrib.framework.arg_scope import arg_scope
from weft.lib.contrib.layers import arrays, convolutions, dense, pooling
from weft.lib.contrib.slim.nets import inception_parts as parts
from weft.lib.contrib.slim.nets.inception_parts import Net
from weft.ops.state import variable_scope as vs

_STEM = """
64@Conv2d_1a_7x7/2
MaxPool_2a_3x3/2
64@Conv2d_2b_1x1
192@Conv2d_2c_3x3
MaxPool_3a_3x3/2
"""

# End point -> depths: of the 1x1 branch, of the two 3x3 branches, of the one after the pool.
_MIXED = {
    "Mixed_3b": (64, 96, 128, 16, 32, 32),
    "Mixed_3c": (128, 128, 192, 32, 96, 64),
    "MaxPool_4a_3x3/2": (),
    "Mixed_4b": (192, 96, 208, 16, 48, 64),
    "Mixed_4c": (160, 112, 224, 24, 64, 64),
    "Mixed_4d": (128, 128, 256, 24, 64, 64),
    "Mixed_4e": (112, 144, 288, 32, 64, 64),
    "Mixed_4f": (256, 160, 320, 32, 128, 128),
    "MaxPool_5a_2x2/2": (),
    "Mixed_5b": (256, 160, 320, 32, 128, 128),
    "Mixed_5c": (384, 192, 384, 48, 128, 128),
}


def _row(name: str, depths: tuple[int, ...]) -> str:
    if not depths:
        return name
    one, first, wide, second, narrow, pooled = depths
    letter = "a" if name == "Mixed_5b" else "b"  # so it is in the published checkpoints
    return (
        f"{name} = {one}@Conv2d_0a_1x1 | {first}@Conv2d_0a_1x1 {wide}@Conv2d_0b_3x3"
        f" | {second}@Conv2d_0a_1x1 {narrow}@Conv2d_0{letter}_3x3"
        f" | MaxPool_0a_3x3 {pooled}@Conv2d_0b_1x1"
    )


_TABLE = _STEM + "\n".join(_row(name, depths) for name, depths in _MIXED.items())


def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> Net:
    """The net up to an end point, and all end points so far."""
    end_points: dict[str, Any] = {}
    weighted = [convolutions.conv2d, dense.fully_connected]
    layers = [convolutions.conv2d, pooling.max_pool2d]
    with (
        vs.variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope(weighted, weights_initializer=parts.truncated(0.01)),
        arg_scope(layers, stride=1, padding="SAME"),
    ):
        found = parts.Table(_TABLE, int, {}).build(inputs, end_points, final_endpoint)
    return parts.finished(inputs, end_points, found, final_endpoint)


def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., Any] = arrays.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> Net:
    """Logits of images of 224 by 224, and the end points."""
    given = inputs, num_classes
    with parts.opened(scope, "InceptionV1", given, reuse, is_training) as opened:
        net, end_points = inception_v1_base(inputs, scope=opened)
        with vs.variable_scope("Logits"):
            pooled = pooling.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            kept = arrays.dropout(pooled, dropout_keep_prob, scope="Dropout_0b")
            logits = parts.scores(kept, num_classes, "Conv2d_0c_1x1", spatial_squeeze)
            predictions = prediction_fn(logits, scope="Predictions")
    return logits, {**end_points, "Logits": logits, "Predictions": predictions}


inception_v1.default_image_size = 224  # type: ignore[attr-defined]


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Any:
    return parts.inception_arg_scope(weight_decay, use_batch_norm, batch_norm_var_collection)
