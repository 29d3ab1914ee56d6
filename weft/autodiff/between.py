"""The operations between ys and xs, which gradients pass through."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.walk import reached
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.kit.eager import EagerGraph


def is_trainable(dtype: DType) -> bool:
    """Whether gradients flow through values of this type."""
    return dtype.base_dtype in (
        dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64,
        dtypes.complex128, dtypes.resource, dtypes.variant,
    )  # fmt: skip


Inputs = Callable[[Operation], Sequence[Tensor]]


def own_inputs(op: Operation) -> Sequence[Tensor]:
    return op.inputs


def crossing(xs: Sequence[Tensor]) -> Inputs:
    """Inputs of operations, beyond the edge of the function they are in: in the place of an
    argument that stands for a tensor outside, that tensor; not of one of `xs`.
    """
    asked = set(xs)

    def origin(tensor: Tensor) -> Tensor:
        while tensor not in asked and hasattr(tensor.op, "_captured"):
            tensor = tensor.op._captured
        return tensor

    return lambda op: [origin(tensor) for tensor in op.inputs]


def between(
    ys: list[Operation], xs: list[Operation], inputs: Inputs = own_inputs
) -> dict[Operation, None]:
    """Operations on a path from an x to a y, those nearest to the ys first."""
    if any(isinstance(op.graph, EagerGraph) for op in ys):
        after = _after_eagerly(ys, xs)
    else:
        after = _after(xs) if inputs is own_inputs else _after_across(ys, xs, inputs)
    found: dict[Operation, None] = {}
    queue = deque(ys)
    while queue:
        op = queue.popleft()
        if op in after and op not in found:
            found[op] = None
            queue.extend(tensor.op for tensor in inputs(op))
    return found


def _after(xs: list[Operation]) -> set[Operation]:
    """Operations that values flow to from one of `xs`."""
    return reached(
        xs, lambda op: [c for t in op.outputs if is_trainable(t.dtype) for c in t._consumers]
    )


def _after_across(ys: list[Operation], xs: list[Operation], inputs: Inputs) -> set[Operation]:
    """As `_after`, of the operations behind `ys`, in several graphs."""
    users: dict[Operation, list[Operation]] = defaultdict(list)
    for op in reached(ys, lambda op: [tensor.op for tensor in inputs(op)]):
        for tensor in inputs(op):
            if is_trainable(tensor.dtype):
                users[tensor.op].append(op)
    return reached(xs, lambda op: users[op])


def _after_eagerly(ys: list[Operation], xs: list[Operation]) -> set[Operation]:
    """As `_after`, of the operations behind `ys`: eager tensors do not know their users."""
    behind = reached(ys, lambda op: [tensor.op for tensor in op.inputs])
    found = set(xs)
    for op in sorted(behind, key=lambda op: op._id):  # in the order they were computed
        if any(t.op in found and is_trainable(t.dtype) for t in op.inputs):
            found.add(op)
    return found


def pending_counts(
    passed: Iterable[Operation], inputs: Inputs = own_inputs
) -> dict[Operation, int]:
    """How many edges inside `passed` each operation still awaits gradients from."""
    return Counter(t.op for op in passed for t in inputs(op) if t.op in passed)


def frontier(
    sources: list[Operation], pending: dict[Operation, int], inputs: Inputs = own_inputs
) -> set[Operation]:
    """The sources that no other source feeds: nothing behind them is asked for."""
    return {op for op in sources if all(pending.get(tensor.op, 0) <= 0 for tensor in inputs(op))}
