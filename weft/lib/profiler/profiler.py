"""tf.profiler.profile and its relatives."""

from __future__ import annotations

from typing import Any

from weft.core import errors
from weft.graph.graph import get_default_graph
from weft.lib.profiler import report
from weft.lib.profiler.lines import tree_of_inputs, tree_of_lines
from weft.lib.profiler.options import ProfileOptionBuilder
from weft.lib.profiler.scopes import profile_tree, tree_of
from weft.lib.profiler.statistics import FIELDS, Node, measured_nodes, nodes_of
from weft.lib.profiler.types import profile_types
from weft.protos.profiler import AdviceProto, GraphNodeProto, MultiGraphNodeProto

_CHECKERS = (
    "ExpensiveOperationChecker", "AcceleratorUtilizationChecker", "JobChecker", "OperationChecker",
)  # fmt: skip


def profile(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = 0,
) -> Any:
    """Adds up what a graph costs and prints it; returns the sums as a message.

    By name scope (`cmd="scope"`), by type of operation (`"op"`), along the edges of the graph
    (`"graph"`) or by line of Python (`"code"`). Time and memory are those of the step that
    `run_meta` is from.
    """
    graph = graph or get_default_graph()
    options = options or ProfileOptionBuilder.trainable_variables_parameter()
    nodes = nodes_of(graph, op_log, [] if run_meta is None else [run_meta])
    return _profiled(graph, nodes, cmd, options)


def _profiled(graph: Any, nodes: dict[str, Node], cmd: str, options: dict[str, Any]) -> Any:
    if cmd == "op":
        root, groups = profile_types(nodes, options)
        report.deliver(report.type_report(root, groups, options), options)
        return _chained(root, groups)
    if cmd == "code":
        root = profile_tree(tree_of_lines(graph, nodes, options), options, is_settled=True)
    elif cmd in ("scope", "graph"):
        tree = tree_of(nodes) if cmd == "scope" else tree_of_inputs(graph, nodes)
        root = profile_tree(tree, options)
    else:
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    report.deliver(report.scope_report(root, options), options)
    return _filled(MultiGraphNodeProto() if cmd == "code" else GraphNodeProto(), root)


def _filled(message: Any, node: Node) -> Any:
    """The message of a node and all below it."""
    message.name = node.name
    for field in FIELDS:
        if hasattr(message, field):
            setattr(message, field, node.own[field] if node.accounted else 0)
            setattr(message, "total_" + field, node.total[field])
    if isinstance(message, GraphNodeProto):
        message.total_definition_count = node.definitions
        message.devices.extend(node.devices)
    for child in node.children:
        _filled(message.children.add(), child)
    for member in node.members:
        _filled(message.graph_nodes.add(), member)
    return message


def _chained(root: Node, groups: list[Node]) -> Any:
    """Each type is the child of the one before it."""
    top = message = _filled(MultiGraphNodeProto(), root)
    for group in groups:
        message = _filled(message.children.add(), group)
    return top


def advise(graph: Any = None, run_meta: Any = None, options: Any = 0) -> Any:
    """The advice of each checker; weft's names the operations that take the most time."""
    profiler = Profiler(graph)
    if run_meta is not None:
        profiler.add_step(-1, run_meta)
    return profiler.advise(options or _CHECKERS)


class Profiler:
    """Profiles of several steps of one graph."""

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        self._graph = graph or get_default_graph()
        self._op_log = op_log
        self._steps: dict[int, list[Any]] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Keeps what a run measured, under the number `step`."""
        self._steps.setdefault(step, []).append(run_meta)

    @property
    def _coverage(self) -> float:
        """The part of the graph's nodes that some step has measured."""
        names = {op.name for op in self._graph.get_operations()}
        metas = [meta for step in self._steps.values() for meta in step]
        seen = {name for meta in metas for _, name, _ in measured_nodes(meta, names)}
        return len(seen) / max(1, len(names))

    def _nodes(self, step: int) -> dict[str, Node]:
        wanted = self._steps if step < 0 else {step: self._steps.get(step, [])}
        return nodes_of(self._graph, self._op_log, [meta for s in wanted for meta in wanted[s]])

    def _profile(self, cmd: str, options: dict[str, Any]) -> Any:
        return _profiled(self._graph, self._nodes(options.get("step", -1)), cmd, options)

    def profile_name_scope(self, options: dict[str, Any]) -> Any:
        return self._profile("scope", options)

    def profile_operations(self, options: dict[str, Any]) -> Any:
        return self._profile("op", options)

    def profile_graph(self, options: dict[str, Any]) -> Any:
        return self._profile("graph", options)

    def profile_python(self, options: dict[str, Any]) -> Any:
        return self._profile("code", options)

    def advise(self, options: Any) -> Any:
        advice = AdviceProto()
        for name in options or _CHECKERS:
            reports = advice.checkers[name].reports
            if name == "ExpensiveOperationChecker" and self._steps:
                reports.extend(self._expensive())
        return advice

    def _expensive(self) -> list[str]:
        options = ProfileOptionBuilder.time_and_memory(min_bytes=0)
        root, groups = profile_types(self._nodes(-1), options)
        everything = root.total["exec_micros"] or 1
        return [
            f"top {i} operation type: {group.name}, {_times(group)}"
            f" ({100 * group.own['exec_micros'] / everything:.2f}%)"
            for i, group in enumerate(groups[:3], 1)
        ]


def _times(group: Node) -> str:
    names = {"cpu": "cpu_exec_micros", "accelerator": "accelerator_exec_micros"}
    names["total"] = "exec_micros"
    return ", ".join(f"{name}: {report.time(group.own[of])}" for name, of in names.items())
