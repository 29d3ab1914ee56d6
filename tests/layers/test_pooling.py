"""Pooling layers of one to three dimensions."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def run(x):
    with tf.Session() as session:
        return session.run(x)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("kind", ["max", "average"])
def test_formats_agree(rank, padding, kind) -> None:
    pool = getattr(tf.layers, f"{kind}_pooling{rank}d")
    x = np.random.RandomState(rank).randn(2, *[5, 6, 4][:rank], 3).astype(np.float32)
    first = np.moveaxis(x, -1, 1)
    with tf.Graph().as_default():
        last = pool(tf.constant(x), 2, 2, padding=padding)
        other = pool(tf.constant(first), 2, 2, padding=padding, data_format="channels_first")
        layer = getattr(tf.layers, f"{kind.title()}Pooling{rank}D")(2, 2, padding=padding)
        assert layer.compute_output_shape(x.shape).as_list() == last.shape.as_list()
        got, moved = run(last), run(other)
    np.testing.assert_allclose(np.moveaxis(moved, 1, -1), got, rtol=1e-6)
    corner = x[0, *[slice(2)] * rank]
    reduce = np.max if kind == "max" else np.mean
    axes = tuple(range(rank))
    np.testing.assert_allclose(got[0, *[0] * rank], reduce(corner, axis=axes), rtol=1e-5)


def test_errors() -> None:
    x = tf.zeros([1, 4, 4, 1])
    with pytest.raises(ValueError, match="data_format"):
        tf.layers.max_pooling2d(x, 2, 2, data_format="bad")
    with pytest.raises(ValueError, match="Argument `strides` must not be None"):
        tf.layers.max_pooling2d(x, 2, None)
