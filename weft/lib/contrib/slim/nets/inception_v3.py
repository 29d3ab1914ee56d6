"""Inception, the third version: large windows taken apart into small and flat ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.contrib.framework.arg_scope import arg_scope
from weft.lib.contrib.layers import arrays
from weft.lib.contrib.slim.nets import inception_parts as parts
from weft.lib.contrib.slim.nets.inception_parts import LAYERS, Net
from weft.ops.state import variable_scope as vs

_STEM = """
32@Conv2d_1a_3x3/2
32@Conv2d_2a_3x3
"""
_PADDED = """
64@Conv2d_2b_3x3
"""
_STEM_2 = """
MaxPool_3a_3x3/2
80@Conv2d_3b_1x1
192@Conv2d_4a_3x3
MaxPool_5a_3x3/2
"""


def _windows_of_5(name: str, pooled: int, one: str = "0a", five: str = "Conv2d_0b") -> str:
    return (
        f"{name} = 64@Conv2d_0a_1x1 | 48@Conv2d_{one}_1x1 64@{five}_5x5"
        " | 64@Conv2d_0a_1x1 96@Conv2d_0b_3x3 96@Conv2d_0c_3x3"
        f" | AvgPool_0a_3x3 {pooled}@Conv2d_0b_1x1"
    )


def _windows_of_7(name: str, n: int) -> str:
    return (
        f"{name} = 192@Conv2d_0a_1x1"
        f" | {n}@Conv2d_0a_1x1 {n}@Conv2d_0b_1x7 192@Conv2d_0c_7x1"
        f" | {n}@Conv2d_0a_1x1 {n}@Conv2d_0b_7x1 {n}@Conv2d_0c_1x7 {n}@Conv2d_0d_7x1"
        " 192@Conv2d_0e_1x7 | AvgPool_0a_3x3 192@Conv2d_0b_1x1"
    )


def _forks(name: str, tall: str) -> str:
    return (
        f"{name} = 320@Conv2d_0a_1x1"
        f" | 384@Conv2d_0a_1x1 384@Conv2d_0b_1x3+384@Conv2d_{tall}_3x1"
        " | 448@Conv2d_0a_1x1 384@Conv2d_0b_3x3 384@Conv2d_0c_1x3+384@Conv2d_0d_3x1"
        " | AvgPool_0a_3x3 192@Conv2d_0b_1x1"
    )


# Odd scopes (`Conv_1_0c_5x5`, 3x3 windows called 1x1) are those of the published checkpoints.
_MIXED = "\n".join(
    [
        _windows_of_5("Mixed_5b", 32),
        _windows_of_5("Mixed_5c", 64, "0b", "Conv_1_0c"),
        _windows_of_5("Mixed_5d", 64),
        "Mixed_6a = 384@Conv2d_1a_1x1:3x3/2"
        " | 64@Conv2d_0a_1x1 96@Conv2d_0b_3x3 96@Conv2d_1a_1x1:3x3/2 | MaxPool_1a_3x3/2",
        _windows_of_7("Mixed_6b", 128),
        _windows_of_7("Mixed_6c", 160),
        _windows_of_7("Mixed_6d", 160),
        _windows_of_7("Mixed_6e", 192),
        "Mixed_7a = 192@Conv2d_0a_1x1 320@Conv2d_1a_3x3/2"
        " | 192@Conv2d_0a_1x1 192@Conv2d_0b_1x7 192@Conv2d_0c_7x1 192@Conv2d_1a_3x3/2"
        " | MaxPool_1a_3x3/2",
        _forks("Mixed_7b", "0b"),
        _forks("Mixed_7c", "0c"),
    ]
)

_TABLES = ((_STEM, "VALID"), (_PADDED, "SAME"), (_STEM_2, "VALID"), (_MIXED, "SAME"))


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> Net:
    """The net up to an end point, and all end points so far."""
    depth = parts.depths(min_depth, depth_multiplier)
    end_points: dict[str, Any] = {}
    found = False
    with vs.variable_scope(scope, "InceptionV3", [inputs]):
        for text, padding in _TABLES:
            if not found:
                with arg_scope(LAYERS, stride=1, padding=padding):
                    table = parts.Table(text, depth, {"padding": "VALID"})
                    found = table.build(inputs, end_points, final_endpoint)
    return parts.finished(inputs, end_points, found, final_endpoint)


def _auxiliary(net: Any, num_classes: int, depth: Callable[[int], int], squeeze: bool) -> Any:
    """A second classifier, in the middle of the net, which helps to train it."""
    layer, valid = parts.Table("", depth, {}).layer, {"padding": "VALID"}
    with arg_scope(LAYERS, stride=1, padding="SAME"), vs.variable_scope("AuxLogits"):
        net = layer(net, "AvgPool_1a_5x5/3", valid)
        net = layer(net, "128@Conv2d_1b_1x1", {})
        height, width = parts.fitting(net, [5, 5])
        net = layer(net, f"768@Conv2d_2a_{height}x{width}/1~0.01", valid)
        small = parts.truncated(0.001)
        return parts.scores(net, num_classes, "Conv2d_2b_1x1", squeeze, weights_initializer=small)


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Any] = arrays.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> Net:
    """Logits of images of 299 by 299, and the end points."""
    depth = parts.depths(min_depth, depth_multiplier)
    given = inputs, num_classes
    with parts.opened(scope, "InceptionV3", given, reuse, is_training) as opened:
        net, end_points = inception_v3_base(
            inputs, scope=opened, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        end_points["AuxLogits"] = _auxiliary(
            end_points["Mixed_6e"], num_classes, depth, spatial_squeeze
        )
        return parts.classified(
            net, end_points, [8, 8], num_classes, dropout_keep_prob, prediction_fn, spatial_squeeze
        )


inception_v3.default_image_size = 299  # type: ignore[attr-defined]


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = "update_ops",
    use_fused_batchnorm: bool = True,
) -> Any:
    return parts.inception_arg_scope(
        weight_decay,
        True,
        batch_norm_var_collection,
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
