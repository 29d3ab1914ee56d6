"""Rows of ragged arrays are copied alike, however many there are and with or without SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ops.ragged import copying as ragged_copy
from weft.ops.ragged.copying import gathered_rows

TYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.float16]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("splits_kind", [np.int32, np.int64])
def test_many_rows(kind: type, splits_kind: type) -> None:
    random = np.random.default_rng(0)
    lengths = random.integers(0, 9, 20_000)
    splits = np.concatenate([[0], lengths.cumsum()]).astype(splits_kind)
    values = random.integers(0, 100, splits[-1]).astype(kind)
    rows = random.integers(0, len(lengths), 25_000)
    found_splits = np.concatenate([[0], lengths[rows].cumsum()]).astype(splits_kind)
    found = gathered_rows(values, splits, rows, found_splits)
    assert found.dtype == kind and len(found) > ragged_copy._MANY
    wanted = np.concatenate([values[splits[row] : splits[row + 1]] for row in rows])
    np.testing.assert_array_equal(found, wanted)


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragged_copy, "_MANY", 0)
    splits, rows, found_splits = np.array([0, 2, 2, 5]), np.array([2, 0, 2]), np.array([0, 3, 5, 8])
    values = np.arange(5, dtype=np.float32)
    wanted = [2, 3, 4, 0, 1, 2, 3, 4]
    assert gathered_rows(values, splits, rows, found_splits).tolist() == wanted
    monkeypatch.setattr(ragged_copy, "_row_copier", lambda: None)
    assert gathered_rows(values, splits, rows, found_splits).tolist() == wanted
    matrix = np.stack([values, values + 10], axis=1)
    assert gathered_rows(matrix, splits, rows, found_splits)[:, 1].tolist() == [
        each + 10 for each in wanted
    ]
