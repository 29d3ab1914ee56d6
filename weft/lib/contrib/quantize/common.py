"""What the rewrites of a graph for quantization share: names, the step, and edges moved."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from weft.core import dtypes
from weft.graph.graph import get_default_graph
from weft.graph.keys import GraphKeys
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.state import updates
from weft.ops.state.get_variable import get_variable
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.variable_def import VariableAggregation

# Operations of training and of summaries are left as they are.
SKIPPED_PREFIXES = (
    "gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary",
)  # fmt: skip
_ENDS = ("Relu6", "Relu", "Identity")
_BATCH_NORM = re.compile(r"(.*)BatchNorm/batchnorm")
_STEP = "fake_quantization_step"
_STEP_SETTINGS: dict[str, Any] = {
    "shape": [],
    "dtype": dtypes.int64,
    "initializer": zeros_initializer(),
    "trainable": False,
    "collections": [GraphKeys.GLOBAL_VARIABLES],
    "aggregation": VariableAggregation.ONLY_FIRST_REPLICA,
}


def BatchNormGroups(graph: Any) -> list[str]:
    """The prefixes of the names of batch normalizations that are made of single operations."""
    found = (_BATCH_NORM.match(op.name) for op in graph.get_operations())
    prefixes = dict.fromkeys(match[1] for match in found if match)
    return [prefix for prefix in prefixes if not prefix.startswith(SKIPPED_PREFIXES)]


def GetEndpointActivationOp(graph: Any, prefix: str) -> Operation | None:
    """The activation below a prefix, or None."""
    for end in _ENDS:
        try:
            return graph.get_operation_by_name(prefix + end)
        except KeyError:
            continue
    return None


def CreateOrGetQuantizationStep() -> Tensor:
    """How often the graph has run since it was rewritten; counts as it is read."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        return _new_step(graph)


def _new_step(graph: Any) -> Tensor:
    with graph.name_scope(None):
        step = get_variable(_STEP, **_STEP_SETTINGS)
        counted = step.op.name + "/"
        with graph.name_scope(counted):
            more = updates.assign_add(step, 1)
            # Ref and resource variables both end in a tensor of the same name.
            return array.identity(more)


def DropStringPrefix(s: str, prefix: str) -> str:
    """`s` without a prefix that it may have."""
    return s.removeprefix(prefix)


def RerouteTensor(t0: Tensor, t1: Tensor, can_modify: Collection[Operation] | None = None) -> int:
    """Makes users of `t1` take `t0`; returns how many edges changed."""
    edges = [
        (op, i)
        for op in dict.fromkeys(t1.consumers())
        if can_modify is None or op in can_modify
        for i, each in enumerate(op.inputs)
        if each is t1
    ]
    for op, i in edges:
        op._update_input(i, t0)
    return len(edges)


def context_of(name: str) -> str:
    """All of a name but its last part."""
    return name.rpartition("/")[0]


class InputToOps:
    """Which operations take which tensors, as it was when the graph was read."""

    def __init__(self, graph: Any) -> None:
        self.mapping: dict[Tensor, set[Operation]] = defaultdict(set)
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for tensor in op.inputs:
                    self.mapping[tensor].add(op)

    def ConsumerOperations(self, producer_op: Operation) -> set[Operation]:
        """The operations that take an output of `producer_op`."""
        return set().union(*(self.mapping[tensor] for tensor in producer_op.outputs))
