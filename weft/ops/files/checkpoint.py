"""Saving tensors to checkpoint files and restoring them.

The V2 operations write bundles (storage/bundle.py) and read both formats; `Save`, `SaveSlices`,
`Restore` and `RestoreSlice` are those of the older one (ops/files/slice_files.py).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, HOST_STATE
from weft.ops.files.slice_files import SliceFileReader, open_checkpoint, write_slices
from weft.ops.lists.list_messages import decoded, encoded
from weft.ops.queues.reader_objects import string_scalar
from weft.storage.bundle import BundleWriter, merge_bundles
from weft.storage.bundle_reader import BundleReader
from weft.storage.filesystem import system_of
from weft.storage.tensor_slice import TensorSlice, full_slice, parse_shape_and_slice, shape_text

Array = Any
Reader = BundleReader | SliceFileReader


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def _strings(value: Array) -> list[bytes]:
    return list(np.asarray(value, dtype=object).ravel())


def _path(prefix: Array, what: str) -> str:
    texts = _strings(prefix)
    if len(texts) != 1:
        raise _invalid(f"{what}, got {len(texts)} instead.")
    return os.fsdecode(texts[0])


def _ranks(*ranks: int) -> Callable[[ShapeContext], list[Dims]]:
    """A shape rule for operations without outputs: the ranks of the first inputs.

    A vector must have an element for each of the inputs that follow.
    """

    def rule(c: ShapeContext) -> list[Dims]:
        for i, rank in enumerate(ranks):
            dims = s.with_rank(c.dims(i), rank)
            count = c.num_inputs - len(ranks)
            if rank == 1 and dims[0] not in (None, count):
                raise ValueError(f"Dimension must be {count} but is {dims[0]}")
        return []

    return rule


# ---- saving -------------------------------------------------------------------------------------


@op(
    "SaveV2",
    inputs="prefix: string, tensor_names: string, shape_and_slices: string, tensors: list(dtypes)",
    attrs="dtypes: list(type) >= 1",
    shape=_ranks(0, 1, 1),
    traits=HOST_STATE,
)
def save_v2(
    xp: Any,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    tensors: list[Array],
    *,
    dtypes: list[DType],
) -> None:
    _check_names(tensor_names, shape_and_slices)
    names, specs = _strings(tensor_names), _strings(shape_and_slices)
    if len(names) != len(tensors):
        raise _invalid(f"Got {len(names)} tensor names but {len(tensors)} tensors.")
    path = _path(prefix, "Input prefix should have a single element")
    with BundleWriter(path) as writer:
        values = [_storable(*each) for each in zip(tensors, dtypes, strict=True)]
        writer.reserve(sum(value.nbytes for value in values))
        for name, spec, value, dtype in zip(names, specs, values, dtypes, strict=True):
            if spec:
                shape, slice_ = _slice_of(value, spec)
                writer.add_slice(name, shape, slice_, value, dtype.base_dtype)
            else:
                writer.add(name, value, dtype.base_dtype)


def _storable(tensor: Array, dtype: DType) -> np.ndarray:
    return encoded(tensor) if dtype.base_dtype.name == "variant" else np.asarray(tensor)


def _check_names(tensor_names: Array, shape_and_slices: Array) -> None:
    names, specs = np.asarray(tensor_names), np.asarray(shape_and_slices)
    if names.ndim != 1 or specs.ndim != 1:
        raise _invalid(
            "Input tensor_names and shape_and_slices should be an 1-D tensors, got "
            f"{shape_text(names.shape)} and {shape_text(specs.shape)} instead."
        )
    if names.size != specs.size:
        raise _invalid(
            "tensor_names and shape_and_slices have different number of elements: "
            f"{names.size} vs. {specs.size}"
        )


def _slice_of(value: np.ndarray, spec: bytes) -> tuple[Any, Any]:
    """(the whole tensor's shape, which slice of it `value` is)"""
    shape, slice_, part = parse_shape_and_slice(spec.decode())
    if part != value.shape:
        raise _invalid(
            "Slice in shape_and_slice specification does not match the shape of the tensor to  "
            f"save: {spec.decode()}, tensor: {shape_text(value.shape)}"
        )
    return shape, slice_


@op(
    "Save",
    inputs="filename: string, tensor_names: string, data: list(T)",
    attrs="T: list(type) >= 1",
    shape=_ranks(0, 1),
    traits=HOST_STATE,
)
def save(
    xp: Any, filename: Array, tensor_names: Array, data: list[Array], *, T: list[DType]
) -> None:
    _save_slices(filename, tensor_names, [b""] * len(data), data, T)


@op(
    "SaveSlices",
    inputs="filename: string, tensor_names: string, shapes_and_slices: string, data: list(T)",
    attrs="T: list(type) >= 1",
    shape=_ranks(0, 1, 1),
    traits=HOST_STATE,
)
def save_slices(
    xp: Any,
    filename: Array,
    tensor_names: Array,
    shapes_and_slices: Array,
    data: list[Array],
    *,
    T: list[DType],
) -> None:
    _save_slices(filename, tensor_names, _strings(shapes_and_slices), data, T)


def _save_slices(
    filename: Array, tensor_names: Array, specs: list[bytes], data: list[Array], types: list[DType]
) -> None:
    names = _strings(tensor_names)
    if len(specs) != len(names):
        raise _invalid(
            f"Expected {len(names)} elements for the tensor shapes and slices but got {len(specs)}"
        )
    items = []
    for name, spec, tensor, dtype in zip(names, specs, data, types, strict=True):
        value = np.asarray(tensor)
        where = _slice_of(value, spec) if spec else (value.shape, full_slice(value.ndim))
        items.append((name, *where, value, dtype.base_dtype))
    write_slices(_path(filename, "Input 0 (filename) must be a string scalar"), items)


# ---- restoring ----------------------------------------------------------------------------------


def _restored_dims(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 0)
    s.merge(s.with_rank(c.dims(1), 1), s.with_rank(c.dims(2), 1))
    specs = c.value(2)
    if specs is None:
        return [None] * c.num_outputs
    if specs.size != c.num_outputs:
        raise ValueError("The number of shape_and_slice doesn't match tensor outputs.")
    return [parse_shape_and_slice(text.decode())[2] if text else None for text in specs.tolist()]


@op(
    "RestoreV2",
    inputs="prefix: string, tensor_names: string, shape_and_slices: string",
    outputs="tensors: list(dtypes)",
    attrs="dtypes: list(type) >= 1",
    shape=_restored_dims,
    traits=HOST_STATE,
)
def restore_v2(
    xp: Any, prefix: Array, tensor_names: Array, shape_and_slices: Array, *, dtypes: list[DType]
) -> list[np.ndarray]:
    with opened(prefix, tensor_names, shape_and_slices, dtypes) as (reader, wanted):
        values = {i: reader.read(name, slice_) for i, name, slice_ in wanted}
    found = [values[i] for i in range(len(values))]
    return [
        decoded(value) if dtype.base_dtype.name == "variant" else value
        for value, dtype in zip(found, dtypes, strict=True)
    ]


# Which output a tensor is for, its name, the slice of it that is wanted.
Wanted = tuple[int, bytes, TensorSlice | None]


@contextlib.contextmanager
def opened(
    prefix: Array, tensor_names: Array, shape_and_slices: Array, dtypes: list[DType]
) -> Iterator[tuple[Reader, list[Wanted]]]:
    """The checkpoint and what is wanted of it, in the order of names; types and shapes checked."""
    names, specs = _strings(tensor_names), _strings(shape_and_slices)
    if len(names) != len(dtypes):
        raise _invalid(f"Got {len(names)} tensor names, but {len(dtypes)} expected dtypes.")
    _check_names(tensor_names, shape_and_slices)
    with open_checkpoint(_path(prefix, "Input prefix should have a single element")) as reader:
        _check_dtypes(reader, names, dtypes)
        order = sorted(range(len(names)), key=names.__getitem__)
        yield reader, [(i, names[i], _wanted_slice(reader, names[i], specs[i])) for i in order]


def _check_dtypes(reader: Reader, names: Sequence[bytes], wanted: Sequence[DType]) -> None:
    wrong = []
    for name, dtype in sorted(zip(names, wanted, strict=True), key=lambda pair: pair[0]):
        found, _ = reader.dtype_and_shape(name)
        if found is not dtype.base_dtype:
            wrong.append(
                f"tensor_name = {name.decode()}; expected dtype {_short(dtype)} does not equal "
                f"original dtype {_short(found)}"
            )
    if wrong:
        raise _invalid("\n".join(wrong))


_SHORT = {"float32": "float", "float64": "double", "float16": "half"}


def _short(dtype: DType) -> str:
    """A type as TensorFlow's kernels name it."""
    return _SHORT.get(dtype.base_dtype.name, dtype.base_dtype.name)


def _wanted_slice(reader: Reader, name: bytes, spec: bytes) -> TensorSlice | None:
    if not spec:
        return None
    wanted, slice_, _ = parse_shape_and_slice(spec.decode())
    _, shape = reader.dtype_and_shape(name)
    if wanted != shape:
        raise _invalid(
            f"tensor_name = {name.decode()}; shape in shape_and_slice spec {shape_text(wanted)} "
            f"does not match the shape stored in checkpoint: {shape_text(shape)}"
        )
    return slice_


def _restored_from_slices(pattern: Array, name: Array, spec: bytes, dtype: DType) -> np.ndarray:
    path = _path(pattern, "Input 0 (file_pattern) must be a string scalar")
    (key,) = _strings(name)
    with SliceFileReader(path) as reader:
        found, _ = reader.dtype_and_shape(key)
        if found is not dtype.base_dtype:
            raise _invalid(
                f"Expected to restore a tensor of type {_short(dtype)}, got a tensor of type "
                f"{_short(found)} instead: tensor_name = {key.decode()}"
            )
        return reader.read(key, _wanted_slice(reader, key, spec))


def _restored_slice_dims(c: ShapeContext) -> Dims:
    for i in range(c.num_inputs):
        s.with_rank(c.dims(i), 0)
    spec = c.value(2) if c.num_inputs == 3 else None
    if spec is None or not spec.item():
        return None
    return parse_shape_and_slice(spec.item().decode())[2]


@op(
    "Restore",
    inputs="file_pattern: string, tensor_name: string",
    outputs="tensor: dt",
    attrs="dt: type, preferred_shard: int = -1",
    shape=_restored_slice_dims,
    traits=HOST_STATE,
)
def restore(
    xp: Any, file_pattern: Array, tensor_name: Array, *, dt: DType, preferred_shard: int
) -> np.ndarray:
    return _restored_from_slices(file_pattern, tensor_name, b"", dt)


@op(
    "RestoreSlice",
    inputs="file_pattern: string, tensor_name: string, shape_and_slice: string",
    outputs="tensor: dt",
    attrs="dt: type, preferred_shard: int = -1",
    shape=_restored_slice_dims,
    traits=HOST_STATE,
)
def restore_slice(
    xp: Any,
    file_pattern: Array,
    tensor_name: Array,
    shape_and_slice: Array,
    *,
    dt: DType,
    preferred_shard: int,
) -> np.ndarray:
    (spec,) = _strings(shape_and_slice)
    return _restored_from_slices(file_pattern, tensor_name, spec, dt)


# ---- shards -------------------------------------------------------------------------------------


def _scalars(c: ShapeContext) -> Dims:
    for i in range(c.num_inputs):
        s.with_rank(c.dims(i), 0)
    return ()


@op(
    "ShardedFilename",
    inputs="basename: string, shard: int32, num_shards: int32",
    outputs="filename: string",
    shape=_scalars,
    traits=HOST,
)
def sharded_filename(xp: Any, basename: Array, shard: Array, num_shards: Array) -> Array:
    (name,) = _strings(basename)
    return string_scalar(name + b"-%05d-of-%05d" % (int(shard), int(num_shards)))


@op(
    "ShardedFilespec",
    inputs="basename: string, num_shards: int32",
    outputs="filename: string",
    shape=_scalars,
    traits=HOST,
)
def sharded_filespec(xp: Any, basename: Array, num_shards: Array) -> Array:
    (name,) = _strings(basename)
    return string_scalar(name + b"-?????-of-%05d" % int(num_shards))


def _merge_dims(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 1)
    s.with_rank(c.dims(1), 0)
    return []


@op(
    "MergeV2Checkpoints",
    inputs="checkpoint_prefixes: string, destination_prefix: string",
    attrs="delete_old_dirs: bool = true",
    shape=_merge_dims,
    traits=HOST_STATE,
)
def merge_v2_checkpoints(
    xp: Any, checkpoint_prefixes: Array, destination_prefix: Array, *, delete_old_dirs: bool
) -> None:
    prefixes = [os.fsdecode(text) for text in _strings(checkpoint_prefixes)]
    target = _path(destination_prefix, "Input destination_prefix should be a scalar tensor")
    merge_bundles(prefixes, target)
    if not delete_old_dirs:
        return
    for directory in {os.path.dirname(prefix) for prefix in prefixes} - {os.path.dirname(target)}:
        system, where = system_of(directory)
        # Only empty directories go, as when others still write to it.
        with contextlib.suppress(errors.OpError):
            if not system.children(where):
                system.remove_tree(where)
