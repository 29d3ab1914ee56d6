"""Tensor bundles, the V2 checkpoint format: writing and merging.

A bundle is `prefix.index`, a table from names to where each tensor is, and files of bare values,
`prefix.data-00000-of-00001` and so on. Tensors go to the file one after another, as they come.
The index is put in place last, so a save that was interrupted leaves what was there before.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from google_crc32c import extend as crc32c_extend

from weft.core import dtypes, errors, flags
from weft.core.dtypes import DType
from weft.core.varint import varint
from weft.protos.checkpoint import BundleEntryProto, BundleHeaderProto
from weft.storage.filesystem import LOCAL, system_of, translated
from weft.storage.table import Table, mask, write_table
from weft.storage.tensor_slice import (
    Shape,
    TensorSlice,
    is_full,
    slice_key,
    to_proto,
)

VERSION = 1
_CHUNK = 1 << 18  # what the checksum has read is in the cache still when it is written


def index_path(prefix: str) -> str:
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def set_shape(message: Any, shape: Shape) -> None:
    message.SetInParent()
    for size in shape:
        message.dim.add().size = size


def _beside(path: str) -> str:
    """A name for what will be `path` once it is complete."""
    return f"{path}.tempstate{uuid.uuid4().int & 0xFFFFFFFFFFFFFFFF}"


# ---- values -------------------------------------------------------------------------------------


def write_values(file: BinaryIO, array: np.ndarray, dtype: DType) -> tuple[int, int]:
    """Writes the elements of a tensor; returns (bytes, crc32c)."""
    if dtype is dtypes.string:
        return _write_strings(file, array)
    if dtype is dtypes.variant and _holds_bytes(array):
        return _write_variants(file, array)
    if dtype in (dtypes.resource, dtypes.variant):
        raise errors.UnimplementedError(
            None, None, f"Saving data type {dtype.name} not yet supported"
        )
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    crc = 0
    for start in range(0, flat.size, _CHUNK):
        chunk = flat[start : start + _CHUNK]
        crc = crc32c_extend(crc, chunk)
        file.write(memoryview(chunk))  # type: ignore[arg-type]
    return flat.size, crc


def _holds_bytes(array: np.ndarray) -> bool:
    """Whether variants are bytes, as encoded lists and saved iterators are."""
    return all(isinstance(value, bytes) for value in np.ravel(array))


def _write_strings(file: BinaryIO, array: np.ndarray) -> tuple[int, int]:
    """All lengths, a masked crc of them, all contents."""
    texts: list[bytes] = array.ravel().tolist()
    lengths = b"".join(varint(len(text)) for text in texts)
    crc = lengths_crc([len(text) for text in texts])
    checksum = mask(crc).to_bytes(4, "little")
    crc = crc32c_extend(crc, checksum)
    file.write(lengths + checksum)
    for text in texts:
        crc = crc32c_extend(crc, text)
        file.write(text)
    return len(lengths) + 4 + sum(map(len, texts)), crc


def _write_variants(file: BinaryIO, array: np.ndarray) -> tuple[int, int]:
    """The length, the content and a masked crc of all so far, for each element."""
    size = crc = 0
    for text in array.ravel().tolist():
        crc = variant_crc(crc, text)
        checksum = mask(crc).to_bytes(4, "little")
        crc = crc32c_extend(crc, checksum)
        size += file.write(varint(len(text)) + text + checksum)
    return size, crc


def variant_crc(crc: int, text: bytes) -> int:
    """The crc of a bundle's variants up to this one, before its own checksum."""
    return crc32c_extend(crc32c_extend(crc, len(text).to_bytes(8, "little")), text)


def lengths_crc(lengths: Iterable[int]) -> int:
    """The crc of the lengths of strings as fixed-size numbers, which is what bundles hold."""
    as_bytes = (n.to_bytes(4 if n <= 0xFFFFFFFF else 8, "little") for n in lengths)
    return crc32c_extend(0, b"".join(as_bytes))


