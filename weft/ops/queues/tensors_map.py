"""Sparse tensors that travel through queues as handles into a map of the process."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import looking_up
from weft.graph import shape_fn as s
from weft.graph.graph import colocate_with
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import ShapeContext
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST_STATE
from weft.ops.kit.resource_names import named_or_node
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import invalid
from weft.ops.queues.queue_values import owned, show_types

Entry = tuple[np.ndarray, np.ndarray, np.ndarray]


class SparseTensorsMap:
    """Sparse tensors by handle; each can be taken once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.entries: dict[int, Entry] = {}
        self.handles = itertools.count()

    def add(self, entry: Entry) -> int:
        with self.lock:
            handle = next(self.handles)
            self.entries[handle] = entry
            return handle

    def take(self, handles: list[int], name: str) -> list[Entry]:
        with self.lock:
            for handle in handles:
                if handle not in self.entries:
                    raise invalid(f"Unable to find SparseTensor: {handle} in map: {name}")
            return [self.entries.pop(handle) for handle in handles]


_INPUTS = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_SHARED = 'container: string = "", shared_name: string = ""'


def _map(ctx: Any) -> SparseTensorsMap:
    attrs = ctx.node.attrs
    return named_or_node(
        ctx, "sparse tensors", attrs["container"], attrs["shared_name"], SparseTensorsMap
    )


def _parts(c: ShapeContext) -> None:
    for i, rank in enumerate((2, 1, 1)):
        s.with_rank(c.dims(i), rank)


def _one_shape(c: ShapeContext) -> Any:
    _parts(c)
    return ()


def _many_shape(c: ShapeContext) -> Any:
    _parts(c)
    return (None,)


@op(
    "AddSparseToTensorsMap", inputs=_INPUTS, outputs="sparse_handle: int64",
    attrs=f"T: type, {_SHARED}", shape=_one_shape, traits=HOST_STATE,
)  # fmt: skip
def add_sparse_to_tensors_map(
    xp: Any, ctx: Any, sparse_indices: Any, sparse_values: Any, sparse_shape: Any
) -> Any:
    _check(sparse_indices, sparse_values, sparse_shape)
    entry = owned(sparse_indices), owned(sparse_values), owned(sparse_shape)
    return np.array(_map(ctx).add(entry), np.int64)


def _check(indices: Any, values: Any, shape: Any) -> None:
    for what, value, rank in (
        ("indices should be a matrix", indices, 2),
        ("values should be a vector", values, 1),
        ("shape should be a vector", shape, 1),
    ):
        if value.ndim != rank:
            raise invalid(f"Input {what} but received shape {s.show(value.shape)}")


@op(
    "AddManySparseToTensorsMap", inputs=_INPUTS, outputs="sparse_handles: int64",
    attrs=f"T: type, {_SHARED}", shape=_many_shape, traits=HOST_STATE,
)  # fmt: skip
def add_many_sparse_to_tensors_map(
    xp: Any, ctx: Any, sparse_indices: Any, sparse_values: Any, sparse_shape: Any
) -> Any:
    _check(sparse_indices, sparse_values, sparse_shape)
    if len(sparse_shape) < 2:
        raise invalid(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}"
        )
    rows = sparse_indices[:, 0]
    count = int(sparse_shape[0])
    for row in rows[(rows < 0) | (rows >= count)][:1]:
        raise invalid(
            f"Received unexpected column 0 value in input SparseTensor: {row} < 0 or >= N (="
            f" {count})"
        )
    check_room([count], np.int64, times=64)  # a row is an entry of three arrays
    store, inner = _map(ctx), np.array(sparse_shape[1:])
    order = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(count), side="right").tolist()
    handles = []
    for start, end in looking_up(itertools.pairwise([0, *ends])):
        here = order[start:end]
        handles.append(store.add((sparse_indices[here, 1:], sparse_values[here], inner)))
    return np.array(handles, np.int64)


def _taken_shape(c: ShapeContext) -> Any:
    s.with_rank(c.dims(0), 1)
    return [(None, None), (None,), (None,)]


@op(
    "TakeManySparseFromTensorsMap", inputs="sparse_handles: int64",
    outputs="sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    attrs=f"dtype: type, {_SHARED}", shape=_taken_shape, traits=HOST_STATE,
)  # fmt: skip
def take_many_sparse_from_tensors_map(
    xp: Any, ctx: Any, sparse_handles: Any, *, dtype: DType
) -> list[np.ndarray]:
    if sparse_handles.ndim != 1:
        raise invalid(
            f"sparse_handles should be a vector but received shape {s.show(sparse_handles.shape)}"
        )
    if not len(sparse_handles):
        raise invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    entries = _map(ctx).take(sparse_handles.tolist(), ctx.node.attrs["shared_name"])
    return joined_entries(entries, dtype)


def joined_entries(entries: list[Entry], dtype: DType, what: str = "rank") -> list[np.ndarray]:
    """Sparse tensors along a new first dimension; the others grow to the largest."""
    rank = len(entries[0][2])
    for i, (_, values, shape) in enumerate(entries):
        if values.dtype != dtype.np_storage:
            have = show_types([dtypes.as_dtype(values.dtype)])
            raise invalid(
                f"Requested SparseTensor of type {show_types([dtype])} but SparseTensor[{i}]."
                f"values.dtype() == {have}"
            )
        if len(shape) != rank:
            raise invalid(
                f"Inconsistent {what} across SparseTensors: rank prior to SparseTensor[{i}] was:"
                f" {rank} but rank of SparseTensor[{i}] is: {len(shape)}"
            )
    rows = np.repeat(np.arange(len(entries)), [len(values) for _, values, _ in entries])
    indices = np.concatenate([e[0] for e in entries]).reshape(-1, rank)
    sizes = [len(entries), *np.max([e[2] for e in entries], axis=0)]
    return [
        np.concatenate([rows[:, None], indices], axis=1).astype(np.int64),
        np.concatenate([e[1] for e in entries]),
        np.array(sizes, np.int64),
    ]


# ---- wrappers ------------------------------------------------------------------------------------


def store_sparse(sp_input: SparseTensor, shared_name: str | None = None) -> Tensor:
    """A handle for `sp_input`."""
    return raw.AddSparseToTensorsMap(
        sp_input.indices, sp_input.values, sp_input.dense_shape, shared_name=shared_name or ""
    )


def store_many_sparse(sp_input: SparseTensor, shared_name: str | None = None) -> Tensor:
    """A handle for each slice of `sp_input` along dimension 0."""
    return raw.AddManySparseToTensorsMap(
        sp_input.indices, sp_input.values, sp_input.dense_shape, shared_name=shared_name or ""
    )


def restore_sparse(
    sparse_map_op: Operation, sparse_handles: Tensor, rank: int | None = None
) -> SparseTensor:
    """The sparse tensors behind `sparse_handles`, stored by the operation `sparse_map_op`."""
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead,"
            f" found `{sparse_map_op.type}`."
        )
    container, shared_name, dtype = (
        sparse_map_op.get_attr(attr) for attr in ("container", "shared_name", "T")
    )
    with colocate_with(sparse_map_op):
        indices, values, shape = raw.TakeManySparseFromTensorsMap(
            sparse_handles, dtype, _text(container), _text(shared_name) or sparse_map_op.name
        )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value
