"""tf.contrib.copy_graph: operations and variables of one graph, copied to another."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.state.variables import Variable


def _scoped(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


def copy_variable_to_graph(
    org_instance: Any, to_graph: Graph, scope: str = "", copied_variables: Any = None
) -> Any:
    """A variable of `to_graph` with the same name, below `scope`, and the same initial value."""
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    own = org_instance.graph
    collections = [
        key for key in own.get_all_collection_keys()
        if any(item is org_instance for item in own.get_collection(key))
    ]  # fmt: skip
    name = _scoped(org_instance.op.name, scope)
    initial = copy_op_to_graph(org_instance.initial_value, to_graph, [], scope)
    with to_graph.as_default():
        return Variable(
            initial, trainable=org_instance.trainable, name=name, collections=collections,
            validate_shape=False,
        )  # fmt: skip


def copy_op_to_graph(
    org_instance: Any, to_graph: Graph, variables: Any, copied: Any = "", scope: str = ""
) -> Any:
    """A copy of an operation or tensor, with all that it is computed from.

    Variables of it are those in `variables` (copies in `to_graph`) with the same names.
    """
    scope = scope or (copied if isinstance(copied, str) else "")
    known = {_scoped_name(v, scope): v for v in variables}
    copies: dict[Operation, Operation] = {}
    return _Copier(to_graph, scope, known, copies).copy(org_instance)


def _scoped_name(variable: Any, scope: str) -> str:
    name: str = variable.op.name
    return name.removeprefix(scope + "/") if scope else name


class _Copier:
    def __init__(self, graph: Graph, scope: str, known: Any, copies: Any) -> None:
        self.graph, self.scope, self.known, self.copies = graph, scope, known, copies

    def copy(self, item: Any) -> Any:
        if isinstance(item, Variable):
            return self.known.get(item.op.name) or copy_variable_to_graph(
                item, self.graph, self.scope
            )
        if isinstance(item, Tensor):
            if (
                item.op.name in self.known
                and item.op.definition.is_variable
                and item.dtype._is_ref_dtype
            ):
                return self.known[item.op.name]._ref()
            if item.op.name in self.known:
                return self.known[item.op.name].handle
            return self.operation(item.op).outputs[item.value_index]
        if isinstance(item, Operation):
            return self.operation(item)
        raise TypeError(f"Could not copy instance: {item}")

    def operation(self, op: Operation) -> Operation:
        if op in self.copies:
            return self.copies[op]
        name = _scoped(op.name, self.scope)
        there = self.graph._by_name.get(name)
        if there is None:
            inputs = tuple(self.copy(tensor) for tensor in op.inputs)
            controls = [self.operation(each) for each in op.control_inputs]
            attrs = {key: value for key, value in op.attrs.items() if key != "_class"}
            types = [tensor.dtype for tensor in op.outputs]
            with self.graph.as_default(), self.graph.control_dependencies(controls):
                there = self.graph.add_op(op.definition, inputs, types, attrs, name + "/")
        self.copies[op] = there
        return there


def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """The copy of an operation, tensor or variable in `graph`."""
    name = _scoped(org_instance.name, scope)
    if isinstance(org_instance, Variable):
        return next((v for v in graph.get_collection("variables") if v.name == name), None)
    return graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
