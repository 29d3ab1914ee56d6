"""`If` and `While` over graphs -> Switch, Merge and the nodes of a loop's frame.

The other way round from `fold.py`, for conditionals and loops whose inner nodes belong to
several tasks: as nodes of the step they can be cut apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.op_def import lookup
from weft.passes.client_graph import ClientGraph, Edge, Node


class Unfolded:
    """The `nodes` that replace `call`; its results are `outputs`, and it is over after `ends`.

    `targets` have to run, though nothing needs their results.
    """

    def __init__(self, call: Node) -> None:
        self.call = call
        self.nodes: list[Node] = []
        self.outputs: list[Edge] = []
        self.ends: list[Node] = []
        self.targets: list[Node] = []

    def _add(
        self, kind: str, name: str, inputs: Sequence[Edge], controls: Sequence[Node] = (),
        dims: Any = None, **attrs: Any,
    ) -> Node:  # fmt: skip
        """A node of control flow; what it passes on is of the type of its first input."""
        source, i = inputs[0]
        dtype = source.dtypes[i].base_dtype
        outputs = {"Switch": [dtype, dtype], "Merge": [dtype, dtypes.int32]}.get(kind, [dtype])
        shape = source.dims[i] if dims is None else dims
        shapes = [shape, () if kind == "Merge" else shape][: len(outputs)]
        types = {} if kind == "LoopCond" else {"T": dtype}
        made = Node(
            f"{self.call.name}/{name}", lookup(kind), {**types, **attrs}, list(inputs),
            list(controls), outputs, shapes, self.call.op, self.call.device,
        )  # fmt: skip
        self.nodes.append(made)
        return made

    def _put_in(self, graph: ClientGraph, inputs: Sequence[Edge], pivot: Node) -> list[Edge]:
        """The nodes of a body, which runs if `pivot` does; gives its results."""
        args = {arg: edge for (arg, _), edge in zip(graph.feeds, inputs, strict=True)}
        for node in graph.nodes:
            if node in args:
                continue
            node.inputs = [args.get(source, (source, i)) for source, i in node.inputs]
            node.controls = [c for c in node.controls if c not in args]
            if not node.inputs and not node.controls and not node.definition.is_handle:
                node.controls = [pivot]
            self.nodes.append(node)
        return [args.get(source, (source, i)) for source, i in graph.fetches]

    # ---- conditionals ----

    def conditional(self, graphs: Sequence[ClientGraph]) -> Unfolded:
        """`graphs` are those of False and of True."""
        predicate, *inputs = self.call.inputs
        decision = self._add("Switch", "decision", [predicate, predicate], self.call.controls)
        given = [
            self._add("Switch", f"switch_{i}", [edge, predicate], self.call.controls)
            for i, edge in enumerate(inputs)
        ]
        results, ends = [], []
        for side, graph in enumerate(graphs):
            pivot = self._add("Identity", f"pivot_{side}", [(decision, side)])
            results.append(self._put_in(graph, [(each, side) for each in given], pivot))
            end = self._add("Identity", f"end_{side}", [(pivot, 0)], graph.targets)
            ends.append((end, 0))
            self.targets += graph.targets
        for i, pair in enumerate(zip(*results, strict=True)):
            merge = self._add("Merge", f"merge_{i}", pair, dims=self.call.dims[i], N=2)
            self.outputs.append((merge, 0))
        self.ends = [self._add("Merge", "end", ends, N=2), *(n for n, _ in self.outputs)]
        return self

    # ---- loops ----

    def loop(self, condition: ClientGraph, body: ClientGraph) -> Unfolded:
        call, dims = self.call, self.call.dims
        frame = {
            "frame_name": f"{call.name}/frame",
            "is_constant": False,
            "parallel_iterations": call.attrs.get("parallel_iterations") or 10,
        }
        merges = []
        for i, edge in enumerate(call.inputs):
            enter = self._add("Enter", f"enter_{i}", [edge], call.controls, dims[i], **frame)
            merges.append(self._add("Merge", f"merge_{i}", [(enter, 0)], dims=dims[i], N=2))
        [verdict] = self._put_in(condition, [(m, 0) for m in merges], merges[0])
        decision = self._add("LoopCond", "decision", [verdict])
        switches = [
            self._add("Switch", f"switch_{i}", [(merge, 0), (decision, 0)])
            for i, merge in enumerate(merges)
        ]
        pivot = self._add("Identity", "pivot", [(switches[0], 1)])
        results = self._put_in(body, [(each, 1) for each in switches], pivot)
        for i, edge in enumerate(results):
            # An iteration is over when all that it does is done.
            turn = self._add("NextIteration", f"next_{i}", [edge], body.targets, dims[i])
            merges[i].inputs.append((turn, 0))
        self.outputs = [
            (self._add("Exit", f"exit_{i}", [(each, 0)]), 0) for i, each in enumerate(switches)
        ]
        self.ends = [node for node, _ in self.outputs]
        return self
