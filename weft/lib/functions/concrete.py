"""One trace of a Python function: a function of the graph's library that can be called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from weft.client.eager import EagerExecution
from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import Body
from weft.graph.graph import Graph, get_default_graph
from weft.graph.op_def import FuncRef, raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec, type_spec_from_value
from weft.lib.functions.arguments import Arguments
from weft.lib.functions.compiled import CompiledFunction
from weft.lib.functions.eager_calls import run_body
from weft.lib.functions.placeholders import placeholders
from weft.ops.functions.func_graph import share_functions
from weft.ops.functions.traced_graph import (
    TracedGraph,
    flatten,
    is_stateful,
    library_function,
    unique_function_name,
)
from weft.ops.kit.eager import EagerTensor, executing_eagerly
from weft.ops.lists.tensor_array import TensorArray, flow_of, with_flows
from weft.ops.state.get_variable import resource_variables


class ConcreteFunction:
    """A traced function: call it with tensors of the types and shapes it was traced with.

    `graph` is its body, `captured_inputs` are what a call takes besides its arguments.
    """

    # How a signature may be called, where that is not by its own arguments.
    _allowed_positional: int | None = None
    _keywords: list[str] | None = None

    def __init__(
        self, graph: TracedGraph, given: Arguments, result: Any, attrs: dict[str, Any] | None = None
    ) -> None:
        self.graph, self._given = graph, given
        self.structured_outputs = result
        self._leaves = flatten(result)
        self.outputs = [graph.own(x) for x in self._leaves if x is not None]
        # What the function takes from outside comes after its arguments.
        own = len(graph.inputs) - len(graph.extra_args)
        graph.outputs = self.outputs
        self._own_inputs = [t for t in graph.inputs if t not in set(graph.extra_args)]
        assert len(self._own_inputs) == own
        name = unique_function_name(f"__inference_{graph.name}")
        inputs = [*self._own_inputs, *graph.extra_args]
        self._function = library_function(graph, name, inputs, self.outputs, attrs)
        self._stateful = is_stateful(graph)

    # ---- what it is ----

    @property
    def name(self) -> str:
        return self._function.name

    @property
    def function_def(self) -> Any:
        return self._function.message

    @property
    def library_function(self) -> LibraryFunction:
        return self._function

    @property
    def inputs(self) -> list[Tensor]:
        """The arguments inside, those that stand for captured tensors included."""
        return [*self._own_inputs, *self.graph.extra_args]

    @property
    def captured_inputs(self) -> list[Tensor]:
        return list(self.graph.extra_inputs)

    @property
    def argument_names(self) -> list[str]:
        """The names by which a call may pass its arguments."""
        if self._keywords is not None:
            return self._keywords
        return [tensor.op.name for tensor in self._own_inputs]

    @property
    def positional(self) -> int:
        """How many arguments may be passed by position: all, unless it is a signature."""
        own = self._allowed_positional
        return len(self.argument_names) if own is None else own

    @property
    def body(self) -> Body:
        """The body of the function."""
        return self._function.body({}, self.graph._functions)

    @property
    def variables(self) -> list[Any]:
        """The variables that it uses."""
        return self._variables("variables")

    @property
    def trainable_variables(self) -> list[Any]:
        return self._variables("trainable_variables")

    def _variables(self, key: str) -> list[Any]:
        used = set(self.graph.extra_inputs)
        found = self.graph.get_collection(key) + self.graph.get_collection("local_variables")
        found += list(getattr(self.graph.outer_graph, "trainable", {}).values())  # eager ones
        chosen = [v for v in found if getattr(v, "handle", None) in used]
        if key == "trainable_variables":
            chosen = [v for v in chosen if v.trainable]
        return list({id(v): v for v in chosen}.values())

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """The arguments with a spec for each tensor: (positional, by name)."""
        return self._given.args, self._given.kwargs

    @property
    def output_dtypes(self) -> Any:
        return self._mapped(lambda tensor: tensor.dtype)

    @property
    def output_shapes(self) -> Any:
        return self._mapped(lambda tensor: tensor.shape)

    def _mapped(self, what: Callable[[Tensor], Any]) -> Any:
        found = [None if x is None else what(convert_to_tensor(flow_of(x))) for x in self._leaves]
        return nest.pack_sequence_as(self.structured_outputs, found, expand_composites=True)

    # ---- calling ----

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        names = self.argument_names
        if len(args) > self.positional:
            raise TypeError(
                f"Expected at most {self.positional} positional arguments (and the rest keywords,"
                f" of {names}), got {args}. When calling a concrete function, positional arguments"
                " may not be bound to Tensors within nested structures."
            )
        wanted = names[len(args) :]
        missing = [name for name in wanted if name not in kwargs]
        if missing:
            raise TypeError(
                f"Expected argument names {names} but got values for"
                f" {[*names[: len(args)], *kwargs]}. Missing: {missing}."
            )
        for name in kwargs:
            if name in names[: len(args)]:
                raise TypeError(f"Got two values for keyword '{name}'.")
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise TypeError(f"Keyword arguments {unknown} unknown. Expected {names}.")
        given = [*args, *(kwargs[name] for name in wanted)]
        return self.call_flat([part for value in given for part in _parts(value)])

    def call_flat(self, args: Sequence[Any]) -> Any:
        """Adds a node that calls the function with these tensors."""
        inputs = [
            self._checked(value, like) for value, like in zip(args, self._own_inputs, strict=True)
        ]
        return self.call_with_captured(inputs, self.captured_inputs)

    def call_with_captured(self, inputs: list[Tensor], captured: list[Tensor]) -> Any:
        """As `call_flat`, with other tensors in the place of those that it captured."""
        return self._packed(self._called([*inputs, *captured]))

    def _called(self, inputs: list[Tensor]) -> Any:
        """The results for arguments and captured tensors: from a new node, or at once."""
        graph = get_default_graph()
        if isinstance(graph, EagerExecution):
            return self._compiled(graph, inputs)
        if executing_eagerly():
            return run_body(self.body, inputs)
        self.add_to_graph(graph)
        types = [tensor.dtype.base_dtype for tensor in self.outputs]
        make = raw.StatefulPartitionedCall if self._stateful else raw.PartitionedCall
        # A call for its effects alone has another name.
        name = None if types else "PartitionedFunctionCall"
        with graph.control_dependencies(list(self._awaited)):
            return make(inputs, types, FuncRef(self.name), name=name)

    @functools.cached_property
    def _compiled(self) -> CompiledFunction:
        return CompiledFunction(self._function, self.graph._functions)

    @property
    def _awaited(self) -> Iterable[Operation]:
        """The operations outside that a call has to wait for."""
        return self.graph.awaited

    def _checked(self, value: Any, like: Tensor) -> Tensor:
        value = convert_to_tensor(flow_of(value), dtype_hint=like.dtype.base_dtype)
        if not like.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"The argument '{like.op.name}' (value {value}) is not compatible with the shape"
                f" this function was traced with. Expected shape {like.shape}, but got shape"
                f" {value.shape}.\n\nIf you called get_concrete_function, you may need to pass a"
                " tf.TensorSpec(..., shape=...) with a less specific shape, having None on axes"
                " which can vary."
            )
        return value

    def _packed(self, found: Any) -> Any:
        if isinstance(found, Operation):
            if self.structured_outputs is None:
                return found
            tensors: list[Tensor] = []
        else:
            tensors = list(found)
        self._set_shapes(tensors)
        if isinstance(self.structured_outputs, Tensor):
            return tensors[0]
        values = iter(tensors)
        flat = [None if leaf is None else next(values) for leaf in self._leaves]
        there = with_flows(self._leaves, flat)
        return nest.pack_sequence_as(self.structured_outputs, there, expand_composites=True)

    def packed_inside(self) -> Any:
        """The results as they are inside, in the structure in which calls return them."""
        return self._packed(self.outputs) if self.outputs else None

    def _set_shapes(self, tensors: Sequence[Tensor]) -> None:
        for tensor, inner in zip(tensors, self.outputs, strict=True):
            if not isinstance(tensor, EagerTensor):
                tensor.dims = inner.dims

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Adds the function and those it calls to a graph's library."""
        graph = get_default_graph() if g is None else g
        add_function(graph, self._function)
        share_functions(graph, self.graph)

    def add_gradient_functions_to_graph(self, g: Graph | None = None) -> None:
        """Does nothing: gradients become functions where they are asked for."""

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name} with {len(self._own_inputs)} arguments>"


