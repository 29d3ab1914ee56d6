"""CheckpointReader: the values in a checkpoint, without a graph."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft.core import compat
from weft.core.dtypes import DType
from weft.ops.files.slice_files import open_checkpoint
from weft.storage.bundle_reader import BundleReader
from weft.storage.tensor_slice import Shape, from_proto, shape_text, slice_key


class CheckpointReader:
    """The tensors of a checkpoint of either format, by name; partitioned ones come whole."""

    def __init__(self, filename: Any) -> None:
        self._reader = open_checkpoint(compat.as_str_any(os.fspath(filename)))
        self._tensors: dict[str, tuple[DType, Shape]] = {}
        parts: set[bytes] = set()
        keys = self._reader.keys()
        if isinstance(self._reader, BundleReader):
            for key in keys:
                slices = self._reader.entry(key).slices
                parts |= {slice_key(key, from_proto(message)) for message in slices}
        for key in keys:
            if key not in parts:
                name = key.decode("utf-8", "surrogateescape")
                self._tensors[name] = self._reader.dtype_and_shape(key)

    def has_tensor(self, tensor_str: str) -> bool:
        return compat.as_bytes(tensor_str) in self._reader

    def get_tensor(self, tensor_str: str) -> Any:
        """The value: an array, or a scalar (strings are bytes)."""
        value = self._read(compat.as_bytes(tensor_str))
        return value[()] if value.ndim == 0 else value

    def _read(self, key: bytes) -> np.ndarray:
        try:
            return self._reader.read(key)
        finally:
            if isinstance(self._reader, BundleReader):
                self._reader.close()  # until the next read

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        return {name: list(shape) for name, (_, shape) in self._tensors.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        return {name: dtype for name, (dtype, _) in self._tensors.items()}

    def debug_string(self) -> bytes:
        """A line for each tensor: name, type and shape."""
        lines = [
            f"{name} (DT_{_enum_name(dtype)}) {shape_text(shape)}\n"
            for name, (dtype, shape) in sorted(self._tensors.items())
        ]
        return "".join(lines).encode()

    def byte_count(self, name: str) -> int:
        """How many bytes the values of a tensor take; for strings, those that are stored."""
        dtype, shape = self._tensors[name]
        if dtype.np_storage != np.dtype(object):
            return int(np.prod(shape, dtype=np.int64)) * dtype.np_storage.itemsize
        value = self._read(name.encode("utf-8", "surrogateescape"))
        return sum(map(len, value.ravel()))


_ENUM_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def _enum_name(dtype: DType) -> str:
    return _ENUM_NAMES.get(dtype.name, dtype.name.upper())


def NewCheckpointReader(filepattern: Any) -> CheckpointReader:
    """A reader of the checkpoint at a prefix (V2), or in the files of that name (V1).

    Args:
        filepattern: the prefix that `Saver.save` returned.

    Returns:
        A `CheckpointReader`.

    Raises:
        tf.errors.NotFoundError: there is no such checkpoint.
        tf.errors.DataLossError: it is damaged.

    Example:
        >>> v = tf.Variable([1.0, 2.0], name="v")
        >>> session.run(v.initializer)
        >>> reader = tf.train.NewCheckpointReader(tf.train.Saver().save(session, "./model"))
        >>> reader.get_variable_to_shape_map(), reader.get_tensor("v")
        ({'v': [2]}, array([1., 2.], dtype=float32))
    """
    return CheckpointReader(filepattern)
