"""Means and variances of channels by the kernel in C++ are those of float64."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from tests.ops.native import computed, needs_native, program_of
from weft.core import flags
from weft.ops.nn.batch_norm import _moments

SHAPES = [(8, 56, 56, 64), (3, 13, 17, 80), (1, 1, 2048, 16), (2, 4, 4, 1024), (1, 2, 3, 8192)]


@needs_native
@pytest.mark.parametrize("mean", [0.0, 1000.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_moments_are_those_of_doubles(shape: Any, mean: float) -> None:
    x = np.random.RandomState(5).standard_normal(shape).astype(np.float32) + np.float32(mean)
    found = jax.jit(lambda x: _moments(jax.numpy, x, (0, 1, 2)))(x)
    exact = x.astype(np.float64).reshape(-1, shape[-1])
    np.testing.assert_allclose(found[0], exact.mean(0), rtol=1e-6, atol=1e-6)
    # a mean is a float, too: what it is rounded by is part of every distance
    atol = 3e-4 if mean else 1e-6
    np.testing.assert_allclose(found[1], exact.var(0), rtol=1e-6, atol=atol)


@needs_native
def test_nans_and_infinities_stay_in_their_channels() -> None:
    x = np.ones([2, 40, 40, 32], np.float32)
    x[1, 3, 3, 5], x[0, 7, 0, 9] = np.nan, np.inf
    found = jax.jit(lambda x: _moments(jax.numpy, x, (0, 1, 2)))(x)
    mean, variance = map(np.asarray, found)
    assert np.isnan(mean[5]) and not np.isfinite(mean[9])
    assert np.isnan(variance[[5, 9]]).all()
    others = np.delete(np.arange(32), [5, 9])
    assert (mean[others] == 1).all() and (variance[others] == 0).all()


def _norm(x: Any) -> Any:
    channels = x.shape[-1].value
    return tf.nn.fused_batch_norm(x, tf.ones([channels]), tf.zeros([channels]))


@needs_native
def test_batch_norm_is_xlas() -> None:
    x = np.random.RandomState(6).standard_normal([4, 20, 30, 48]).astype(np.float32)

    def results() -> list[np.ndarray]:
        return computed(lambda given: list(_norm(given)), x)

    with flags.NATIVE.override(False):
        wanted = results()
    for found, expected in zip(results(), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@needs_native
def test_it_is_part_of_the_program() -> None:
    assert "@weft_moments" in program_of(_norm, np.ones([2, 40, 40, 32], np.float32))
    assert "@weft_" not in program_of(_norm, np.ones([2, 40, 40, 30], np.float32))
