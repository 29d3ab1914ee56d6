"""Sums over rows as they are traced for a GPU: the same sums, in groups."""

import numpy as np
import pytest

from weft.ops.kit.row_sums import sum_along
from weft.ops.kit.target import tracing_for


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis", "groups"),
    [
        ((2048, 32), (0,), True),
        ((16, 128, 40), (1, 0), True),
        ((16, 128, 5, 8), (0, 1), True),
        ((2048, 24), (0,), False),
        ((2048, 24), (1,), False),
        ((2050, 40), (0,), False),
        ((128, 40), (0,), False),
        ((2048, 1 << 12), (0,), False),
        ((24, 2048), (0, 1), False),
        ((2, 2048, 24), (1,), False),
        ((0, 24), (0,), False),
        ((2048, 24), (), False),
    ],
)
def test_rows_are_added_up_in_groups_where_it_pays(shape, axis, groups, keepdims):
    import jax
    import jax.numpy as jnp

    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)

    def total(x):
        return sum_along(jnp, x, axis=axis, keepdims=keepdims)

    def traced(platform):
        with tracing_for(platform):
            return str(jax.make_jaxpr(lambda x: total(x))(x))

    assert ("optimization_barrier" in traced("gpu")) == groups
    assert "optimization_barrier" not in traced("cpu")
    with tracing_for("gpu"):
        found = jax.jit(lambda x: total(x))(x)
    expected = np.sum(x, axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape
