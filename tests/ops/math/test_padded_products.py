"""Half-precision products of odd sizes are padded for tensor cores; the results are the same."""

import jax.numpy as jnp
import numpy as np
import pytest

from weft.ops.kit.target import tracing_for
from weft.ops.math import matmul


@pytest.mark.parametrize(
    "shapes",
    [((260, 300), (300, 1030)), ((1030, 300), (300, 260)), ((260, 1030), (1030, 300))],
    ids=["columns", "rows", "inner"],
)
def test_sizes_that_tensor_cores_do_not_take(monkeypatch, shapes):
    random = np.random.default_rng(1)
    a, b = (jnp.asarray(random.standard_normal(s), jnp.bfloat16) for s in shapes)
    padded = []
    monkeypatch.setattr(
        matmul, "_padded", lambda xp, x, pad=matmul._padded: padded.append(pad(xp, x)) or padded[-1]
    )
    with tracing_for("gpu"):
        found = matmul._product(jnp, a, b)
    assert all(size % 8 == 0 for x in padded for size in x.shape if size >= 1024) and padded
    assert found.shape == (shapes[0][0], shapes[1][1])
    wide = np.float32(a) @ np.float32(b)
    np.testing.assert_allclose(np.float32(found), wide, rtol=0.02, atol=0.3)


def test_others_are_left_alone(monkeypatch):
    monkeypatch.setattr(matmul, "_padded", None)
    for dtype, size in ((jnp.float32, 1030), (jnp.bfloat16, 1032)):
        x = jnp.ones([size, size], dtype)
        with tracing_for("gpu"):
            assert matmul._product(jnp, x, x).shape == (size, size)
    with tracing_for("cpu"):
        x = jnp.ones([1030, 1030], jnp.bfloat16)
        assert matmul._product(jnp, x, x).shape == (1030, 1030)
