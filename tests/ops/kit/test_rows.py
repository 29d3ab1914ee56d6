"""Updates of rows in programs: those known to be named once, and those that may repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.ops.array.unique_sums import sum_repeated
from weft.ops.kit.row_updates import is_named_once, mark_named_once, update_rows
from weft.runtime.xla.compile import load


def halved_and_moved(rows: list[Any], by: Any) -> list[Any]:
    return [rows[0] / 2 + by]


@pytest.mark.parametrize(
    ("indices", "once"), [([4, 0, -1, -1], True), ([4, 0, -1, -1], False), ([2, 2, 1, 2], False)]
)
def test_a_program_updates_what_numpy_updates(indices: list[int], once: bool) -> None:
    jax = load()
    table = np.arange(10.0).reshape(5, 2)
    by = np.arange(8.0).reshape(4, 2)

    def program(table: Any, at: Any, by: Any) -> Any:
        at = mark_named_once(at) if once else at
        assert is_named_once(at) == once
        return update_rows(jax.numpy, [table], at, (by,), halved_and_moved)[0]

    at = np.array(indices)
    counted = at >= 0
    expected = update_rows(np, [table], at[counted], (by[counted],), halved_and_moved)[0]
    np.testing.assert_allclose(jax.jit(program)(table, at, by), expected)


@pytest.mark.parametrize("few", [0, 100])
def test_rows_named_again_are_given_their_sums(few: int, monkeypatch: Any) -> None:
    """A small array is updated as a whole, a large one row by row."""
    monkeypatch.setattr("weft.ops.kit.row_updates.FEW_ELEMENTS", few)
    jax = load()
    table = np.arange(10.0).reshape(5, 2)
    at, by = np.array([4, 0, 4, 2, 0]), np.arange(10.0).reshape(5, 2)

    def program(table: Any, at: Any, by: Any) -> Any:
        sums, rows = sum_repeated.kernel(jax.numpy, by, at)
        return update_rows(jax.numpy, [table], rows, (sums,), halved_and_moved)[0]

    sums, rows = sum_repeated.kernel(np, by, at)
    expected = update_rows(np, [table], rows, (sums,), halved_and_moved)[0]
    np.testing.assert_allclose(jax.jit(program)(table, at, by), expected)


def test_marks_go_with_what_they_mark() -> None:
    class Vector:
        pass

    first = mark_named_once(Vector())
    assert is_named_once(first) and not is_named_once(Vector())
