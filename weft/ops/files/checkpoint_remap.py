"""Matrices of a checkpoint whose rows or columns stand for the entries of a vocabulary.

`GenerateVocabRemapping` says where the entries of a new vocabulary are in an old one;
`LoadAndRemapMatrix` reads the old matrix in the new order and fills in what is new.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, HOST_STATE, NO_GRADIENT
from weft.ops.files.slice_files import open_checkpoint
from weft.storage import file_io
from weft.storage.tensor_slice import shape_text

_MISSING = -1


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def _text(value: Any) -> str:
    return os.fsdecode(np.asarray(value, dtype=object).item())


def _entries(path: str, limit: int = -1) -> list[bytes]:
    """The lines of a vocabulary file, or the first `limit` of them."""
    if not path:
        raise _invalid("new vocab filename cannot be empty.")
    lines: list[bytes] = file_io.read_file_to_string(path, binary_mode=True).splitlines()
    if limit > len(lines):
        raise _invalid(f"Invalid vocab_size in {path}: expected {limit} but got {len(lines)}")
    return lines if limit < 0 else lines[:limit]


def _remapping_dims(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 0)
    s.with_rank(c.dims(1), 0)
    return [(c.attr("num_new_vocab"),), ()]


@op(
    "GenerateVocabRemapping",
    inputs="new_vocab_file: string, old_vocab_file: string",
    outputs="remapping: int64, num_present: int32",
    attrs="new_vocab_offset: int >= 0, num_new_vocab: int >= 0, old_vocab_size: int >= -1 = -1",
    shape=_remapping_dims,
    traits=HOST | NO_GRADIENT,
)
def generate_vocab_remapping(
    xp: Any,
    new_vocab_file: Any,
    old_vocab_file: Any,
    *,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int,
) -> list[np.ndarray]:
    new = _entries(_text(new_vocab_file))
    if new_vocab_offset + num_new_vocab > len(new):
        raise _invalid("lookup table size must be larger than last new vocab entry's line")
    old = {entry: i for i, entry in enumerate(_entries(_text(old_vocab_file), old_vocab_size))}
    wanted = new[new_vocab_offset : new_vocab_offset + num_new_vocab]
    remapping = np.array([old.get(entry, _MISSING) for entry in wanted], np.int64)
    return [remapping, np.array(np.count_nonzero(remapping != _MISSING), np.int32)]


def _matrix_dims(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(1), 0)
    return c.attr("num_rows"), c.attr("num_cols")


@op(
    "LoadAndRemapMatrix",
    inputs="ckpt_path: string, old_tensor_name: string, row_remapping: int64, "
    "col_remapping: int64, initializing_values: float",
    outputs="output_matrix: float",
    attrs="num_rows: int >= 0, num_cols: int >= 1, max_rows_in_memory: int = -1",
    shape=_matrix_dims,
    traits=HOST_STATE | NO_GRADIENT,
)
def load_and_remap_matrix(
    xp: Any,
    ckpt_path: Any,
    old_tensor_name: Any,
    row_remapping: np.ndarray,
    col_remapping: np.ndarray,
    initializing_values: np.ndarray,
    *,
    num_rows: int,
    num_cols: int,
    max_rows_in_memory: int,
) -> np.ndarray:
    if row_remapping.size != num_rows:
        raise _invalid(
            f"Size of row_remapping is {row_remapping.size} instead of being equal to "
            f"num_rows={num_rows}"
        )
    _check_unique(row_remapping)
    if col_remapping.size:
        if col_remapping.size != num_cols:
            raise _invalid(
                f"Provided col_remapping, but its size is {col_remapping.size} instead of being "
                f"equal to num_cols={num_cols}"
            )
        _check_unique(col_remapping)
    old = _old_matrix(_text(ckpt_path), _text(old_tensor_name))
    if not col_remapping.size:
        if old.shape[1] != num_cols:
            raise _invalid(
                f"Tensor {_text(old_tensor_name)} has shape {shape_text(old.shape)}, where the "
                f"size of its 2nd dimension is {old.shape[1]} instead of being equal to "
                f"num_cols={num_cols}"
            )
        col_remapping = np.arange(num_cols)
    return _remapped(old, row_remapping, col_remapping, initializing_values.ravel())


def _check_unique(remapping: np.ndarray) -> None:
    seen: dict[int, int] = {}
    for new, old in enumerate(remapping.tolist()):
        if old >= 0 and old in seen:
            raise errors.UnimplementedError(
                None,
                None,
                f"Old ID {old} is mapped to both new ID {seen[old]} and {new}, which is not "
                "supported.",
            )
        seen[old] = new


def _old_matrix(path: str, name: str) -> np.ndarray:
    with open_checkpoint(path) as reader:
        dtype, shape = reader.dtype_and_shape(name.encode())
        if dtype is not dtypes.float32:
            raise _invalid(
                f"Tensor {name} has invalid type {dtype.name} instead of expected type float"
            )
        if len(shape) != 2:
            raise _invalid(
                f"Tensor {name} has shape {shape_text(shape)} of invalid rank {len(shape)} instead "
                "of expected shape of rank 2."
            )
        return reader.read(name.encode())


def _remapped(
    old: np.ndarray, rows: np.ndarray, columns: np.ndarray, fillers: np.ndarray
) -> np.ndarray:
    """`old` at (rows, columns); where either is missing, the fillers one after another."""
    if (rows.size and rows.max() >= old.shape[0]) or columns.max() >= old.shape[1]:
        raise _invalid(
            f"The remapping reaches beyond the stored matrix of shape {shape_text(old.shape)}"
        )
    missing = (rows < 0)[:, None] | (columns < 0)[None, :]
    count = int(np.count_nonzero(missing))
    if count > fillers.size:
        raise _invalid(
            f"initializing_values contained {fillers.size} elements, but more missing values "
            "remain."
        )
    if count < fillers.size:
        raise _invalid(
            f"initializing_values contained {fillers.size} elements, but only {count} elements "
            "were used to fill in missing values."
        )
    result = np.empty(missing.shape, np.float32)
    if old.size:
        result[:] = old[np.ix_(np.maximum(rows, 0), np.maximum(columns, 0))]
    result[missing] = fillers
    return result
