"""tf.data.experimental: rows of comma-separated files and of databases."""

from __future__ import annotations

import collections
import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_n_to_tensor, convert_to_tensor
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.data.calls import map_
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.experimental_calls import ignore_errors as ignoring_errors
from weft.lib.data.experimental_calls import parallel_interleave, shuffle_and_repeat
from weft.lib.data.options import Options
from weft.lib.data.readers import optional_tensor
from weft.lib.data.sources import from_tensor_slices
from weft.lib.data.structure import flat_tensor_shapes, flat_tensor_types
from weft.storage import file_io

AUTOTUNE = -1
_BUFFER_SIZE = 4 * 1024 * 1024
_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


class CsvDataset(DatasetV1Adapter):
    """The records of comma-separated files, a tensor for each column."""

    def __init__(
        self, filenames: Any, record_defaults: Sequence[Any], compression_type: Any = None,
        buffer_size: Any = None, header: Any = False, field_delim: Any = ",",
        use_quote_delim: Any = True, na_value: Any = "", select_cols: Any = None,
    ) -> None:  # fmt: skip
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        compression = optional_tensor(compression_type, "compression_type", "", dtypes.string)
        defaults = [_as_default(each) for each in record_defaults]
        defaults = convert_n_to_tensor(defaults, name="record_defaults")
        spec = tuple(TensorSpec([], each.dtype) for each in defaults)
        variant = raw.CSVDataset(
            names,
            compression,
            optional_tensor(buffer_size, "buffer_size", _BUFFER_SIZE),
            convert_to_tensor(header, dtype=dtypes.bool, name="header"),
            optional_tensor(field_delim, "field_delim", ",", dtypes.string),
            optional_tensor(use_quote_delim, "use_quote_delim", True, dtypes.bool),
            optional_tensor(na_value, "na_value", "", dtypes.string),
            convert_to_tensor(select_cols or [], dtype=dtypes.int64, name="select_cols"),
            defaults,
            output_shapes=flat_tensor_shapes(spec),
        )
        super().__init__(variant, spec)


def _as_default(value: Any) -> Any:
    """A default; a type alone means that the column must be there."""
    if not isinstance(value, (Tensor, list, np.ndarray)) and value in _TYPES:
        return constant([], dtype=value)
    return value


class SqlDataset(DatasetV1Adapter):
    """The rows that a query of a database finds."""

    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        names = (
            ("driver_name", driver_name),
            ("data_source_name", data_source_name),
            ("query", query),
        )
        given = [convert_to_tensor(v, dtype=dtypes.string, name=n) for n, v in names]
        from weft.lib.data import nest

        spec = nest.map_structure(lambda dtype: TensorSpec([], dtype), output_types)
        variant = raw.SqlDataset(
            *given, output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec)
        )
        super().__init__(variant, spec)


# ---- whole pipelines -----------------------------------------------------------------------------


def make_csv_dataset(
    file_pattern: Any, batch_size: Any, column_names: Any = None, column_defaults: Any = None,
    label_name: str | None = None, select_columns: Any = None, field_delim: str = ",",
    use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: Any = None,
    shuffle: bool = True, shuffle_buffer_size: Any = 10000, shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None, num_parallel_reads: Any = None, sloppy: bool = False,
    num_rows_for_inference: int | None = 100, compression_type: Any = None,
    ignore_errors: bool = False,
) -> Dataset:  # fmt: skip
    """Batches of the records of files, as dicts; with `label_name`, pairs of a dict and labels."""
    filenames = file_names(file_pattern)
    files = from_tensor_slices(filenames)
    if shuffle:
        files = files.shuffle(len(filenames), shuffle_seed)
    look = _Look(filenames, field_delim, use_quote_delim, compression_type)
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = look.names()
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    if select_columns is not None:
        select_columns = _column_indices(list(select_columns), column_names)
    if column_defaults is None:
        column_defaults = look.defaults(
            len(column_names), na_value, header, num_rows_for_inference, select_columns
        )
    if select_columns is not None:
        if len(column_defaults) != len(select_columns):
            raise ValueError(
                "If specified, column_defaults and select_columns must have same length."
            )
        column_names = [column_names[i] for i in select_columns]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def filename_to_dataset(filename: Tensor) -> Dataset:
        found: Dataset = CsvDataset(
            filename, column_defaults, compression_type, None, header, field_delim,
            use_quote_delim, na_value, select_columns,
        )  # fmt: skip
        return found.apply(ignoring_errors()) if ignore_errors else found

    def map_fn(*columns: Tensor) -> Any:
        # There are as many columns as defaults; a row that has more is refused when it is read.
        features = collections.OrderedDict(zip(column_names, columns, strict=False))
        return features if label_name is None else (features, features.pop(label_name))

    dataset = interleaved(files, filename_to_dataset, num_parallel_reads or 1, sloppy)
    dataset = shuffled(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    dataset = map_(dataset, map_fn, None, use_inter_op_parallelism=False)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def file_names(file_pattern: Any) -> list[str]:
    """The names of the files that match, in order."""
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    found = [name for pattern in patterns for name in file_io.glob(pattern)]
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return sorted(found)


def interleaved(
    files: Dataset, read: Callable[..., Dataset], threads: Any, sloppy: bool
) -> Dataset:
    """The elements of several files, `threads` of them at a time."""
    if threads != AUTOTUNE:
        return files.apply(parallel_interleave(read, cycle_length=threads, sloppy=sloppy))
    options = Options()
    options.experimental_deterministic = not sloppy
    return files.interleave(read, num_parallel_calls=threads).with_options(options)


def shuffled(
    dataset: Dataset, num_epochs: Any, shuffle: bool, buffer_size: Any, seed: Any
) -> Dataset:
    """Shuffled and repeated, as far as that is asked for."""
    if not shuffle:
        return dataset if num_epochs == 1 else dataset.repeat(num_epochs)
    if num_epochs == 1:
        return dataset.shuffle(buffer_size, seed)
    return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))


