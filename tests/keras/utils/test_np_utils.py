"""One-hot rows and vectors of length one."""

from __future__ import annotations

import numpy as np
import pytest

from weft.lib.keras.utils.np_utils import normalize, to_categorical


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((3,), (3, 5)), ((4, 3), (4, 3, 5)), ((5, 4, 3), (5, 4, 3, 5)), ((3, 1), (3, 5))],
)
def test_shapes_of_one_hot_rows(shape: tuple, expected: tuple) -> None:
    labels = np.random.RandomState(0).randint(0, 5, shape)
    rows = to_categorical(labels, 5)
    assert rows.shape == expected
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows.argmax(-1).reshape(shape), labels)
    assert (rows.sum(-1) == 1).all()


def test_the_largest_class_tells_how_many_there_are() -> None:
    rows = to_categorical([0, 2], dtype="int64")
    assert rows.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert rows.dtype == np.int64


def test_normalize() -> None:
    np.testing.assert_allclose(normalize(np.array([[3.0, 4.0], [0, 0]])), [[0.6, 0.8], [0, 0]])
    np.testing.assert_allclose(normalize(np.array([[1.0, 3.0]]), order=1), [[0.25, 0.75]])
    np.testing.assert_allclose(normalize(np.array([[3.0], [4.0]]), axis=0), [[0.6], [0.8]])
