"""Barriers: elements whose components come separately, by key, and leave when complete."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape, unknown_shape
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims
from weft.graph.tensor import Tensor
from weft.graph.traits import BLOCKING, HOST_STATE
from weft.ops.kit.resource_names import find_or_make
from weft.ops.kit.shared import invalid
from weft.ops.queues.queue_kinds import HeapQueue
from weft.ops.queues.queue_values import packed, rows, show_shapes, show_types, unpacked
from weft.ops.queues.queues import _as_shape_list, _as_type_list

_FIRST = -(2**63)


class BarrierObject:
    """Incomplete elements by key, and a queue of complete ones, oldest key first."""

    def __init__(self, name: str, types: Sequence[DType], shapes: Sequence[Dims]) -> None:
        self.name, self.types, self.shapes = name, list(types), list(shapes)
        self.lock = threading.Lock()
        self.closed = self.cancelled = False
        self.batches = _FIRST  # counts the insertions that brought new keys
        self.incomplete: dict[bytes, list[Any]] = {}
        self.ready = HeapQueue(
            f"{name}_queue", [dtypes.int64, dtypes.string, *types], [(), (), *shapes], -1
        )

    def insert_many(self, keys: np.ndarray, component: int, values: Any) -> None:
        if keys.size and not values.size:
            raise invalid(
                f"Tensors with no elements are not supported {self.name}: received shape"
                f" {s.show(values.shape)}"
            )
        with self.lock:
            self._check_open(keys.size)
            new = False
            complete: list[tuple[Any, ...]] = []
            for i, (key, value) in enumerate(zip(keys.ravel(), _each(values), strict=True)):
                new = self._insert(key, component, value, i, complete) or new
            self.batches += new
        for element in complete:
            self.ready.enqueue(element)
        self._close_ready_if_over()

    def _check_open(self, count: int) -> None:
        if self.closed and (self.cancelled or (count and not self.incomplete)):
            raise errors.CancelledError(
                None, None, f"Barrier {self.name} is closed.  Pending enqueues cancelled:"
                f" {int(self.cancelled)}.  Number of new insertions: {count}.  Number of"
                f" incomplete keys: {len(self.incomplete)}.",
            )  # fmt: skip

    def _insert(self, key: bytes, component: int, value: Any, i: int, complete: list[Any]) -> bool:
        """Adds one component; returns whether the key is new."""
        element = self.incomplete.get(key)
        if element is None and self.closed:
            raise errors.CancelledError(
                None, None, f"Barrier {self.name} is closed, but attempted to insert a brand new"
                f" key: {key.decode(errors='replace')}.  Pending enqueues cancelled:"
                f" {int(self.cancelled)}.  Insertion index: {i}.  Number of incomplete keys:"
                f" {len(self.incomplete)}.",
            )  # fmt: skip
        new = element is None
        if element is None:
            element = self.incomplete[key] = [self.batches] + [None] * len(self.types)
        if element[1 + component] is not None:
            raise invalid(
                f"Key {key.decode(errors='replace')} already has a value for component {component}"
                f" in barrier {self.name}"
            )
        element[1 + component] = value
        if all(part is not None for part in element):
            del self.incomplete[key]
            first, *components = element
            values = map(unpacked, components, self.types)
            ready = np.array(first, np.int64), np.array(key, object), *values
            self.ready._check(ready, self.ready.shapes)
            complete.append(ready)
        return new

    def take_many(self, count: int, allow_small: bool) -> Any:
        with self.lock:
            if self.closed:
                available = self.ready.size()
                if allow_small:
                    count = min(count, available)
                else:
                    available += len(self.incomplete)
                if available < max(count, 1):
                    raise errors.OutOfRangeError(
                        None, None, f"Barrier '{self.name}' is closed and has insufficient"
                        f" elements (requested {count}, total size {available})",
                    )  # fmt: skip
        return self.ready.dequeue_many(count, allow_small)

    def close(self, cancel_pending: bool) -> None:
        with self.lock:
            # A second close may still cancel what the first one let finish.
            if self.closed and (self.cancelled or not cancel_pending):
                raise errors.CancelledError(None, None, f"Barrier '{self.name}' is already closed.")
            self.closed, self.cancelled = True, cancel_pending
            if cancel_pending:
                self.incomplete.clear()
        self._close_ready_if_over()

    def _close_ready_if_over(self) -> None:
        with self.lock:
            over = self.closed and not self.incomplete and not self.ready.closed
        if over:
            self.ready.close(cancel_pending=True)


def _each(values: Any) -> list[Any]:
    return rows(values) if values.ndim else [packed(values)]


_HANDLE = "handle: ref(string)"


def _of_handle(*dims: Dims) -> Callable[[s.ShapeContext], list[Dims]]:
    """The outputs have the shapes `dims`, if the handle may be one."""

    def rule(c: s.ShapeContext) -> list[Dims]:
        (size,) = s.with_rank(c.dims(0), 1)
        if size not in (None, 2):
            raise ValueError(f"Dimension must be 2 but is {size}")
        return list(dims)

    return rule


@op(
    "Barrier", outputs=_HANDLE,
    attrs="component_types: list(type) >= 1, shapes: list(shape) >= 0 = [], capacity: int = -1,"
    ' container: string = "", shared_name: string = ""',
    shape=lambda c: (2,), traits=HOST_STATE,
)  # fmt: skip
def barrier(
    xp: Any, ctx: Any, *, component_types: Any, shapes: Any, capacity: int, container: str,
    shared_name: str,
) -> BarrierObject:  # fmt: skip
    if len(shapes) != len(component_types):
        raise invalid("All of the component shapes must be specified")
    shapes = [() if dims is None else dims for dims in shapes]  # unknown means scalar here
    if capacity != -1:
        raise invalid(
            "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to"
            " enforce a limited capacity."
        )
    found, _ = find_or_make(
        ctx, "barrier", container, shared_name,
        lambda name: BarrierObject(name, component_types, shapes),
    )  # fmt: skip
    asked = show_types(component_types), show_shapes(shapes)
    there = show_types(found.types), show_shapes(found.shapes)
    for what, have, wanted in zip(("types", "shapes"), there, asked, strict=True):
        if have != wanted:
            raise invalid(
                f"Shared barrier '{found.name}' has component {what} {have} but requested component"
                f" {what} were {wanted}"
            )
    return found


@op(
    "BarrierInsertMany", inputs=f"{_HANDLE}, keys: string, values: T",
    attrs="T: type, component_index: int", shape=s.none, traits=HOST_STATE,
)  # fmt: skip
def barrier_insert_many(
    xp: Any, ctx: Any, handle: BarrierObject, keys: Any, values: Any, *, T: DType,
    component_index: int,
) -> None:  # fmt: skip
    count = len(handle.types)
    if component_index >= count:
        raise invalid(
            f"The component ID is out of range {component_index} > num_components (= {count})"
        )
    if handle.types[component_index] != T:
        have, expected = show_types([T]), show_types([handle.types[component_index]])
        raise invalid(
            f"Signature mismatch, have: string_ref, string, {have}-> expected: string_ref, string,"
            f" {expected}->"
        )
    handle.insert_many(keys, component_index, values)


@op(
    "BarrierTakeMany", inputs=f"{_HANDLE}, num_elements: int32",
    outputs="indices: int64, keys: string, values: component_types",
    attrs="component_types: list(type) >= 1, allow_small_batch: bool = false,"
    " wait_for_incomplete: bool = false, timeout_ms: int = -1",
    shape=s.unknown, traits=HOST_STATE | BLOCKING,
)  # fmt: skip
def barrier_take_many(
    xp: Any, ctx: Any, handle: BarrierObject, num_elements: Any, *, component_types: Any,
    allow_small_batch: bool, timeout_ms: int,
) -> Any:  # fmt: skip
    if timeout_ms != -1:
        raise invalid("Timeout not supported yet.")
    if np.ndim(num_elements):
        raise invalid("num_elements must be a scalar.")
    if list(component_types) != handle.types:
        raise invalid(
            f"Signature mismatch, have: string_ref, int32->int64, string,"
            f" {show_types(component_types)} expected: string_ref, int32->int64, string,"
            f" {show_types(handle.types)}"
        )
    return handle.take_many(int(num_elements), allow_small_batch)


@op(
    "BarrierClose", inputs=_HANDLE, attrs="cancel_pending_enqueues: bool = false",
    shape=_of_handle(), traits=HOST_STATE,
)  # fmt: skip
def barrier_close(
    xp: Any, ctx: Any, handle: BarrierObject, *, cancel_pending_enqueues: bool
) -> None:
    handle.close(cancel_pending_enqueues)


@op(
    "BarrierReadySize",
    inputs=_HANDLE,
    outputs="size: int32",
    shape=_of_handle(()),
    traits=HOST_STATE,
)
def barrier_ready_size(xp: Any, ctx: Any, handle: BarrierObject) -> Any:
    return np.array(handle.ready.size(), np.int32)


@op(
    "BarrierIncompleteSize",
    inputs=_HANDLE,
    outputs="size: int32",
    shape=_of_handle(()),
    traits=HOST_STATE,
)
def barrier_incomplete_size(xp: Any, ctx: Any, handle: BarrierObject) -> Any:
    return np.array(len(handle.incomplete), np.int32)


class Barrier:
    """A map from keys to tuples of tensors that outlives steps.

    Components are inserted one by one; complete elements are taken in the order in which their
    first component came.
    """

    def __init__(
        self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier"
    ) -> None:
        self._types = _as_type_list(types)
        self._shapes = [unknown_shape() for _ in self._types]
        if shapes is not None:
            self._shapes = [TensorShape(shape) for shape in _as_shape_list(shapes) or []]
        for i, shape in enumerate(self._shapes):
            if shapes is not None and shape.num_elements() == 0:
                raise ValueError(
                    f"Empty tensors are not supported, but received shape '{shape}' at index {i}"
                )
        self._barrier_ref = raw.Barrier(
            component_types=self._types,
            shapes=self._shapes,
            shared_name=shared_name or "",
            name=name,
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Tensor:
        return self._barrier_ref

    @property
    def name(self) -> str:
        return self._barrier_ref.op.name

    def insert_many(
        self, component_index: int, keys: Any, values: Any, name: str | None = None
    ) -> Any:
        """The operation that gives each of `keys` its value for one component."""
        name = name or f"{self._name}_BarrierInsertMany"
        return raw.BarrierInsertMany(self._barrier_ref, keys, values, component_index, name=name)

    def take_many(
        self,
        num_elements: Any,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> Any:
        """(indices, keys, values) of complete elements; waits until there are `num_elements`."""
        taken = raw.BarrierTakeMany(
            self._barrier_ref,
            num_elements,
            self._types,
            allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        outputs = taken[0].op.outputs
        count = None if allow_small_batch else constant_value(outputs[0].op.inputs[1])
        batch = TensorShape([None if count is None else int(count)])
        for output, shape in zip(outputs, [(), (), *self._shapes], strict=True):
            output.set_shape(batch.concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """The operation after which no new key may come.

        Elements that were begun may be completed, unless `cancel_pending_enqueues`.
        """
        name = name or f"{self._name}_BarrierClose"
        return raw.BarrierClose(
            self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name
        )

    def ready_size(self, name: str | None = None) -> Tensor:
        """The number of complete elements."""
        name = name or f"{self._name}_BarrierReadySize"
        return raw.BarrierReadySize(self._barrier_ref, name=name)

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """The number of elements that lack a component."""
        name = name or f"{self._name}_BarrierIncompleteSize"
        return raw.BarrierIncompleteSize(self._barrier_ref, name=name)
