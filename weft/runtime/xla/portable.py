"""A graph without state as a portable StableHLO artifact, by jax.export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.graph.tensor import Tensor
from weft.ops.kit.target import tracing_for
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.devices import describe
from weft.passes.pipeline import prepare
from weft.passes.regions.compilable import compiles
from weft.passes.regions.group import schedule
from weft.passes.regions.units import Unit
from weft.passes.resource_edges import resource_roots
from weft.runtime.xla.compile import load
from weft.runtime.xla.tracer import Tracer

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
BATCH = "b"


class _NoLimit:
    """In place of `Largest`: a symbolic size cannot be compared with the memory."""

    node: Node | None = None

    def expect(self, node: Node, inputs: Sequence[Any]) -> None:
        """Nothing is too large."""

    def note(self, node: Node | None, outputs: Sequence[Any]) -> None:
        """Nothing is too large."""


def graph_of(feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> ClientGraph:
    """What computes `fetches` from `feeds`, optimized as a step of a session is."""
    (part,) = prepare(feeds, fetches, [])
    return part.graph


def without_equivalent(graph: ClientGraph) -> list[str]:
    """The types of nodes that cannot be part of a program: random, on the host, with state."""
    order = schedule(graph)
    roots = resource_roots(order)
    fed = {node for node, _ in graph.feeds}
    running = [n for n in order if n not in fed and not n.definition.is_constant]
    return sorted({node.type for node in running if not _has_equivalent(node, roots)})


def _has_equivalent(node: Node, roots: Any) -> bool:
    if node.definition.is_handle or node.definition.takes_rng or not compiles(node, roots):
        return False
    inside = [inner for graph in subgraphs(node) for inner in graph.nodes]
    return not any(n.definition.is_handle or n.definition.takes_rng for n in inside)


def exported(graph: ClientGraph, specs: Sequence[tuple[Sequence[int | None], Any]]) -> Any:
    """jax's `Exported` of the graph: a function of arrays with these shapes and types.

    A size that is None is symbolic, and the same wherever it comes first in a shape.
    """
    jax = load()
    from jax import export

    scope = export.SymbolicScope()
    inputs = [
        jax.ShapeDtypeStruct(export.symbolic_shape(_shape_text(i, dims), scope=scope), dtype)
        for i, (dims, dtype) in enumerate(specs)
    ]
    with tracing_for("tpu"), jax.default_matmul_precision("highest"):
        return export.export(jax.jit(_function(graph)), platforms=PLATFORMS)(*inputs)


def _shape_text(i: int, dims: Sequence[int | None]) -> str:
    names = (BATCH if axis == 0 else f"d{i}_{axis}" for axis in range(len(dims)))
    parts = [name if size is None else str(size) for name, size in zip(names, dims, strict=True)]
    return ", ".join(parts)


def _function(graph: ClientGraph) -> Any:
    fed = {node for node, _ in graph.feeds}
    order = [n for n in schedule(graph) if n not in fed and not n.definition.is_constant]
    unit = Unit(True, order, list(graph.feeds), list(graph.fetches))

    def run(*inputs: Any) -> list[Any]:
        tracer: Any = _Tracer(unit, [], {}, 1, describe("/device:CPU:0"))
        outputs, _, _ = tracer.run([], [], list(inputs), None, None)
        return list(outputs)

    return run


class _Tracer(Tracer):
    """A tracer of programs whose sizes need not be known."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.largest = _NoLimit()  # type: ignore[assignment]


def serialized(artifact: Any) -> bytes:
    """The bytes of an `Exported`."""
    return bytes(artifact.serialize())


def called(content: bytes, values: Sequence[Any]) -> list[np.ndarray]:
    """The results of the artifact in these bytes."""
    load()
    from jax import export

    return [np.asarray(value) for value in export.deserialize(bytearray(content)).call(*values)]
