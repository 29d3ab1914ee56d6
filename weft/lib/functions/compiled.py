"""Functions of the library as eager execution calls them: a call is one operation, and a program.

A tape sees the operation. While one records, the function hands on what its gradient needs, as a
call in a graph does (`autodiff/call_gradient.py`); its gradient is such a function in turn.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from weft.autodiff.call_gradient import add_node
from weft.autodiff.functions import (
    ForwardBackward,
    add_body,
    differentiate_connected_body,
    late_arguments,
)
from weft.client.eager import EagerExecution
from weft.core import dtypes, errors, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import Body
from weft.graph.graph import get_default_graph
from weft.graph.op_def import FuncRef, lookup, raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.passes.inline import inline
from weft.passes.prune import prune
from weft.runtime.functions import BoundInstance

_MAX_PROGRAMS = 16  # of one function, for variables that differ


class CompiledFunction:
    """A function to be called with tensors that have values.

    `library` holds the functions that it names.
    """

    def __init__(self, function: LibraryFunction, library: dict[str, Any]) -> None:
        self._function, self._library = function, library
        self._body = body = function.body({}, library)
        stateful = function.message.signature.is_stateful
        self._definition = lookup("StatefulPartitionedCall" if stateful else "PartitionedCall")
        self._inputs = [tensor.dtype.base_dtype for tensor in body.inputs]
        self._types = [tensor.dtype.base_dtype for tensor in body.outputs]
        self._handles = [i for i, each in enumerate(self._inputs) if each is dtypes.resource]
        self._programs: dict[tuple[int, ...], BoundInstance] = {}
        self._orders: list[Differentiated] = []
        self._failure: Exception | None = None  # why there is no gradient

    def __call__(self, graph: EagerExecution, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The results, which a tape that records can differentiate."""
        if not graph.recorders:
            return self.add_call(graph, inputs).outputs
        order = self._order(graph.recorders)
        if isinstance(order, Differentiated) and order.has_gradient:
            return order.call(graph, inputs)
        op: Any = self.add_call(graph, inputs)
        # Raised if a gradient is asked for; without one, none goes on from here.
        op._gradient_function = (
            functools.partial(_refuse, order) if isinstance(order, Exception) else _no_gradients
        )
        return list(op.outputs)

    def add_call(self, graph: EagerExecution, inputs: Sequence[Tensor]) -> Operation:
        """The call as an operation that has been done."""
        name = self._function.name
        for i, (tensor, wanted) in enumerate(zip(inputs, self._inputs, strict=True)):
            if tensor.dtype is not wanted:
                raise errors.InvalidArgumentError(
                    None, None,
                    f"cannot compute {name} as input #{i}(zero-based) was expected to be a"
                    f" {wanted.name} tensor but is a {tensor.dtype.name} tensor [Op:{name}]",
                )  # fmt: skip
        attrs = {"f": FuncRef(name), "Tin": self._inputs, "Tout": self._types}
        run = functools.partial(self._run, graph)
        return graph.add_call(self._definition, tuple(inputs), self._types, attrs, name, run)

    def _run(self, graph: EagerExecution, values: list[Any]) -> list[Any]:
        variables = tuple([id(values[i]) for i in self._handles])
        program = self._programs.get(variables)
        if program is None:
            if len(self._programs) >= _MAX_PROGRAMS:
                self._programs.clear()
            program = self._programs[variables] = self._program(graph, values)
        return program(values)

    def _program(self, graph: EagerExecution, values: list[Any]) -> BoundInstance:
        body = self._body
        for function in body.graph._functions.values():  # kernels look for them there
            add_function(graph, function)
        planned = prune(body.inputs, body.outputs, body.effects)
        inline(planned, self._library, (self._function.name,))
        return BoundInstance(planned, graph._resources, values, self._function.name)

    # ---- gradients ----

    def _order(self, wanted: int) -> Differentiated | Exception:
        """The function of which gradients can be taken so often, one of the other; or why not."""
        made = self._orders
        while len(made) < wanted and not (made and made[-1].is_closed):
            if self._failure is not None:
                return self._failure
            try:
                lower = made[-1] if made else None
                made.append(Differentiated(self._function, self._library, lower))
            except (LookupError, TypeError, ValueError) as error:
                self._failure = error
        return made[min(wanted, len(made)) - 1]

    def add_node(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The results where a gradient is asked for: at once, or from a node of a function."""
        graph = get_default_graph()
        if isinstance(graph, EagerExecution):
            return self(graph, inputs)
        for function in [*self._body.graph._functions.values(), self._function]:
            add_function(graph, function)
        return add_node(graph, FuncRef(self._function.name), list(inputs))


class Differentiated:
    """A function that hands on what its gradient needs, with that gradient.

    Gradients of it flow back to what it hands on. With `lower`, that of one order less, there is a
    gradient by all that `lower` hands on; with what this takes besides, gradients can be taken one
    more time. `is_closed`: that is nothing, so they can be taken any number of times.
    """

    def __init__(
        self,
        function: LibraryFunction,
        library: dict[str, Any],
        lower: Differentiated | None = None,
    ) -> None:
        body = function.new_body({}, library)
        self._lower, self._results = lower, len(body.outputs)
        self._depth: int = 1 if lower is None else lower._depth + 1
        side, self._found = _differentiated(body)
        for _ in range(self._depth - 1):
            wider = replace(body, outputs=[*side.body.outputs, *_not_returned(side)])
            side, self._found = _differentiated(wider)
        self.has_gradient, self.is_closed = bool(self._found), not _not_returned(side)
        self._reach = len(side.body.outputs)  # so many outputs have a gradient
        if self.has_gradient:
            self._cut(function.name, side)

    def _cut(self, name: str, side: ForwardBackward) -> None:
        body, graph = side.body, side.body.graph
        results = [*body.outputs, *_not_returned(side)]
        late = late_arguments(body)
        inputs = [*side.dys, *body.inputs, *side.saved, *late.values()]
        forward = add_body(graph, f"{name}_forward", side.forward, body.inputs, results, keep=True)
        backward = add_body(graph, f"{name}_backward", side.backward, inputs, side.dxs, keep=True)
        self._forward, self._backward = (
            CompiledFunction(graph._functions[each.name], graph._functions)
            for each in (forward, backward)
        )
        self._outputs, self._inputs, self._late = side.outputs, side.inputs, list(late)
        places = {tensor: i for i, tensor in enumerate(results)}
        self._saved = [places[tensor] for tensor in side.saved]

    def call(self, graph: EagerExecution, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The results of the function itself."""
        op: Any = self._forward.add_call(graph, inputs)
        op._gradient_function, op._takes_missing_gradients = self._gradient, True
        found: list[Tensor] = op.outputs[: self._results]
        return found

    def _gradient(self, op: Operation, *grads: Any) -> list[Any]:
        if self._lower is not None and not _any(grads[self._lower._reach :]):
            return self._lower._gradient(op, *grads)
        if _any(grads[self._reach :]):
            raise RuntimeError(
                f"A gradient of {op.attrs['f'].name} is to be differentiated more often than tapes"
                " recorded its call."
            )
        given = [_dense(grads[i], op.outputs[i]) for i in self._outputs]
        saved = [op.outputs[i] for i in self._saved]
        results = self._backward.add_node([*given, *op.inputs, *saved, *self._late])
        packed = nest.pack_sequence_as(self._found, results, expand_composites=True)
        places = dict(zip(self._inputs, packed, strict=True))
        return [places.get(i) for i in range(len(op.inputs))]


def _differentiated(body: Body) -> tuple[ForwardBackward, list[Any]]:
    return differentiate_connected_body(body, [True] * len(body.outputs))


def _not_returned(side: ForwardBackward) -> list[Tensor]:
    """The tensors to hand on that are not results anyway."""
    returned = set(side.body.outputs)
    return [tensor for tensor in side.saved if tensor not in returned]


def _refuse(error: Exception, op: Operation, *grads: Any) -> Any:
    raise error


def _no_gradients(op: Operation, *grads: Any) -> list[None]:
    return [None] * len(op.inputs)


def _any(grads: Sequence[Any]) -> bool:
    return any(grad is not None for grad in grads)


def _dense(grad: Any, like: Tensor) -> Tensor:
    return raw.ZerosLike(like) if grad is None else convert_to_tensor(grad)
