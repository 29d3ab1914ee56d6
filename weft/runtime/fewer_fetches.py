"""Steps that another one, which took long to compile, computes as well: that is run for them.

Programs often run `[train, loss]` in some steps and `train` in others. Their graphs are the same
but for what is given back, and the few nodes that add up a loss: one compiled program will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.prune import prune
from weft.runtime.continuation import NO_CONTEXT, StepContext
from weft.runtime.plan import Plan

# Seconds of compiling that are worth it. A program on an accelerator brings what it computes to the
# host, asked for or not, which a short step would feel.
LONG, LONG_ELSEWHERE = 1.0, 4.0
_SMALL = 1 << 10  # elements of a fetch that may be computed for nothing
_FEW, _SHARE = 8, 0.1  # nodes, or a share of them, that may be computed for nothing
_REDUCTIONS = frozenset(("Sum", "Mean", "Max", "Min", "L2Loss"))


@dataclass(frozen=True)
class Asked:
    """What a plan was made for."""

    feeds: Sequence[Tensor]
    fetches: Sequence[Tensor]
    targets: Sequence[Operation]

    def nodes(self) -> dict[Operation | None, Node]:
        return {node.op: node for node in prune(self.feeds, self.fetches, self.targets).nodes}

    def may_hold(self, other: Asked) -> bool:
        """Whether all that `other` asks for is asked for here, with little else."""
        mine, wanted = _ids(self.fetches), _ids(other.fetches)
        fed_alike = list(map(id, self.feeds)) == list(map(id, other.feeds))
        same = fed_alike and _ids(self.targets) == _ids(other.targets)
        return same and wanted < mine and all(map(_is_small, self.fetches))


def _ids(things: Iterable[object]) -> set[int]:
    return set(map(id, things))  # tensors may compare by value


def _is_small(tensor: Tensor) -> bool:
    count = tensor.shape.num_elements()
    return count is not None and count <= _SMALL


def _costs_little(whole: dict[Any, Node], part: dict[Any, Node]) -> bool:
    """Whether a few nodes are all that one has beyond the other, none of which can fail."""
    more = [node for op, node in whole.items() if op not in part]
    return len(more) <= max(_FEW, len(whole) * _SHARE) and all(map(_is_harmless, more))


def _is_harmless(node: Node) -> bool:
    kind = node.definition
    if kind.is_constant or kind.is_identity:
        return True
    computes = kind.elementwise or kind.aggregate or kind.name in _REDUCTIONS
    return computes and all(dtype.is_floating for dtype in node.dtypes)


class FewerFetches:
    """The step of another plan, of whose fetches some are given."""

    def __init__(self, plan: Plan, places: Sequence[int]) -> None:
        self.plan, self.places = plan, places
        kept = [plan.graph.fetches[i] for i in places]
        self.graph = replace(plan.graph, fetches=kept)

    @property
    def graphs(self) -> list[ClientGraph]:
        return self.plan.graphs

    def run(self, feeds: Sequence[Any], context: StepContext = NO_CONTEXT) -> list[Any]:
        """Runs one step."""
        results = self.plan.run(feeds, context)
        return [results[i] for i in self.places]


def _took_long(plan: Plan) -> bool:
    return plan.prepared.compiling() >= (LONG if plan.store.is_host else LONG_ELSEWHERE)


def part_of(others: Iterable[tuple[Any, Asked]], asked: Asked) -> FewerFetches | None:
    """A plan for `asked` that runs one of the others, if that computes little more."""
    for plan, whole in others:
        if isinstance(plan, Plan) and _took_long(plan) and whole.may_hold(asked):
            if _costs_little(whole.nodes(), asked.nodes()):
                order = [id(tensor) for tensor in whole.fetches]
                return FewerFetches(plan, [order.index(id(tensor)) for tensor in asked.fetches])
    return None
