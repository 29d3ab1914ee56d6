"""A step that may have to wait, as one generated Python function that hopes it need not.

Where an operation must wait after all, or a region meets more than it could run on the host, the
function says at which unit it stopped; what was computed until then is in the slots of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from weft.core.deferred import Deferred
from weft.passes.client_graph import Edge, Node
from weft.runtime.interpret import HostNode, located
from weft.runtime.region import Region
from weft.runtime.resources import ResourceStore
from weft.runtime.straight import FILE, Writer, node_of

# The unit that the step stopped at, and what it waits for if it waits; None at the end of the step.
Stop = tuple[int, Deferred | None]
WaitingStep = Callable[[list[Any]], Stop | None]


def waiting_step(plan: Any) -> WaitingStep | None:
    """The units of a plan in order; None if one of them is not small enough for the host."""
    regions = [unit for unit in plan.units if isinstance(unit, Region)]
    if not all(region.entries and region.is_tiny() for region in regions):
        return None
    source = _Source(plan)
    names = source.writer.names
    exec(compile("\n".join(source.lines), FILE, "exec"), names)
    inner = names.pop("step")  # left there, it would be a cycle

    def step(values: list[Any]) -> Stop | None:
        try:
            stop: Stop | None = inner(values)
            return stop
        except Exception as error:
            node = node_of(error, source.where)
            raise (located(error, node) if node is not None else error) from error

    return step


class _Source:
    """The lines of the function, and which node each line that calls a kernel runs."""

    def __init__(self, plan: Any) -> None:
        store: ResourceStore = plan.store
        self.writer = Writer(store, hold_lock=False, on_host=not plan.nested)
        self.lines = ["def step(v):", "", "    with errstate(all='ignore'):", "        pass"]
        self.where: dict[int, Node] = {}
        self.made: set[int] = set()
        for slot, value in enumerate(plan.template):
            if value is not None:
                self.writer.names[self.writer.slot(slot)] = value
        needed = _needed_after(plan)
        for i, unit in enumerate(plan.units):
            self._unit(i, unit, needed[i])
        self._add(1, self._stores(plan.fetch_slots))
        settled = {slot for slot, value in enumerate(plan.template) if value is not None}
        loads = sorted(self.writer.loaded - settled)
        self.lines[1] = "    " + ("; ".join(f"s{i} = v[{i}]" for i in loads) or "pass")

    def _unit(self, i: int, unit: Any, needed: Collection[int]) -> None:
        if isinstance(unit, Region):
            self._region(i, unit, needed)
            return
        for item in unit.nodes:
            if item.node.definition.blocking:
                leave = f"{self._stores(needed)}; return {i}, r"
                lines = self.writer.waiting_line(item, self.made, leave).split("\n")
            else:
                lines = [self.writer.line(item, self.made)]
            for line in lines:
                self._add(2, line, item.node)
            self.made.update(item.outs)

    def _region(self, i: int, region: Region, needed: Collection[int]) -> None:
        """What ran on the host while it was small goes on to, up to the largest seen."""
        self.writer.loaded.update(set(region.moving_slots) - self.made)
        tests = [f"s{slot}.size > {size}" for slot, size in _limits(region)]
        if tests:
            self._add(2, f"if {' or '.join(tests)}: {self._stores(needed)}; return {i}, None")
        self.writer.hold_lock = bool(region.cells)
        if region.cells:
            self._add(2, "with lock:")
        for item in region.nodes:
            self._add(3 if region.cells else 2, self.writer.line(item, self.made), item.node)
            self.made.update(item.outs)
        self.writer.hold_lock = False

    def _add(self, depth: int, line: str, node: Node | None = None) -> None:
        self.lines.append("    " * depth + line)
        if node is not None:
            self.where[len(self.lines)] = node

    def _stores(self, slots: Collection[int]) -> str:
        return "; ".join(f"v[{i}] = s{i}" for i in sorted({*slots} & self.made)) or "pass"


def _limits(region: Region) -> list[tuple[int, int]]:
    """For each input of unknown size, the largest that was seen."""
    edges: Sequence[Edge] = region.unit.inputs[: len(region.moving_slots)]
    limits = []
    for i, (slot, (node, output)) in enumerate(zip(region.moving_slots, edges, strict=True)):
        dims = node.dims[output]
        if dims is None or None in dims:
            seen = [key[1][i] for key in list(region.entries)]
            limits.append((slot, max(_size(shape) for shape in seen)))
    return limits


def _size(shape: Sequence[int]) -> int:
    size = 1
    for d in shape:
        size *= d
    return size


def _needed_after(plan: Any) -> list[set[int]]:
    """For each unit, the slots that it and later ones read, and those that are fetched."""
    needed, found = set(plan.fetch_slots), []
    for unit in reversed(plan.units):
        items: list[HostNode] = unit.nodes
        needed = needed | {slot for item in items for slot in item.ins}
        found.append(needed)
    return found[::-1]
