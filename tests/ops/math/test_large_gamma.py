"""Incomplete gamma functions of large arguments end, in programs as on the host, and agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import weft as tf

LARGE = {np.float32: [2e7, 1e8, 1e10, 1e30], np.float64: [2e10, 1e12, 1e20, 1e30]}
# Distances from `a`, in units of its square root.
AWAY = [-1e3, -3.0, -0.5, 0.0, 0.5, 3.0, 1e3]


def _points(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    a, away = np.meshgrid(np.array(LARGE[dtype], dtype), np.array(AWAY, dtype))
    return a.ravel(), (a + away * np.sqrt(a)).astype(dtype).ravel()


def _run(made: object, feeds: dict) -> np.ndarray:
    with tf.Session() as session:
        for _ in range(3):
            found = session.run(made, feeds)
    return found


@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_values(dtype: type, name: str) -> None:
    a, x = _points(dtype)
    fed = tf.placeholder(dtype, [None])
    found = _run(tf.exp(tf.log(getattr(tf, name)(tf.exp(fed * 0.0) * a, x))), {fed: a * 0})
    wanted = (special.gammainc if name == "igamma" else special.gammaincc)(
        a.astype(np.float64), x.astype(np.float64)
    )
    np.testing.assert_allclose(found, wanted, atol=2e-3 if dtype is np.float32 else 2e-5)


@pytest.mark.parametrize("dtype", LARGE)
def test_slopes_are_those_of_the_normal_distribution(dtype: type) -> None:
    a, x = _points(dtype)
    found = _run(tf.raw_ops.IgammaGradA(a=a, x=x), {})
    wide = a.astype(np.float64), x.astype(np.float64)
    away = (wide[1] - wide[0]) / np.sqrt(wide[0])
    wanted = -np.exp(-(away**2) / 2) / np.sqrt(2 * np.pi * wide[0])
    np.testing.assert_allclose(found, wanted, rtol=5e-3, atol=1e-30)


@pytest.mark.parametrize("dtype", LARGE)
def test_samples_move_with_their_parameter(dtype: type) -> None:
    a, x = _points(dtype)
    found = _run(tf.raw_ops.RandomGammaGrad(alpha=a, sample=x), {})
    np.testing.assert_allclose(found, np.ones_like(a), atol=0.3)


@pytest.mark.parametrize("dtype", LARGE)
def test_ends_of_the_numbers(dtype: type) -> None:
    """As TensorFlow has them."""
    x = np.array([1e-30, 0.5, 1e30, np.nan], dtype)
    for a, wanted in ((np.inf, [0, 0, 0, np.nan]), (1e20, [0, 0, 1, np.nan])):
        many = np.full_like(x, a)
        assert np.array_equal(_run(tf.igamma(many, x), {}), wanted, equal_nan=True)
        slopes = _run(tf.raw_ops.IgammaGradA(a=many, x=x), {})
        assert np.array_equal(np.isnan(slopes), np.isnan(x))
        assert not np.any(slopes[:3])
