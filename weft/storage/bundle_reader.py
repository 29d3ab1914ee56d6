"""Reading tensor bundles, the V2 checkpoint format. Every value is checked against its crc."""

from __future__ import annotations

import io
import math
import sys
from typing import Any, BinaryIO

import numpy as np
from google_crc32c import extend as crc32c_extend

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.core.shapes import MAX_RANK
from weft.core.varint import read_varint
from weft.protos.checkpoint import BundleEntryProto
from weft.storage.bundle import (
    VERSION,
    data_path,
    index_path,
    lengths_crc,
    read_index,
    variant_crc,
)
from weft.storage.filesystem import LOCAL, system_of, translated
from weft.storage.table import unmask
from weft.storage.tensor_slice import (
    Shape,
    TensorSlice,
    covers,
    from_proto,
    full_slice,
    is_full,
    overlap,
    slice_key,
    slice_text,
    sliced_shape,
)

_BIG_ENDIAN = 1
# XLA uses an array of the host where it lies if it begins at a multiple of this.
_ALIGNMENT = 64
_PIECE = 1 << 20  # bytes that a cache holds: a checksum of them need not wait for memory


def bundle_exists(prefix: str) -> bool:
    system, where = system_of(index_path(prefix))
    return system.exists(where)


class BundleReader:
    """The tensors of one bundle, by name. Data files are opened when they are first needed."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.header, self._items = read_index(prefix)
        version = self.header.version
        if version.min_consumer > VERSION:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Checkpoint min consumer version {version.min_consumer} above current version "
                f"{VERSION} for TensorFlow, at {prefix}.  Please upgrade TensorFlow.",
            )
        self._files: dict[int, BinaryIO] = {}
        self._sizes: dict[int, int] = {}
        self._swaps = (self.header.endianness == _BIG_ENDIAN) != (sys.byteorder == "big")

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what is there ----

    def keys(self) -> list[bytes]:
        """All keys in order, those of parts of partitioned tensors included."""
        return list(self._items)

    def __contains__(self, key: bytes) -> bool:
        return key in self._items

    def entry(self, key: bytes) -> Any:
        value = self._items.get(key)
        if value is None:
            raise errors.NotFoundError(None, None, f"Key {_text(key)} not found in checkpoint")
        entry = BundleEntryProto()
        try:
            entry.ParseFromString(value)
        except Exception:
            raise self._broken(f"Entry for key {_text(key)} not parseable.") from None
        shape = entry.shape
        if shape.unknown_rank or len(shape.dim) > MAX_RANK or any(d.size < 0 for d in shape.dim):
            raise self._broken(f"Invalid tensor shape: {_text(key)} {entry.shape}")
        return entry

    def dtype_and_shape(self, key: bytes) -> tuple[DType, Shape]:
        entry = self.entry(key)
        return dtypes.as_dtype(entry.dtype), _shape(entry)

    # ---- values ----

    @property
    def is_local(self) -> bool:
        return system_of(self.prefix)[0] is LOCAL

    def verify(self, key: bytes, slice_: TensorSlice | None = None) -> None:
        """Compares the checksum of what `read` would read, without keeping any of it."""
        entry = self.entry(key)
        shape = _shape(entry)
        if not entry.slices:
            self._verify(key, entry)
        for each in map(from_proto, entry.slices):
            if slice_ is None or overlap(shape, each, slice_) is not None:
                part = slice_key(key, each)
                self._verify(part, self.entry(part), key)

    def _verify(self, key: bytes, entry: Any, name: bytes | None = None) -> None:
        if dtypes.as_dtype(entry.dtype) is dtypes.string:
            self._value(key, entry, name)
            return
        label = _text(name or key)
        self._check(entry, self._checksum(entry, label), label)

    def _checksum(self, entry: Any, label: str) -> int:
        """The checksum of an entry's bytes, which are read piece by piece."""
        crc, piece = 0, np.empty(min(entry.size, _PIECE), np.uint8)
        for start in range(0, entry.size, _PIECE):
            part = piece[: entry.size - start]
            self._fill(entry, part, label, start)
            crc = crc32c_extend(crc, part)
        return crc

    def read(self, key: bytes, slice_: TensorSlice | None = None) -> np.ndarray:
        """A tensor, or a slice of it, put together from the parts that were stored."""
        entry = self.entry(key)
        shape = _shape(entry)
        if slice_ is None:
            slice_ = full_slice(len(shape))
        wanted = sliced_shape(shape, slice_)
        if not entry.slices:
            value = self._value(key, entry)
            return value if is_full(slice_, shape) else value[_indices(slice_)].copy()
        stored = [from_proto(message) for message in entry.slices]
        if slice_ in stored:
            return self._part(key, entry, slice_)
        if not covers(shape, stored, slice_):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Does not have sufficient slices for partitioned tensor {_text(key)} to restore "
                f"in slice_spec: {slice_text(slice_)}",
            )
        return self._assembled(key, stored, slice_, wanted, entry)

    def _part(self, key: bytes, entry: Any, stored: TensorSlice) -> np.ndarray:
        """One of the slices of a tensor, which must be what the tensor's entry says."""
        part = slice_key(key, stored)
        found = self.entry(part)
        if found.dtype != entry.dtype or _shape(found) != sliced_shape(_shape(entry), stored):
            raise self._broken(f"Slice {slice_text(stored)} is not a part of {_text(key)}")
        return self._value(part, found, key)

    def _assembled(
        self,
        key: bytes,
        stored: list[TensorSlice],
        slice_: TensorSlice,
        wanted: Shape,
        entry: Any,
    ) -> np.ndarray:
        result = np.empty(wanted, dtypes.as_dtype(entry.dtype).np_storage)
        for each in stored:
            common = overlap(_shape(entry), each, slice_)
            if common is not None:
                result[common[1]] = self._part(key, entry, each)[common[0]]
        return result

    def _value(self, key: bytes, entry: Any, name: bytes | None = None) -> np.ndarray:
        """The values of one entry; `name` is the tensor that a part belongs to."""
        dtype, shape = dtypes.as_dtype(entry.dtype), _shape(entry)
        label = _text(name or key)
        self._check_length(entry, label)
        if dtype is dtypes.variant and (found := self._variants(entry, shape, label)) is not None:
            return found
        if dtype in (dtypes.string, dtypes.variant):
            return self._strings(entry, shape, label)
        expected = math.prod(shape) * dtype.np_storage.itemsize
        if entry.size != expected:
            raise self._broken(
                f"Invalid size in bundle entry: key {label}; stored size {entry.size}; expected "
                f"size {expected}"
            )
        result = _aligned(shape, dtype.np_storage)
        flat = result.reshape(-1).view(np.uint8)
        self._fill(entry, flat, label)
        self._check(entry, crc32c_extend(0, flat), label)
        if self._swaps:
            result = result.byteswap()
        return result

    def _check_length(self, entry: Any, label: str) -> None:
        """Before there is memory for what an entry says it has: whether its file can have it."""
        _, path = self._file(entry.shard_id)
        left = self._sizes[entry.shard_id] - entry.offset
        if entry.size < 0 or entry.offset < 0 or entry.size > left:
            raise self._too_short(entry, label, path, max(left, 0))

    def _fill(self, entry: Any, flat: np.ndarray, label: str, start: int = 0) -> None:
        """Reads bytes of an entry, from `start` on."""
        file, path = self._file(entry.shard_id)
        target = memoryview(flat)  # type: ignore[arg-type]
        with translated(path):
            file.seek(entry.offset + start)
            done = 0
            while done < flat.size:
                count = file.readinto(target[done:])  # type: ignore[attr-defined]
                if not count:
                    raise self._too_short(entry, label, path, start + done)
                done += count

    def _variants(self, entry: Any, shape: Shape, label: str) -> np.ndarray | None:
        """Length, content and a masked crc of each; None: written as strings, as they once were."""
        raw = np.empty(entry.size, np.uint8)
        self._fill(entry, raw, label)
        data, result = raw.tobytes(), np.empty(shape, np.object_)
        flat, at, crc = result.reshape(-1), 0, 0
        for i in range(result.size):
            try:
                length, at = read_varint(data, at)
            except IndexError:
                return None
            flat[i], checksum = data[at : at + length], data[at + length : at + length + 4]
            crc, at = variant_crc(crc, flat[i]), at + length + 4
            if unmask(int.from_bytes(checksum, self._byte_order())) != crc:
                return None
            crc = crc32c_extend(crc, checksum)
        self._check(entry, crc, label)
        return result

    def _strings(self, entry: Any, shape: Shape, label: str) -> np.ndarray:
        """All lengths, a masked crc of them, all contents."""
        if math.prod(shape) > entry.size:
            raise self._broken(f"String lengths of {label} longer than expected")
        raw = np.empty(entry.size, np.uint8)
        self._fill(entry, raw, label)
        data = raw.tobytes()
        result = np.empty(shape, np.object_)
        lengths, at = [], 0
        try:
            for _ in range(result.size):
                length, at = read_varint(data, at)
                lengths.append(length)
        except IndexError:
            raise self._broken(f"String lengths of {label} longer than expected") from None
        crc = lengths_crc(lengths)
        checksum, at = data[at : at + 4], at + 4
        if entry.size and unmask(int.from_bytes(checksum, self._byte_order())) != crc:
            raise self._broken(f"The length checksum of {label} does not match")
        self._check(entry, crc32c_extend(crc, data[at - 4 :]) if entry.size else 0, label)
        flat = result.reshape(-1)
        for i, length in enumerate(lengths):
            flat[i] = data[at : at + length]
            at += length
        if at > len(data):
            raise self._broken(f"Strings of {label} longer than expected")
        return result

    def _byte_order(self) -> Any:
        return "big" if self.header.endianness == _BIG_ENDIAN else "little"

    def _check(self, entry: Any, crc: int, label: str) -> None:
        stored = unmask(entry.crc32c)
        if stored != crc:
            path = data_path(self.prefix, entry.shard_id, self.header.num_shards)
            raise self._broken(
                f"Checksum does not match: stored {stored:08d} vs. calculated on the restored "
                f"bytes {crc} (tensor {label} in {path})"
            )

    def _file(self, shard: int) -> tuple[BinaryIO, str]:
        path = data_path(self.prefix, shard, self.header.num_shards)
        file = self._files.get(shard)
        if file is None:
            system, where = system_of(path)
            file = system.open(where, "rb")
            self._sizes[shard] = system.stat(where).length
            if isinstance(file, io.BufferedReader):
                # What is read goes straight into arrays.
                file = file.detach()  # type: ignore[assignment]
            self._files[shard] = file
        return file, path

    def _too_short(self, entry: Any, label: str, path: str, found: int) -> errors.OutOfRangeError:
        return errors.OutOfRangeError(
            None,
            None,
            f"Read less bytes than requested: {path} ends within tensor {label}: {entry.size} bytes"
            f" at {entry.offset} were wanted, {found} are there",
        )

    def _broken(self, why: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"TensorBundle at {self.prefix}: {why}")


def _shape(entry: Any) -> Shape:
    return tuple(dim.size for dim in entry.shape.dim)


def _aligned(shape: Shape, dtype: np.dtype) -> np.ndarray:
    """An array to be filled that a program can use without copying it."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def _indices(slice_: TensorSlice) -> tuple[slice, ...]:
    return tuple(
        slice(None) if part is None else slice(part[0], part[0] + part[1]) for part in slice_
    )


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")
