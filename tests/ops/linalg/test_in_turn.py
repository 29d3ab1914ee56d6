"""Batches of matrices in compiled programs of the CPU: LAPACK is given one matrix at a time."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from weft.ops.kit.target import tracing_for
from weft.ops.linalg.matrices import in_turn

BATCH = np.arange(24.0).reshape(2, 3, 2, 2)


def seen_shapes(batch: Any, platform: str) -> list[tuple[int, ...]]:
    """The shapes that a function is traced with."""
    shapes = []

    def double(matrix: Any) -> Any:
        shapes.append(matrix.shape)
        return matrix * 2

    with tracing_for(platform):
        found = jax.jit(lambda x: in_turn(jax.numpy, double, x))(batch)
    np.testing.assert_array_equal(found, batch * 2)
    return shapes


@pytest.mark.parametrize(
    ("batch", "platform", "shape"),
    [
        (BATCH, "cpu", (2, 2)),
        (BATCH, "gpu", BATCH.shape),
        (BATCH[0, 0], "cpu", (2, 2)),
        (BATCH[:1, :1], "cpu", (1, 1, 2, 2)),
    ],
)
def test_one_matrix_after_the_other(
    batch: np.ndarray, platform: str, shape: tuple[int, ...]
) -> None:
    assert set(seen_shapes(batch, platform)) == {shape}


def test_several_batches_and_results() -> None:
    with tracing_for("cpu"):
        found = jax.jit(lambda a, b: in_turn(jax.numpy, lambda x, y: (x @ y, x[0]), a, b))(
            BATCH, BATCH + 1
        )
    np.testing.assert_allclose(found[0], BATCH @ (BATCH + 1))
    np.testing.assert_array_equal(found[1], BATCH[..., 0, :])


def test_on_the_host_a_batch_stays_whole() -> None:
    assert in_turn(np, np.shape, BATCH) == BATCH.shape
