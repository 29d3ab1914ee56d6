"""Depthwise convolutions by the kernels in C++ give what XLA's give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.native import (
    assert_xlas,
    computed,
    needs_native,
    numbers,
    program_of,
    with_gradients,
)
from weft.ops.nn import conv_lowering


@pytest.fixture(autouse=True)
def _native_however_small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(conv_lowering, "LEAST", 1)
    yield


@dataclass(frozen=True)
class _Layer:
    """A depthwise convolution, with `depth` filters of `window` taps for each channel."""

    image: tuple[int, ...]
    window: tuple[int, int]
    depth: int = 1
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: Any = "SAME"

    def results(self, seed: int) -> list[np.ndarray]:
        """The convolution of random images and both its gradients."""
        steps = {"strides": [1, *self.stride, 1], "dilations": [1, *self.dilation, 1]}
        filters = numbers((*self.window, self.image[-1], self.depth), seed + 1)

        def layer(x: Any, w: Any) -> Any:
            y = tf.raw_ops.DepthwiseConv2dNative(input=x, filter=w, padding=self.padding, **steps)
            return with_gradients(y, x, w)

        return computed(layer, numbers(self.image, seed), filters)


LAYERS = [
    _Layer((1, 56, 56, 128), (3, 3)),
    _Layer((8, 16, 16, 64), (3, 3), stride=(2, 2)),
    _Layer((2, 13, 29, 17), (3, 2), 2, stride=(2, 3)),
    _Layer((2, 30, 17, 20), (5, 3), dilation=(2, 3)),
    _Layer((3, 16, 31, 8), (3, 3), 5, stride=(2, 1), dilation=(1, 2)),
    _Layer((5, 9, 9, 20), (2, 2), 3, stride=(3, 3), padding="VALID"),
    _Layer((2, 12, 14, 48), (1, 1), 2),
    _Layer((2, 25, 25, 30), (1, 1), stride=(2, 2)),
    _Layer((1, 40, 3, 32), (3, 11)),
    _Layer((1, 7, 7, 200), (5, 5), padding="VALID"),
    _Layer((9, 1, 120, 16), (1, 5)),
    _Layer((2, 5, 6, 24), (2, 2), stride=(4, 5)),
    _Layer((2, 4, 4, 2), (3, 3), 16, dilation=(5, 1)),
]


@needs_native
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: "-".join(map(str, layer.image)))
def test_every_convolution_is_xlas(layer: _Layer) -> None:
    _check(layer)


def _check(layer: _Layer, seed: int = 1) -> None:
    assert_xlas(lambda: layer.results(seed))


@needs_native
def test_random_convolutions_are_xlas() -> None:
    random = np.random.RandomState()
    seed = random.randint(1 << 30)
    random.seed(seed)
    for _ in range(6):
        image = (random.randint(1, 4), *random.randint(12, 40, 2).tolist(), random.randint(16, 50))
        gaps = random.randint(1, 4, 2).tolist()
        plain = random.choice(["stride", "dilation"])
        layer = _Layer(
            image, tuple(random.randint(1, 5, 2).tolist()), random.randint(1, 4),
            padding=str(random.choice(["SAME", "VALID"])), **{plain: tuple(gaps)},
        )  # fmt: skip
        try:
            _check(layer, seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {layer}") from error


@needs_native
def test_they_are_part_of_the_program() -> None:
    def layer(x: Any) -> list[Any]:
        w = tf.ones([3, 3, x.shape[-1], 1], x.dtype)
        y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
        return [y, *tf.gradients(y, [x, w])]

    def program(channels: int, dtype: Any) -> str:
        return program_of(layer, np.ones([2, 16, 16, channels], dtype))

    for kernel in ("depthwise(", "depthwise_input(", "depthwise_filter("):
        assert f"@weft_{kernel}" in program(32, np.float32)
    assert "@weft_depthwise(" in program(32, np.float16), "computed with as 32-bit floats"
    assert "@weft_" not in program(32, np.float64)
    assert "@weft_" not in program(3, np.float32)


@needs_native
def test_infinities_and_nans_go_where_they_belong() -> None:
    x = np.ones([1, 20, 20, 24], np.float32)
    x[0, 10, 10, 3] = np.inf
    x[0, 2, 2, 0] = np.nan
    with tf.Session() as sess:
        given = tf.placeholder(tf.float32, x.shape)
        y = tf.nn.depthwise_conv2d(given, tf.ones([3, 3, 24, 1]), [1, 1, 1, 1], "SAME")
        call = sess.make_callable(y, [given])
        call(x)
        y = call(x)
    assert np.isinf(y[0, 9:12, 9:12, 3]).all() and np.isnan(y[0, 1:4, 1:4, 0]).all()
    assert np.isfinite(y).sum() == y.size - 2 * 9
