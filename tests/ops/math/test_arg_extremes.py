"""The place of an extreme in a long row is found by blocks, and is the first one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.core import dtypes, flags
from weft.graph.op_def import raw
from weft.ops.math import arg_extremes
from weft.ops.math.arg_extremes import _BLOCK, _LONG


def rows(count: int, dtype: Any = np.float32) -> np.ndarray:
    """Few values, so that every extreme occurs often."""
    return np.random.RandomState(count).randint(-9, 9, (3, 4, count)).astype(dtype)


def with_nan(count: int) -> np.ndarray:
    found = rows(count)
    found[found > 7] = np.nan
    found[0, 0] = np.nan
    found[1, 1, :-1] = np.nan
    return found


def at_the_end(count: int) -> np.ndarray:
    found = np.zeros((2, count), np.float32)
    found[0, -1], found[1, -_BLOCK // 2] = 1, -1
    return found


CASES = [
    rows(_LONG), rows(_LONG + 1), rows(1000, np.int32), rows(1000, np.float64),
    rows(700, np.uint8), with_nan(_LONG + 7), with_nan(_LONG), at_the_end(_LONG + 1),
    at_the_end(_LONG + 63), np.full((2, 600), -np.inf, np.float32), np.zeros([0, 600], np.float32),
]  # fmt: skip


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("values", CASES)
def test_the_first_place(name: str, values: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    used: list[Any] = []
    plain = arg_extremes._place_in_blocks
    monkeypatch.setattr(
        arg_extremes, "_place_in_blocks", lambda *given: used.append(given) or plain(*given)
    )
    definition = raw.__getattr__(name)
    axis = np.array(-1)

    def kernel(xp: Any, values: Any) -> Any:
        return definition.kernel(xp, values, axis, output_type=dtypes.int32)

    with flags.NATIVE.override(False):  # which does not look for blocks
        found = jax.jit(lambda values: kernel(jax.numpy, values))(values)
    expected = kernel(np, values)
    assert found.dtype == expected.dtype == np.int32
    np.testing.assert_array_equal(found, expected)
    assert bool(used) == (jax.default_backend() == "cpu")
