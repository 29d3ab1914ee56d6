"""Products of matrices by the kernel in C++ are XLA's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.native import computed, needs_native, program_of
from weft.core import flags, machine

# Of two factors, batch, rows, sums and columns.
SIZES = [
    ((), 32, 1024, 300),
    ((), 9, 500, 333),
    ((), 64, 257, 1000),
    ((), 50, 1000, 32),
    ((), 70, 90, 64),
    ((), 150, 784, 100),
    ((), 700, 512, 333),
    ((3,), 64, 64, 64),
    ((2, 5), 100, 70, 130),
    ((7,), 255, 200, 65),
]


def _product(a: np.ndarray, b: np.ndarray, turned: Any) -> np.ndarray:
    transposed = {"transpose_a": turned[0], "transpose_b": turned[1]}
    return computed(lambda x, y: tf.matmul(x, y, **transposed), a, b)


@needs_native
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_products_are_xlas(sizes: Any, turned: Any) -> None:
    batch, rows, sums, columns = sizes
    random = np.random.RandomState(2)
    a = random.standard_normal((*batch, rows, sums)).astype(np.float32)
    b = random.standard_normal((*batch, sums, columns)).astype(np.float32)
    given = [
        np.ascontiguousarray(np.swapaxes(x, -1, -2)) if turn else x
        for x, turn in zip((a, b), turned, strict=True)
    ]
    found = _product(*given, turned)
    with flags.NATIVE.override(False):
        np.testing.assert_allclose(found, _product(*given, turned), rtol=0, atol=2e-4)
    np.testing.assert_allclose(found, a.astype(float) @ b.astype(float), rtol=0, atol=2e-4)


@needs_native
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_they_are_part_of_the_program(sizes: Any) -> None:
    batch, rows, sums, columns = sizes
    if machine.IS_ARM and not batch and rows > 64:
        pytest.skip("XLA multiplies so many rows on ARM")

    def layer(x: Any) -> Any:
        return tf.matmul(x, tf.ones([*batch, sums, columns], x.dtype))

    x = np.ones([*batch, rows, sums], np.float32)
    assert "@weft_multiply" in program_of(layer, x)
    assert "@weft_multiply" not in program_of(layer, x.astype(np.float64))


@needs_native
@pytest.mark.parametrize(
    "sizes", [((), 1, 512, 512), ((), 2000, 512, 10), ((9,), 8, 8, 8)], ids=str
)
def test_others_are_left_to_xla(sizes: Any) -> None:
    batch, rows, sums, columns = sizes

    def layer(x: Any) -> Any:
        return tf.matmul(x, tf.ones([*batch, sums, columns]))

    assert "@weft_" not in program_of(layer, np.ones([*batch, rows, sums], np.float32))


@needs_native
def test_factors_that_are_broadcast_are_left_to_xla() -> None:
    def layer(x: Any) -> Any:
        return tf.matmul(x, tf.ones([1, 64, 64]))

    assert "@weft_" not in program_of(layer, np.ones([4, 64, 64], np.float32))


@needs_native
def test_gradients_are_those_of_the_product() -> None:
    random = np.random.RandomState(3)
    a, b = (random.standard_normal([4, 70, 70]).astype(np.float32) for _ in range(2))
    with tf.Session() as sess:
        x, y = tf.placeholder(tf.float32, a.shape), tf.placeholder(tf.float32, b.shape)
        call = sess.make_callable(tf.gradients(tf.square(tf.matmul(x, y)), [x, y]), [x, y])
        call(a, b)
        found = call(a, b)
    g = 2.0 * (a.astype(float) @ b)
    for one, wanted in zip(found, [g @ b.swapaxes(1, 2), a.swapaxes(1, 2) @ g], strict=True):
        np.testing.assert_allclose(one, wanted, rtol=0, atol=5e-3)
