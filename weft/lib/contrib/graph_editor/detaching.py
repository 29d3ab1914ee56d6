"""Parts of a graph taken out of it, put one after another, or passed over."""

from __future__ import annotations

import re
from typing import Any

from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.graph_editor.rewiring import remove_control_inputs, reroute_ts
from weft.lib.contrib.graph_editor.selecting import make_list_of_op, make_list_of_t
from weft.lib.contrib.graph_editor.subgraph import SubGraphView, make_view
from weft.lib.contrib.graph_editor.transforming import make_placeholder_from_tensor


class ControlOutputs:
    """Which operations wait for which others in a graph, as of when they were last looked up."""

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph, self._waiting = graph, dict[Operation, list[Operation]]()
        self.update()

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    def update(self) -> ControlOutputs:
        """Looks again."""
        self._waiting.clear()
        for op in self._graph.get_operations():
            for before in op.control_inputs:
                self._waiting.setdefault(before, []).append(op)
        return self

    def get(self, op: Operation) -> list[Operation]:
        """The operations that wait for `op`."""
        return list(self._waiting.get(op, ()))

    def get_all(self) -> dict[Operation, list[Operation]]:
        """All of them, by the operation that they wait for."""
        return self._waiting


def check_cios(
    control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[bool, Any]:
    """(whether control inputs count, the `ControlOutputs` or None); `control_ios` is for both."""
    if control_ios is None:
        return control_inputs, None if control_outputs is None else _checked(control_outputs)
    if control_outputs is not None:
        raise ValueError("control_outputs should be None when using control_ios.")
    if control_inputs:
        raise ValueError("control_inputs should be False when using control_ios.")
    return True, _checked(control_ios)


def _checked(given: Any) -> ControlOutputs:
    if not isinstance(given, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    return given


def can_be_regex(obj: Any) -> bool:
    """Whether it is a pattern, or the text of one."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Any) -> re.Pattern[str]:
    """A pattern, from one or from its text."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def get_generating_ops(ts: Any) -> list[Operation]:
    """The operations that make the tensors."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Operation]:
    """The operations that take any of the tensors, each once."""
    taken = (tensor.consumers() for tensor in make_list_of_t(ts, allow_graph=False))
    return list(dict.fromkeys(op for ops in taken for op in ops))


def detach_control_inputs(sgv: Any) -> None:
    """The operations of a part wait for none outside of it any more."""
    view = make_view(sgv)
    members = set(view.ops)
    for op in view.ops:
        if outside := [each for each in op.control_inputs if each not in members]:
            remove_control_inputs(op, outside)


def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """No operation outside of a part waits for one in it any more."""
    members = set(make_view(sgv).ops)
    waiting = _checked(control_outputs).update().get_all()
    for outside in {each for op in members for each in waiting.get(op, ())} - members:
        remove_control_inputs(outside, [op for op in outside.control_inputs if op in members])


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """A part takes placeholders in place of its inputs; returns it and those."""
    view = make_view(sgv)
    made = _placeholders(view.inputs)
    passed = dict(zip(view.inputs, made, strict=True))
    inside = [*view.ops, *get_consuming_ops(view.passthroughs)]
    reroute_ts(made, view.inputs, can_modify=inside)
    view._take(made, [passed[tensor] for tensor in view.passthroughs])
    if control_inputs:
        detach_control_inputs(view)
    return view, made


def detach_outputs(sgv: Any, control_outputs: Any = None) -> tuple[SubGraphView, list[Tensor]]:
    """What is outside takes placeholders in place of a part's outputs; returns it and those."""
    view = make_view(sgv)
    members = set(view.ops)
    used = view.remap_outputs(
        [tensor for tensor in view.outputs if set(tensor.consumers()) - members]
    )
    made = _placeholders(used.outputs)
    reroute_ts(made, used.outputs, cannot_modify=view.ops)
    if control_outputs is not None:
        detach_control_outputs(used, control_outputs)
    return used, made


def detach(
    sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[SubGraphView, list[Tensor], list[Tensor]]:
    """Takes a part out of its graph: (the part, placeholders it takes, placeholders for it)."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, control_inputs)
    view, outputs = detach_outputs(sgv, control_outputs)
    return view, inputs, outputs


def connect(
    sgv0: Any, sgv1: Any, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """The second part takes the outputs of the first one as its inputs, in their order.

    With `disconnect_first` nothing else takes those outputs any more.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    if first.graph is not second.graph:
        raise ValueError("Parts of several graphs")
    given = first.outputs
    if disconnect_first:
        detach_outputs(first)
    reroute_ts(given, second.inputs, can_modify=second.ops)
    second._take(given, [])
    return first, second


def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """Users of a part's outputs take its inputs instead, in their order; it gets placeholders."""
    view = make_view(sgv)
    before = view.inputs
    _, made = detach_inputs(view)
    reroute_ts(before, view.outputs, cannot_modify=make_list_of_op(view))
    return view, made


def _placeholders(tensors: list[Tensor]) -> list[Tensor]:
    if not tensors:
        return []
    with tensors[0].graph.as_default():
        return [make_placeholder_from_tensor(tensor) for tensor in tensors]
