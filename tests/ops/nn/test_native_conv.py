"""Convolutions by the kernels in C++ give what XLA's give."""

from __future__ import annotations

import itertools
from dataclasses import astuple, dataclass
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


@dataclass(frozen=True)
class _Layer:
    """A convolution; its filters have `window` taps along each axis."""

    image: tuple[int, ...]
    window: tuple[int, int]
    outputs: int
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: Any = "SAME"

    def results(self, seed: int) -> list[np.ndarray]:
        """The convolution of random images and both its gradients."""
        steps = {"strides": [1, *self.stride, 1], "dilations": [1, *self.dilation, 1]}
        filters = numbers((*self.window, self.image[-1], self.outputs), seed + 1)

        def layer(x: Any, w: Any) -> Any:
            return with_gradients(tf.nn.conv2d(x, w, padding=self.padding, **steps), x, w)

        return computed(layer, numbers(self.image, seed), filters)


LAYERS = [
    _Layer((1, 56, 56, 64), (3, 3), 64),
    _Layer((4, 13, 29, 5), (3, 2), 33, stride=(2, 3)),
    _Layer((2, 30, 17, 16), (5, 3), 40, dilation=(2, 3)),
    _Layer((3, 16, 31, 24), (3, 3), 7, stride=(2, 1), dilation=(1, 2)),
    _Layer((5, 9, 9, 20), (2, 2), 20, stride=(3, 3), padding="VALID"),
    _Layer((2, 12, 14, 48), (1, 1), 100),
    _Layer((2, 25, 25, 30), (1, 1), 12, stride=(2, 2)),
    _Layer((1, 40, 3, 32), (7, 7), 32, padding=[[0, 0], [5, 1], [0, 9], [0, 0]]),
    _Layer((1, 7, 7, 200), (3, 3), 130),
    _Layer((9, 1, 120, 12), (1, 5), 16),
    _Layer((1, 64, 64, 3), (7, 7), 16, stride=(2, 2)),
    # those that are computed in tiles
    _Layer((2, 28, 28, 128), (3, 3), 96),
    _Layer((1, 57, 43, 25), (3, 3), 70, padding="VALID"),
    _Layer((7, 13, 6, 40), (3, 3), 24),
    _Layer((3, 19, 14, 33), (3, 3), 50, padding=[[0, 0], [3, 0], [1, 2], [0, 0]]),
    _Layer((16, 12, 12, 256), (3, 3), 256),
    _Layer((8, 14, 14, 32), (5, 5), 64),
    _Layer((2, 21, 9, 37), (5, 5), 41, padding="VALID"),
    _Layer((3, 5, 16, 128), (5, 5), 24, padding=[[0, 0], [4, 1], [0, 3], [0, 0]]),
]


@needs_native
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: "-".join(map(str, layer.image)))
def test_every_convolution_is_xlas(layer: _Layer) -> None:
    assert_xlas(lambda: layer.results(1))


@needs_native
def test_random_convolutions_are_xlas() -> None:
    random = np.random.RandomState()
    seed = random.randint(1 << 30)
    random.seed(seed)
    for _ in range(12):
        gaps = [(1, random.randint(1, 4)), (random.randint(1, 4), 1)]
        (a, b), (c, d) = (gaps[random.randint(2)] for _ in range(2))
        layer = _Layer(
            (random.randint(1, 4), *random.randint(12, 40, 2), random.randint(1, 40)),
            tuple(random.randint(1, 5, 2)), random.randint(3, 70), (a, c), (b, d),
            random.choice(["SAME", "VALID"]),
        )  # fmt: skip
        layer = _Layer(*itertools.starmap(_plain, enumerate(astuple(layer))))
        try:
            test_every_convolution_is_xlas(layer)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {layer}") from error


def _plain(_: int, value: Any) -> Any:
    """Python's own integers and strings."""
    if isinstance(value, tuple):
        return tuple(map(int, value))
    return str(value) if isinstance(value, str) else int(value)


@needs_native
def test_they_are_part_of_the_program() -> None:
    def layer(x: Any) -> list[Any]:
        w = tf.ones([3, 3, 8, 16])
        y = tf.nn.conv2d(x, w, 1, "SAME")
        return [y, *tf.gradients(y, [x, w])]

    program = program_of(layer, np.ones([2, 16, 16, 8], np.float32))
    for kernel in ("convolve", "convolve_input", "convolve_filter"):
        assert f"@weft_{kernel}" in program
    halves = program_of(layer_of_halves, np.ones([2, 16, 16, 8], np.float16))
    assert "@weft_convolve" in halves, "halves are computed with as 32-bit floats"
    doubles = program_of(layer_of_doubles, np.ones([2, 16, 16, 8], np.float64))
    assert "@weft_" not in doubles


def layer_of_halves(x: Any) -> Any:
    return tf.nn.conv2d(x, tf.ones([3, 3, 8, 16], tf.float16), 1, "SAME")


def layer_of_doubles(x: Any) -> Any:
    return tf.nn.conv2d(x, tf.ones([3, 3, 8, 16], tf.float64), 1, "SAME")


@needs_native
def test_one_result_channel_is_left_to_xla() -> None:
    def layer(x: Any) -> Any:
        return tf.nn.conv2d(x, tf.ones([3, 3, 8, 1]), 1, "SAME")

    assert "@weft_" not in program_of(layer, np.ones([2, 32, 32, 8], np.float32))


@needs_native
def test_infinities_and_nans_go_where_they_belong() -> None:
    x = np.ones([1, 20, 20, 8], np.float32)
    x[0, 10, 10, 3] = np.inf
    x[0, 2, 2, 0] = np.nan
    with tf.Session() as sess:
        given = tf.placeholder(tf.float32, x.shape)
        call = sess.make_callable(tf.nn.conv2d(given, tf.ones([3, 3, 8, 32]), 1, "SAME"), [given])
        call(x)
        y = call(x)
    assert np.isinf(y[0, 9:12, 9:12]).all() and np.isnan(y[0, 1:4, 1:4]).all()
    assert np.isfinite(y).sum() == y.size - 2 * 9 * 32
