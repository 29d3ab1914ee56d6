"""The values of fetched ragged tensors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_INDEX_TYPES = np.int32, np.int64


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


class RaggedTensorValue:
    """A ragged tensor of NumPy arrays: values, and where rows begin and end in them."""

    def __init__(self, values: Any, row_splits: Any) -> None:
        nested = isinstance(values, RaggedTensorValue)
        if not (
            _is_array(row_splits) and row_splits.ndim == 1 and row_splits.dtype in _INDEX_TYPES
        ):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not (nested or _is_array(values)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if nested and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values: Any = values
        self._row_splits = row_splits

    @property
    def row_splits(self) -> Any:
        """Row i is `values[row_splits[i]:row_splits[i + 1]]`."""
        return self._row_splits

    @property
    def values(self) -> Any:
        """The rows one after the other."""
        return self._values

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the values."""
        return self._values.dtype

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        inner = isinstance(self._values, RaggedTensorValue)
        return self._values.flat_values if inner else self._values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all ragged dimensions, outermost first."""
        inner = isinstance(self._values, RaggedTensorValue)
        return (self._row_splits, *(self._values.nested_row_splits if inner else ()))

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes; None for a ragged dimension."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

    def to_list(self) -> list[Any]:
        """Nested Python lists."""
        inner = isinstance(self._values, RaggedTensorValue)
        values = self._values.to_list() if inner else self._values.tolist()
        ends = self._row_splits.tolist()
        return [values[start:end] for start, end in itertools.pairwise(ends)]


def ragged_value(flat_values: Any, nested_row_splits: Any) -> Any:
    """The value of innermost values and splits."""
    value = flat_values
    for splits in reversed(nested_row_splits):
        value = RaggedTensorValue(value, splits)
    return value
