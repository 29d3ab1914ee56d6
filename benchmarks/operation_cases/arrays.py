"""Operations on arrays: element-wise chains, reductions, sorting, moving, drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from operation_cases.case import Case, below, floats, of


def _gelu(tf: Any, x: Any) -> Any:
    return x * 0.5 * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * tf.pow(x, 3))))


def _chain(tf: Any, x: Any) -> Any:
    y = x
    for _ in range(5):
        y = tf.maximum(y * 0.5 + x, -1.0) - tf.tanh(y)
    return y


def _tanh_exp(tf: Any, z: Any) -> Any:
    return tf.reduce_sum(tf.tanh(z) * 2 + tf.exp(-z * z))


def _unique(tf: Any, x: Any) -> Any:
    return tuple(tf.unique(x))


def _scatter(tf: Any, indices: Any, updates: Any) -> Any:
    return tf.scatter_nd(indices, updates, [50_000, 64])


def _segments(tf: Any, data: Any, ids: Any) -> Any:
    return tf.unsorted_segment_sum(data, ids, 1000)


def _masked(tf: Any, x: Any) -> Any:
    return tf.boolean_mask(x, x[:, 0] > 0)


ARRAYS = [
    Case("sum of tanh and exp, 1000x1000", floats((1000, 1000)), _tanh_exp),
    Case("gelu, 4096x1024", floats((4096, 1024)), _gelu),
    Case("chain of 20 operations, 1M", floats((1_000_000,)), _chain),
    Case(
        "add and relu, 1M", floats((1_000_000,), (1_000_000,)), lambda tf, a, b: tf.nn.relu(a + b)
    ),
    Case("sigmoid, 1M", floats((1_000_000,)), lambda tf, x: tf.sigmoid(x)),
    Case("log of exp, 256x1000", floats((256, 1000)), lambda tf, x: tf.reduce_logsumexp(x, 1)),
    Case("sum of 4M", floats((4_000_000,)), lambda tf, x: tf.reduce_sum(x)),
    Case("mean over rows, 4096x1024", floats((4096, 1024)), lambda tf, x: tf.reduce_mean(x, 0)),
    Case("mean over columns, 4096x1024", floats((4096, 1024)), lambda tf, x: tf.reduce_mean(x, 1)),
    Case("max of the middle, 64x512x64", floats((64, 512, 64)), lambda tf, x: tf.reduce_max(x, 1)),
    Case("moments, 1000x1000", floats((1000, 1000)), lambda tf, x: tf.nn.moments(x, [0, 1])),
    Case("argmax, 64x30000", floats((64, 30_000)), lambda tf, x: tf.argmax(x, 1)),
    Case("cumulative sum, 1000x1000", floats((1000, 1000)), lambda tf, x: tf.cumsum(x, 1)),
    Case("top 10 of 64x30000", floats((64, 30_000)), lambda tf, x: tuple(tf.nn.top_k(x, 10))),
    Case("top 200 of 9000", floats((9000,)), lambda tf, x: tuple(tf.nn.top_k(x, 200))),
    Case("sort 1M", floats((1_000_000,)), lambda tf, x: tf.sort(x)),
    Case("sort 1000x1000", floats((1000, 1000)), lambda tf, x: tf.sort(x)),
    Case("argsort 100000", floats((100_000,)), lambda tf, x: tf.argsort(x)),
    Case("unique of 100000", of(below(5000, 100_000)), _unique),
    Case(
        "gather 20000 rows of 64",
        of((50_000, 64), below(50_000, 20_000)),
        lambda tf, x, i: tf.gather(x, i),
    ),
    Case(
        "gather_nd, 50000 numbers",
        of((1000, 1000), below(1000, 50_000, 2)),
        lambda tf, x, i: tf.gather_nd(x, i),
    ),
    Case("scatter_nd, 20000 rows of 64", of(below(50_000, 20_000, 1), (20_000, 64)), _scatter),
    Case("segment sum, 20000 rows of 64", of((20_000, 64), below(1000, 20_000)), _segments),
    Case("one-hot, 4096 of 1000", of(below(1000, 4096)), lambda tf, i: tf.one_hot(i, 1000)),
    Case("boolean mask, 10000x64", floats((10_000, 64)), _masked),
    Case(
        "transpose heads, 32x128x12x64",
        floats((32, 128, 12, 64)),
        lambda tf, x: tf.transpose(x, [0, 2, 1, 3]),
    ),
    Case("transpose 1000x1000", floats((1000, 1000)), lambda tf, x: tf.transpose(x)),
    Case(
        "concat of 8, 512x256",
        floats(*((512, 256),) * 8),
        lambda tf, *parts: tf.concat(parts, 1),
    ),
    Case(
        "where, 1M",
        floats((1_000_000,), (1_000_000,)),
        lambda tf, a, b: tf.where(a > b, a, b * 0.1),
    ),
    Case("random normal, 1M", of(), lambda tf: tf.random_normal([1_000_000], seed=1)),
    Case("dropout, 1024x1024", floats((1024, 1024)), lambda tf, x: tf.nn.dropout(x, 0.9, seed=1)),
    Case(
        "uint8 images to floats, 32x224x224x3",
        of(below(256, 32, 224, 224, 3, dtype=np.uint8)),
        lambda tf, x: (tf.cast(x, tf.float32) - 127.5) / 127.5,
    ),
]
