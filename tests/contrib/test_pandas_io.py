"""What tf.contrib.learn takes out of frames of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

learn = tf.contrib.learn


class DataFrame:
    """As much of a frame as is asked for."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = list(columns)
        self.dtypes = {name: np.array(each).dtype for name, each in columns.items()}
        self.values = np.array(list(columns.values())).T


DataFrame.__module__ = "pandas.core.frame"


def test_numbers_come_out_as_floats() -> None:
    data = learn.extract_pandas_data(DataFrame({"a": [1, 2], "b": [3, 4]}))
    assert data.dtype == np.float64 and data.tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match=r"must be int, float, or bool\. Found: 's' type='<U1'"):
        learn.extract_pandas_data(DataFrame({"a": [1, 2], "s": ["x", "y"]}))
    assert learn.io.extract_pandas_matrix(DataFrame({"a": [1]})).tolist() == [[1]]


def test_labels_are_one_column() -> None:
    with pytest.raises(ValueError, match="Only one column for labels is allowed"):
        learn.extract_pandas_labels(DataFrame({"a": [1], "b": [2]}))


def test_what_is_no_frame_stays_as_it_is() -> None:
    given = [1, 2]
    for extract in (learn.extract_pandas_data, learn.extract_dask_data, learn.extract_dask_labels):
        assert extract(given) is given
