"""Large matrices that are turned in memory, by a kernel of our own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.ops.kit import native
from weft.runtime.xla import compile
from weft.runtime.xla.turned import turn_matrices

pytestmark = pytest.mark.on_host


@pytest.fixture
def kernels() -> None:
    compile.load()
    if not native.has("turn"):
        pytest.skip("weft's kernels were not built")


def lowered(compute: Any, *shapes: tuple[int, ...], dtype: str = "float32") -> Any:
    jax = compile.load()
    return jax.jit(compute).lower(*(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes))


@pytest.mark.parametrize(
    ("compute", "shapes", "dtype", "count"),
    [
        (lambda x: x.T, [(400, 500)], "float32", 1),
        (lambda x: x.swapaxes(-1, -2), [(3, 4, 200, 100)], "float32", 1),
        (lambda x: (x.T, x * 2.0), [(400, 500)], "float32", 1),
        (lambda x: x.T, [(40, 50)], "float32", 0),
        (lambda x: x.T, [(4, 50_000)], "float32", 0),
        (lambda x: x.T, [(400, 500)], "float64", 0),
        (lambda x: x.swapaxes(0, 1), [(400, 50, 10)], "float32", 0),
        (lambda x, y: x.T @ y, [(400, 500), (400, 30)], "float32", 0),
        (lambda x: x.T + 1.0, [(400, 500)], "float32", 0),
    ],
)
def test_which_are_rewritten(kernels, compute, shapes, dtype, count):
    assert turn_matrices(lowered(compute, *shapes, dtype=dtype).compiler_ir()) == count


@pytest.mark.parametrize("shape", [(400, 500), (1003, 517), (2, 33, 3000), (5, 130, 257)])
def test_values(kernels, shape):
    x = np.random.RandomState(0).standard_normal(shape).astype(np.float32)
    fed, order = tf.placeholder(tf.float32, shape), [*range(len(shape) - 2), -1, -2]
    order = [axis % len(shape) for axis in order]
    with tf.Session() as sess:
        for _ in range(3):
            found = sess.run([tf.transpose(fed, order), fed * 2.0], {fed: x})
    np.testing.assert_array_equal(found[0], x.transpose(order))
    np.testing.assert_array_equal(found[1], x * 2)


def test_without_kernels(kernels):
    with flags.NATIVE.override(False):
        assert turn_matrices(lowered(lambda x: x.T, (400, 500)).compiler_ir()) == 0