# ---- what columns there are ----------------------------------------------------------------------


class _Look:
    """A look into the files while the graph is made."""

    def __init__(self, files: list[str], delimiter: str, quotes: bool, compression: Any) -> None:
        self.files, self.compression = files, compression
        self.options: dict[str, Any] = {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        }

    def _open(self, name: str) -> Any:
        kind = self.compression
        if isinstance(kind, Tensor):
            kind = constant_value(kind)
            if kind is None:
                raise ValueError("Received unkown compression_type")
            kind = kind.item().decode()
        if kind == "GZIP":
            return gzip.open(name, "rt")
        if kind == "ZLIB":
            raise ValueError(
                f"compression_type ({self.compression}) is not supported for probing columns"
            )
        if kind:
            raise ValueError(f"compression_type ({self.compression}) is not supported")
        return io.TextIOWrapper(file_io.open_binary(name), newline="")

    def names(self) -> list[str]:
        found = None
        for name in self.files:
            with self._open(name) as file:
                row = next(csv.reader(file, **self.options), None)
            if row is None:
                raise ValueError(
                    "Received StopIteration when reading the header line of"
                    f" {self.files[0]}.  Empty file?"
                )
            if found not in (None, row):
                raise ValueError("Files have different column names in the header row.")
            found = row
        assert found is not None
        return found

    def _rows(self, count: int, header: bool) -> Iterator[list[str]]:
        for name in self.files:
            with self._open(name) as file:
                rows = csv.reader(file, **self.options)
                if header:
                    next(rows)
                for row in rows:
                    if len(row) != count:
                        raise ValueError(
                            "Problem inferring types: CSV row has different number of fields than"
                            " expected."
                        )
                    yield row

    def defaults(
        self, count: int, missing: str, header: bool, most: int | None, columns: Any
    ) -> list[Tensor]:
        chosen = range(count) if columns is None else columns
        types: list[Any] = [None] * len(chosen)
        for i, row in enumerate(self._rows(count, header)):
            if most is not None and i >= most:
                break
            types = [_type(row[c], missing, known) for c, known in zip(chosen, types, strict=True)]
        found = [each or dtypes.string for each in types]
        return [constant(["" if t is dtypes.string else 0], dtype=t) for t in found]


def _type(text: str, missing: str, known: Any) -> Any:
    """The narrowest type that holds this value, and those before it."""
    if text in ("", missing):
        return known
    order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string]
    first = order.index(known) if known is not None else 0
    return next(dtype for dtype in order[first:] if _holds(dtype, text))


def _holds(dtype: Any, text: str) -> bool:
    if dtype is dtypes.string:
        return True
    try:
        if dtype.is_integer:
            limits = np.iinfo(dtype.as_numpy_dtype)
            return limits.min <= int(text) <= limits.max
        with np.errstate(over="ignore"):
            return bool(dtype.as_numpy_dtype(text) < np.inf)
    except ValueError:
        return False


def _column_indices(columns: list[Any], names: Sequence[str]) -> list[int]:
    found = []
    for each in columns:
        if isinstance(each, int):
            if not 0 <= each < len(names):
                raise ValueError(
                    f"Column index {each} specified in select_columns out of valid range."
                )
            found.append(each)
        elif each in names:
            found.append(list(names).index(each))
        else:
            raise ValueError(
                f"Value '{each}' specified in select_columns not a valid column index or name."
            )
    if len(set(found)) != len(columns):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(found)
