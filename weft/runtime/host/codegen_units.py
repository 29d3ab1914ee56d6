"""Units of a plan as lines of a generated function: what is small is written out, node by node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.passes.client_graph import Edge
from weft.runtime.host.codegen import NodeEmitter
from weft.runtime.host.interpret import HostNode
from weft.runtime.resources import ResourceStore
from weft.runtime.xla.region import Region

if TYPE_CHECKING:
    from weft.runtime.prepared import Prepared


# Given the expression of what is waited for, the statements by which the function is left.
Leave = Callable[[str], str]


class UnitEmitter(NodeEmitter):
    """Lines for units, and for the branches of conditionals among them."""

    def __init__(self, store: ResourceStore, on_host: bool) -> None:
        super().__init__(store, hold_lock=False, on_host=on_host)
        self.branches = 0

    def nodes(self, depth: int, items: Sequence[HostNode], leave: Leave | None = None) -> None:
        for item in items:
            if item.node.branches is not None:
                self._conditional(depth, item, leave)
            else:
                for line in self._lines_of(item, leave):
                    self.add(depth, line, item.node)
            self.made.update(item.outs)

    def _conditional(self, depth: int, item: HostNode, leave: Leave | None) -> None:
        """A branch that is small is written out; one that is not, or never ran, is called."""
        conditional: Any = item.call
        self.load_inputs(item)
        given = self.arguments(item)
        outer = self.prefix, self.aliases, self.made, self.loaded
        # Written with the names that are valid here, not with those of a branch.
        way_out = leave("r") if leave is not None and item.node.definition.blocking else ""
        targets = ", ".join(self.slot(i) for i in item.outs)
        for side, test in ((1, f"if {given[0]}:"), (0, "else:")):
            self.add(depth, test, item.node)
            self.loaded = set()
            results = self._branch(depth + 1, conditional, side, given[1:], way_out)
            self.prefix, self.aliases, self.made, self.loaded = outer
            self.add(
                depth + 1, f"{targets} = {', '.join(map(str, results))}" if targets else "pass"
            )

    def _branch(
        self, depth: int, conditional: Any, side: int, given: list[str], way_out: str
    ) -> list[str | None]:
        """Adds the lines of a branch; gives the expressions of what the conditional makes of it.

        `way_out`: how the function is left when `r` has to be waited for.
        """
        plan = conditional.branches[side].ready()
        if not _can_be_written(plan, bool(way_out)):
            return self._called_branch(depth, conditional, side, given, way_out)
        self.branches += 1
        self.part(plan, f"{self.prefix}{'et'[side]}{self.branches}_", given)
        self.made = set()
        for i, (unit, needed) in enumerate(zip(plan.units, needed_after(plan), strict=True)):
            if isinstance(unit, Region):
                self.region(depth, unit, unit.nodes)
            elif plan.in_order:
                self.nodes(depth, unit.nodes)
            else:
                at = self.bind(conditional.promise_at), self.bind(plan)
                stop = f"{at[0]}({side}, {at[1]}, {i}"
                leave = self._leave_branch(plan, given, needed, stop, way_out)
                self.nodes(depth, unit.nodes, leave)
        return _outputs(conditional, side, [self.slot(i) for i in plan.fetch_slots])

    def _called_branch(
        self, depth: int, conditional: Any, side: int, given: list[str], way_out: str
    ) -> list[str | None]:
        plan, convert = conditional.branches[side], self.bind(to_host)
        inputs = f"[{', '.join(given)}]"
        results = [f"r[{i}]" for i in range(len(plan.fetch_slots))]
        if plan.in_order or not way_out:
            self.add(depth, f"r = {self.bind(plan.run)}({inputs})")
            self.add(depth, f"r = [*map({convert}, r)]")
            return _outputs(conditional, side, results)
        self.add(depth, f"r = {self.bind(conditional.run_side)}({side}, {inputs})")
        self.add(depth, f"if type(r) is Deferred: {way_out}")
        made = _outputs(conditional, side, results)
        return [None if made[i] is None else f"{convert}(r[{i}])" for i in range(len(made))]

    def _leave_branch(
        self, plan: Prepared, given: list[str], needed: Collection[int], stop: str, way_out: str
    ) -> Leave:
        """The way out of a branch that waits: its values go into slots of its own, `u`."""

        def leave(waited_for: str) -> str:
            pairs = zip(plan.feed_slots, given, strict=True)
            inputs = "".join(f"u[{slot}] = {name}; " for slot, name in pairs)
            slots = f"u = {self.bind(plan.template)}.copy(); {inputs}"
            slots += self.stores(needed, "u")
            return f"{slots}; r = {stop}, {waited_for}, u); {way_out}"

        return leave

    def part(self, plan: Prepared, prefix: str, given: Sequence[str]) -> None:
        """From here on lines are those of `plan`, whose inputs are called `given`."""
        self.prefix = prefix
        self.aliases = dict(zip(plan.feed_slots, given, strict=True))
        for slot, value in enumerate(plan.template):
            if value is not None:
                self.names[self.slot(slot)] = to_host(value)

    def _lines_of(self, item: HostNode, leave: Leave | None) -> list[str]:
        if leave is not None and item.node.definition.blocking:
            return self.waiting_line(item, leave("r")).split("\n")
        return [self.line(item)]

    def region(
        self, depth: int, region: Region, items: Sequence[HostNode], leave: Leave | None = None
    ) -> None:
        """Lines of a region that was small enough for the host, with a test that it still is."""
        self.loaded.update(set(region.moving_slots) - self.made)
        slot = self.slot
        tests = [f"{slot(i)}.size > {size}" for i, size in size_limits(region)]
        if tests and leave is not None:
            self.add(depth, f"if {' or '.join(tests)}: {leave('None')}")
        locked = bool(region.cells)
        if locked:
            self.add(depth, "with lock:")
        self.hold_lock = locked
        self.nodes(depth + locked, items)
        self.hold_lock = False


def to_host(value: Any) -> Any:
    """Arrays on a device come to the host; numbers become NumPy's scalars, which add up faster."""
    if type(value).__module__.startswith("jax"):
        value = np.asarray(value)
    is_number = isinstance(value, np.ndarray) and not value.ndim and value.dtype != object
    return value[()] if is_number else value


def _outputs(conditional: Any, side: int, results: list[str]) -> list[str | None]:
    """The outputs of a conditional as expressions, given those of the results of a branch."""
    outputs: list[str | None] = conditional.outputs(side, results, lambda r: f"{r}.read()")
    return outputs


def _can_be_written(plan: Prepared, may_wait: bool) -> bool:
    """Whether a branch is so small, and its regions have no limits to test."""
    regions = [unit for unit in plan.units if isinstance(unit, Region)]
    follows = plan.in_order or (may_wait and not plan.plan.by_tokens)
    return follows and all(r.tiny and not size_limits(r) for r in regions)


def needed_after(plan: Prepared) -> list[set[int]]:
    """For each unit, the slots that it and later ones read, and those that are fetched."""
    needed, found = set(plan.fetch_slots), []
    for unit in reversed(plan.units):
        items: list[HostNode] = unit.nodes
        needed = needed | {slot for item in items for slot in item.ins}
        found.append(needed)
    return found[::-1]


def size_limits(region: Region) -> list[tuple[int, int]]:
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
