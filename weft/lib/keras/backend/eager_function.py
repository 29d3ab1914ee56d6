"""K.function in eager execution: a part of the models' graph as one program, on its variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.client.feeds import to_array
from weft.core import nest
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.keras.backend.function import Function
from weft.lib.keras.backend.symbolic import eager_program, in_model_graph
from weft.ops.kit.eager import EagerTensor
from weft.passes.inline import inline
from weft.passes.prune import prune
from weft.runtime.functions import BoundInstance, library_of


class EagerFunction(Function):
    """As `Function`, without a session."""

    @in_model_graph
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def __call__(self, inputs: Any) -> Any:
        given = nest.flatten(inputs, expand_composites=True)
        fed = [(t, v) for t, v in zip(self.inputs, given, strict=False) if v is not None]
        fed += list((self.feed_dict or {}).items())
        run = self._program(tuple(tensor for tensor, _ in fed))
        results = run([_as_fed(tensor, value) for tensor, value in fed])
        count = len(self.outputs)
        for fetch, value in zip(self.fetches, results[count:], strict=True):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return nest.pack_sequence_as(
            self._outputs_structure, results[:count], expand_composites=True
        )

    def _program(self, fed: tuple[Tensor, ...]) -> Any:
        key = (tuple(id(t) for t in fed), tuple(id(t) for t in self.fetches))
        made_for, made = self._ready
        if made_for != key:
            made = Program(fed, [*self.outputs, *self.fetches], self.updates_op)
            self._ready = (key, made)
        return made


def _as_fed(tensor: Tensor, value: Any) -> np.ndarray:
    return to_array(tensor, np.asarray(value, dtype=tensor.dtype.base_dtype.as_numpy_dtype))


class Program:
    """`fetches` of the graph of models, and an operation to run with them, ready to be called."""

    def __init__(self, feeds: tuple[Tensor, ...], fetches: list[Any], target: Operation) -> None:
        program = eager_program()
        assert program is not None
        self._fetches = fetches
        inside = [x for x in fetches if not isinstance(x, EagerTensor)]
        captured = _captured(target.graph, [*(x.op for x in inside), target], feeds)
        arguments = [argument for argument, _ in captured]
        graph = prune([*feeds, *arguments], inside, [target])
        inline(graph, library_of(program) | target.graph._functions)
        # Those of variables say where they are; what they hold is read by the program.
        self._outside = [t.op._value[t.value_index] for _, t in captured]
        self._program = program
        given = [None] * len(feeds) + self._outside
        self._instance = BoundInstance(graph, program._resources, given)

    def __call__(self, values: list[Any]) -> list[Any]:
        self._program.restore_new_variables()
        found = (x if x.ndim else x[()] for x in self._instance([*values, *self._outside]))
        return [x.numpy() if isinstance(x, EagerTensor) else next(found) for x in self._fetches]


def _captured(graph: Graph, roots: list[Any], stops: tuple[Tensor, ...]) -> list[Any]:
    """(argument, tensor outside) for what `roots` need of the program."""
    ends = {tensor.op for tensor in stops}
    waiting, seen = list(roots), set(ends)
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            waiting += [tensor.op for tensor in op.inputs]
            waiting += op._control_inputs
    pairs = zip(graph.extra_args, graph.extra_inputs, strict=True)  # type: ignore[attr-defined]
    return [(inner, outer) for inner, outer in pairs if inner.op in seen]
