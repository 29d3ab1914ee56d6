"""Datasets of what is in files."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.sources import from_tensor_slices
from weft.lib.data.transform import int64
from weft.ops.control.control import Assert
from weft.ops.strings.reduce import reduce_join

BUFFER_SIZE = 256 * 1024


def _filenames(filenames: Any) -> Dataset:
    """File names as a dataset of scalars, whatever they were given as."""
    if isinstance(filenames, Dataset):
        if filenames.output_types != dtypes.string:
            raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
        if not filenames.output_shapes.is_compatible_with([]):
            raise TypeError(
                "`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements."
            )
        return filenames
    tensor = convert_to_tensor(filenames, dtype=dtypes.string)
    if tensor.dtype != dtypes.string:
        raise TypeError("`filenames` must be a `tf.Tensor` of `tf.string`.")
    return from_tensor_slices(raw.Reshape(tensor, [-1], name="flat_filenames"))


def optional_tensor(value: Any, name: str, default: Any, dtype: Any = dtypes.int64) -> Tensor:
    if value is None:
        return constant(default, dtype=dtype, name=name)
    return convert_to_tensor(value, dtype=dtype, name=name)


class _FilesDataset(DatasetV1Adapter):
    """The elements of each file, one file after the other or several at a time."""

    def __init__(self, filenames: Any, num_parallel_reads: Any) -> None:
        self._filenames = _filenames(filenames)

        def read_one_file(filename: Tensor) -> Dataset:
            return DatasetV1Adapter(self._read(filename), TensorSpec([], dtypes.string))

        if num_parallel_reads is None:
            made = self._filenames.flat_map(read_one_file)
        else:
            from weft.lib.data.experimental_calls import parallel_interleave

            made = parallel_interleave(read_one_file, num_parallel_reads)(self._filenames)
        super().__init__(made._variant_tensor, made.element_spec, made._inputs())

    def _read(self, filename: Tensor) -> Tensor:
        raise NotImplementedError


class _DelimitedDataset(_FilesDataset):
    """The elements of files that say themselves where each of them ends."""

    _op: str

    def __init__(
        self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:  # fmt: skip
        self._compression, self._buffer = compression_type, buffer_size
        super().__init__(filenames, num_parallel_reads)

    def _read(self, filename: Tensor) -> Tensor:
        kind = optional_tensor(self._compression, "compression_type", "", dtypes.string)
        size = optional_tensor(self._buffer, "buffer_size", BUFFER_SIZE)
        made: Tensor = getattr(raw, self._op)(filename, kind, size)
        return made


class TFRecordDataset(_DelimitedDataset):
    """A dataset of the records of TFRecord files, one file after the other.

    Args:
        filenames: a path, a list of them, a tensor or a dataset of strings.
        compression_type: "", "ZLIB" or "GZIP"; None: "".
        buffer_size: how many bytes to read at once; None: what suits.
        num_parallel_reads: how many files to read at once; None: one.

    Raises:
        TypeError: the names are no strings.

    Example:
        >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        ...     writer.write(b"first")
        >>> record = tf.data.TFRecordDataset("data.tfrecord").make_one_shot_iterator().get_next()
        >>> session.run(record)
        b'first'
    """

    _op = "TFRecordDataset"


class TextLineDataset(_DelimitedDataset):
    r"""A dataset of the lines of text files, without their ends.

    Args:
        filenames: a path, a list of them, a tensor or a dataset of strings.
        compression_type: "", "ZLIB" or "GZIP"; None: "".
        buffer_size: how many bytes to read at once; None: what suits.
        num_parallel_reads: how many files to read at once; None: one.

    Raises:
        TypeError: the names are no strings.

    Example:
        >>> with tf.gfile.GFile("lines.txt", "w") as file:
        ...     file.write("first\nsecond\n")
        >>> line = tf.data.TextLineDataset("lines.txt").make_one_shot_iterator().get_next()
        >>> session.run(line)
        b'first'
    """

    _op = "TextLineDataset"


class FixedLengthRecordDataset(_FilesDataset):
    """Pieces of `record_bytes` bytes."""

    def __init__(
        self, filenames: Any, record_bytes: Any, header_bytes: Any = None,
        footer_bytes: Any = None, buffer_size: Any = None, compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:  # fmt: skip
        self._lengths = header_bytes, record_bytes, footer_bytes
        self._compression, self._buffer = compression_type, buffer_size
        super().__init__(filenames, num_parallel_reads)

    def _read(self, filename: Tensor) -> Tensor:
        header, record, footer = self._lengths
        record = int64(record, "record_bytes")
        made: Tensor = raw.FixedLengthRecordDatasetV2(
            filename,
            optional_tensor(header, "header_bytes", 0),
            record,
            optional_tensor(footer, "footer_bytes", 0),
            optional_tensor(self._buffer, "buffer_size", BUFFER_SIZE),
            optional_tensor(self._compression, "compression_type", "", dtypes.string),
        )
        return made


def list_files(file_pattern: Any, shuffle: Any, seed: Any) -> Dataset:
    """The names of files that match; in random order, unless `shuffle` is false."""
    with name_scope("list_files"):
        shuffle = True if shuffle is None else shuffle
        pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
        matching = raw.MatchingFiles(pattern)
        some = raw.Greater(raw.Shape(matching)[0], 0, name="match_not_empty")
        joined = reduce_join(pattern, separator=", ")
        message = raw.Add("No files matched pattern: ", joined, name="message")
        with control_dependencies([Assert(some, [message], summarize=1, name="assert_not_empty")]):
            matching = raw.Identity(matching)
        dataset = from_tensor_slices(matching)
        if shuffle:
            size = raw.Maximum(raw.Shape(matching, out_type=dtypes.int64)[0], 1)
            dataset = dataset.shuffle(size, seed=seed)
        return dataset
