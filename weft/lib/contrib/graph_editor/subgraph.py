"""A part of a graph: some operations, and which tensors count as its inputs and outputs."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.graph_editor.selecting import (
    compute_boundary_ts,
    get_name_scope_ops,
    make_list_of_op,
    make_list_of_t,
    select_ops_and_ts,
)


class SubGraphView:
    """Operations of a graph. Inputs come from outside; outputs are used there, or nowhere."""

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        self._ops = list(dict.fromkeys(make_list_of_op(inside_ops)))
        inputs, outputs, inside = compute_boundary_ts(self._ops)
        self._passthrough = [t for t in make_list_of_t(passthrough_ts) if t not in set(inside)]
        own = set(outputs) | {t for op in self._ops for t in op.outputs} | set(inputs)
        self._passthrough = [t for t in self._passthrough if t not in own]
        self._inputs = [*inputs, *self._passthrough]
        self._outputs = [*outputs, *self._passthrough]

    @property
    def ops(self) -> list[Operation]:
        return list(self._ops)

    @property
    def inputs(self) -> list[Tensor]:
        return list(self._inputs)

    @property
    def outputs(self) -> list[Tensor]:
        return list(self._outputs)

    @property
    def passthroughs(self) -> list[Tensor]:
        return list(self._passthrough)

    @property
    def graph(self) -> Graph | None:
        every: list[Any] = [*self._ops, *self._passthrough]
        return every[0].graph if every else None

    def __bool__(self) -> bool:
        return self.graph is not None

    def op(self, op_id: int) -> Operation:
        return self._ops[op_id]

    def input_index(self, t: Tensor) -> int:
        return self._inputs.index(t)

    def output_index(self, t: Tensor) -> int:
        return self._outputs.index(t)

    def is_passthrough(self, t: Tensor) -> bool:
        return t in self._passthrough

    def find_op_by_name(self, op_name: str) -> Operation:
        """The operation of this name; AttributeError if it is not in this part."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise AttributeError(f"{op_name} not found in subgraph.")

    def consumers(self) -> list[Operation]:
        """The operations outside that take the outputs."""
        members = set(self._ops)
        found = (c for t in self._outputs for c in t.consumers() if c not in members)
        return list(dict.fromkeys(found))

    def _with(self, inputs: list[Tensor], outputs: list[Tensor]) -> SubGraphView:
        made = SubGraphView.__new__(SubGraphView)
        made._ops, made._passthrough = list(self._ops), list(self._passthrough)
        made._inputs, made._outputs = inputs, outputs
        return made

    def _take(self, inputs: list[Tensor], passthrough: list[Tensor]) -> None:
        """Has other inputs from now on; those that it only passes on are outputs as well."""
        now = dict(zip(self._inputs, inputs, strict=True))
        passed = set(self._passthrough)
        self._outputs = [now[t] if t in passed else t for t in self._outputs]
        self._inputs, self._passthrough = inputs, passthrough

    def remap_inputs(self, new_input_indices: Any) -> SubGraphView:
        """With these of the inputs, by number or tensor, in this order."""
        return self._with([_chosen(self._inputs, i) for i in new_input_indices], self.outputs)

    def remap_outputs(self, new_output_indices: Any) -> SubGraphView:
        """With these of the outputs, by number or tensor, in this order."""
        return self._with(self.inputs, [_chosen(self._outputs, i) for i in new_output_indices])

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """Both of them."""
        made = self if new_input_indices is None else self.remap_inputs(new_input_indices)
        return made if new_output_indices is None else made.remap_outputs(new_output_indices)

    def __str__(self) -> str:
        names = ", ".join(op.name for op in self._ops)
        return f"SubGraphView: {len(self._ops)} ops: {names}"


def _chosen(tensors: list[Tensor], which: Any) -> Tensor:
    return which if isinstance(which, Tensor) else tensors[which]


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """A part of a graph from operations, or patterns of their names with `graph`."""
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    return SubGraphView(*select_ops_and_ts(*args, **kwargs))


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """The operations below a name scope."""
    return SubGraphView(get_name_scope_ops(graph, scope))