def trace(
    python_function: Callable[..., Any],
    name: str,
    given: Arguments,
    signature: tuple[Any, ...] | None = None,
    attrs: dict[str, Any] | None = None,
    ordered: bool = True,
    scope: Callable[[], Any] | None = None,
) -> ConcreteFunction:
    """Calls a Python function in a graph of its own, with placeholders for tensors.

    `scope` gives a context that is open meanwhile.
    """
    graph = TracedGraph(name, ordered)
    with graph.as_default():
        inside = placeholders(given, signature)
        # Those of composites come from nowhere else.
        graph.inputs += [op.outputs[0] for op in graph.get_operations()]
    specs = Arguments(
        nest.map_structure(_spec, inside.args), nest.map_structure(_spec, inside.kwargs), []
    )

    def call() -> Any:
        with resource_variables(), scope() if scope is not None else nullcontext():
            result = python_function(*inside.args, **inside.kwargs)
        return nest.map_structure(lambda x: _result(python_function, x), result)

    result = graph.trace(call)
    return ConcreteFunction(graph, specs, result, attrs)


def _parts(value: Any) -> list[Any]:
    """The tensors that a sparse or ragged one consists of; any other value is one."""
    composite = hasattr(value, "_composite_components")
    return nest.flatten(value, expand_composites=True) if composite else [value]


def _spec(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype, leaf.op.name)
    if isinstance(leaf, TensorArray):
        return TensorSpec(leaf.flow.shape, leaf.flow.dtype)
    return type_spec_from_value(leaf) if hasattr(leaf, "_composite_components") else leaf


def _result(python_function: Callable[..., Any], value: Any) -> Any:
    """A result as a tensor, or as something made of tensors."""
    if value is None or isinstance(value, TensorArray) or hasattr(value, "_composite_components"):
        return value
    try:
        found: Any = convert_to_tensor(value)
        if found.dtype.base_dtype is dtypes.resource and not isinstance(value, Tensor):
            raise TypeError
        return found
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.contrib.eager.defun, Python functions must return zero or"
            f" more Tensors; in compilation of {python_function}, found return value of type"
            f" {type(value)}, which is not a Tensor."
        ) from None
