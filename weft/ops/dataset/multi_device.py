"""Iterators whose elements go to several devices in turn; and functions of rows."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from typing import Any

import numpy as np

from weft.core.deferred import Deferred
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import BLOCKING, HOST, HOST_STATE
from weft.ops.dataset.declare import STRUCTURE, output_shapes
from weft.ops.dataset.iterator_object import IteratorResource
from weft.ops.dataset.objects import Dataset
from weft.ops.dataset.values import cell, for_kernels
from weft.ops.kit.resource_names import find_or_make
from weft.ops.kit.shared import invalid

_HANDLE = "multi_device_iterator: resource"
_serial = itertools.count()


class MultiDeviceResource:
    """An iterator whose i-th element is for device i, counted round and round.

    Elements for others that come up on the way to one's own are kept for them, but no more than
    `size` for each: a request that needs more waits (`blocked`) until the others take theirs.
    """

    def __init__(self, name: str, attrs: dict[str, Any]) -> None:
        self.name, self.lock = name, threading.Lock()
        self.count = len(attrs["devices"])
        self.iterator = IteratorResource(name, attrs["output_types"], attrs["output_shapes"])
        self.incarnation, self.size = -1, 1
        self.blocked: list[deque[Deferred]] = [deque() for _ in range(self.count)]
        self._start()

    def _start(self) -> None:
        self.waiting: list[deque[Any]] = [deque() for _ in range(self.count)]
        self.turn = 0

    def initialize(self, dataset: Dataset, size: int) -> int:
        with self.lock:
            self.iterator.initialize(dataset)
            self._start()
            self.size = max(size, 1)
            self.incarnation += 1
            left = [promise for queue in self.blocked for promise in queue]
            self.blocked = [deque() for _ in range(self.count)]
        for promise in left:
            promise.fail(self._outdated(self.incarnation - 1))
        return self.incarnation

    def get_next(self, shard: int, incarnation: int) -> Any:
        """An element for a device, or the promise of one."""
        with self.lock:
            if incarnation != self.incarnation:
                raise self._outdated(incarnation)
            if not 0 <= shard < self.count:
                raise invalid(f"Shard {shard} is not one of {self.count}.")
            if not self._has_one(shard):
                promise = Deferred(on_cancel=lambda: self._withdraw(shard, promise))
                self.blocked[shard].append(promise)
                return promise
            element: list[Any] = self.waiting[shard].popleft()
            served = self._served()
        for other, found, error in served:
            other.complete(found) if error is None else other.fail(error)
        return element

    def _outdated(self, incarnation: int) -> Exception:
        return invalid(
            f"Invalid incarnation id. Provided: {incarnation}; Expected: {self.incarnation}"
        )

    def _has_one(self, shard: int) -> bool:
        """Takes elements until there is one for the device; False if too many are kept."""
        while not self.waiting[shard]:
            if len(self.waiting[self.turn]) >= self.size:
                return False
            found = self.iterator.get_next()
            found = found.wait() if isinstance(found, Deferred) else found
            self.waiting[self.turn].append(found)
            self.turn = (self.turn + 1) % self.count
        return True

    def _served(self) -> list[tuple[Deferred, Any, BaseException | None]]:
        """The requests that end, since one element was taken; with their elements or errors."""
        served: list[tuple[Deferred, Any, BaseException | None]] = []
        before = -1
        while before != len(served):
            before = len(served)
            for shard, queue in enumerate(self.blocked):
                while queue:
                    try:
                        if not self._has_one(shard):
                            break
                        served.append((queue.popleft(), self.waiting[shard].popleft(), None))
                    except Exception as error:
                        served.append((queue.popleft(), None, error))
        return served

    def _withdraw(self, shard: int, promise: Deferred) -> None:
        with self.lock:
            if promise in self.blocked[shard]:
                self.blocked[shard].remove(promise)

    def released(self) -> None:
        self.iterator.released()


@op(
    "MultiDeviceIterator", outputs="handle: resource", shape=s.scalar,
    attrs=f"devices: list(string) >= 1, shared_name: string, container: string, {STRUCTURE}",
    traits=HOST_STATE,
)  # fmt: skip
def multi_device_iterator(
    xp: Any, ctx: Any, *, shared_name: str, container: str
) -> MultiDeviceResource:
    attrs = ctx.node.attrs
    found, _ = find_or_make(
        ctx, "multi-device iterator", container, shared_name,
        lambda name: MultiDeviceResource(name, attrs),
    )  # fmt: skip
    made: MultiDeviceResource = found
    return made


@op(
    "AnonymousMultiDeviceIterator", outputs="handle: resource, deleter: variant",
    attrs=f"devices: list(string) >= 1, {STRUCTURE}", shape=lambda c: [(), ()], traits=HOST_STATE,
)  # fmt: skip
def anonymous_multi_device_iterator(xp: Any, ctx: Any) -> Any:
    name = f"AnonymousMultiDeviceIterator{next(_serial)}"
    made = MultiDeviceResource(name, ctx.node.attrs)
    return made, made


@op(
    "DeleteMultiDeviceIterator", inputs=f"{_HANDLE}, iterators: N * resource, deleter: variant",
    attrs="N: int >= 0", shape=s.none, traits=HOST_STATE,
)  # fmt: skip
def delete_multi_device_iterator(
    xp: Any, ctx: Any, multi_device_iterator: Any, iterators: list[Any], deleter: Any
) -> None:
    for each in (multi_device_iterator, *iterators):
        ctx.resources.remove(each)
        each.released()


@op(
    "MultiDeviceIteratorInit", inputs=f"dataset: variant, {_HANDLE}, max_buffer_size: int64",
    outputs="incarnation_id: int64", shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def multi_device_iterator_init(
    xp: Any, ctx: Any, dataset: Dataset, multi_device_iterator: Any, max_buffer_size: Any
) -> Any:
    return np.int64(multi_device_iterator.initialize(dataset, int(max_buffer_size)))


@op(
    "MultiDeviceIteratorGetNextFromShard",
    inputs=f"{_HANDLE}, shard_num: int32, incarnation_id: int64",
    outputs="components: list(output_types)", attrs=STRUCTURE, shape=output_shapes,
    traits=HOST_STATE | BLOCKING,
)  # fmt: skip
def multi_device_iterator_get_next(
    xp: Any, ctx: Any, multi_device_iterator: Any, shard_num: Any, incarnation_id: Any
) -> Any:
    return multi_device_iterator.get_next(int(shard_num), int(incarnation_id))


# ---- handles as strings --------------------------------------------------------------------------


def _handles(ctx: Any) -> dict[bytes, MultiDeviceResource]:
    table: dict[bytes, MultiDeviceResource] = ctx.resources.get_or_make(
        "weft_iterators", "multi-device handles", "by name", dict
    )
    return table


@op(
    "MultiDeviceIteratorToStringHandle", inputs=_HANDLE, outputs="string_handle: string",
    shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def multi_device_iterator_to_string(xp: Any, ctx: Any, multi_device_iterator: Any) -> Any:
    text = f"{multi_device_iterator.name} {id(multi_device_iterator):x}".encode()
    _handles(ctx)[text] = multi_device_iterator
    return cell(text)


@op(
    "MultiDeviceIteratorFromStringHandle", inputs="string_handle: string", outputs=_HANDLE,
    attrs="output_types: list(type) >= 0 = [], output_shapes: list(shape) >= 0 = []",
    shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def multi_device_iterator_from_string(xp: Any, ctx: Any, string_handle: Any) -> Any:
    found = _handles(ctx).get(np.asarray(string_handle).item())
    if found is None:
        raise invalid("Could not parse string_handle as a valid ResourceHandle")
    return found


# ---- functions of rows ---------------------------------------------------------------------------


def _mapped_shape(c: ShapeContext) -> list[Dims]:
    count: int | None = None
    for i in range(len(c.attr("Targuments"))):
        dims = s.with_rank_at_least(c.dims(i), 1)
        count = count if dims is None else s.merge_dim(count, dims[0])
    return [s.concat((count,), dims) for dims in c.attr("output_shapes")]


@op(
    "MapDefun", inputs="arguments: list(Targuments), captured_inputs: list(Tcaptured)",
    outputs="output: list(output_types)",
    attrs=f"Targuments: list(type) >= 1, Tcaptured: list(type) >= 0 = [], {STRUCTURE}, f: func,"
    " max_intra_op_parallelism: int = 1",
    shape=_mapped_shape, traits=HOST,
)  # fmt: skip
def map_defun(
    xp: Any, ctx: Any, arguments: list[Any], captured_inputs: list[Any], *, f: Any,
    output_types: list[Any], output_shapes: list[Dims],
) -> Any:  # fmt: skip
    """A function of each row of the arguments, its results stacked."""
    if len({np.shape(x)[:1] for x in arguments}) != 1 or not np.ndim(arguments[0]):
        raise invalid("All inputs must have the same dimension 0.")
    if not len(arguments[0]):
        return [_no_rows(*each) for each in zip(output_types, output_shapes, strict=True)]
    function = ctx.function(f)
    instance = function.take()
    try:
        rows = [
            instance([*for_kernels(row), *captured_inputs]) for row in zip(*arguments, strict=True)
        ]
    finally:
        function.give_back(instance)
    return [np.stack(column) for column in zip(*rows, strict=True)]


def _no_rows(dtype: Any, dims: Dims) -> Any:
    if not s.known(dims):
        raise invalid(f"The shape of no rows must be known: {s.show(dims)}")
    return np.zeros((0, *(dims or ())), dtype.np_storage)  # type: ignore[misc]
