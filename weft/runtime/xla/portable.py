"""A graph without state as a portable StableHLO artifact, by jax.export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from weft.runtime.xla.lower import NotCompilable
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


def exported(
    graph: ClientGraph,
    inputs: Mapping[str, tuple[Sequence[int | None], Any]],
    outputs: Sequence[str],
) -> Any:
    """jax's `Exported` of the graph: a function of a dict of arrays, which gives a dict.

    `inputs` are the shapes and types of the feeds. A size that is None is symbolic; it is the same
    one wherever it comes first in a shape.
    """
    jax = load()
    from jax import export

    scope = export.SymbolicScope()
    given = {
        key: jax.ShapeDtypeStruct(export.symbolic_shape(_shape_text(i, dims), scope=scope), dtype)
        for i, (key, (dims, dtype)) in enumerate(inputs.items())
    }
    call = _function(graph, list(inputs), outputs)
    # Convolutions are lowered by tricks for the CPU only: any other platform gets the plain ones.
    with tracing_for("any"), jax.default_matmul_precision("highest"):
        return export.export(jax.jit(call), platforms=PLATFORMS)(given)


def _shape_text(i: int, dims: Sequence[int | None]) -> str:
    names = (BATCH if axis == 0 else f"d{i}_{axis}" for axis in range(len(dims)))
    parts = [name if size is None else str(size) for name, size in zip(names, dims, strict=True)]
    return ", ".join(parts)


def _function(graph: ClientGraph, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
    fed = [node for node, _ in graph.feeds]
    order = [n for n in schedule(graph) if n not in fed and not n.definition.is_constant]
    computed = [edge for edge in graph.fetches if edge[0] in order]
    unit = Unit(True, order, list(graph.feeds), computed)

    def run(given: dict[str, Any]) -> dict[str, Any]:
        # As on an accelerator, where values are not checked.
        tracer = _Tracer(unit, [], {}, 1, describe("/device:GPU:0"))
        feeds = [given[key] for key in inputs]
        _, results, _ = tracer.run([], [], feeds, None, None)
        if tracer.objects.guessed:
            raise NotCompilable(order[0], "a loop collects values, and may run any number of times")
        values = dict(zip(graph.feeds, feeds, strict=True)) | dict(
            zip(computed, results, strict=True)
        )
        found = [values[e] if e in values else e[0].attrs["value"] for e in graph.fetches]
        return dict(zip(outputs, found, strict=True))

    return run


class _Tracer(Tracer):
    """A tracer of programs whose sizes need not be known."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.largest = _NoLimit()  # type: ignore[assignment]


def serialized(artifact: Any) -> bytes:
    """The bytes of an `Exported`."""
    return bytes(artifact.serialize())


def called(content: bytes, values: dict[str, Any]) -> dict[str, np.ndarray]:
    """The results of the artifact in these bytes."""
    load()
    from jax import export

    artifact: Any = export.deserialize(bytearray(content))
    results = artifact.call(values)
    return {key: np.asarray(value) for key, value in results.items()}
