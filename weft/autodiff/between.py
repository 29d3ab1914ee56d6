"""What lies between ys and xs: the operations that gradients pass through."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.walk import reached
from weft.graph.operation import Operation
from weft.ops.kit.eager import EagerGraph


def is_trainable(dtype: DType) -> bool:
    """Whether gradients flow through values of this type."""
    return dtype.base_dtype in (
        dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64,
        dtypes.complex128, dtypes.resource, dtypes.variant,
    )  # fmt: skip


def between(ys: list[Operation], xs: list[Operation]) -> dict[Operation, None]:
    """Operations on a path from an x to a y, those nearest to the ys first."""
    eager = any(isinstance(op.graph, EagerGraph) for op in ys)
    after = _after_eagerly(ys, xs) if eager else _after(xs)
    found: dict[Operation, None] = {}
    queue = deque(ys)
    while queue:
        op = queue.popleft()
        if op in after and op not in found:
            found[op] = None
            queue.extend(tensor.op for tensor in op.inputs)
    return found


def _after(xs: list[Operation]) -> set[Operation]:
    """Operations that values flow to from one of `xs`."""
    return reached(
        xs, lambda op: [c for t in op.outputs if is_trainable(t.dtype) for c in t._consumers]
    )


def _after_eagerly(ys: list[Operation], xs: list[Operation]) -> set[Operation]:
    """The same, of those behind `ys`: tensors of eager execution do not know who takes them."""
    behind = reached(ys, lambda op: [tensor.op for tensor in op.inputs])
    found = set(xs)
    for op in sorted(behind, key=lambda op: op._id):  # in the order they were computed
        if any(t.op in found and is_trainable(t.dtype) for t in op.inputs):
            found.add(op)
    return found


def pending_counts(passed: Iterable[Operation]) -> dict[Operation, int]:
    """How many edges inside `passed` each operation still awaits gradients from."""
    return Counter(t.op for op in passed for t in op.inputs if t.op in passed)


def frontier(sources: list[Operation], pending: dict[Operation, int]) -> set[Operation]:
    """The sources that no other source feeds: nothing behind them is asked for."""
    return {op for op in sources if all(pending.get(tensor.op, 0) <= 0 for tensor in op.inputs)}
