"""Places of extremes by the kernels in C++ are those that XLA finds."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft as tf
from tests.ops.native import needs_native, program_of
from weft.core import flags
from weft.graph.op_def import lookup


def _found(x: np.ndarray) -> list[np.ndarray]:
    """What programs compute, however little there is to do for them."""

    def places(x: Any) -> list[Any]:
        return [
            lookup(name).kernel(jnp, x, np.int32(-1), output_type=kind)
            for name in ("ArgMax", "ArgMin")
            for kind in (tf.int32, tf.int64)
        ]

    with jax.enable_x64(True):
        return [np.asarray(result) for result in jax.jit(places)(x)]


def _check(x: np.ndarray) -> None:
    with flags.NATIVE.override(False):
        wanted = _found(x)
    for found, expected in zip(_found(x), wanted, strict=True):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)


SHAPES = [(64, 64), (128, 33), (3, 5, 777), (2, 30_001), (1, 4096), (5000,), (1000, 256), (9, 513)]


@needs_native
@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_xlas(shape: tuple[int, ...]) -> None:
    _check(np.random.RandomState(1).standard_normal(shape).astype(np.float32))


@needs_native
@pytest.mark.parametrize("shape", SHAPES)
def test_of_equal_ones_it_is_the_first(shape: tuple[int, ...]) -> None:
    random = np.random.RandomState(1)
    _check(random.randint(0, 3, shape).astype(np.float32))
    _check(np.where(random.rand(*shape) < 0.01, 1, 0).astype(np.float32))
    _check(np.where(random.rand(*shape) < 0.5, -0.0, 0.0).astype(np.float32))


@needs_native
@pytest.mark.parametrize("shape", SHAPES)
def test_nan_is_no_extreme(shape: tuple[int, ...]) -> None:
    random = np.random.RandomState(1)
    x = random.choice(np.float32([np.nan, np.inf, -np.inf, 1, 2]), shape)
    _check(x)
    _check(np.where(np.isfinite(x), np.nan, x))
    for only in (np.nan, np.inf, -np.inf):
        _check(np.full(shape, only, np.float32))
        _check(np.where(random.rand(*shape) < 0.5, only, np.nan).astype(np.float32))


@needs_native
def test_random_rows_are_xlas() -> None:
    random = np.random.RandomState()
    seed = random.randint(1 << 30)
    random.seed(seed)
    for _ in range(10):
        columns = int(10 ** random.uniform(1.6, 4))
        x = random.standard_normal((int(4096 // columns + random.randint(1, 20)), columns))
        try:
            _check(np.round(x, random.randint(3)).astype(np.float32))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {x.shape}") from error


def _places(x: Any) -> list[Any]:
    x = x * 2 + 1  # for XLA to be called
    return [tf.argmax(x, 1), tf.argmin(x, -1)]


@needs_native
def test_they_are_part_of_the_program() -> None:
    program = program_of(_places, np.ones([64, 1000], np.float32))
    assert "@weft_place_of_largest" in program and "@weft_place_of_smallest" in program


@needs_native
@pytest.mark.parametrize("x", [np.ones([64, 1000]), np.ones([5000, 16], np.float32)])
def test_others_are_left_to_xla(x: np.ndarray) -> None:
    program = program_of(_places, x)
    assert program and "@weft_" not in program


@needs_native
def test_other_axes_are_left_to_xla() -> None:
    program = program_of(lambda x: tf.argmax(x * 2 + 1, 0), np.ones([64, 1000], np.float32))
    assert program and "@weft_" not in program
