"""The table of contents of a step: every pass, in order.

A local session calls `prepare`. In a cluster the master calls `split`, and each worker calls
`prepare` on the graph it was given, which is placed already. There is no other pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from weft.core import flags
from weft.core.dtypes import DType
from weft.core.step_limits import limits
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.passes.client_graph import ClientGraph
from weft.passes.collectives import reach_processes
from weft.passes.control_flow.fold import fold_control_flow, subgraphs
from weft.passes.inline import inline
from weft.passes.inline_across_tasks import spread
from weft.passes.optimize.assertions import drop_proven
from weft.passes.optimize.attention import fuse_attention
from weft.passes.optimize.half_precision import use_half
from weft.passes.optimize.repeats import sum_repeats
from weft.passes.optimize.restores import restore_variables_directly
from weft.passes.optimize.tidy import tidy
from weft.passes.partition import PLAIN, Partition, PartitionOptions, partition
from weft.passes.prune import prune
from weft.passes.recv_schedule import hold_back
from weft.passes.ref_reads import sink_ref_reads
from weft.passes.replicas.step import ReplicatedStep, replicated
from weft.passes.verify import verify


@dataclass(frozen=True)
class Options:
    """The optimizations that a session asks for.

    `as_written`: none, not even what is always done, for a debugger to see every node.
    """

    fold: bool = True
    cse: bool = True
    simplify: bool = True
    half: DType | None = None  # products in this precision, on devices that gain from it
    hold_receives: bool = False
    transfers: PartitionOptions = PLAIN
    as_written: bool = False


ALL = Options()


def prepare(
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    options: Options = ALL,
    observe: object = None,
    place: Callable[[ClientGraph], None] | None = None,
) -> list[Partition]:
    """Client graph -> the graphs of one step, one per device, optimized.

    `place` gives every node a device; without it all are on one. `observe(stage, graph)` sees each
    stage.
    """
    graph = prune(feeds, fetches, targets)
    _show(observe, "10_pruned", graph)
    inline(graph)
    return finished(split(graph, options, observe, place), options, observe)


def prepare_replicas(
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    options: Options,
    place: Callable[[ClientGraph], None],
) -> ReplicatedStep:
    """The same step with its replicas as one program, or NotOneProgram if they cannot be.

    The graphs of its stages are still to be cut, by `partition`, and `finished`.
    """
    graph = prune(feeds, fetches, targets)
    inline(graph)
    spread(graph)
    place(graph)
    step = replicated(graph)
    finish(step.program, options)
    return step


def finished(
    parts: list[Partition], options: Options = ALL, observe: object = None
) -> list[Partition]:
    """The parts of a step, each optimized for its device."""
    for i, part in enumerate(parts):
        if options.hold_receives and len(parts) > 1:
            hold_back(part.graph)
        finish(part.graph, options, observe, f"_{i}" if len(parts) > 1 else "")
    return parts


def split(
    graph: ClientGraph,
    options: Options = ALL,
    observe: object = None,
    place: Callable[[ClientGraph], None] | None = None,
) -> list[Partition]:
    """The graph of a step -> one graph per device. All that a master does before it hands out work:

    calls of functions stay what they are, for the process that runs them to replace, unless their
    bodies belong to several tasks.
    """
    if options.fold and not options.as_written:
        drop_proven(graph)
    if place is not None:
        spread(graph)
        place(graph)
        _show(observe, "12_placed", graph)
    else:
        for node in graph.nodes:
            node.device = ""
    return partition(graph, options.transfers)


def finish(
    graph: ClientGraph, options: Options = ALL, observe: object = None, suffix: str = ""
) -> None:
    """Optimizes the graph of one device, in place."""
    if suffix:
        _show(observe, f"14_partition{suffix}", graph)
    if not gains_from_half(graph):
        options = replace(options, half=None)
    sink_ref_reads(graph, keep=options.as_written)
    if options.as_written:
        return
    if flags.CONTROL_FLOW.value != "nodes":
        fold_control_flow(graph)
    _show(observe, f"15_structured{suffix}", graph)
    reach_processes(graph)
    optimize(graph, options)
    _show(observe, f"20_optimized{suffix}", graph)


def optimize(graph: ClientGraph, options: Options) -> None:
    """Rewrites the graph, and the graphs inside its loops and conditionals, in place."""
    limits.check()
    for node in graph.nodes:
        for inner in subgraphs(node):
            optimize(inner, options)
    folded = options.fold and not has_frames(graph)
    if options.simplify:
        sum_repeats(graph)  # before gradients of two tables share what finds their rows
    tidy(graph, simple=options.simplify, folded=folded, shared=options.cse)
    if options.simplify:
        fuse_attention(graph)
    if options.half is not None and use_half(graph, options.half):
        tidy(graph, simple=options.simplify, folded=folded, shared=options.cse)
    if options.simplify:
        sum_repeats(graph)
        restore_variables_directly(graph)
    graph.drop_unused()


def gains_from_half(graph: ClientGraph) -> bool:
    """Whether the graph is that of a device with tensor cores."""
    return any("GPU:" in node.device for node in graph.nodes)


def has_frames(graph: ClientGraph) -> bool:
    """Whether loops or branches are spread out as nodes: a constant there belongs to its frame."""
    return any(node.definition.control_flow not in (None, "trigger") for node in graph.nodes)


def _show(observe: object, stage: str, graph: ClientGraph) -> None:
    if flags.CHECK:
        verify(stage, graph)
    if callable(observe):
        observe(stage, graph)
