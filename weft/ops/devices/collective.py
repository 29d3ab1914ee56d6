"""Reductions and broadcasts among the members of a group, which name each other by keys.

Members are nodes of one process. Each waits, without a thread, until all of its group are there;
what they give is then combined in the order of their devices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from weft.core.deferred import Deferred
from weft.core.errors import InternalError
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import BLOCKING, HOST_STATE
from weft.ops.kit.shared import invalid

_TYPES = "T: {float, half, double, int32, int64}"
_GROUP = "group_size: int, group_key: int, instance_key: int"
_HINT = 'communication_hint: string = "auto"'
_HOST = HOST_STATE | BLOCKING

Value = Any
Combine = Callable[[list[Value]], Value]


class Meeting:
    """The meeting of the members of one instance of a collective, which wait for each other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.present: dict[str, tuple[Value, Deferred]] = {}

    def join(self, member: str, value: Value, size: int, combine: Combine) -> Value:
        """The result of `combine` for the values of all `size` members, or a promise of it."""
        promise = Deferred(on_cancel=lambda: self._leave(member), then=lambda found: [found])
        with self.lock:
            if member in self.present:
                raise InternalError(None, None, f"{member} is in this collective already.")
            self.present[member] = value, promise
            if len(self.present) < size:
                return promise
            all_present, self.present = self.present, {}
        _finish(all_present, combine)
        return promise

    def _leave(self, member: str) -> None:
        with self.lock:
            self.present.pop(member, None)


def _finish(present: dict[str, tuple[Value, Deferred]], combine: Combine) -> None:
    try:
        found = combine([present[member][0] for member in sorted(present)])
    except Exception as error:
        for _, promise in present.values():
            promise.fail(error)
        return
    for _, promise in present.values():
        promise.complete(found)


# By the keys of group and instance. Devices and servers of a process have stores of their own, but
# their nodes are members of the same groups.
_MEETINGS: dict[str, Meeting] = {}


def _meet(ctx: Any, value: Value, combine: Combine) -> Value:
    attrs = ctx.node.attrs
    size = attrs["group_size"]
    if size <= 0:
        raise invalid(f"group_size must be positive integer but got {size}")
    if size == 1:
        return combine([value])
    return meet(ctx, f"{attrs['group_key']}/{attrs['instance_key']}", size, value, combine)


def meet(ctx: Any, key: str, size: int, value: Value, combine: Combine) -> Value:
    """The result of `combine` for what `size` nodes bring to the meeting `key`, or a promise."""
    member = f"{ctx.node.device or ''} {ctx.node.name}"
    return _MEETINGS.setdefault(key, Meeting()).join(member, value, size, combine)


def same_shapes(values: list[Value], wanted: Dims = None) -> None:
    """Raises an error if the members of a collective bring values of different shapes."""
    for value in values:
        try:
            s.merge(s.merge(np.shape(values[0]), np.shape(value)), wanted)
        except ValueError:
            raise invalid(
                f"Shapes of the members of a collective differ: {s.show(np.shape(values[0]))} and"
                f" {s.show(np.shape(value))}"
            ) from None


# ---- operations ----------------------------------------------------------------------------------

_WAYS: dict[str, Callable[[Value, Value], Value]] = {
    "Min": np.minimum, "Max": np.maximum, "Mul": np.multiply, "Add": np.add,
}  # fmt: skip


def _divided(total: Value, count: int) -> Value:
    """Quotients of integers are cut off, as C does."""
    kind = np.asarray(total).dtype
    if kind.kind == "f":
        return (total / kind.type(count)).astype(kind)
    return (np.sign(total) * (np.abs(total) // count)).astype(kind)


@op(
    "CollectiveReduce", inputs="input: T", outputs="data: T",
    attrs=f'{_TYPES}, {_GROUP}, merge_op: {{"Min", "Max", "Mul", "Add"}},'
    f' final_op: {{"Id", "Div"}}, subdiv_offsets: list(int), wait_for: list(int) = [], {_HINT}',
    shape=s.unchanged, traits=_HOST,
)  # fmt: skip
def collective_reduce_(xp: Any, ctx: Any, input: Value, *, merge_op: str, final_op: str) -> Value:
    def combine(values: list[Value]) -> Value:
        same_shapes(values)
        total = np.asarray(reduce(_WAYS[merge_op], values))
        return _divided(total, len(values)) if final_op == "Div" else total

    return _meet(ctx, input, combine)


# How far the key of a gradient's sum is from that of the node: nodes are fewer.
_GRADIENT_KEYS = 1 << 20


def _summed(node: Operation, grad: Any) -> Any:
    """The sum of what all members have for gradients."""
    return raw.CollectiveReduce(
        grad, merge_op="Add", final_op="Id", subdiv_offsets=[0],
        group_size=node.get_attr("group_size"), group_key=node.get_attr("group_key"),
        instance_key=node.get_attr("instance_key") + _GRADIENT_KEYS,
    )  # fmt: skip


@collective_reduce_.gradient
def _(node: Operation, grad: Any) -> Any:
    """The sum of the members' gradients; TensorFlow has none."""
    if node.get_attr("merge_op") != b"Add":
        raise LookupError("No gradient defined for CollectiveReduce except Add.")
    total = _summed(node, grad)
    return total / node.get_attr("group_size") if node.get_attr("final_op") == b"Div" else total


def _gathered_shape(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    if dims is None:
        return None
    return (None if dims[0] is None else dims[0] * c.attr("group_size"), *dims[1:])


@op(
    "CollectiveGather", inputs="input: T", outputs="data: T",
    attrs=f"{_TYPES}, {_GROUP}, shape: shape, {_HINT}", shape=_gathered_shape, traits=_HOST,
)  # fmt: skip
def collective_gather_(xp: Any, ctx: Any, input: Value) -> Value:
    def combine(values: list[Value]) -> Value:
        same_shapes(values)
        return np.concatenate(values)

    return _meet(ctx, input, combine)


def _sent(values: list[Value], wanted: Dims) -> Value:
    """The one value that is not missing."""
    sent = [value for value in values if value is not None]
    if len(sent) != 1:
        raise InternalError(None, None, f"A broadcast has {len(sent)} senders; it needs one.")
    same_shapes(sent, wanted)
    return sent[0]


_SHAPED = f"{_TYPES}, {_GROUP}, shape: shape, {_HINT}"


@op(
    "CollectiveBcastSend", inputs="input: T", outputs="data: T", attrs=_SHAPED,
    shape=s.from_attr("shape"), traits=_HOST,
)  # fmt: skip
def collective_bcast_send_(xp: Any, ctx: Any, input: Value, *, shape: Dims) -> Value:
    return _meet(ctx, input, lambda values: _sent(values, shape))


@op(
    "CollectiveBcastRecv",
    outputs="data: T",
    attrs=_SHAPED,
    shape=s.from_attr("shape"),
    traits=_HOST,
)
def collective_bcast_recv_(xp: Any, ctx: Any, *, shape: Dims) -> Value:
    return _meet(ctx, None, lambda values: _sent(values, shape))
