"""The coordinates of whole arrays are made once, and known again."""

from __future__ import annotations

import numpy as np

import weft as tf
from weft.ops.array.coordinates import LARGE, all_coordinates, found_in, is_grid
from weft.ops.array.gather import gather_nd_
from weft.ops.sparse.shape_nodes import sparse_fill_empty_rows_


def test_what_has_no_gaps_is_known_again() -> None:
    whole = found_in(np.ones((2, 3), bool))
    assert is_grid(whole, (2, 3)) and not is_grid(whole, (3, 2))
    assert not is_grid(np.argwhere(np.ones((2, 3))), (2, 3))
    assert whole.tolist() == np.argwhere(np.ones((2, 3))).tolist()
    gaps = found_in(np.array([[True, False], [True, True]]))
    assert gaps.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert all_coordinates((LARGE, 1)).flags.writeable


def test_kernels_take_the_short_way() -> None:
    values = np.arange(3.0).reshape(3, 1)
    places = all_coordinates((3, 1))
    assert gather_nd_.kernel(np, values, places).tolist() == [0, 1, 2]
    filled = sparse_fill_empty_rows_.kernel(np, places, values[:, 0], np.array([3, 1]), 9.0)
    assert filled[0] is places and not filled[2].any()


def test_fetched_coordinates_are_the_callers() -> None:
    with tf.Session() as session:
        where = tf.where(tf.placeholder_with_default([True, True], [None]))
        for _ in range(3):
            session.run(where)[:] = 7
        assert session.run(where).tolist() == [[0], [1]]
