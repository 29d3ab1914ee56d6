"""Graphs that `tf.function` fills, or branches and loops, and what they become: library functions.

Inside of them, conditionals and loops are functions as well (`branch_functions.py`,
`loop_functions.py`), and what has effects happens in the order in which it was written.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import Body, BodyCopy, effects_of, function_def, name_effects
from weft.graph.graph import Graph, control_dependencies, get_default_graph
from weft.graph.graph_def import attr_to_proto
from weft.graph.op_def import FuncRef, raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.functions.effect_order import order_effects
from weft.ops.functions.func_graph import FuncGraph, share_functions
from weft.ops.lists.tensor_array import flow_of
from weft.ops.state.get_variable import _SCOPES_KEY
from weft.ops.state.variable_creators import share_creators

_serial = itertools.count()


class InaccessibleTensorError(ValueError):
    """A tensor of one function or branch is used in another."""


class TracedGraph(FuncGraph):
    """The body of a `tf.function`, a branch or a loop while it is being built.

    `awaited` are operations outside that a call has to wait for; `is_block`: a branch or loop.
    """

    functional_control_flow = True
    is_block = False

    def __init__(self, name: str, ordered: bool = True) -> None:
        super().__init__(name)
        assert self.outer_graph is not None
        outer = self.outer_graph
        self.variables_by_value, self.seed, self.ordered = False, outer.seed, ordered
        self.awaited: dict[Operation, None] = {}
        share_creators(self, outer)
        self._collections[_SCOPES_KEY] = outer.get_collection_ref(_SCOPES_KEY)
        for key in outer.get_all_collection_keys():
            self._collections.setdefault(key, outer.get_collection(key))

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[Any]:
        """Control inputs of the body; the call as a whole waits for operations outside."""
        if control_inputs is not None:
            # What assigning gives has the graph of its variable, but an operation of its own.
            ops = [_operation(item) for item in control_inputs]
            self.awaited |= dict.fromkeys(op for op in ops if op.graph is not self)
            control_inputs = [op for op in ops if op.graph is self]
        with super().control_dependencies(control_inputs):
            yield

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.graph is not self and not self._is_inside_of(tensor.graph):
            raise InaccessibleTensorError(
                f"The tensor '{tensor}' cannot be accessed here: it is defined in another function"
                " or code block. Use return values, explicit Python locals or TensorFlow"
                f" collections to access it. Defined in: {_label(tensor.graph)}; accessed from:"
                f" {_label(self)}.\n"
            )
        return super().capture(tensor, name or tensor.op.name)

    def _is_inside_of(self, graph: Graph) -> bool:
        around = self.outer_graph
        while around is not None and around is not graph:
            # A copy of a body knows tensors of what it was copied from.
            if isinstance(around, BodyCopy):
                return True
            around = around.outer_graph
        return around is not None

    def trace(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of `function`, called inside; its effects are put in order."""
        with self.as_default():
            result = function(*args, **kwargs)
            if self.ordered:
                order_effects(self.get_operations())
        return result

    def own(self, value: Any) -> Tensor:
        """A result as a tensor of this graph: of an operation, one that comes after it."""
        with self.as_default():
            if isinstance(value, Operation):
                with control_dependencies([value]):
                    return convert_to_tensor(True)
            tensor = convert_to_tensor(flow_of(value))
            return self.capture(tensor)

    def argument_for(self, tensor: Tensor) -> Tensor:
        """The argument that stands for a tensor from outside; made if there is none."""
        self.capture(tensor)
        return self.extra_args[self._position(tensor)]

    def _position(self, tensor: Tensor) -> int:
        return next(i for i, each in enumerate(self.extra_inputs) if each is tensor)


def _label(graph: Graph) -> str:
    return f"FuncGraph(name={graph.name})" if isinstance(graph, FuncGraph) else "the outer graph"


def _operation(item: Any) -> Operation:
    found = item if isinstance(item, Operation) else item.op
    assert isinstance(found, Operation)
    return found


def block_graph(name: str) -> TracedGraph:
    """The graph of a branch or a loop: part of what it lies in, with the collections of that.

    In a plain graph nothing puts effects in the order in which they were written.
    """
    graph = TracedGraph(name, ordered=getattr(get_default_graph(), "ordered", False))
    assert graph.outer_graph is not None
    graph.is_block = True
    graph._collections = graph.outer_graph._collections
    return graph


def function_label(scope: str) -> str:
    """How names of functions begin that belong to the node of this name scope."""
    return scope.rstrip("/").replace("/", "_")


def squeezed(predicate: Any) -> Any:
    """A predicate as a scalar, if it may be something else."""
    if isinstance(predicate, Tensor) and predicate.dims != ():
        return raw.Squeeze(predicate)
    return predicate


def lowered_outputs(made: Any, graph: Graph) -> list[Tensor]:
    """Identities of the outputs of a conditional or loop, which may be lists of tensors."""
    if isinstance(made, Operation):
        op, outputs = made, []
    else:
        outputs = list(made) if isinstance(made, (list, tuple)) else [made]
        op = outputs[0].op
    op.attrs["_lower_using_switch_merge"] = True
    if op.definition.calls != "while":
        graph.prevent_fetching(op)
    return [raw.Identity(tensor) for tensor in outputs]


def unique_function_name(base: str) -> str:
    """A name that no other function of this process has."""
    return f"{re.sub(r'[^A-Za-z0-9_.]', '_', base)}_{next(_serial)}"


def library_function(
    graph: TracedGraph,
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    attrs: dict[str, Any] | None = None,
) -> LibraryFunction:
    """A traced graph as a function under a name."""
    message = function_def(name, name, graph.get_operations(), inputs, outputs)
    effects = effects_of(graph)
    # A branch or loop of a plain graph does only what its results need, as the graph does.
    named = effects if graph.ordered or not graph.is_block else []
    name_effects(message, named)
    for i, tensor in enumerate(inputs):
        shapes = attr_to_proto([tensor.dims], "list(shape)")
        message.arg_attr[i].attr["_output_shapes"].CopyFrom(shapes)
    for key, value in (attrs or {}).items():
        message.attr[key].CopyFrom(attr_to_proto(value, None))
    built = Body(graph, list(inputs), list(outputs), effects, named)
    return LibraryFunction(message, built=built)


def define(
    outer: Graph, graph: TracedGraph, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> FuncRef:
    """Puts a traced graph into the library of the graph around it."""
    name = unique_function_name(graph.name)
    share_functions(outer, graph)
    add_function(outer, library_function(graph, name, inputs, outputs))
    return FuncRef(name)


def is_stateful(graph: Graph) -> bool:
    return any(op.definition.stateful for op in graph.get_operations())


def all_captured(graphs: Sequence[TracedGraph]) -> list[Tensor]:
    """The tensors from outside that any of them uses, each once."""
    return list(dict.fromkeys(tensor for graph in graphs for tensor in graph.extra_inputs))


def flatten(structure: Any) -> list[Any]:
    return nest.flatten(structure, expand_composites=True)
