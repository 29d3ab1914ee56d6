"""ParseExampleV2: one serialized tf.train.Example or a vector of them, with ragged features."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import string
from weft.ops.parsing.example_nodes import (
    Batch,
    One,
    check_defaults,
    dense_dims,
    row_size,
    text,
)
from weft.ops.strings.example_wire import UNREADABLE, Fail, split

TYPES = "list({float, int64, string}) >= 0"
SPLIT_TYPES = "list({int32, int64}) >= 0"
_UNFIT = {
    "float32": "Some float_list slice was not parsed.",
    "int64": "Some int64_list slice was not parsed.",
    "string": "Parsing bytes_list failed.",
}


class OneExample(One):
    """The features of one example; TensorFlow 2 says in other words that a count is wrong."""

    def refuse_size(self, key: str, dtype: DType, dims: Dims, count: int, fail: Fail) -> NoReturn:
        fail(0, f"{UNREADABLE.rstrip('.')}: {_UNFIT[dtype.name]}")

    def refuse_stride(self, key: str, dtype: DType, dims: Dims, count: int, fail: Fail) -> NoReturn:
        raise invalid(
            f"Error while parsing feature with key {key}: number of elements should be divisible"
            f" by {row_size(dims)}, found {count} instead"
        )

    def ragged_columns(
        self, keys: list[str], types: list[DType], split_types: list[DType]
    ) -> list[Any]:
        """Values of all ragged features, then their row splits: an only row has none."""
        return [
            *(self.sparse(key, dtype) for key, dtype in zip(keys, types, strict=True)),
            *(np.empty(0, dtype.np_storage) for dtype in split_types),
        ]


class Examples(Batch):
    """The features of some examples, of which some may be ragged."""

    def ragged_columns(
        self, keys: list[str], types: list[DType], split_types: list[DType]
    ) -> list[Any]:
        """Values of all ragged features, then their row splits."""
        found = [self.sparse(key, dtype) for key, dtype in zip(keys, types, strict=True)]
        return [
            *(values for values, _ in found),
            *(row_splits(n, dtype) for (_, n), dtype in zip(found, split_types, strict=True)),
        ]


def row_splits(counts: Any, dtype: DType) -> Any:
    """Where each row begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(dtype.np_storage)


# ---- checks and shapes ---------------------------------------------------------------------------


def _check_keys(*counted: tuple[str, Any, str, int]) -> None:
    for name, keys, what, count in counted:
        if np.size(keys) != count:
            raise invalid(f"Expected len({name}) == {what} but got: {np.size(keys)} vs. {count}")


def check_rank(serialized: Any) -> None:
    if np.ndim(serialized) > 1:
        raise invalid(
            f"Expected serialized to be a scalar or vector, got shape: {s.show(serialized.shape)}"
        )


def _check_names(names: Any, serialized: Any) -> None:
    if np.size(names) and np.shape(names) != np.shape(serialized):
        raise invalid(
            "Expected names have the same shape as serialized:"
            f" name.shape={s.show(np.shape(names))},"
            f" serialized.shape={s.show(np.shape(serialized))}"
        )


def sparse_dims(batch: Dims, count: int, steps: int = 0) -> list[Dims]:
    """Indices, values and shapes of features that have `steps` dimensions in each example."""
    rank = None if batch is None else len(batch) + 1 + steps
    return [(None, rank)] * count + [(None,)] * count + [(rank,)] * count


def split_dims(batch: Dims) -> Dims:
    """One row split more than there are rows."""
    return (batch[0] + 1,) if batch and batch[0] is not None else (None,)


def _check_attributes(c: ShapeContext) -> None:
    for name, count, what in (
        ("sparse_keys", c.attr("num_sparse"), "sparse_types"),
        ("dense_keys", len(c.attr("Tdense")), "dense_shapes"),
        ("ragged_keys", len(c.attr("ragged_value_types")), "ragged_split_types"),
    ):
        if count != len(c.attr(what)):
            raise ValueError(f"len({name}) != len({what})")
    for i, dims in enumerate(c.attr("dense_shapes")):
        if dims is None or None in dims[1:]:
            raise ValueError(
                f"dense_shapes[{i}] has unknown rank or unknown inner dimensions: {s.show(dims)}"
            )


def _shapes(c: ShapeContext) -> list[Dims]:
    batch = s.with_rank_at_most(c.dims(0), 1)
    _check_attributes(c)
    count = len(c.attr("ragged_split_types"))
    ragged: list[Dims] = [(None,)] * count + [split_dims(batch)] * count
    return sparse_dims(batch, c.attr("num_sparse")) + dense_dims(c, batch) + ragged


# ---- the operation -------------------------------------------------------------------------------


@op(
    "ParseExampleV2",
    inputs="serialized: string, names: string, sparse_keys: string, dense_keys: string,"
    " ragged_keys: string, dense_defaults: list(Tdense)",
    outputs="sparse_indices: num_sparse * int64, sparse_values: list(sparse_types),"
    " sparse_shapes: num_sparse * int64, dense_values: list(Tdense),"
    " ragged_values: list(ragged_value_types), ragged_row_splits: list(ragged_split_types)",
    attrs=f"Tdense: {TYPES}, num_sparse: int >= 0, sparse_types: {TYPES},"
    f" ragged_value_types: {TYPES}, ragged_split_types: {SPLIT_TYPES},"
    " dense_shapes: list(shape) >= 0",
    shape=_shapes,
    traits=HOST,
)
def parse_example_v2_(
    xp: Any, serialized: Any, names: Any, sparse_keys: Any, dense_keys: Any, ragged_keys: Any,
    dense_defaults: Any, *, Tdense: Any, sparse_types: Any, ragged_value_types: Any,
    ragged_split_types: Any, dense_shapes: Any,
) -> list[Any]:  # fmt: skip
    check_rank(serialized)
    _check_names(names, serialized)
    _check_keys(
        ("dense_keys", dense_keys, "len(dense_types)", len(Tdense)),
        ("sparse_keys", sparse_keys, "num_sparse", len(sparse_types)),
        ("ragged_keys", ragged_keys, "len(ragged_value_types)", len(ragged_value_types)),
    )
    check_defaults(dense_defaults, dense_shapes)
    sparse, dense, ragged = (text(np.ravel(k)) for k in (sparse_keys, dense_keys, ragged_keys))
    types = [*sparse_types, *Tdense, *ragged_value_types]
    read = _read(serialized, names, list(zip([*sparse, *dense, *ragged], types, strict=True)))
    return [
        *read.sparse_columns(sparse, sparse_types),
        *read.dense_columns(dense, Tdense, dense_shapes, dense_defaults),
        *read.ragged_columns(ragged, ragged_value_types, ragged_split_types),
    ]


def _read(serialized: Any, names: Any, wanted: list[tuple[str, DType]]) -> OneExample | Examples:
    if np.ndim(serialized) == 0:
        (example,) = split([string(serialized)])
        return OneExample(example.features.feature)
    return Examples(
        serialized.tolist(), [each.decode(errors="replace") for each in np.ravel(names)], wanted
    )
