"""Padding and windows: what is refused, and saving."""

from __future__ import annotations

import numpy as np
import pytest

from weft.lib.keras.preprocessing.sequence import (
    TimeseriesGenerator,
    pad_sequences,
    timeseries_generator_from_json,
)


def test_padding_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="must be iterable"):
        pad_sequences(iter([[1]]))
    with pytest.raises(ValueError, match="Found non-iterable: 1"):
        pad_sequences([1])
    with pytest.raises(ValueError, match='Padding type "middle"'):
        pad_sequences([[1]], padding="middle")
    with pytest.raises(ValueError, match='Truncating type "middle"'):
        pad_sequences([[1]], truncating="middle")
    with pytest.raises(ValueError, match="is different from expected shape"):
        pad_sequences([[[1, 2]], [[3]]])
    with pytest.raises(ValueError, match="not compatible with `value`'s type"):
        pad_sequences([["a"]], value="x")


def test_strings_can_be_padded() -> None:
    padded = pad_sequences([["a"], ["b", "c"]], dtype=object, value="-")
    assert padded.tolist() == [["-", "a"], ["b", "c"]]


def test_a_series_survives_json() -> None:
    series = TimeseriesGenerator(np.arange(10), np.arange(10), length=3, batch_size=2)
    again = timeseries_generator_from_json(series.to_json())
    assert len(again) == len(series) == 4
    for ours, theirs in zip(series[1], again[1], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_series_needs_data() -> None:
    with pytest.raises(ValueError, match="same length"):
        TimeseriesGenerator([1, 2], [1], length=1)
    with pytest.raises(ValueError, match="is disallowed"):
        TimeseriesGenerator([1, 2], [1, 2], length=5)


def test_a_reversed_series() -> None:
    series = TimeseriesGenerator(np.arange(9), np.arange(9), length=3, reverse=True, shuffle=True)
    samples, targets = series[0]
    np.testing.assert_array_equal(samples[:, 0], targets - 1)
    assert samples.shape == (128, 3)
