"""The exponential function of programs for CPUs, and the sigmoid that is computed with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.graph.op_def import raw
from weft.ops.math.exponential import bounded_exp

RANGES = [(-87, 88), (-1, 1), (-1e-3, 1e-3)]


def compiled(function: Any, x: np.ndarray) -> np.ndarray:
    import jax

    return np.asarray(jax.jit(lambda x: function(jax.numpy, x))(x))


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_exponential_to_the_last_bit_but_one(low: float, high: float) -> None:
    x = np.linspace(low, high, 200_001).astype(np.float32)
    wanted = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(compiled(bounded_exp, x), wanted, rtol=1.2e-7)


def test_sigmoid_everywhere() -> None:
    sigmoid = raw.__getattr__("Sigmoid").kernel
    x = np.linspace(-85, 85, 100_001).astype(np.float32)
    wanted = 1 / (1 + np.exp(-x.astype(np.float64)))
    np.testing.assert_allclose(compiled(sigmoid, x), wanted, rtol=2e-7)
    ends = np.array([-np.inf, -3e38, -200, 200, 3e38, np.inf, np.nan, 0], np.float32)
    np.testing.assert_array_equal(compiled(sigmoid, ends), [0, 0, 0, 1, 1, 1, np.nan, 0.5])
