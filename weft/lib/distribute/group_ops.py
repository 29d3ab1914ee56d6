"""Tensors of several processes made one: sums, rows of all, a value of one for all.

All processes of the group must build the same of these in the same order, by which they know each
other's. With a group of one, tensors stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.ops.array import array
from weft.ops.devices.process_collectives import BETWEEN_PROCESSES
from weft.ops.kit.eager import executing_eagerly
from weft.ops.kit.process_group import current
from weft.ops.math import casts, math

# So many bytes go at once: enough to be fast, few enough that the first are on their way while the
# rest is still computed.
BUCKET_BYTES = 32 << 20
_GROUP_KEY = 1
_FIRST_INSTANCE = 100
_NATIVE = (dtypes.float32, dtypes.float16, dtypes.float64, dtypes.int32, dtypes.int64)


def _keys() -> dict[str, int]:
    """What says which nodes of the processes belong together."""
    graph: Any = get_default_graph()
    number: int = getattr(graph, "_next_collective", _FIRST_INSTANCE)
    graph._next_collective = number + 1
    return {"group_size": current().size, "group_key": _GROUP_KEY, "instance_key": number}


def _collective(kind: str, *inputs: Any, **attrs: Any) -> Any:
    """A node of TensorFlow's; eagerly, what would take its place in a step."""
    if executing_eagerly():
        found, _ = BETWEEN_PROCESSES[kind](*inputs, 0, **attrs, **_keys())
        return found
    return getattr(raw, kind)(*inputs, **attrs, **_keys())


def _carrier(dtype: Any) -> Any:
    """A type that collectives have, and that holds all values of `dtype`."""
    if dtype in _NATIVE:
        return dtype
    if dtype is dtypes.bfloat16:
        return dtypes.float32
    if dtype.is_integer or dtype.is_bool:
        return dtypes.int64 if dtype.size > 4 else dtypes.int32
    raise TypeError(f"Values of type {dtype.name} cannot be sent between processes.")


def reduce(tensor: Any, merge: str = "Add", mean: bool = False, name: str | None = None) -> Any:
    """The sum over all processes, or their mean; `merge` can be Min, Max or Mul, too."""
    tensor = convert_to_tensor(tensor)
    if current().size == 1:
        return array.identity(tensor, name=name)
    given = casts.cast(tensor, _carrier(tensor.dtype))
    found = _collective(
        "CollectiveReduce", given, merge_op=merge, final_op="Div" if mean else "Id",
        subdiv_offsets=[0], name=name,
    )  # fmt: skip
    found.set_shape(tensor.shape)
    return casts.cast(found, tensor.dtype)


def reduce_all(tensors: Sequence[Any], mean: bool = False) -> list[Any]:
    """`reduce` of several tensors, many of them at once.

    They go from the last to the first: gradients of the last layers are there first.
    """
    tensors = [convert_to_tensor(each) for each in tensors]
    found: dict[int, Any] = {}
    for bucket in _buckets(tensors):
        parts = [tensors[i] for i in bucket]
        found.update(zip(bucket, _reduced_at_once(parts, mean), strict=True))
    return [found[i] for i in range(len(tensors))]


def _buckets(tensors: Sequence[Any]) -> list[list[int]]:
    """The numbers of tensors that go together: of one type, of known sizes."""
    buckets: list[list[int]] = []
    open_ones: dict[Any, tuple[list[int], int]] = {}
    for i in reversed(range(len(tensors))):
        dtype, count = tensors[i].dtype, tensors[i].shape.num_elements()
        if count is None:
            buckets.append([i])
            continue
        bucket, size = open_ones.get(dtype, ([], BUCKET_BYTES))
        if size + count * dtype.size > BUCKET_BYTES:
            bucket, size = [], 0
            buckets.append(bucket)
        bucket.append(i)
        open_ones[dtype] = bucket, size + count * dtype.size
    return buckets


def _reduced_at_once(tensors: Sequence[Any], mean: bool) -> list[Any]:
    if len(tensors) == 1 or current().size == 1:
        return [reduce(each, mean=mean) for each in tensors]
    flat = array.concat([array.reshape(each, [-1]) for each in tensors], 0)
    sizes = [each.shape.num_elements() for each in tensors]
    parts = array.split(reduce(flat, mean=mean), sizes)
    return [
        array.reshape(part, each.shape.as_list()) for part, each in zip(parts, tensors, strict=True)
    ]


def gather(tensor: Any, name: str | None = None) -> Any:
    """The rows of all processes, which may have different numbers of them."""
    tensor = convert_to_tensor(tensor)
    size = current().size
    if size == 1:
        return array.identity(tensor, name=name)
    counts = _gathered(array.reshape(array.shape(tensor)[0], [1]))
    most = math.reduce_max(counts)
    padding = [[0, most - array.shape(tensor)[0]], *[[0, 0]] * (tensor.shape.ndims - 1)]
    rows = _gathered(array.pad(tensor, padding))
    parts = [rows[i * most : i * most + counts[i]] for i in range(size)]
    found = array.concat(parts, 0, name=name)
    found.set_shape([None, *tensor.shape.as_list()[1:]])
    return found


def _gathered(tensor: Any) -> Any:
    """The rows of all processes, each of which has as many."""
    given = casts.cast(tensor, _carrier(tensor.dtype))
    shape = given.shape.as_list() if given.shape.is_fully_defined() else None
    found = _collective("CollectiveGather", given, shape=shape)
    return casts.cast(found, tensor.dtype)


def broadcast(tensor: Any, root: int = 0, name: str | None = None) -> Any:
    """The value that the process of rank `root` has; all must have one of that shape."""
    tensor = convert_to_tensor(tensor)
    if current().size == 1:
        return array.identity(tensor, name=name)
    carrier = _carrier(tensor.dtype)
    if not tensor.shape.is_fully_defined():
        return _broadcast_of_any_shape(tensor, root, name)
    shape = tensor.shape.as_list()
    if current().rank == root:
        given = casts.cast(tensor, carrier)
        found = _collective("CollectiveBcastSend", given, shape=shape, name=name)
    else:
        found = _collective("CollectiveBcastRecv", T=carrier, shape=shape, name=name)
    return casts.cast(found, tensor.dtype)


def _broadcast_of_any_shape(tensor: Any, root: int, name: str | None) -> Any:
    """The sum with zeros: the shape is known when the step runs."""
    given = tensor if current().rank == root else array.zeros_like(tensor)
    found = reduce(given, name=name)
    found.set_shape(tensor.shape)
    return found


def reduce_slices(slices: IndexedSlices, mean: bool = False) -> IndexedSlices:
    """The rows that all processes change; of a mean, their parts of it."""
    values, indices = gather(slices.values), gather(slices.indices)
    if mean:
        values = values / current().size
    return IndexedSlices(values, indices, slices.dense_shape)
