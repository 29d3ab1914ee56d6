"""Many floats written at once are written as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ops.strings.fixed_point import fixed_point

RANDOM = np.random.RandomState(0)
TIES = np.arange(-3000, 3000) / 2.0**7
VALUES = [
    RANDOM.standard_normal(3000),
    RANDOM.standard_normal(3000) * 10.0 ** RANDOM.randint(-8, 8, 3000),
    TIES,
    np.arange(3000) * 2.0**-20,
    np.tile([0.0, -0.0, 1e-7, -1e-7, 0.9999995, 9.9999995, 999999.94, -10, 999999936, 5e-7], 10),
]


@pytest.mark.parametrize("values", VALUES)
def test_as_one_by_one(values: np.ndarray) -> None:
    values = values.astype(np.float32)
    found = fixed_point(values, "%f")
    assert found is not None
    assert found.tolist() == [b"%f" % value for value in values.tolist()]


@pytest.mark.parametrize("last", [np.nan, np.inf, -1e9, 3e38])
def test_others_are_left_alone(last: float) -> None:
    values = np.full(1000, 1.5, np.float32)
    assert fixed_point(values, "%.3f") is None
    values[-1] = last
    assert fixed_point(values, "%f") is None
