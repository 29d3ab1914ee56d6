"""Windows and strides of any size: what pools and their gradients give, and that they end."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import weft as tf

HUGE = 2**31 - 1


def spans(length: int, size: int, stride: int, padding: str) -> list[range]:
    """The positions of the image in each window along one axis."""
    if padding == "SAME":
        count = -(-length // stride)
        before = max((count - 1) * stride + size - length, 0) // 2
    else:
        count, before = (length - size) // stride + 1, 0
    starts = [i * stride - before for i in range(count)]
    return [range(max(0, start), min(length, start + size)) for start in starts]


def windows(x: np.ndarray, how: dict[str, Any]) -> Any:
    """(output row and column, positions of its window in row-major order)"""
    axes = [spans(x.shape[i], how["ksize"][i], how["strides"][i], how["padding"]) for i in (1, 2)]
    for place in itertools.product(*(range(len(axis)) for axis in axes)):
        yield place, list(itertools.product(axes[0][place[0]], axes[1][place[1]]))


def expected(x: np.ndarray, how: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest and the mean of each window, and how often each position is the largest."""
    found = list(windows(x, how))
    shape = (1, 1 + max(place[0] for place, _ in found), 1 + max(place[1] for place, _ in found), 1)
    largest, mean, counts = np.zeros(shape), np.zeros(shape), np.zeros(x.shape)
    for place, inside in found:
        values = [x[0, i, j, 0] for i, j in inside]
        largest[0, *place, 0], mean[0, *place, 0] = max(values), np.mean(values)
        counts[0, *inside[int(np.argmax(values))], 0] += 1
    return largest, mean, counts


def cases() -> list[Any]:
    random = np.random.default_rng(7)
    found = []
    for number in range(24):
        height, width = (int(n) for n in random.integers(1, 7, 2))
        padding = "SAME" if number % 2 else "VALID"
        most = (12, 12) if padding == "SAME" else (height, width)
        sizes = [int(random.integers(1, n + 1)) for n in most]
        strides = [int(random.choice([1, 2, 3, 9, 2**21, HUGE])) for _ in range(2)]
        if padding == "SAME" and number % 3 == 0:
            sizes[0] = HUGE
        found.append(pytest.param((height, width), sizes, strides, padding, id=str(number)))
    return found


@pytest.mark.parametrize(("dims", "sizes", "strides", "padding"), cases())
def test_pools_of_any_window(dims: Any, sizes: Any, strides: Any, padding: str) -> None:
    x = np.random.default_rng(3).permutation(dims[0] * dims[1]).reshape(1, *dims, 1).astype("f")
    how = dict(ksize=[1, *sizes, 1], strides=[1, *strides, 1], padding=padding)
    largest, mean, counts = expected(x, how)
    image = tf.constant(x)
    pooled = tf.nn.max_pool(image, **how)
    ones = np.ones(largest.shape, np.float32)
    gradient = tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=pooled, grad=ones, **how)
    second = tf.raw_ops.MaxPoolGradGrad(orig_input=x, orig_output=pooled, grad=x, **how)
    average = tf.nn.avg_pool(image, **how)
    shares = tf.gradients(tf.reduce_sum(average), image)[0]
    with tf.Session() as session:
        found = session.run([pooled, gradient, second, average, shares])
    for value, wanted in zip(found, [largest, counts, largest, mean], strict=False):
        np.testing.assert_allclose(value, wanted, rtol=1e-5)
    assert found[4].sum() == pytest.approx(mean.size, rel=1e-5)


def test_a_step_so_long_that_there_is_one_window() -> None:
    x, y, g = (tf.placeholder(tf.float64, [None] * 4) for _ in range(3))
    how = dict(ksize=[1, 4, 3, 1], strides=[1, 1, 2097152, 1], padding="VALID")
    first = tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=g, **how)
    image, one = np.ones([1, 4, 3, 2]), np.ones([1, 1, 1, 2])
    with tf.Session() as session:
        found = session.run(first, {x: image, y: one, g: one})
    assert found[0, :, :, 0].ravel().tolist() == [1] + [0] * 11
