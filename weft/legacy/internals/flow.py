"""Names of `cond_v2`, `while_v2` and `client.session` that programs take from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.client.fetches import Fetches
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.functions.branch_functions import cond_of_functions
from weft.ops.functions.loop_functions import while_of_functions


def cond_v2(pred: Any, true_fn: Any, false_fn: Any, name: str = "cond") -> Any:
    """The results of the branch that is taken; the branches are functions of the graph."""
    return cond_of_functions(pred, true_fn, false_fn, name)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
    shape_invariants: Any = None, parallel_iterations: int = 10, maximum_iterations: Any = None,
    name: str | None = None, return_same_structure: bool = True, back_prop: bool = True,
) -> Any:  # fmt: skip
    """The variables as they leave the loop; condition and body are functions of the graph."""
    return while_of_functions(
        cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name,
        return_same_structure,
    )  # fmt: skip


class _FetchHandler:
    """What a call of `run` with `fetches` asks for."""

    def __init__(
        self, graph: Graph, fetches: Any, feeds: dict[Any, Any], feed_handles: Any = None
    ) -> None:
        with graph.as_default():
            self._found = Fetches(graph, fetches)

    def fetches(self) -> list[Tensor]:
        """The tensors, each once."""
        return self._found.tensors

    def targets(self) -> list[Operation]:
        """The operations that are run."""
        return self._found.targets
