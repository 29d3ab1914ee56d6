"""V1 checkpoints: tables whose values are messages, each with one slice of a tensor.

The first record lists all tensors with their slices. A sharded checkpoint is several such files,
named by a pattern. `open_checkpoint` reads this format and the newer one (storage/bundle.py) alike.
"""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.core.shapes import sizes_in
from weft.graph.tensor_proto import _FIELDS, _from_field, _to_field
from weft.protos.checkpoint import SavedTensorSlices
from weft.storage.bundle import set_shape
from weft.storage.bundle_reader import BundleReader, bundle_exists
from weft.storage.filesystem import system_of
from weft.storage.table import Table, write_table
from weft.storage.tensor_slice import (
    Shape,
    TensorSlice,
    covers,
    from_proto,
    full_slice,
    overlap,
    slice_key,
    sliced_shape,
    to_proto,
)

_VERSION = 1
# What an element may take in a message where that is not its size: numbers of varying length.
_BYTES_BOUND = {
    "int8": 10, "int16": 10, "int32": 10, "int64": 10, "qint8": 10, "qint16": 10, "qint32": 10,
    "uint8": 2, "quint8": 2, "uint16": 3, "quint16": 3, "float16": 3, "string": 10,
}  # fmt: skip
_HEADER_BOUND = 1 << 10
_MAX_RECORD = 1 << 31

Item = tuple[bytes, Shape, TensorSlice, np.ndarray, DType]


def open_checkpoint(prefix: str) -> BundleReader | SliceFileReader:
    """The checkpoint at `prefix`: a bundle, or else V1 files that match it as a pattern."""
    return BundleReader(prefix) if bundle_exists(prefix) else SliceFileReader(prefix)


# ---- reading ------------------------------------------------------------------------------------


class SliceFileReader:
    """The tensors in the files that match a pattern; methods are those of `BundleReader`."""

    def __init__(self, pattern: str) -> None:
        self._files: list[BinaryIO] = []
        system, where = system_of(pattern)
        try:
            paths = system.matches(where)
        except errors.NotFoundError as error:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Unsuccessful TensorSliceReader constructor: Failed to get matching files on "
                f"{pattern}: Not found: {error.message}",
            ) from None
        if not paths:
            raise errors.NotFoundError(
                None,
                None,
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                f"{pattern}",
            )
        self.prefix = pattern
        self._tensors: dict[bytes, tuple[DType, Shape]] = {}
        self._slices: dict[bytes, dict[TensorSlice, Table]] = {}
        for path in paths:
            self._load(system, path)

    def _load(self, system: Any, path: str) -> None:
        file = system.open(path, "rb")
        self._files.append(file)
        try:
            table = Table(file, system.stat(path).length, path)
        except errors.DataLossError as error:
            raise errors.DataLossError(
                None,
                None,
                f"Unable to open table file {path}: {error.message}: perhaps your file is in a "
                "different file format and you need to use a different restore operator?",
            ) from None
        first = table.get(b"")
        if first is None:
            raise errors.InternalError(
                None,
                None,
                "Failed to find the saved tensor slices at the beginning of the checkpoint file: "
                f"{path}",
            )
        record = SavedTensorSlices()
        record.ParseFromString(first)
        for tensor in record.meta.tensor:
            name = tensor.name.encode()
            shape = sizes_in(tensor.shape)
            self._tensors[name] = dtypes.as_dtype(tensor.type), shape
            slices = self._slices.setdefault(name, {})
            slices |= {from_proto(message): table for message in tensor.slice}

    def close(self) -> None:
        for file in self._files:
            file.close()

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> SliceFileReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def keys(self) -> list[bytes]:
        return sorted(self._tensors)

    def __contains__(self, key: bytes) -> bool:
        return key in self._tensors

    def dtype_and_shape(self, key: bytes) -> tuple[DType, Shape]:
        if key not in self._tensors:
            raise errors.NotFoundError(
                None,
                None,
                f'Tensor name "{key.decode("utf-8", "replace")}" not found in checkpoint files '
                f"{self.prefix}",
            )
        return self._tensors[key]

    def read(self, key: bytes, slice_: TensorSlice | None = None) -> np.ndarray:
        dtype, shape = self.dtype_and_shape(key)
        if slice_ is None:
            slice_ = full_slice(len(shape))
        if not covers(shape, self._slices[key], slice_):
            raise errors.InvalidArgumentError(None, None, "Error copying slice data")
        result = np.empty(sliced_shape(shape, slice_), dtype.np_storage)
        for stored, table in self._slices[key].items():
            common = overlap(shape, stored, slice_)
            if common is not None:
                result[common[1]] = self._part(key, stored, table, dtype, shape)[common[0]]
        return result

    def _part(
        self, key: bytes, slice_: TensorSlice, table: Table, dtype: DType, shape: Shape
    ) -> np.ndarray:
        from tensorboard.compat.proto.tensor_pb2 import TensorProto

        value = table.get(slice_key(key, slice_))
        if value is None:
            raise errors.DataLossError(
                None, None, f"{table.name} lists tensor {key.decode()} but does not hold it"
            )
        record = SavedTensorSlices()
        record.ParseFromString(value)
        tensor = TensorProto()
        tensor.ParseFromString(record.data.data)
        if tensor.tensor_content:
            flat = np.frombuffer(tensor.tensor_content, dtype.np_storage)
        else:
            flat = _from_field(list(getattr(tensor, _FIELDS[dtype.name])), dtype)
        wanted = sliced_shape(shape, slice_)
        if flat.size != math.prod(wanted):
            raise errors.DataLossError(
                None, None, f"{table.name} holds {flat.size} elements for a slice of tensor"
                f" {key.decode()} of shape {list(wanted)}",
            )  # fmt: skip
        return flat.reshape(wanted)


