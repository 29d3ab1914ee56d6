"""Stacks: where a loop keeps what its gradient needs. One per step and execution of the node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST, HOST_STATE, NO_GRADIENT
from weft.ops.kit.row_updates import put_row, take_row


class Whole(NamedTuple):
    """What a program has pushed: `length` rows of an array, or one value so many times."""

    rows: Any
    known: Any
    length: int


class Stack:
    """A last-in, first-out list of values: `whole`, as a program has left them, or else `items`."""

    def __init__(self, name: str, max_size: int) -> None:
        self.name, self.max_size = name, max_size
        self.items: list[Any] | None = []
        self.whole: Whole | None = None

    def hold(self, whole: Whole) -> None:
        """Takes what a program has pushed on the stack while it was empty."""
        self.items, self.whole = [], whole

    def drop(self, count: int) -> None:
        """Keeps the first `count` values."""
        if self.whole is not None:
            self.whole = self.whole._replace(length=count)
        elif self.items is not None:
            del self.items[count:]

    def _take_apart(self, whole: Whole) -> None:
        rows = [whole.known] * whole.length if whole.rows is None else np.asarray(whole.rows)
        self.items, self.whole = list(rows[: whole.length]), None

    def push(self, value: Any) -> None:
        if self.whole is not None:
            self._take_apart(self.whole)
        if self.items is None:
            raise errors.InvalidArgumentError(
                None, None, f"Stack[{self.name}] has already been closed."
            )
        if 0 <= self.max_size <= len(self.items):
            raise errors.InvalidArgumentError(
                None, None, f"Stack[{self.name}] overflowed its max_size ({self.max_size})"
            )
        self.items.append(value)

    def pop(self) -> Any:
        if self.whole is not None:
            self._take_apart(self.whole)
        if self.items is None:
            raise errors.InvalidArgumentError(
                None, None, f"Stack[{self.name}] has already been closed."
            )
        if not self.items:
            raise errors.InvalidArgumentError(
                None, None, f"Stack[{self.name}] is empty when calling Pop()."
            )
        return self.items.pop()

    def close(self) -> None:
        self.items = self.whole = None


_ATTRS = 'elem_type: type, stack_name: string = ""'


@op(
    "StackV2", inputs="max_size: int32", outputs="handle: resource", attrs=_ATTRS,
    shape=lambda c: (2,), traits=HOST_STATE,
)  # fmt: skip
def stack_v2(xp: Any, ctx: Any, max_size: Any, *, stack_name: str) -> Stack:
    return Stack(stack_name or ctx.node.name, int(max_size))


@op(
    "StackPushV2", inputs="handle: resource, elem: T", outputs="output: T",
    attrs="T: type, swap_memory: bool = false", shape=lambda c: c.dims(1), traits=HOST_STATE,
)  # fmt: skip
def stack_push_v2(xp: Any, handle: Stack, elem: Any) -> Any:
    handle.push(elem)
    return elem


@op(
    "StackPopV2", inputs="handle: resource", outputs="elem: elem_type", attrs="elem_type: type",
    shape=s.unknown, traits=HOST_STATE,
)  # fmt: skip
def stack_pop_v2(xp: Any, handle: Stack) -> Any:
    return handle.pop()


@op(
    "StackCloseV2", inputs="handle: resource", shape=s.none, traits=HOST_STATE,
)  # fmt: skip
def stack_close_v2(xp: Any, handle: Stack) -> None:
    handle.close()


@op(
    "Stack", outputs="handle: ref(string)", attrs=_ATTRS, shape=lambda c: (2,),
    traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def stack(xp: Any, ctx: Any, *, stack_name: str) -> Stack:
    return Stack(stack_name or ctx.node.name, -1)


@op(
    "StackPush", inputs="handle: ref(string), elem: T", outputs="output: T",
    attrs="T: type, swap_memory: bool = false", shape=lambda c: c.dims(1),
    traits=HOST | NO_GRADIENT,
)  # fmt: skip
def stack_push(xp: Any, handle: Stack, elem: Any) -> Any:
    handle.push(elem)
    return elem


@op(
    "StackPop", inputs="handle: ref(string)", outputs="elem: elem_type", attrs="elem_type: type",
    shape=s.unknown, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def stack_pop(xp: Any, handle: Stack) -> Any:
    return handle.pop()


@op("StackClose", inputs="handle: ref(string)", shape=s.none, traits=HOST | NO_GRADIENT)
def stack_close(xp: Any, handle: Stack) -> None:
    handle.close()


# Under tracing the same kernels work on a stack that lives in the program (TracedStack).
for _op in (stack_push_v2, stack_pop_v2, stack_close_v2):
    _op.traced(_op.kernel)


@stack_v2.traced
def _(xp: Any, ctx: Any, max_size: Any, *, stack_name: str) -> Any:
    return ctx.add(TracedStack(xp, ctx))


class TracedStack:
    """A stack inside a compiled program: a buffer as long as the loops around its pushes allow.

    What a trace knows inside of a loop, a shape, is the same in all iterations: it needs no buffer.
    """

    def __init__(self, xp: Any, ctx: Any) -> None:
        self.xp, self.ctx = xp, ctx
        self.state: Any = None  # (buffer, how many)
        self.known: Any = None

    def push(self, value: Any) -> None:
        self._check_place()
        if hasattr(value, "zeros_like") or not hasattr(value, "shape"):
            raise NotImplementedError("a list or an array of tensors is pushed on a stack")
        if self._push_known(value):
            return
        value = self.xp.asarray(value)
        if self.state is None:
            # A loop that never runs is traced all the same, and needs a row to index.
            blank = self.xp.zeros((max(1, self.ctx.rows()), *value.shape), value.dtype)
            self.state = blank, self.xp.asarray(0, np.int32)
        buffer, count = self.state
        if self.ctx.guesses:
            self.ctx.watch(count, buffer.shape[0])
        self.state = put_row(self.xp.asarray(buffer), count, value), count + 1

    def _push_known(self, value: Any) -> bool:
        """Whether `value` is known and all that the stack has ever held."""
        fixed = isinstance(value, (np.ndarray, np.generic)) and bool(self.ctx.bounds)
        if self.known is None:
            if fixed and self.state is None:
                self.known = value
            return self.known is not None
        if not (fixed and np.array_equal(self.known, value)):
            raise NotImplementedError("a stack holds a value that is known, and others")
        return True

    def _check_place(self) -> None:
        """Gradients use stacks in loops, as they should. Others are looked after when they run."""
        if not self.ctx.bounds:
            raise NotImplementedError("a stack is used outside of loops")

    def pop(self) -> Any:
        self._check_place()
        if self.known is not None:
            return self.known
        if self.state is None:
            raise NotImplementedError("a stack is popped before anything was pushed")
        buffer, count = self.state
        self.state = buffer, count - 1
        return take_row(self.xp.asarray(buffer), count - 1)

    def close(self) -> None:
        self.state = None
