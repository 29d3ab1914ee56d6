"""Residual networks: ResNet and ResNetV2, of 50, 101 and 152 layers.

A block adds to its input what three convolutions make of it; the second version normalizes before
a convolution, not after.
"""

from __future__ import annotations

from typing import Any

from weft.lib.keras.applications.common import Application, conv, kernels, norm, relu
from weft.lib.keras.layers.merge import Add
from weft.lib.keras.layers.pooling import MaxPooling2D
from weft.lib.keras.layers.resizing import ZeroPadding2D

FOLDER = "https://github.com/keras-team/keras-applications/releases/download/resnet/"
EPSILON = 1.001e-5
# name -> (blocks of each stack, the weights)
KINDS = {
    "resnet50": (
        (3, 4, 6, 3),
        ("2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
    ),
    "resnet101": (
        (3, 4, 23, 3),
        ("f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
    ),
    "resnet152": (
        (3, 8, 36, 3),
        ("100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
    ),
    "resnet50v2": (
        (3, 4, 6, 3),
        ("3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
    ),
    "resnet101v2": (
        (3, 4, 23, 3),
        ("6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
    ),
    "resnet152v2": (
        (3, 8, 36, 3),
        ("a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
    ),
}


def _norm(x: Any, name: str) -> Any:
    return norm(x, name, epsilon=EPSILON)


def resnet(name: str, chosen: Application) -> Any:
    """The model of a kind."""
    counts, hashes = KINDS[name]
    second = name.endswith("v2")
    images = chosen.input(224, 32)
    x = ZeroPadding2D(((3, 3), (3, 3)), name="conv1_pad")(images)
    x = conv(x, 64, 7, "conv1_conv", strides=2, use_bias=True)
    if not second:
        x = relu(_norm(x, "conv1_bn"), "conv1_relu")
    x = ZeroPadding2D(((1, 1), (1, 1)), name="pool1_pad")(x)
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    stack = _stack_2 if second else _stack_1
    for i, count in enumerate(counts):
        x = stack(x, 64 * 2**i, count, i, f"conv{i + 2}")
    if second:
        x = relu(_norm(x, "post_bn"), "post_relu")
    x = chosen.top(x, "probs", "avg_pool", "max_pool")
    return chosen.model(images, x, name, kernels(FOLDER, name, *hashes))


def _stack_1(x: Any, filters: int, count: int, number: int, name: str) -> Any:
    """The first block halves the image, but for the first stack."""
    x = _block_1(x, filters, 1 if number == 0 else 2, True, f"{name}_block1")
    for i in range(2, count + 1):
        x = _block_1(x, filters, 1, False, f"{name}_block{i}")
    return x


def _block_1(x: Any, filters: int, stride: int, projected: bool, name: str) -> Any:
    shortcut = x
    if projected:
        shortcut = conv(x, 4 * filters, 1, f"{name}_0_conv", strides=stride, use_bias=True)
        shortcut = _norm(shortcut, f"{name}_0_bn")
    x = conv(x, filters, 1, f"{name}_1_conv", strides=stride, use_bias=True)
    x = relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = conv(x, filters, 3, f"{name}_2_conv", padding="same", use_bias=True)
    x = relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = conv(x, 4 * filters, 1, f"{name}_3_conv", use_bias=True)
    x = Add(name=f"{name}_add")([shortcut, _norm(x, f"{name}_3_bn")])
    return relu(x, f"{name}_out")


def _stack_2(x: Any, filters: int, count: int, number: int, name: str) -> Any:
    """The last block halves the image, but for the last stack."""
    x = _block_2(x, filters, 1, True, f"{name}_block1")
    for i in range(2, count):
        x = _block_2(x, filters, 1, False, f"{name}_block{i}")
    return _block_2(x, filters, 1 if number == 3 else 2, False, f"{name}_block{count}")


def _block_2(x: Any, filters: int, stride: int, projected: bool, name: str) -> Any:
    active = relu(_norm(x, f"{name}_preact_bn"), f"{name}_preact_relu")
    if projected:
        shortcut = conv(active, 4 * filters, 1, f"{name}_0_conv", strides=stride, use_bias=True)
    else:
        shortcut = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = conv(active, filters, 1, f"{name}_1_conv")
    x = relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = ZeroPadding2D(((1, 1), (1, 1)), name=f"{name}_2_pad")(x)
    x = conv(x, filters, 3, f"{name}_2_conv", strides=stride)
    x = relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = conv(x, 4 * filters, 1, f"{name}_3_conv", use_bias=True)
    return Add(name=f"{name}_out")([shortcut, x])