# ---- writing ------------------------------------------------------------------------------------


def write_slices(path: str, items: Sequence[Item]) -> None:
    """Writes tensors to one V1 file, in the order of their names."""
    meta = SavedTensorSlices()
    meta.meta.versions.producer = _VERSION
    records: dict[bytes, bytes] = {}
    tensors: dict[bytes, Any] = {}
    for key, shape, slice_, array, dtype in sorted(items, key=lambda item: item[0]):
        tensor = tensors.get(key)
        if tensor is None:
            tensor = tensors[key] = meta.meta.tensor.add(
                name=key.decode(), type=dtype.as_datatype_enum
            )
            set_shape(tensor.shape, shape)
        to_proto(slice_, tensor.slice.add())
        records[slice_key(key, slice_)] = _record(key, slice_, array, dtype)
    system, where = system_of(path)
    beside = f"{where}.tempstate{uuid.uuid4().hex[:16]}"
    with system.open(beside, "wb") as file:
        write_table(file, [(b"", meta.SerializeToString()), *sorted(records.items())])
        file.flush()
        if hasattr(file, "fileno"):
            os.fsync(file.fileno())
    system.rename(beside, where)


def _record(key: bytes, slice_: TensorSlice, array: np.ndarray, dtype: DType) -> bytes:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    if dtype.name not in _FIELDS:
        raise errors.UnimplementedError(
            None, None, f"Saving data type {dtype.name} not yet supported"
        )
    bound = _HEADER_BOUND + array.size * _BYTES_BOUND.get(dtype.name, dtype.np_storage.itemsize)
    if dtype is dtypes.string:
        bound += sum(map(len, array.flat))
    if bound > _MAX_RECORD:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Tensor slice is too large to serialize (conservative estimate: {bound} bytes)",
        )
    tensor = TensorProto()
    flat = array.ravel()
    values = flat.tolist() if dtype is dtypes.string else _to_field(flat, dtype)
    getattr(tensor, _FIELDS[dtype.name]).extend(values)
    record = SavedTensorSlices()
    record.data.name = key.decode()
    to_proto(slice_, record.data.slice)
    record.data.slice.SetInParent()
    record.data.data = tensor.SerializeToString()
    return bytes(record.SerializeToString())
