"""Initializers that load a matrix whose rows or columns belong to the entries of a vocabulary.

An entry that the old vocabulary has, too, keeps its row or column; the others are initialized.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.math.sequence import range as range_
from weft.ops.state.initializers import truncated_normal_initializer, zeros_initializer

Initializer = Callable[..., Any]


def _load_and_remap_matrix(
    ckpt_path: Any,
    old_tensor_name: Any,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Initializer,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> Tensor:
    """Rows of a matrix in a checkpoint in the order of new vocabularies, and buckets at the end."""
    _check_buckets("num_row_oov_buckets", num_row_oov_buckets)
    _check_buckets("num_col_oov_buckets", num_col_oov_buckets)
    rows = _both_or_none("row", old_row_vocab_file, new_row_vocab_file)
    columns = _both_or_none("col", old_col_vocab_file, new_col_vocab_file)
    if not (rows or columns):
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is necessary, consider "
            "using `tf.contrib.framework.init_from_checkpoint` instead."
        )
    first, end = new_row_vocab_offset, new_row_vocab_offset + num_rows_to_load
    present_rows: Any = num_rows_to_load
    present_columns: Any = new_col_vocab_size
    col_remapping: Any = []
    if rows:
        row_remapping, present_rows = raw.GenerateVocabRemapping(
            new_row_vocab_file,
            old_row_vocab_file,
            new_vocab_offset=new_row_vocab_offset,
            num_new_vocab=num_rows_to_load,
            old_vocab_size=old_row_vocab_size,
        )
    else:
        row_remapping = range_(first, end, dtype=dtypes.int64)
    if columns:
        col_remapping, present_columns = raw.GenerateVocabRemapping(
            new_col_vocab_file,
            old_col_vocab_file,
            new_vocab_offset=0,
            num_new_vocab=new_col_vocab_size,
        )
    missing = num_rows_to_load * new_col_vocab_size - present_rows * present_columns
    matrix = raw.LoadAndRemapMatrix(
        ckpt_path,
        old_tensor_name,
        row_remapping,
        col_remapping,
        initializer([missing, 1]),
        num_rows=num_rows_to_load,
        num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory,
    )
    if num_row_oov_buckets:
        more = initializer([num_row_oov_buckets, new_col_vocab_size])
        matrix = array.concat([matrix, convert_to_tensor(more)], 0)
    if num_col_oov_buckets:
        more = initializer([num_rows_to_load + num_row_oov_buckets, num_col_oov_buckets])
        matrix = array.concat([matrix, convert_to_tensor(more)], 1)
    return matrix


def _check_buckets(name: str, count: int) -> None:
    if count < 0:
        raise ValueError(f"{name} must be >= 0, but received {count}")


def _both_or_none(axis: str, old: Any, new: Any) -> bool:
    if bool(old) != bool(new):
        raise ValueError(
            f"old_{axis}_vocab_file and new_{axis}_vocab_file must both be specified or left "
            f"unspecified. old_{axis}_vocab_file='{old}', new_{axis}_vocab_file='{new}'"
        )
    return bool(new)


def load_and_remap_matrix_initializer(
    ckpt_path: Any,
    old_tensor_name: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """An initializer of a matrix, or of the rows of it that a part of a variable holds."""
    fill: Initializer = zeros_initializer() if initializer is None else initializer
    if not callable(fill):
        raise TypeError(
            f"initializer must be callable, instead of being {fill} of type {type(fill)}."
        )
    columns = new_col_vocab_size + num_col_oov_buckets
    total = new_row_vocab_size + num_row_oov_buckets
    load_rows = partial(
        _load_and_remap_matrix, ckpt_path, old_tensor_name, new_col_vocab_size=new_col_vocab_size,
        initializer=fill, old_row_vocab_size=old_row_vocab_size,
        old_row_vocab_file=old_row_vocab_file, new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file, new_col_vocab_file=new_col_vocab_file,
        num_col_oov_buckets=num_col_oov_buckets, max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip

    def load(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        rows = _checked_rows(shape, dtype, columns)
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        end = offset + rows
        if end > total:
            raise ValueError(
                f"Trying to initialize {rows} additional rows after {offset} rows have already "
                f"been initialized, which would exceed expected total row count of {total}."
            )
        if offset > new_row_vocab_size:
            return fill(shape)  # nothing but buckets
        buckets = min(rows, max(0, end - new_row_vocab_size))
        return load_rows(
            new_row_vocab_offset=offset,
            num_rows_to_load=rows - buckets,
            num_row_oov_buckets=buckets,
        )

    return load


def _checked_rows(shape: Any, dtype: Any, columns: int) -> int:
    """How many rows a matrix of this shape has; an error unless it can be loaded."""
    if dtype != dtypes.float32:
        raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    rows, width = shape
    if rows > 0 and width == columns:
        return rows
    whole = f"2nd dim of shape to be new_col_vocab_size + num_col_oov_buckets = {columns}"
    expected = whole if rows > 0 else "1st dim of shape to be > 0"
    raise ValueError(f"Expected {expected}, but received shape: {shape}")


def load_embedding_initializer(
    ckpt_path: Any,
    embedding_tensor_name: Any,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: Any,
    new_vocab_file: Any,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """An initializer of embeddings, a row for each entry of a vocabulary."""
    if initializer is None:
        initializer = truncated_normal_initializer(stddev=1.0 / math.sqrt(embedding_dim))
    return load_and_remap_matrix_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_size,
        old_vocab_file, new_vocab_file, num_row_oov_buckets=num_oov_buckets,
        initializer=initializer, max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip
