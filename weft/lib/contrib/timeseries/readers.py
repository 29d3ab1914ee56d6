"""Readers of time series: from arrays, and from files."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.lib.contrib.timeseries.keys import TIMES, VALUES
from weft.lib.data.dataset import Dataset
from weft.lib.data.make_iterator import make_one_shot_iterator
from weft.lib.data.readers import TextLineDataset, TFRecordDataset
from weft.lib.estimator.inputs import numpy_input_fn
from weft.ops.array import array
from weft.ops.parsing.csv import decode_csv
from weft.ops.parsing.features import parse_example

_ALL = 2**62


class TimeSeriesReader:
    """What input functions read from: a part of a series, or all of it."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """ValueError where a series is known to be too short."""

    def read(self) -> dict[str, Any]:
        """The next records, from the start again after the last one."""
        raise NotImplementedError

    def read_full(self) -> dict[str, Any]:
        """All records."""
        raise NotImplementedError


class NumpyReader(TimeSeriesReader):
    """A series out of arrays: a dictionary of `times`, `values`, and others as long."""

    def __init__(self, data: dict[str, Any], read_num_records_hint: int = 4096) -> None:
        self._features = _in_one_batch(data)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """ValueError where the series is shorter than a window."""
        size = self._features[TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size "
                f"{minimum_dataset_size}, but only {size} records were available in the dataset. "
                "Either decrease the window size or provide more records."
            )

    def _fed(self, features: Any, count: int, **options: Any) -> dict[str, Any]:
        return numpy_input_fn(features, None, count, None, False, **options)()

    def read(self) -> dict[str, Any]:
        """The next records of the arrays."""
        single = {name: value[0] for name, value in self._features.items()}
        return self._fed(single, self._read_num_records_hint)

    def read_full(self) -> dict[str, Any]:
        """The arrays."""
        whole = self._fed(self._features, 1, queue_capacity=2)
        return {name: array.squeeze(value, axis=0) for name, value in whole.items()}


def _many(what: str, most: str, why: str, shape: Any) -> ValueError:
    return ValueError(
        f"Got an unexpected number of dimensions for {what}. Was expecting at most {most}{why}, "
        f"but got shape {shape}"
    )


def _in_one_batch(data: dict[str, Any]) -> dict[str, Any]:
    """Arrays [1, times, ...] of a single series; values have an axis of features."""
    features = in_batches(data)
    if features[TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features


def in_batches(data: dict[str, Any]) -> dict[str, Any]:
    """Arrays [batch, times, ...] of series; values have an axis of features."""
    features = {name: np.array(value) for name, value in data.items()}
    if not {TIMES, VALUES} <= set(features):
        raise ValueError(f"{TIMES} and {VALUES} are required features.")
    shape = features[TIMES].shape
    for name, value in features.items():
        if value.shape[: len(shape)] != shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. "
                f"Got shape {value.shape} for feature '{name}', but shape {shape} for '{TIMES}'"
            )
    rank, values = len(shape), features[VALUES]
    if rank > 2:
        raise _many("times", "two ([batch size, series length])", "", f"{shape}.")
    if rank < 2:
        lacks = "a batch dimension" if rank else "a batch or time dimension"
        known = "[series length, number of features]" if rank else "[number of features]"
        most = f"{rank + 1} dimension{'s' if rank else ''} ({known})"
        if values.ndim > rank + 1:
            why = f" since '{TIMES}' does not have {lacks}"
            raise _many(f"the '{VALUES}' feature", most, why, values.shape)
        features[VALUES] = values if values.ndim > rank else values[..., None]
        lead = (None,) * (2 - rank)
        features = {name: value[(*lead, ...)] for name, value in features.items()}
    return features


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """A series out of files, one record for each time."""

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096) -> None:
        self._filenames, self._read_num_records_hint = filenames, read_num_records_hint

    def _records(self, filename: Any) -> Dataset:
        raise NotImplementedError

    def _process_records(self, records: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _next(self, of: Any) -> dict[str, Any]:
        names = array.reshape(convert_to_tensor(self._filenames), [-1])
        records = Dataset.from_tensor_slices(names).flat_map(self._records)
        return self._process_records(make_one_shot_iterator(of(records)).get_next())

    def read(self) -> dict[str, Any]:
        """The next records of the files, from the first again after the last."""
        return self._next(lambda all_: all_.repeat().batch(self._read_num_records_hint))

    def read_full(self) -> dict[str, Any]:
        """All records of the files."""
        return self._next(lambda all_: all_.batch(_ALL).repeat())


def _check_columns(names: Any) -> None:
    for name in (TIMES, VALUES):
        if name not in names:
            raise ValueError(f"'{name}' is a required column.")


class CSVReader(ReaderBaseTimeSeriesParser):
    """A series out of files of values separated by commas."""

    def __init__(
        self,
        filenames: Any,
        column_names: Any = (TIMES, VALUES),
        column_dtypes: Any = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ) -> None:
        _check_columns(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names "
                f"(got column_dtypes={column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(TIMES) != 1:
            raise ValueError(
                f"Got more than one times column ('{TIMES}'), but exactly one is required."
            )
        self._column_names, self._column_dtypes = column_names, column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames, read_num_records_hint)

    def _records(self, filename: Any) -> Dataset:
        return TextLineDataset(filename).skip(self._skip_header_lines or 0)

    def _process_records(self, records: Any) -> dict[str, Any]:
        if self._column_dtypes is None:
            kinds: Any = [dtypes.int64 if name == TIMES else None for name in self._column_names]
        else:
            kinds = self._column_dtypes
        defaults: Any = [
            array.zeros([0], dtypes.float32) if kind is None else array.zeros([1], kind)
            for kind in kinds
        ]
        named: dict[str, list[Any]] = {}
        for name, column in zip(self._column_names, decode_csv(records, defaults), strict=True):
            named.setdefault(name, []).append(column)
        times = named.pop(TIMES)[0]
        return {TIMES: times, **{name: array.stack(own, axis=1) for name, own in named.items()}}


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """A series out of files of `tf.train.Example`."""

    def __init__(self, filenames: Any, features: dict[str, Any]) -> None:
        _check_columns(features)
        self._features = features
        super().__init__(filenames)

    def _records(self, filename: Any) -> Dataset:
        return TFRecordDataset(filename)

    def _process_records(self, records: Any) -> dict[str, Any]:
        return parse_example(records, self._features)
