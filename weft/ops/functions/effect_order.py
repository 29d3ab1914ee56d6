"""Automatic control dependencies: inside of a `tf.function`, effects happen as written.

What changes a variable waits for all that looked at it or changed it before; what looks at it waits
for the last change. Effects on nothing in particular (printing, Python functions) keep their order
among each other. Random draws have no order.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.core import dtypes
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


class _History:
    """The last writer of a resource, and its readers since."""

    def __init__(self) -> None:
        self.changed: Operation | None = None
        self.looked: list[Operation] = []

    def look(self, op: Operation) -> None:
        if self.changed is not None:
            _wait(op, self.changed)
        self.looked.append(op)

    def change(self, op: Operation) -> None:
        for earlier in self.looked or ([self.changed] if self.changed else []):
            _wait(op, earlier)
        self.changed, self.looked = op, []


def order_effects(ops: Sequence[Operation]) -> None:
    """Adds control inputs to operations, which are given in the order they were made."""
    of: dict[Tensor | None, _History] = {}
    for op in ops:
        if not _counts(op):
            continue
        things: list[Tensor | None] = list(dict.fromkeys(map(_source, _handles(op))))
        if not things or op.definition.calls:
            things.append(None)
        for thing in things:
            history = of.setdefault(thing, _History())
            (history.look if op.definition.reads_only else history.change)(op)


def _counts(op: Operation) -> bool:
    kind = op.definition
    if op._get_control_flow_context() is not None or op.type.startswith("Placeholder"):
        return False
    touches = kind.stateful or any(t.dtype._is_ref_dtype for t in op.inputs)
    return touches and not kind.is_handle and not kind.takes_rng


def _handles(op: Operation) -> list[Tensor]:
    return [
        tensor
        for tensor in op.inputs
        if tensor.dtype.base_dtype is dtypes.resource or tensor.dtype._is_ref_dtype
    ]


def _source(tensor: Tensor) -> Tensor:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _wait(op: Operation, earlier: Operation) -> None:
    if earlier is not op and earlier not in op._control_inputs:
        op._add_control_input(earlier)
