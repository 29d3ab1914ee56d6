"""tf.gradients: walks back from ys to xs, adding each op's gradient to the graph.

The loop knows no op by name: what an op's gradient is stands in `op_def.GRADIENTS`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from enum import Enum
from typing import Any

from weft.autodiff import (  # noqa: F401  (register gradients)
    branch_gradient,
    routing_gradients,
    while_gradient,
)
from weft.autodiff.accumulate import AggregationMethod, accumulate
from weft.autodiff.between import (
    Inputs,
    between,
    crossing,
    frontier,
    is_trainable,
    own_inputs,
    pending_counts,
)
from weft.autodiff.call_gradient import call_gradient, python_gradient
from weft.autodiff.loops import LoopGradients
from weft.autodiff.zeros import zeros_outside_loop
from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Graph, device, name_scope
from weft.graph.op_def import GRADIENTS, raw
from weft.graph.operation import Operation
from weft.graph.slices import IndexedSlices
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control.control import tuple_
from weft.ops.control.control_flow_context import is_loop_switch, kind_of
from weft.ops.functions.traced_graph import TracedGraph
from weft.ops.kit.eager import refuse_when_eager
from weft.ops.state.variable_nodes import variable_dims

Gradient = Tensor | IndexedSlices | None


class UnconnectedGradients(Enum):
    """The choices of `gradients` for an x that no y depends on."""

    NONE = "none"
    ZERO = "zero"


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """The derivatives of the sum of `ys` with respect to each of `xs`.

    `grad_ys` weighs the ys; nothing flows back through `stop_gradients`.

    Args:
        ys: a tensor or a list of them.
        xs: tensors, variables or a list of them to differentiate with respect to.
        grad_ys: a tensor like each of `ys`, or None for ones.
        name: the name scope.
        colocate_gradients_with_ops: put each derivative on the device of what it belongs to.
        gate_gradients: hand on no derivative of an operation before all of them are there.
        aggregation_method: how to sum several: one of `tf.AggregationMethod`.
        stop_gradients: tensors to treat as constants.
        unconnected_gradients: whether an x without influence has derivative None or zero.

    Returns:
        A list with a tensor, IndexedSlices or None for each of `xs`.

    Raises:
        LookupError: an operation on the way has no gradient.
        RuntimeError: in eager execution, where tapes give gradients.
        ValueError: arguments do not fit together.

    Example:
        >>> x = tf.constant(3.0)
        >>> session.run(tf.gradients(x * x, [x]))
        [np.float32(6.0)]
    """
    refuse_when_eager(
        "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape"
        " instead."
    )
    return derivatives(
        ys, xs, grad_ys, name, colocate_gradients_with_ops, gate_gradients, aggregation_method,
        stop_gradients, unconnected_gradients,
    )  # fmt: skip


def derivatives(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """As `gradients`, also of operations of eager execution that a tape has recorded."""
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    ys, xs = _as_list(ys), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    graph = _graph_of([*ys, *xs])
    values = [*ys, *xs, *stops, *(g for g in grad_ys if g is not None)]
    with graph.as_default():
        with name_scope(name, "gradients", values):
            walk = _Walk(graph, colocate_gradients_with_ops, gate_gradients, aggregation_method)
            y_tensors = [_differentiable(y, f"y_{i}") for i, y in enumerate(ys)]
            x_tensors = [_source(graph, x, f"x_{i}") for i, x in enumerate(xs)]
            stop_tensors = [_source(graph, s, f"stop_gradients_{i}") for i, s in enumerate(stops)]
            starts = [_start_value(g, f"grad_y_{i}") for i, g in enumerate(grad_ys)]
            found = walk.run(y_tensors, x_tensors, stop_tensors, starts)
        if unconnected is UnconnectedGradients.NONE:
            return found
        # TensorFlow has left its scope when it makes these zeros.
        return [_zeros_of(x) if g is None else g for x, g in zip(x_tensors, found, strict=True)]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _graph_of(values: Sequence[Any]) -> Graph:
    if (default := get_default_graph()).building_function:
        return default
    for value in values:
        graph = getattr(value, "graph", None)
        if isinstance(graph, Graph):
            return graph
    return get_default_graph()


def _handle_or_tensor(value: Any, name: str) -> Tensor:
    """A resource variable is differentiated by its handle: every read of it counts."""
    handle = getattr(value, "handle", None)
    if isinstance(handle, Tensor) and handle.dtype is dtypes.resource:
        return handle
    if isinstance(value, IndexedSlices):
        return value.values
    return convert_to_tensor(value, name=name, as_ref=True)


def _source(graph: Graph, value: Any, name: str) -> Tensor:
    """The tensor of `graph` that gradients are taken by: of what is outside of a function, the
    argument that stands for it.
    """
    tensor = _handle_or_tensor(value, name)
    own = graph.stand_in(tensor)
    if _crosses(graph) and (own.graph is not graph or hasattr(own.op, "_captured")):
        return tensor  # there may be other ways to it, through what is outside
    if own is tensor and own.graph is not graph and hasattr(value, "_ref"):
        read: Tensor = value.value()  # a function takes in the value of a reference variable
        return graph.stand_in(read)
    return own


def _crosses(graph: Graph) -> bool:
    """Whether gradients flow on from arguments of a function to what they stand for outside."""
    return isinstance(graph, TracedGraph)


def _start_value(grad: Any, name: str) -> Any:
    if grad is None or isinstance(grad, IndexedSlices):
        return grad
    return convert_to_tensor(grad, name=name)


def _differentiable(value: Any, name: str) -> Tensor:
    if isinstance(value, IndexedSlices):
        return value.values
    return convert_to_tensor(value, name=name)


class _Walk:
    """One call of `gradients`."""

    def __init__(self, graph: Graph, colocate: bool, gate: bool, method: int | None) -> None:
        self.graph = graph
        self.colocate, self.gate, self.method = colocate, gate, method
        self.grads: dict[Tensor, list[Any]] = {}
        self.summed: set[Tensor] = set()
        self.loops: LoopGradients | None = None
        self.inputs: Inputs = own_inputs

    def run(
        self,
        ys: list[Tensor],
        xs: list[Tensor],
        stops: list[Tensor],
        grad_ys: list[Any],
    ) -> list[Gradient]:
        if len(ys) != len(grad_ys):
            raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
        for i, (y, grad) in enumerate(zip(ys, grad_ys, strict=True)):
            self._add(y, self._start(y, grad, i))
        sources = [x.op for x in xs]
        if _crosses(self.graph):
            self.inputs = crossing(xs)
        passed = between([y.op for y in ys], sources, self.inputs)
        self._add_loops(passed)
        pending = pending_counts(passed, self.inputs)
        ready = deque(dict.fromkeys(y.op for y in ys if y.op in passed and not pending[y.op]))
        if self.loops is not None:
            for tensor in self.loops.unused_exits(pending, set(ready)):
                if is_trainable(tensor.dtype):
                    self._add(tensor, self.loops.zeros_for_exit(tensor))
                    ready.append(tensor.op)
        stop_ops = frontier(sources, pending, self.inputs) | {t.op for t in stops}
        while ready:
            op = ready.popleft()
            with self._beside(op):
                with self._context(op, before=True):
                    sums = self._collect(op)
                if any(g is not None for g in sums) and op not in stop_ops:
                    with self._context(op, before=False):
                        self._check_not_initial_value(op, sources)
                        self._backprop(op, sums)
            self._note_done(op, pending, ready)
        if self.loops is not None:
            self.loops.finish()
        return [self._result(x) for x in xs]

    def _add_loops(self, passed: dict[Operation, None]) -> None:
        """Makes backward loops; gradients pass through all exits of a loop, or none."""
        for op in (queue := list(passed)):
            if kind_of(op) == "exit":
                if self.loops is None:
                    self.loops = LoopGradients()
                with self._beside(op):
                    exits = self.loops.add_loop(op)
                queue.extend(other for other in exits if other not in passed)
                passed.update(dict.fromkeys(exits))

    def _context(self, op: Operation, before: bool) -> Any:
        return nullcontext() if self.loops is None else self.loops.backward_context(op, before)

    def _check_not_initial_value(self, op: Operation, sources: list[Operation]) -> None:
        """Inside a loop, gradients do not reach back to the iterations before."""
        context = op._get_control_flow_context()
        if kind_of(op) != "switch" or context is None or not context.IsWhileContext():
            return
        if context is self.graph._get_control_flow_context():
            reached = between([op], sources)
            target = next((source for source in sources if source in reached), op)
            raise ValueError(
                f"Cannot compute gradient inside while loop with respect to op '{target.name}'. We"
                " do not support taking the gradient wrt or through the initial value of a loop"
                " variable. Gradients can be computed through loop invariants or wrt the input"
                " parameters to the loop body."
            )

    def _note_done(
        self, op: Operation, pending: dict[Operation, int], ready: deque[Operation]
    ) -> None:
        """Counts down what the sources of `op` wait for; those that wait no more are ready."""
        for tensor in self.inputs(op):
            source = tensor.op
            pending[source] -= 1
            if pending[source] == 0 and kind_of(source) == "exit":
                assert self.loops is not None
                exits, unused = self.loops.exit_ready(tensor, self._has_gradient)
                for unneeded in unused:
                    if is_trainable(unneeded.dtype):
                        self._add(unneeded, self.loops.zeros_for_exit(unneeded))
                ready.extend(t.op for t in exits)
            elif pending[source] == 0:
                ready.append(source)
            elif pending[source] > 0 and self.loops is not None and is_loop_switch(source):
                # Its gradients from the exit and from the body go different ways.
                ready.append(source)

    def _has_gradient(self, op: Operation) -> bool:
        return any(self.grads.get(tensor) for tensor in op.outputs)

    def _add(self, tensor: Tensor, grad: Any) -> None:
        # Only the Switch of a loop is met again after its gradients were summed.
        if tensor in self.summed:
            self.grads[tensor] = [grad]
        else:
            self.grads.setdefault(tensor, []).append(grad)

    def _start(self, y: Tensor, grad: Any, i: int) -> Any:
        if grad is None:
            if y.dtype.is_complex:
                raise TypeError(
                    f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})"
                )
            with self._beside(y.op):
                shape = array.shape(y)
                return raw.Fill(shape, constant(1, y.dtype.base_dtype, name=f"grad_ys_{i}"))
        if y.dtype.is_floating or y.dtype.is_integer:
            if not (grad.dtype.is_floating or grad.dtype.is_integer):
                raise TypeError(
                    f"Gradient type {grad.dtype.name} generated for real or integer-valued tensor"
                    f" {y} with type {y.dtype.name} must be real or integer"
                )
        elif y.dtype.is_complex and not grad.dtype.is_complex:
            raise TypeError(
                f"Gradient type {grad.dtype.name} generated for complex-valued tensor {y} with type"
                f" {y.dtype.name} must be complex"
            )
        if isinstance(grad, Tensor):
            grad = raw.Identity(grad, name=f"grad_ys_{i}")
        return grad

    def _collect(self, op: Operation) -> list[Any]:
        """The sums of the gradients that arrived at each output."""
        found = []
        for tensor in op.outputs:
            arrived = self.grads.get(tensor)
            total = accumulate(arrived, self.method, op.name) if arrived else None
            if total is not None:
                self.grads[tensor] = [total]
            self.summed.add(tensor)
            found.append(total)
        return found

    def _backprop(self, op: Operation, sums: list[Any]) -> None:
        function = gradient_function(op)
        if function is None:
            return
        out = sums if hasattr(op, "_takes_missing_gradients") else self._filled(op, sums)
        with name_scope(op.name + "_grad"), self.graph._original_op(op):
            found = function(op, *out)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            if len(found) != len(op.inputs):
                raise ValueError(
                    f"Num gradients {len(found)} generated for op {op.node_def} do not match num"
                    f" inputs {len(op.inputs)}"
                )
            found = [_unwrap(g) for g in found]
            if self.gate and sum(g is not None for g in found) > 1:
                with device(None), self.graph.colocate_with(None, ignore_existing=True):
                    found = _gated(found)
        for i, (tensor, grad) in enumerate(zip(self.inputs(op), found, strict=True)):
            if grad is not None:
                self._add(tensor, _checked(op, i, tensor, grad))

    def _filled(self, op: Operation, sums: list[Any]) -> list[Any]:
        """Gradients with zeros for outputs that nothing has come for."""
        return [
            self._zeros(op, i) if g is None and is_trainable(op.outputs[i].dtype) else g
            for i, g in enumerate(sums)
        ]

    def _zeros(self, op: Operation, i: int) -> Any:
        if self.loops is None:
            return zeros_outside_loop(op, i)
        return self.loops.zeros_like(op, i)

    def _result(self, x: Tensor) -> Gradient:
        arrived = self.grads.get(x)
        if not arrived:
            return None
        with self._beside(x.op):
            return accumulate(arrived, self.method, x.op.name)

    def _beside(self, op: Operation) -> Any:
        return self.graph.colocate_with(op) if self.colocate else nullcontext()


def gradient_function(op: Operation) -> Callable[..., Any] | None:
    """The function that differentiates `op`; LookupError if there is none."""
    own = getattr(op, "_gradient_function", None)
    if own is not None:
        return own
    name = op.attrs.get("_gradient_op_type", op.type)
    if op.definition.calls == "function" and name == op.type:
        return python_gradient(op) or call_gradient
    if name not in GRADIENTS:
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})")
    return GRADIENTS[name]


def _unwrap(grad: Any) -> Any:
    return (
        grad
        if grad is None or isinstance(grad, (Tensor, IndexedSlices))
        else convert_to_tensor(grad)
    )


def _checked(op: Operation, i: int, tensor: Tensor, grad: Any) -> Any:
    if isinstance(grad, Tensor) and tensor.dtype is not dtypes.resource:
        if grad.dtype.base_dtype != tensor.dtype.base_dtype:
            if is_trainable(grad.dtype) and is_trainable(tensor.dtype):
                raise ValueError(
                    f"Gradient of type {grad.dtype.name} generated by {op.type} {op.name!r} for"
                    f" {tensor.name} of type {tensor.dtype.name}"
                )
        try:
            grad.set_shape(tensor.shape)
        except ValueError:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient.  Forward"
                f" operation: {op.name}.  Input index: {i}. Original input shape: {tensor.shape}.  "
                f"Calculated input gradient shape: {grad.shape}"
            ) from None
    return grad


def _gated(grads: list[Any]) -> list[Any]:
    kept = [i for i, g in enumerate(grads) if g is not None]
    for i, gated in zip(kept, tuple_([grads[i] for i in kept]), strict=True):
        grads[i] = gated
    return grads


def _zeros_of(tensor: Tensor) -> Any:
    if tensor.dtype is dtypes.resource:
        return array.zeros(variable_dims(tensor), tensor.op.attrs.get("dtype", dtypes.float32))
    return array.zeros_like(tensor)


__all__ = ["AggregationMethod", "UnconnectedGradients", "gradients"]
