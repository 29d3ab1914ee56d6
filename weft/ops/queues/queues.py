"""tf.QueueBase and its kinds: building queue operations."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from weft.core import dtypes as types
from weft.core.dtypes import DType
from weft.core.shapes import Dimension, TensorShape, as_shape, dimension_value, unknown_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.random_seed import get_seed
from weft.graph.tensor import Tensor
from weft.ops.queues import queue_nodes as queue_ops  # noqa: F401  (declares the operations)


def _as_type_list(dtypes: Any) -> list[DType]:
    return [types.as_dtype(d) for d in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def _is_size(x: Any) -> bool:
    return isinstance(x, int | None)


def _as_shape_list(shapes: Any, partial: bool = False) -> list[TensorShape] | None:
    """One shape per component; `partial` allows unknown dimensions, but then wants a list."""
    if partial and not (isinstance(shapes, Sequence) and shapes and not any(map(_is_size, shapes))):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    listed = [shapes] if isinstance(shapes, TensorShape) else shapes
    if not isinstance(listed, tuple | list):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(map(_is_size, listed)):
        listed = [listed]  # the shape of the only component
    found = [as_shape(shape) for shape in listed]
    wanted = {"be fully defined": TensorShape.is_fully_defined} if not partial else {}
    for what, holds in {**wanted, "have a defined rank": _has_rank}.items():
        if not all(map(holds, found)):
            raise ValueError(f"All shapes must {what}: {found}")
    return found


def _has_rank(shape: TensorShape) -> bool:
    return shape.ndims is not None


def _as_name_list(names: Any, dtypes: list[DType]) -> list[str] | None:
    listed = list(names) if isinstance(names, list | tuple) else [names]
    if names is not None and len(listed) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return None if names is None else listed


def _element(dtypes: Any, shapes: Any, names: Any, partial: bool = False) -> tuple[Any, Any, Any]:
    """Types, shapes and names of the components, as lists; None for shapes and names not given."""
    kinds = _as_type_list(dtypes)
    return kinds, _as_shape_list(shapes, partial), _as_name_list(names, kinds)


def _handle(kind: str, element: Sequence[Any], shared_name: str | None, **attrs: Any) -> Tensor:
    """The node that makes a queue of such elements."""
    dtypes, shapes = element[:2]
    given = {"component_types": dtypes, "shapes": shapes or [], "shared_name": shared_name or ""}
    handle: Tensor = getattr(raw, f"{kind}V2")(**given, **attrs)
    return handle


def _common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """The sizes that both shapes agree on."""
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return unknown_shape()
    pairs = zip(a.as_list(), b.as_list(), strict=True)
    return TensorShape([x if x == y else None for x, y in pairs])


class QueueBase:
    """Elements that outlive steps, put in and taken out by operations of the graph.

    An element is a tuple of tensors with fixed types. With `shapes`, components have fixed shapes
    and can be taken many at a time; with `names`, elements are dictionaries.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(f"Queue {what} must have the same length as dtypes")
        self._dtypes, self._names, self._queue_ref = dtypes, names, queue_ref
        self._shapes = [TensorShape(shape) for shape in shapes or [None] * len(dtypes)]
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: list[QueueBase]) -> QueueBase:
        """The queue that the tensor `index` chooses from `queues` in each step."""
        if (
            not queues
            or not isinstance(queues, list)
            or not all(isinstance(q, QueueBase) for q in queues)
        ):
            raise TypeError("A list of queues expected")
        first, rest = queues[0], queues[1:]
        if any(first.dtypes != q.dtypes for q in rest):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(first.names != q.names for q in rest):
            raise TypeError("Queues do not have matching component names.")
        columns = zip(*(q.shapes for q in queues), strict=True)
        shapes = [functools.reduce(_common_shape, column) for column in columns]
        from weft.ops.array.array import stack
        from weft.ops.array.gather import gather

        chosen = gather(stack([q.queue_ref for q in queues]), index)
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        return self._queue_ref

    @property
    def name(self) -> str:
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        return self._names

    def _op(self, name: str) -> Any:
        """The operation for a handle of this queue's kind."""
        return getattr(raw, name + ("V2" if self._queue_ref.dtype == types.resource else ""))

    def _components(self, vals: Any) -> list[Tensor]:
        """An element, or a batch of them, as a list of tensors."""
        names, named = self._names, isinstance(vals, dict)
        if named and not names:
            raise ValueError("Queue must have names to enqueue a dictionary")
        if names and not named:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        if names:
            if sorted(names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary:"
                    f" ({sorted(vals)}), Queue: ({sorted(names)})"
                )
            vals = [vals[name] for name in names]
        pairs = zip(self._scope_values(vals), self._dtypes, strict=False)
        return [
            convert_to_tensor(value, dtype, f"component_{i}")
            for i, (value, dtype) in enumerate(pairs)
        ]

    @staticmethod
    def _scope_values(vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            return list(vals.values())
        return list(vals) if isinstance(vals, (list, tuple)) else [vals]

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """The operation that adds one element; it waits while the queue is full."""
        with name_scope(name, f"{self._name}_enqueue", self._scope_values(vals)) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                tensor.shape.assert_is_compatible_with(shape)
            return self._op("QueueEnqueue")(self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """The operation that adds each slice of `vals` along dimension 0 as an element."""
        with name_scope(name, f"{self._name}_EnqueueMany", self._scope_values(vals)) as scope:
            tensors = self._components(vals)
            batch = Dimension(dimension_value(tensors[0].shape.with_rank_at_least(1)[0]))
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                own = dimension_value(tensor.shape.with_rank_at_least(1)[0])
                batch = batch.merge_with(Dimension(own))
                tensor.shape[1:].assert_is_compatible_with(shape)
            return self._op("QueueEnqueueMany")(self._queue_ref, tensors, name=scope)

    def _dequeued(self, tensors: Any, prefix: list[int | None]) -> Any:
        for tensor, shape in zip(tensors, self._shapes, strict=False):
            tensor.set_shape(TensorShape(prefix).concatenate(shape) if prefix else shape)
        if self._names:
            return dict(zip(self._names, tensors, strict=False))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """Takes one element out; waits while there is none."""
        name = name or f"{self._name}_Dequeue"
        tensors = self._op("QueueDequeue")(self._queue_ref, self._dtypes, name=name)
        return self._dequeued(tensors, [])

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Takes `n` elements out, stacked along a new dimension 0; waits until there are `n`."""
        from weft.graph.constant_value import constant_value

        name = name or f"{self._name}_DequeueMany"
        tensors = self._op("QueueDequeueMany")(self._queue_ref, n, self._dtypes, name=name)
        count = constant_value(tensors[0].op.inputs[1])
        return self._dequeued(tensors, [None if count is None else int(count)])

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As `dequeue_many`, but a closed queue gives what it still has, if that is anything."""
        name = name or f"{self._name}_DequeueUpTo"
        tensors = self._op("QueueDequeueUpTo")(self._queue_ref, n, self._dtypes, name=name)
        return self._dequeued(tensors, [None])

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """The operation after which nothing can be added.

        What waits to be added still is, unless `cancel_pending_enqueues`.
        """
        name = name or f"{self._name}_Close"
        return self._op("QueueClose")(
            self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        name = name or f"{self._name}_Is_Closed"
        return self._op("QueueIsClosed")(self._queue_ref, name=name)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in the queue."""
        name = name or f"{self._name}_Size"
        return self._op("QueueSize")(self._queue_ref, name=name)


class RandomShuffleQueue(QueueBase):
    """A queue that gives elements out in random order.

    At least `min_after_dequeue` of them stay behind, to be mixed, until the queue is closed.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        element = _element(dtypes, shapes, names)
        attrs = {"capacity": capacity, "min_after_dequeue": min_after_dequeue, "name": name}
        attrs |= _seeds(seed, shared_name)
        super().__init__(*element, _handle("RandomShuffleQueue", element, shared_name, **attrs))


def _seeds(seed: int | None, shared_name: str | None) -> dict[str, int | None]:
    first, second = get_seed(seed)
    if first is None and second is None:
        first = second = 0
    elif seed is None and shared_name is not None:
        # Every program that shares the queue must arrive at the same seed.
        digest = hashlib.md5(f"{first}{shared_name}".encode()).hexdigest()
        second = int(digest[:8], 16) & 0x7FFFFFFF
    return {"seed": first, "seed2": second}


class FIFOQueue(QueueBase):
    """A queue that gives elements out in the order they came in.

    Args:
        capacity: how many elements may wait.
        dtypes: the types of the parts of an element.
        shapes: their shapes; None leaves them open, but then there is no `dequeue_many`.
        names: of the parts, which makes elements dicts.
        shared_name: under which sessions share the queue.
        name: of the operation.

    Raises:
        ValueError: there is not one shape, or name, for each part.

    Example:
        >>> queue = tf.FIFOQueue(3, tf.int32)
        >>> session.run([queue.enqueue(7)])
        [None]
        >>> int(session.run(queue.dequeue()))
        7
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        element = _element(dtypes, shapes, names)
        made = _handle("FIFOQueue", element, shared_name, capacity=capacity, name=name)
        super().__init__(*element, made)


class PaddingFIFOQueue(QueueBase):
    """A FIFO queue whose elements may differ in unknown dimensions; batches are zero-padded."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        element = _element(dtypes, shapes, names, partial=True)
        kinds, sizes = (len(part) for part in element[:2])
        if kinds != sizes:
            raise ValueError(
                f"Shapes must be provided for all components, but received {kinds} dtypes"
                f" and {sizes} shapes."
            )
        made = _handle("PaddingFIFOQueue", element, shared_name, capacity=capacity, name=name)
        super().__init__(*element, made)


class PriorityQueue(QueueBase):
    """A queue that gives out the element with the smallest first component, an int64 scalar.

    `types` and `shapes` are those of the other components.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        others, other_shapes = element = _as_type_list(types), _as_shape_list(shapes)
        made = _handle("PriorityQueue", element, shared_name, capacity=capacity, name=name)
        shapes = [TensorShape(()), *other_shapes] if other_shapes else other_shapes
        super().__init__([_INT64, *others], shapes, names, made)


_INT64 = types.int64
