"""`==` and `!=` of tensors and variables: by identity, or by value as in TensorFlow 2.

By identity unless `tf.enable_tensor_equality()` was called and eager execution is on. Tensors of
plain graphs are compared by identity even then. The hash is always that of the object, so that
tensors can be keys either way.
"""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor
from weft.ops.kit.eager import EagerGraph


def equals(self: Any, other: Any) -> Any:
    if not _by_value(self):
        return self is other
    return raw.Equal(self, other)


def not_equals(self: Any, other: Any) -> Any:
    if not _by_value(self):
        return self is not other
    return raw.NotEqual(self, other)


def _by_value(operand: Any) -> bool:
    if not Tensor._USE_EQUALITY or not _eager_outside_functions():
        return False
    graph = getattr(operand, "graph", None)
    return graph is None or graph.building_function or isinstance(graph, EagerGraph)


def _eager_outside_functions() -> bool:
    graph = get_default_graph()
    while graph.outer_graph is not None:
        graph = graph.outer_graph
    return isinstance(graph, EagerGraph)
