"""Graphs that become the bodies of functions.

What the body uses from outside is passed in as further arguments, or copied if asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.core.dtypes import DType
from weft.graph.convert import convert_to_tensor
from weft.graph.function import add_function, find
from weft.graph.function_def import Body, effects_of
from weft.graph.graph import Graph, GraphKeys, control_dependencies, device, get_default_graph
from weft.graph.op_def import OpDef, raw
from weft.graph.operation import Attrs, Operation
from weft.graph.tensor import Tensor
from weft.ops.state.get_variable import STORE_KEY, _get_default_variable_store, get_variable_scope
from weft.ops.state.resource_variable import ResourceVariable
from weft.ops.state.variable_scope import variable_scope

_SHARED: tuple[Any, ...] = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    STORE_KEY,
)


class FuncGraph(Graph):
    """A graph under construction inside another.

    `extra_inputs` are tensors from outside, `extra_args` the arguments that stand for them,
    `extra_vars` the variables the body asked for.
    """

    def __init__(self, name: str, capture_by_value: bool = False) -> None:
        super().__init__()
        self.name, self.capture_by_value = name, capture_by_value
        self.building_function = True
        self.outer_graph = get_default_graph()
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.extra_inputs: list[Tensor] = []
        self.extra_args: list[Tensor] = []
        self.extra_vars: list[Any] = []
        self.copied_ops: set[Operation] = set()
        self.variables_by_value = True
        self._captured: dict[Tensor, Tensor] = {}
        self._variable_scope = get_variable_scope()
        for key in _SHARED:
            # The very same lists, so that variables are found and shared by name.
            self._collections[key] = self.outer_graph.get_collection_ref(key)

    def body(self) -> Body:
        return Body(self, self.inputs, self.outputs, effects_of(self))

    def add_op(
        self,
        definition: OpDef,
        inputs: tuple[Tensor, ...],
        output_types: list[DType],
        attrs: Attrs,
        name: str,
    ) -> Operation:
        if any(tensor.op.graph is not self for tensor in inputs):
            with self.name_scope(name) as name:  # copies are part of what they are for
                inputs = tuple(self.capture(tensor) for tensor in inputs)
        return super().add_op(definition, inputs, output_types, attrs, name)

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Ignores operations outside of the body: they have their places there."""
        if op is not None and getattr(op, "graph", self) is not self:
            yield
            return
        with super().colocate_with(op, ignore_existing):
            yield

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.graph is self:
            return tensor
        if tensor not in self._captured:
            if self.capture_by_value:
                self._copy(tensor.op)
            else:
                self._pass_in(tensor, name)
        return self._captured[tensor]

    def stand_in(self, tensor: Tensor) -> Tensor:
        return self._captured.get(tensor, tensor)

    def _pass_in(self, tensor: Tensor, name: str | None) -> None:
        with self.as_default(), self.control_dependencies(None):
            shape = None if tensor.dims is None else tensor.shape
            arg = raw.Placeholder(tensor.dtype.base_dtype, shape=shape, name=name)
            arg.op._captured = tensor
            inside = raw.GuaranteeConst(arg) if _is_guaranteed(tensor.op) else arg
        self.inputs.append(arg)
        self.extra_inputs.append(tensor)
        self.extra_args.append(arg)
        self._captured[tensor] = inside

    def _copy(self, op: Operation) -> Operation:
        """Copies an operation and what it needs into the body: each as often as it is needed."""
        if op.definition.stateful and op not in self.copied_ops and not _is_placeholder(op):
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
            )
        if _is_placeholder(op):
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value."
            )
        inputs = tuple(self._copy(tensor.op).outputs[tensor.value_index] for tensor in op.inputs)
        types = [tensor.dtype for tensor in op.outputs]
        definition = find(self.outer_graph._functions if self.outer_graph else {}, op.type)
        scope = self.get_name_scope()
        with self._without_scopes(), self.name_scope(f"{scope}/" if scope else None):
            copy = super().add_op(definition, inputs, types, dict(op.attrs), op.name)
        self._captured.update(zip(op.outputs, copy.outputs, strict=True))
        return copy

    def get_variable(self, getter: Any, name: str, **wanted: Any) -> Any:
        """A variable getter: variables belong to the graph outside, in the scope open there."""
        assert self.outer_graph is not None
        known = "shape dtype initializer reuse trainable collections use_resource".split()
        given: dict[str, Any] = {key: wanted.get(key) for key in known}
        with self.outer_graph.as_default():
            store = _get_default_variable_store()
            variable = self._variable_scope.get_variable(store, name, **given)
            self.extra_vars.append(variable)
            if isinstance(variable, ResourceVariable) and self.variables_by_value:
                return variable.value()
            return variable


def _is_placeholder(op: Operation) -> bool:
    return op.type in ("Placeholder", "PlaceholderV2")


def _is_guaranteed(op: Operation) -> bool:
    """Whether the value comes from `guarantee_const` by operations of nothing else."""
    pending, seen = [op], set()
    while pending:
        op = pending.pop()
        if op in seen or op.type == "GuaranteeConst":
            continue
        seen.add(op)
        if not op.inputs:
            return False
        pending.extend(tensor.op for tensor in op.inputs)
    return True


def func_graph_from_py_func(
    func: Callable[..., Any],
    arg_names: Sequence[str],
    arg_types: Sequence[Any],
    name: str | None = None,
    capture_by_value: bool = False,
    device_name: Any = None,
    arg_shapes: Sequence[Any] | None = None,
    whitelisted_stateful_ops: Any = None,
    capture_resource_var_by_value: bool = True,
) -> FuncGraph:
    """Calls `func` with placeholders in a graph of its own."""
    graph = FuncGraph(name or func.__name__, capture_by_value)
    graph.copied_ops = set(whitelisted_stateful_ops or ())
    graph.variables_by_value = capture_resource_var_by_value
    shapes = arg_shapes or [None] * len(arg_types)
    with graph.as_default(), device(device_name):
        for arg, kind, shape in zip(arg_names, arg_types, shapes, strict=True):
            graph.inputs.append(raw.Placeholder(kind, shape=shape, name=arg))
        with variable_scope("", custom_getter=graph.get_variable):
            found = func(*graph.inputs)
        with control_dependencies(None):
            graph.outputs = [graph.capture(convert_to_tensor(t)) for t in _results(graph, found)]
    return graph


def _results(graph: FuncGraph, found: Any) -> list[Any]:
    if found is None:
        return []
    results = list(found) if isinstance(found, (list, tuple)) else [found]
    if any(result is None for result in results):
        raise ValueError(f"Function {graph.name} can not return None.")
    return results


def share_functions(graph: Graph, function_graph: FuncGraph) -> None:
    """Functions that a body calls must be known where it is called."""
    for function in function_graph._functions.values():
        add_function(graph, function)
