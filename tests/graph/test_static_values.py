"""What of a graph is told without a step: by `constant_value`, and by shapes.

What is wanted was recorded from TensorFlow 1.15.5. It matters for more than the values: functions
make other nodes when they know more, and seeds depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

VALUES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "cast": (lambda x, y: tf.cast(tf.constant(2), tf.float32), 2.0),
    "shape": (lambda x, y: tf.shape(y), [2, 3]),
    "shape not known": (lambda x, y: tf.shape(x), None),
    "size": (lambda x, y: tf.size(y), 6),
    "rank": (lambda x, y: tf.rank(x), 2),
    "range": (lambda x, y: tf.range(3), [0, 1, 2]),
    "concat": (lambda x, y: tf.concat([tf.constant([1]), tf.constant([2])], 0), [1, 2]),
    "stack": (lambda x, y: tf.stack([tf.constant(1), tf.constant(2)]), [1, 2]),
    "stack not known": (lambda x, y: tf.stack([tf.constant(1), tf.shape(x)[0]]), None),
    "fill": (lambda x, y: tf.fill([2], tf.constant(3)), [3, 3]),
    "equal": (lambda x, y: tf.equal(tf.constant(1), tf.constant(1)), True),
    "not_equal": (lambda x, y: tf.not_equal(tf.constant(1), tf.constant(2)), True),
    "zeros_like": (lambda x, y: tf.zeros_like(y), [[0.0] * 3] * 2),
    "cast of shape": (lambda x, y: tf.cast(tf.shape(y), tf.float32), [2.0, 3.0]),
    "sub": (lambda x, y: 1.0 - tf.constant(1.0), None),
    "less": (lambda x, y: tf.constant(1) < tf.constant(2), None),
    "identity": (lambda x, y: tf.identity(tf.constant(4)), None),
    "reshape": (lambda x, y: tf.reshape(tf.constant([1, 2]), [2, 1]), None),
    "element": (lambda x, y: tf.shape(y)[0], None),
    "expand_dims": (lambda x, y: tf.expand_dims(tf.constant(1), 0), None),
    "reduce": (lambda x, y: tf.reduce_prod(tf.constant([2, 3])), None),
    "gather": (lambda x, y: tf.gather(tf.constant([1, 2]), 1), None),
    "shape of what is found": (lambda x, y: tf.shape(tf.where([True, False])), None),
    "size of what is found": (lambda x, y: tf.size(tf.where([True, False])), None),
    "rank of what is found": (lambda x, y: tf.rank(tf.where([True, False])), 2),
    "stop_gradient": (lambda x, y: tf.stop_gradient(tf.constant(1)), None),
}


@pytest.mark.parametrize("name", VALUES)
def test_constant_value(name: str) -> None:
    make, wanted = VALUES[name]
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [2, 3])
    found = tf.contrib.util.constant_value(make(x, y))
    assert (None if found is None else np.asarray(found).tolist()) == wanted


def found() -> Any:
    return tf.squeeze(tf.where([True, False, True]), 1)


SHAPES: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "zeros of an unknown size": (lambda u, y, z: tf.zeros([tf.shape(z)[1], 3]), "(?, 3)"),
    "tiled": (lambda u, y, z: tf.tile(y, [tf.shape(z)[1], 1]), "(?, 3)"),
    "tiled by a known size": (lambda u, y, z: tf.tile(y, [tf.shape(y)[0], 1]), "(4, 3)"),
    "a shape": (lambda u, y, z: tf.reshape(u, tf.shape(z)), "(?, 4, ?)"),
    "a part of one": (lambda u, y, z: tf.reshape(u, tf.shape(z)[:2]), "(?, 4)"),
    "one cast": (lambda u, y, z: tf.reshape(u, tf.cast(tf.shape(z), tf.int64)), "(?, ?, ?)"),
    "one handed on": (lambda u, y, z: tf.reshape(u, tf.identity(tf.shape(z))), "(?, ?, ?)"),
    "a known one doubled": (lambda u, y, z: tf.reshape(u, tf.shape(y) * 2), "(4, 6)"),
    "a size of one": (lambda u, y, z: tf.reshape(u, [tf.shape(z)[1], -1]), "(?, ?)"),
    "padded": (lambda u, y, z: tf.pad(z, [[0, 0], [tf.shape(z)[1], 1], [0, 0]]), "(?, ?, ?)"),
    "resized": (
        lambda u, y, z: tf.image.resize_images(tf.zeros([1, 4, 4, 3]), [tf.shape(z)[1], 2]),
        "(1, ?, 2, 3)",
    ),
    "a part of sizes": (
        lambda u, y, z: tf.zeros(tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)[0]),
        "(1, 3)",
    ),
    "stitched": (
        lambda u, y, z: tf.dynamic_stitch(
            tf.dynamic_partition(tf.range(4), [0, 1, 0, 1], 2), [u, u]
        ),
        "<unknown>",
    ),
    "rows stitched": (
        lambda u, y, z: tf.dynamic_stitch(
            tf.dynamic_partition(tf.range(4), [0, 1, 0, 1], 2),
            [tf.placeholder(tf.float32, [None, 3])] * 2,
        ),
        "(4, 3)",
    ),
    "read from text": (
        lambda u, y, z: tf.zeros(tf.string_to_number(["3", "4"], tf.int32)),
        "(3, 4)",
    ),
    "lengths of texts": (lambda u, y, z: tf.zeros(tf.strings.length(["abc", "de"])), "(3, 2)"),
    "read from bytes": (
        lambda u, y, z: tf.zeros(tf.decode_raw(b"\2\0\0\0", tf.int32)),
        "(2,)",
    ),
    "a slice of a sparse tensor": (
        lambda u, y, z: tf.sparse.to_dense(
            tf.sparse.slice(tf.SparseTensor([[0, 0]], [1], [4, 4]), [0, 0], [2, 2])
        ),
        "(2, 2)",
    ),
    "as many as are found": (lambda u, y, z: tf.zeros([tf.size(found())]), "(2,)"),
    "a size of what is found": (lambda u, y, z: tf.zeros([tf.shape(found())[0]]), "(2,)"),
    "twice what is found": (lambda u, y, z: tf.zeros(tf.shape(found()) * 2), "(4,)"),
    "what is found as it is": (lambda u, y, z: tf.zeros(tf.shape(found())), "(?,)"),
    "a part of it as it is": (lambda u, y, z: tf.zeros(tf.shape(found())[:1]), "(?,)"),
    "it and more": (lambda u, y, z: tf.zeros(tf.concat([tf.shape(found()), [2]], 0)), "(?, 2)"),
    "what Python computes": (
        lambda u, y, z: tf.zeros(tf.py_func(lambda: np.int32([2]), [], tf.int32, stateful=False)),
        "<unknown>",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    make, wanted = SHAPES[name]
    u = tf.placeholder(tf.float32)
    y = tf.placeholder(tf.float32, [2, 3])
    z = tf.placeholder(tf.float32, [None, 4, None])
    assert str(make(u, y, z).shape) == wanted
