"""A frozen signature made smaller: what only training needs goes, what is known is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weft.graph.graph_util import extract_sub_graph, remove_training_nodes
from weft.lib.tools.batch_norms import CONVOLUTIONS, KINDS, fold_chosen_batch_norms
from weft.lib.tools.flattenings import with_sizes
from weft.lib.tools.node_defs import nodes_by_name, source
from weft.lib.tools.signature_graph import SignatureGraph, with_library
from weft.lib.tools.transforms import TransformGraph

Pass = Callable[[SignatureGraph], Any]


@dataclass(frozen=True)
class Change:
    """How many nodes of each type a pass has added (more than 0) or removed."""

    name: str
    before: int
    after: int
    by_type: dict[str, int]

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count:+d}" for kind, count in sorted(self.by_type.items()))
        return f"{self.name}: {self.before} -> {self.after} nodes ({kinds or 'nothing changed'})"


def optimize_signature(given: SignatureGraph) -> tuple[SignatureGraph, list[Change]]:
    """The signature folded for inference, and what each pass changed."""
    changes = []
    for name, each in _PASSES.items():
        made = given.of(with_library(each(given), given.graph_def))
        changes.append(_change(name, given.graph_def, made.graph_def))
        given = made
    return given, changes


def _change(name: str, before: Any, after: Any) -> Change:
    old, new = (Counter(node.op for node in graph.node) for graph in (before, after))
    by_type = {kind: new[kind] - old[kind] for kind in old | new if new[kind] != old[kind]}
    return Change(name, old.total(), new.total(), by_type)


def _transform(name: str) -> Pass:
    def run(given: SignatureGraph) -> Any:
        return TransformGraph(given.graph_def, given.input_names, given.output_names, [name])

    return run


def _without_training(given: SignatureGraph) -> Any:
    ends = {*given.input_names, *given.output_names}
    unchecked = given.of(_transform("remove_nodes(op=CheckNumerics, op=StopGradient)")(given))
    return remove_training_nodes(unchecked.graph_def, ends)


def _with_folded_norms(given: SignatureGraph) -> Any:
    nodes = nodes_by_name(given.graph_def)
    uses = Counter(name for node in given.graph_def.node for name in _inputs(node))
    uses.update([*given.input_names, *given.output_names])
    norms = [node for node in given.graph_def.node if node.op in KINDS]
    chosen = [node.name for node in norms if _stands_alone(node, nodes, uses)]
    return fold_chosen_batch_norms(given.graph_def, chosen)


def _stands_alone(norm: Any, nodes: dict[str, Any], uses: Counter[str]) -> bool:
    """Whether a batch norm by constants is all that uses them and the convolution before it."""
    before = nodes[source(norm.input[0])]
    if before.op not in CONVOLUTIONS or norm.attr["is_training"].b:
        return False
    if any(uses[f"{norm.name}:{i}"] for i in range(1, 6)):
        return False
    parts = [*norm.input[:5], before.input[1]]
    constants = all(nodes[source(name)].op == "Const" for name in parts[1:])
    return constants and all(uses[name.removesuffix(":0")] == 1 for name in parts)


def _inputs(node: Any) -> Iterator[str]:
    for name in node.input:
        yield name.removesuffix(":0")


def _merged(given: SignatureGraph) -> Any:
    # Nodes of loops have no order.
    if any(node.op == "NextIteration" for node in given.graph_def.node):
        return given.graph_def
    return _transform("merge_duplicate_nodes")(given)


def _needed(given: SignatureGraph) -> Any:
    return extract_sub_graph(given.graph_def, [*given.output_names, *given.input_names])


_PASSES: dict[str, Pass] = {
    "drop what only training needs": _without_training,
    "compute constants": _transform("fold_constants"),
    "tell reshapes their sizes": lambda given: with_sizes(given.graph_def),
    "fold batch norms into convolutions": _with_folded_norms,
    "fold products into weights": _transform("fold_batch_norms"),
    "merge nodes that are the same": _merged,
    "drop what is not needed": _needed,
}
