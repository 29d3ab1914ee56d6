"""Sparse tensors as three strings, or three variants: indices, values and shape, serialized."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import looking_up
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid
from weft.ops.queues.tensors_map import joined_entries
from weft.ops.sparse.select import as_sparse
from weft.ops.strings.serialized_tensors import as_content, from_content

_INPUTS = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_OUTPUTS = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64"


def _parts(c: ShapeContext) -> None:
    for i, rank in enumerate((2, 1, 1)):
        s.with_rank(c.dims(i), rank)


def _row(c: ShapeContext) -> Dims:
    _parts(c)
    return (3,)


def _rows(c: ShapeContext) -> Dims:
    _parts(c)
    return (None, 3)


def _written(parts: tuple[Any, Any, Any], T: DType, out_type: DType) -> np.ndarray:
    row = np.empty(3, object)
    for i, (part, dtype) in enumerate(zip(parts, (dtypes.int64, T, dtypes.int64), strict=True)):
        part = np.array(part)
        string = out_type == dtypes.string
        row[i] = as_content(part, dtype).SerializeToString() if string else part
    return row


@op(
    "SerializeSparse", inputs=_INPUTS, outputs="serialized_sparse: out_type",
    attrs="T: type, out_type: {string, variant} = string", shape=_row, traits=HOST,
)  # fmt: skip
def serialize_sparse_(
    xp: Any, sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, T: DType,
    out_type: DType,
) -> Any:  # fmt: skip
    return _written((sparse_indices, sparse_values, sparse_shape), T, out_type)


@op(
    "SerializeManySparse", inputs=_INPUTS, outputs="serialized_sparse: out_type",
    attrs="T: type, out_type: {string, variant} = string", shape=_rows, traits=HOST,
)  # fmt: skip
def serialize_many_sparse_(
    xp: Any, sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, T: DType,
    out_type: DType,
) -> Any:  # fmt: skip
    if len(sparse_shape) < 2:
        raise invalid(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}"
        )
    count = int(sparse_shape[0])
    out = np.empty((count, 3), object)
    for i in looking_up(range(count)):
        here = sparse_indices[:, 0] == i
        parts = sparse_indices[here, 1:], sparse_values[here], sparse_shape[1:]
        out[i] = _written(parts, T, out_type)
    return out


def _read(row: Any) -> tuple[Any, Any, Any]:
    from google.protobuf.message import DecodeError
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    try:
        indices, values, shape = (
            from_content(TensorProto.FromString(part)) if isinstance(part, bytes) else part
            for part in row
        )
    except DecodeError:
        raise invalid("Could not parse serialized proto") from None
    return indices, values, shape


def _deserialized(rows: Any, dtype: DType, outer: tuple[int, ...]) -> list[Any]:
    """The sparse tensors of `rows`, stacked along new first dimensions of sizes `outer`."""
    if not len(rows):
        raise invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    entries = [_read(row) for row in looking_up(rows)]
    indices, values, shape = joined_entries(entries, dtype, what="shape")
    places = np.stack(np.unravel_index(indices[:, 0], outer), axis=1) if outer else indices[:, :0]
    return [
        np.concatenate([places.astype(np.int64), indices[:, 1:]], axis=1),
        values,
        np.array([*outer, *shape[1:]], np.int64),
    ]


@op(
    "DeserializeSparse", inputs="serialized_sparse: Tserialized", outputs=_OUTPUTS,
    attrs="dtype: type, Tserialized: {string, variant} = string",
    shape=lambda c: [(None, None), (None,), (None,)], traits=HOST,
)  # fmt: skip
def deserialize_sparse_(xp: Any, serialized_sparse: Any, *, dtype: DType) -> list[Any]:
    if serialized_sparse.ndim < 1 or serialized_sparse.shape[-1] != 3:
        raise invalid(
            "Serialized sparse should have 3 as the last dimension"
            f" {s.show(serialized_sparse.shape)}"
        )
    outer = serialized_sparse.shape[:-1]
    return _deserialized(serialized_sparse.reshape(-1, 3), dtype, outer)


@op(
    "DeserializeManySparse", inputs="serialized_sparse: string", outputs=_OUTPUTS,
    attrs="dtype: type", shape=lambda c: [(None, None), (None,), (None,)], traits=HOST,
)  # fmt: skip
def deserialize_many_sparse_(xp: Any, serialized_sparse: Any, *, dtype: DType) -> list[Any]:
    if serialized_sparse.ndim != 2 or serialized_sparse.shape[1] != 3:
        raise invalid(
            "serialized_sparse must be a matrix with 3 columns but received shape"
            f" {s.show(serialized_sparse.shape)}"
        )
    return _deserialized(serialized_sparse, dtype, (len(serialized_sparse),))


# ---- public functions ----------------------------------------------------------------------------


def serialize_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """`sp_input` as a vector of three strings."""
    sp_input = as_sparse(sp_input)
    return raw.SerializeSparse(
        sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name
    )


def serialize_many_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """Each slice of `sp_input` along dimension 0 as a row of three strings."""
    sp_input = as_sparse(sp_input)
    return raw.SerializeManySparse(
        sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name
    )


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: Any = None, name: str | None = None
) -> SparseTensor:
    """Rows that `serialize_sparse` or `serialize_many_sparse` gave, as one sparse tensor."""
    made = raw.DeserializeManySparse(serialized_sparse, dtype=dtype, name=name)
    return _with_rank(made, rank)


def deserialize_sparse(
    serialized_sparse: Any, dtype: Any, rank: Any = None, name: str | None = None
) -> SparseTensor:
    """Serialized sparse tensors of any number of outer dimensions, as one."""
    return _with_rank(raw.DeserializeSparse(serialized_sparse, dtype=dtype, name=name), rank)


def _with_rank(made: Any, rank: int | None) -> SparseTensor:
    indices, values, shape = made
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