# ---- a bundle -----------------------------------------------------------------------------------


class BundleWriter:
    """Writes one bundle. Nothing is at `prefix` before `finish`; without it, nothing ever is."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.entries: dict[bytes, Any] = {}
        system, where = system_of(prefix)
        if directory := os.path.dirname(where):
            with contextlib.suppress(errors.AlreadyExistsError):
                system.make_directory(directory)
        self._path = _beside(data_path(prefix, 0, 1))
        self._file = system.open(system_of(self._path)[1], "wb")
        self._size, self._reserved = 0, False

    def reserve(self, size: int) -> None:
        """Asks for room for so many bytes at once, where the file system can give it."""
        with contextlib.suppress(AttributeError, OSError, ValueError):
            number = self._file.fileno()
            self._reserved = True
            os.posix_fallocate(number, 0, size)

    def add(self, key: bytes, array: np.ndarray, dtype: DType) -> None:
        """Appends a whole tensor."""
        if key in self.entries:
            raise errors.InvalidArgumentError(None, None, f"Adding duplicate key: {_text(key)}")
        with translated(self._path):
            size, crc = write_values(self._file, array, dtype)
        entry = BundleEntryProto(
            dtype=dtype.as_datatype_enum, offset=self._size, size=size, crc32c=mask(crc)
        )
        set_shape(entry.shape, array.shape)
        self.entries[key] = entry
        self._size += size

    def add_slice(
        self, key: bytes, shape: Shape, slice_: TensorSlice, array: np.ndarray, dtype: DType
    ) -> None:
        """Appends a part of a tensor of this shape; others may come from other bundles."""
        if is_full(slice_, shape):
            self.add(key, array, dtype)
            return
        whole = self.entries.get(key)
        if whole is None:
            whole = self.entries[key] = BundleEntryProto(dtype=dtype.as_datatype_enum)
            set_shape(whole.shape, shape)
        to_proto(slice_, whole.slices.add())
        self.add(slice_key(key, slice_), array, dtype)

    def finish(self) -> None:
        """Makes the bundle appear at `prefix`, in the place of one that was there."""
        with translated(self._path):
            if self._reserved:
                self._file.truncate(self._size)
            _sync(self._file)
            self._file.close()
        header = BundleHeaderProto(num_shards=1)
        header.version.producer = VERSION
        publish(self.prefix, [self._path], header, self.entries)

    def abandon(self) -> None:
        """Removes what was written so far."""
        self._file.close()
        _remove(self._path)

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")


def _sync(file: BinaryIO) -> None:
    """Hands a file to the system; with WEFT_FSYNC, waits until it is on the disk.

    The system keeps what it was handed when a process dies. Only a machine that loses power can
    take it back, and then checksums tell.
    """
    file.flush()
    if not flags.FSYNC:
        return
    with contextlib.suppress(OSError, AttributeError):
        os.fsync(file.fileno())


def _sync_directory(prefix: str) -> None:
    system, where = system_of(prefix)
    if not flags.FSYNC or system is not LOCAL or not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.dirname(where) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(path: str) -> None:
    system, where = system_of(path)
    with contextlib.suppress(errors.OpError):
        system.remove(where)


def _rename(source: str, target: str) -> None:
    system, where = system_of(source)
    system.rename(where, system_of(target)[1])


def _link(source: str, target: str) -> bool:
    """A second name for a file, where the file system has such things."""
    system, where = system_of(source)
    if system is not LOCAL:
        return False
    try:
        os.link(where, system_of(target)[1])
    except OSError:
        return False
    return True


def _write_index(prefix: str, header: Any, entries: dict[bytes, Any]) -> None:
    path = index_path(prefix)
    beside = _beside(path)
    system, where = system_of(beside)
    items = ((key, entries[key].SerializeToString()) for key in sorted(entries))
    try:
        with translated(beside), system.open(where, "wb") as file:
            write_table(file, [(b"", header.SerializeToString()), *items])
            _sync(file)
        _rename(beside, path)
    except BaseException:
        _remove(beside)
        raise


def publish(prefix: str, files: Sequence[str], header: Any, entries: dict[bytes, Any]) -> None:
    """Gives finished data files their names and puts the index in place.

    Where a bundle is replaced, its index must at no instant point to other values: the new files
    first appear under names that no index uses, then the index points to those, and only
    then do they take the names of the old ones.
    """
    shards = len(files)
    stale = _data_files(prefix)
    spare: list[str] = []
    if stale:
        unused = 1 + max(shards, *(int(path[-5:]) for path in stale))
        spare = [data_path(prefix, i, unused) for i in range(shards)]
        if all(_link(path, name) for path, name in zip(files, spare, strict=True)):
            between = BundleHeaderProto()
            between.CopyFrom(header)
            between.num_shards = unused
            _write_index(prefix, between, entries)
    final = [data_path(prefix, i, shards) for i in range(shards)]
    for path, name in zip(files, final, strict=True):
        _rename(path, name)
    _write_index(prefix, header, entries)
    for path in {*stale, *spare} - set(final):
        _remove(path)
    _sync_directory(prefix)


def _data_files(prefix: str) -> list[str]:
    """The data files of the bundle at `prefix`, if there is one."""
    system, where = system_of(prefix)
    if not system.exists(index_path(where)):
        return []
    import glob

    return system.matches(f"{glob.escape(where)}.data-?????-of-?????")


# ---- merging ------------------------------------------------------------------------------------


def read_index(prefix: str) -> tuple[Any, dict[bytes, bytes]]:
    """(the header, key -> serialized entry) of a bundle."""
    path = index_path(prefix)
    system, where = system_of(path)
    with system.open(where, "rb") as file:
        items = dict(Table(file, system.stat(where).length, path))
    header = BundleHeaderProto()
    try:
        header.ParseFromString(items.pop(b""))
    except Exception as error:
        raise errors.DataLossError(
            None,
            None,
            f"Unable to read file ({path}). Perhaps the file is corrupt or was produced by a newer "
            f"version of TensorFlow with format changes (unable to parse header): {error}",
        ) from None
    return header, items


def merge_bundles(prefixes: Sequence[str], merged_prefix: str) -> None:
    """Makes one bundle of several: their data files are renamed, their indices put together."""
    system, where = system_of(merged_prefix)
    if directory := os.path.dirname(where):
        with contextlib.suppress(errors.AlreadyExistsError):
            system.make_directory(directory)
    merged: dict[bytes, Any] = {}
    files: dict[str, int] = {}
    first = None
    for prefix in prefixes:
        header, items = read_index(prefix)
        first = first or header
        if header.endianness != first.endianness or header.version != first.version:
            raise errors.InvalidArgumentError(
                None, None, f"Merging bundles with conflicting formats, at prefix: {prefix}"
            )
        for key, value in items.items():
            _merge_entry(merged, files, prefix, header.num_shards, key, value)
    header = BundleHeaderProto()
    if first is not None:
        header.CopyFrom(first)
    header.num_shards = len(files)
    publish(merged_prefix, list(files), header, merged)
    for prefix in prefixes:
        _remove(index_path(prefix))


def _merge_entry(
    merged: dict[bytes, Any],
    files: dict[str, int],
    prefix: str,
    shards: int,
    key: bytes,
    value: Any,
) -> None:
    entry = BundleEntryProto()
    entry.ParseFromString(value)
    found = merged.get(key)
    if found is None:
        path = data_path(prefix, entry.shard_id, shards)
        entry.shard_id = files.setdefault(path, len(files))
        merged[key] = entry
    elif not found.slices or not entry.slices:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Duplicate tensor keyed by {_text(key)} encountered, when merging prefix: {prefix}",
        )
    else:
        found.slices.MergeFrom(entry.slices)
