"""Vectors of which a trace knows some numbers: `x[i, 1:3]` has a size, though `i` is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.ops.kit.shared import PartlyKnown, is_concrete
from weft.passes.client_graph import Node


class KnownParts:
    """Remembers what vectors were packed of, for the slices that they are the bounds of."""

    def __init__(self) -> None:
        self._packed: dict[int, tuple[Any, Sequence[Any]]] = {}

    def note(self, inputs: Sequence[Any], output: Any) -> None:
        """Notes what a Pack was given."""
        if output.ndim == 1:
            self._packed[id(output)] = output, inputs

    def bounds(self, node: Node, inputs: list[Any]) -> list[Any]:
        """The inputs of a node: what a slice is bounded by with all that is known of it."""
        return [self._bound(v) for v in inputs] if node.definition.static_rule else inputs

    def _bound(self, value: Any) -> Any:
        packed = self._packed.get(id(value))
        return value if packed is None or is_concrete(value) else PartlyKnown(*packed)
