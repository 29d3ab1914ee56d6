"""Queue operations: their nodes. What they do is in queue_objects.py.

Each exists twice: the V2 form passes the queue as a resource, the older one as a reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op, register_gradient
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import BLOCKING, HOST_STATE
from weft.ops.kit.resource_names import find_or_make
from weft.ops.kit.shared import invalid
from weft.ops.queues.queue_kinds import HeapQueue, PaddingQueue, ShufflingQueue
from weft.ops.queues.queue_objects import Queue
from weft.ops.queues.queue_values import show_types

_SHARED = 'capacity: int = -1, {}container: string = "", shared_name: string = ""'
_TYPED = "component_types: list(type) >= 1, shapes: list(shape) >= 0 = [], "


def handle_op(name: str, attrs: str) -> Callable[[Callable[..., Any]], OpDef]:
    """Declares `nameV2`, which makes a resource, and `name`, which makes a reference."""

    def declare(kernel: Callable[..., Any]) -> OpDef:
        common: dict[str, Any] = dict(attrs=attrs, traits=HOST_STATE)
        op(name, outputs="handle: ref(string)", shape=lambda c: (2,), **common)(kernel)
        return op(f"{name}V2", outputs="handle: resource", shape=s.scalar, **common)(kernel)

    return declare


def access_op(
    name: str, inputs: str = "", outputs: str = "", attrs: str = "", blocking: bool = True,
    shape: Callable[[ShapeContext], Any] = s.unknown,
) -> Callable[[Callable[..., Any]], OpDef]:  # fmt: skip
    """Declares `nameV2` and `name`, which take a queue."""

    def declare(kernel: Callable[..., Any]) -> OpDef:
        common: dict[str, Any] = dict(
            outputs=outputs, attrs=attrs, shape=shape,
            traits=HOST_STATE | BLOCKING if blocking else HOST_STATE,
        )  # fmt: skip
        op(name, inputs=f"handle: ref(string){inputs}", **common)(kernel)
        return op(f"{name}V2", inputs=f"handle: resource{inputs}", **common)(kernel)

    return declare


# ---- queues --------------------------------------------------------------------------------------


def _queue(
    kind: type[Queue], ctx: Any, types: Sequence[DType], shapes: Sequence[Dims], capacity: int,
    container: str, shared_name: str, **more: Any,
) -> Queue:  # fmt: skip
    queue, existed = find_or_make(
        ctx, "queue", container, shared_name,
        lambda name: kind(name, types, shapes, capacity, **more),
    )  # fmt: skip
    if existed:
        queue.check_same(ctx.node.type, types, shapes, capacity)
    return queue


@handle_op("FIFOQueue", _TYPED + _SHARED.format(""))
def fifo_queue(
    xp: Any, ctx: Any, *, component_types: Any, shapes: Any, capacity: int, container: str,
    shared_name: str,
) -> Queue:  # fmt: skip
    return _queue(Queue, ctx, component_types, shapes, capacity, container, shared_name)


@handle_op("PaddingFIFOQueue", _TYPED + _SHARED.format(""))
def padding_fifo_queue(
    xp: Any, ctx: Any, *, component_types: Any, shapes: Any, capacity: int, container: str,
    shared_name: str,
) -> Queue:  # fmt: skip
    return _queue(PaddingQueue, ctx, component_types, shapes, capacity, container, shared_name)


@handle_op(
    "RandomShuffleQueue",
    _TYPED + _SHARED.format("min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, "),
)
def random_shuffle_queue(
    xp: Any, ctx: Any, *, component_types: Any, shapes: Any, capacity: int, min_after_dequeue: int,
    seed: int, seed2: int, container: str, shared_name: str,
) -> Queue:  # fmt: skip
    queue = _queue(
        ShufflingQueue, ctx, component_types, shapes, capacity, container, shared_name,
        min_after_dequeue=min_after_dequeue, seed=seed, seed2=seed2,
    )  # fmt: skip
    assert isinstance(queue, ShufflingQueue)
    queue.check_same_order(min_after_dequeue, seed, seed2)
    return queue


@handle_op(
    "PriorityQueue",
    "component_types: list(type) >= 0 = [], shapes: list(shape) >= 0, " + _SHARED.format(""),
)
def priority_queue(
    xp: Any, ctx: Any, *, component_types: Any, shapes: Any, capacity: int, container: str,
    shared_name: str,
) -> Queue:  # fmt: skip
    types = [dtypes.int64, *component_types]
    shapes = [(), *shapes] if shapes else []
    return _queue(HeapQueue, ctx, types, shapes, capacity, container, shared_name)


@op(
    "FakeQueue", inputs="resource: resource", outputs="handle: ref(string)",
    shape=lambda c: (2,), traits=HOST_STATE,
)  # fmt: skip
def fake_queue(xp: Any, resource: Queue) -> Queue:
    return resource


# ---- what is done with them ----------------------------------------------------------------------

_ENQUEUE = "Tcomponents: list(type) >= 1, timeout_ms: int = -1"
_DEQUEUE = "component_types: list(type) >= 1, timeout_ms: int = -1"


def _check_signature(
    ctx: Any,
    queue: Queue,
    timeout_ms: int,
    types: Sequence[DType],
    enqueues: bool,
    inputs: str = "",
) -> None:
    if timeout_ms != -1:
        raise invalid("Timeout not supported yet.")
    if list(types) == queue.dtypes:
        return
    handle = ("resource" if ctx.node.type.endswith("V2") else "string_ref") + inputs
    have, expected = show_types(types), show_types(queue.dtypes)
    if enqueues:
        shown = f"have: {handle}, {have}-> expected: {handle}, {expected}->"
    else:
        shown = f"have: {handle}->{have} expected: {handle}->{expected}"
    raise invalid(f"Signature mismatch, {shown}")


# Kernels take `ctx` also because those that do run outside the lock of the resource store.


@access_op("QueueEnqueue", ", components: Tcomponents", attrs=_ENQUEUE)
def queue_enqueue(
    xp: Any, ctx: Any, handle: Queue, components: list[Any], *, Tcomponents: Any, timeout_ms: int
) -> Any:
    _check_signature(ctx, handle, timeout_ms, Tcomponents, True)
    return handle.enqueue(components)


@access_op("QueueEnqueueMany", ", components: Tcomponents", attrs=_ENQUEUE)
def queue_enqueue_many(
    xp: Any, ctx: Any, handle: Queue, components: list[Any], *, Tcomponents: Any, timeout_ms: int
) -> Any:
    _check_signature(ctx, handle, timeout_ms, Tcomponents, True)
    return handle.enqueue_many(components)


@access_op("QueueDequeue", outputs="components: component_types", attrs=_DEQUEUE)
def queue_dequeue(
    xp: Any, ctx: Any, handle: Queue, *, component_types: Any, timeout_ms: int
) -> Any:
    _check_signature(ctx, handle, timeout_ms, component_types, False)
    return handle.dequeue()


def _count(n: Any, op_name: str) -> int:
    count = int(np.ravel(n)[0])
    if count < 0:
        raise invalid(f"{op_name} requested {count} < 0 elements")
    return count


def _many_shape(c: ShapeContext) -> Any:
    n = c.value(1) if c.dtype(0) is dtypes.resource else None
    if n is not None and n < 0:
        raise ValueError(f"Input 'n' must be >= 0, but is {int(n)}")
    return s.unknown(c)


@access_op(
    "QueueDequeueMany", ", n: int32", "components: component_types", _DEQUEUE, shape=_many_shape
)
def queue_dequeue_many(
    xp: Any, ctx: Any, handle: Queue, n: Any, *, component_types: Any, timeout_ms: int
) -> Any:
    count = _count(n, "DequeueManyOp")
    _check_signature(ctx, handle, timeout_ms, component_types, False, ", int32")
    return handle.dequeue_many(count)


@access_op("QueueDequeueUpTo", ", n: int32", "components: component_types", _DEQUEUE)
def queue_dequeue_up_to(
    xp: Any, ctx: Any, handle: Queue, n: Any, *, component_types: Any, timeout_ms: int
) -> Any:
    count = _count(n, "DequeueUpToOp")
    _check_signature(ctx, handle, timeout_ms, component_types, False, ", int32")
    return handle.dequeue_many(count, allow_small=True)


@access_op("QueueClose", attrs="cancel_pending_enqueues: bool = false", shape=s.none)
def queue_close(xp: Any, ctx: Any, handle: Queue, *, cancel_pending_enqueues: bool) -> Any:
    return handle.close(cancel_pending_enqueues)


@access_op("QueueSize", outputs="size: int32", blocking=False, shape=s.scalar)
def queue_size(xp: Any, ctx: Any, handle: Queue) -> Any:
    return np.array(handle.size(), np.int32)


@access_op("QueueIsClosed", outputs="is_closed: bool", blocking=False, shape=s.scalar)
def queue_is_closed(xp: Any, ctx: Any, handle: Queue) -> Any:
    return np.array(handle.closed)


# Those that take a resource, and QueueIsClosed, have no gradient at all.
for _name in ("Enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "DequeueUpTo", "Close", "Size"):
    register_gradient(f"Queue{_name}", None)
