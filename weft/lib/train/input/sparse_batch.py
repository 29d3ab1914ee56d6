"""Sparse tensors in the batching functions: a queue holds handles instead of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.core import dtypes
from weft.core.shapes import Dimension, dimension_value
from weft.graph.constant import constant
from weft.graph.operation import Operation
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.ops.array.fill import ones
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where
from weft.ops.array.shape import expand_dims, reshape, squeeze
from weft.ops.array.shape import shape as shape_of
from weft.ops.control.cond import smart_cond
from weft.ops.control.control import with_dependencies
from weft.ops.queues.tensors_map import restore_sparse, store_many_sparse, store_sparse


@dataclass(frozen=True)
class SparseInfo:
    """The data to get a component back: the operation that stored it, and its rank."""

    map_op: Operation | None = None
    rank: Dimension | None = None

    @property
    def sparse(self) -> bool:
        return self.map_op is not None

    def goes_with(self, other: SparseInfo) -> bool:
        if not self.sparse or not other.sparse:
            return self.sparse == other.sparse
        assert self.rank is not None and other.rank is not None
        return self.map_op is other.map_op and self.rank.is_compatible_with(other.rank)


def stored(
    tensors: Sequence[Any], enqueue_many: bool, keep_input: Tensor, maps: Sequence[Any] = ()
) -> tuple[list[Tensor], list[SparseInfo]]:
    """`tensors` with handles in the place of sparse ones.

    `maps` are the operations whose maps to use, where another list of tensors has begun them.
    """
    found: list[Tensor] = []
    info: list[SparseInfo] = []
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, SparseTensor):
            found.append(tensor)
            info.append(SparseInfo())
            continue
        shared = maps[i] if maps else None
        handles = _store(tensor, enqueue_many, keep_input, shared.name if shared else None)
        rank = Dimension(tensor.dense_shape.shape.with_rank(1).as_list()[0])
        rank = rank - 1 if enqueue_many else rank
        info.append(SparseInfo(shared or _storing_op(handles), rank))
        # A component of a queue that takes padding must have a rank, hence one dimension more.
        found.append(expand_dims(handles, [-1]))
    return found, info


def _store(tensor: SparseTensor, many: bool, keep_input: Tensor, shared_name: str | None) -> Tensor:
    if keep_input.shape.ndims == 1:
        kept = gather(keep_input, tensor.indices[:, 0])
        return store_many_sparse(_retained(tensor, kept), shared_name)
    if many:
        handles = smart_cond(
            keep_input,
            lambda: store_many_sparse(tensor, shared_name),
            lambda: -1 * ones(shape_of(tensor)[0:1], dtypes.int64),
        )
        handles.set_shape([None])
        return handles
    return smart_cond(
        keep_input,
        lambda: store_sparse(tensor, shared_name),
        lambda: constant(-1, dtypes.int64),
    )


def _retained(tensor: SparseTensor, kept: Tensor) -> SparseTensor:
    """The entries of `tensor` for which `kept` is true."""
    chosen = reshape(where(kept), [-1])
    return SparseTensor(
        gather(tensor.indices, chosen), gather(tensor.values, chosen), tensor.dense_shape
    )


def _storing_op(handles: Tensor) -> Operation:
    """The operation that stored the tensor; it may be in a branch of a conditional."""
    for source in handles.op.inputs:
        if source.op.type in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
            return source.op
    return handles.op


def merged(
    lists: list[list[Any]], enqueue_many: bool, keep_input: Tensor
) -> tuple[list[list[Tensor]], list[SparseInfo]]:
    """As `stored`, for several lists that go into one queue and so share their maps."""
    first, info = stored(lists[0], enqueue_many, keep_input)
    found = [first]
    maps = [each.map_op for each in info]
    for tensors in lists[1:]:
        handles, others = stored(tensors, enqueue_many, keep_input, maps)
        if len(others) != len(info) or not all(
            a.goes_with(b) for a, b in zip(info, others, strict=True)
        ):
            raise ValueError(f"Inconsistent SparseTensors list: {lists[0]} vs. {tensors}")
        found.append(handles)
    return found, info


def restored(dequeued: Any, info: list[SparseInfo]) -> Any:
    """The dequeued tensors, with sparse tensors in the place of handles."""
    if not any(each.sparse for each in info):
        return dequeued
    single = not isinstance(dequeued, (list, tuple))
    tensors = [
        _restore(tensor, each) if each.sparse else tensor
        for tensor, each in zip([dequeued] if single else dequeued, info, strict=True)
    ]
    # All of a batch is taken out of the maps together, whichever part of it a step uses.
    values = [t.values if isinstance(t, SparseTensor) else t for t in tensors]
    found = [_after(values, tensor) for tensor in tensors]
    return found[0] if single else found


def _restore(handles: Tensor, info: SparseInfo) -> SparseTensor:
    assert info.map_op is not None and info.rank is not None
    return restore_sparse(info.map_op, squeeze(handles, [1]), dimension_value(info.rank + 1))


def _after(values: list[Tensor], tensor: Any) -> Any:
    if not isinstance(tensor, SparseTensor):
        return with_dependencies(values, tensor)
    parts = (tensor.indices, tensor.values, tensor.dense_shape)
    return SparseTensor(*(with_dependencies(values, part) for part in parts))
