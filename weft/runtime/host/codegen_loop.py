"""A whole loop as one generated Python function.

What does not change from one iteration to the next is computed once, before the second: a loop that
never runs must not fail because of its body. A loop that may wait is left where it has to, or where
a region meets more than it could run on the host; regions too large for the host are called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from weft.core.deferred import Deferred
from weft.passes.client_graph import Node
from weft.passes.control_flow.structured_nodes import has_effect
from weft.runtime.host.codegen_units import (
    UnitEmitter,
    needed_after,
    size_limits,
    to_host,
)
from weft.runtime.host.interpret import HostNode
from weft.runtime.limits import limits
from weft.runtime.xla.region import Region

if TYPE_CHECKING:
    from weft.runtime.prepared import Prepared

# Where a loop stopped: the unit of its body, what that waits for if it waits, the loop variables of
# the iteration, and the slots of the body.
Stop = tuple[int, Deferred | None, list[Any], list[Any]]
StraightLoop = Callable[[Sequence[Any], Sequence[Any], list[int]], Any]


def straight_loop(
    condition: Prepared, body: Prepared, variables: int, may_stop: bool = False,
    any_size: bool = False,
) -> StraightLoop:  # fmt: skip
    """A loop over two plans: (state, fixed inputs, count) -> final state, a list, or a `Stop`.

    `count` is a one-element list that holds the number of finished iterations, also on failure.
    Only a loop that `may_stop` does. With `any_size` it does not stop for arrays larger than those
    seen. It looks now and then whether the step shall go on at all.
    """
    called = _called([*condition.units, *body.units], any_size) if may_stop else set()
    source = _Source(condition, body, variables, called, may_stop)
    inner = source.guarded_function("loop")
    convert: Callable[[Any], Any] = to_host if source.on_host else lambda value: value

    def loop(state: Sequence[Any], fixed: Sequence[Any], count: list[int]) -> Any:
        return inner(map(convert, state), map(convert, fixed), count)

    return loop


class _Source(UnitEmitter):
    def __init__(
        self, condition: Prepared, body: Prepared, variables: int, called: set[Any], may_stop: bool
    ) -> None:
        super().__init__(body.store, on_host=not called)
        self.body, self.may_stop, self.called = body, may_stop, called
        self.made_in: dict[str, set[int]] = {}
        self.inputs = [f"x{i}" for i in range(len(body.feed_slots))]
        self.state = ", ".join(self.inputs[:variables])
        self.names["check"] = limits.check
        fixed = _unchanged(body, variables)
        once, again = _split(condition, fixed, called)
        body_once, body_again = _split(body, fixed, called)
        self.add(0, "def loop(state, fixed, count):")
        self.add(1, f"{''.join(x + ', ' for x in self.inputs)} = *state, *fixed")
        self.add(1, "n = count[0]")
        self.add(1, "with quiet():")
        self.add(2, "try:")
        self._condition(3, condition, {*once, *again})
        self._part("b", body)
        self.nodes(3, [item for item in body.nodes.values() if item in body_once])
        self.add(3, "while True:")
        self._body(4, body_again)
        if variables:
            results = ", ".join(self.slot(i) for i in body.fetch_slots)
            self.add(4, f"{self.state} = {results}")
        self.add(4, "n += 1")
        # Where iterations take next to no time, not after every one of them.
        often = "" if not self.on_host else f"if not n & {7 if may_stop else 255}: "
        self.add(4, f"{often}check()")
        self._condition(4, condition, again)
        self.add(2, "finally: count[0] = n")

    def _condition(self, depth: int, plan: Prepared, items: set[HostNode]) -> None:
        self._part("c", plan)
        for unit in plan.units:
            self._unit(depth, unit, items, None)
        self.add(depth, f"if not {self.slot(plan.fetch_slots[0])}: return [{self.state}]")

    def _body(self, depth: int, items: set[HostNode]) -> None:
        self._part("b", self.body)
        for i, (unit, needed) in enumerate(
            zip(self.body.units, needed_after(self.body), strict=True)
        ):
            self._unit(depth, unit, items, (i, needed) if self.may_stop else None)

    def _part(self, prefix: str, plan: Prepared) -> None:
        """From here on lines are those of `plan`: its inputs are the loop's, the rest its own."""
        self.plan = plan
        self.part(plan, prefix, self.inputs)
        self.made = self.made_in.setdefault(prefix, set())
        for node, item in plan.nodes.items():
            if node.definition.is_constant:
                self.names[self.slot(item.outs[0])] = to_host(node.attrs["value"])
                self.made.update(item.outs)

    def _unit(
        self, depth: int, unit: Any, items: set[HostNode], at: tuple[int, Collection[int]] | None
    ) -> None:
        mine = [item for item in unit.nodes if item in items]

        def leave(waited_for: str) -> str:
            assert at is not None
            slots = f"{self._slots(at[1])}; return {at[0]}, {waited_for}, [{self.state}], v"
            return slots

        way_out = leave if at is not None else None
        if not isinstance(unit, Region):
            self.nodes(depth, mine, way_out)
        elif unit in self.called:
            self._call_region(depth, unit)
        elif mine:
            self.region(depth, unit, mine, way_out)

    def _call_region(self, depth: int, region: Region) -> None:
        self.add(depth, self._slots({slot for item in region.nodes for slot in item.ins}))
        self.add(depth, f"{self.bind(region.run)}(v)")
        made = [*region.out_slots, *region.leaving_slots]
        loads = [f"{self.slot(i)} = v[{i}]" for i in made]
        self.add(depth, "; ".join(loads) or "pass")
        self.made.update(made)

    def _slots(self, needed: Collection[int]) -> str:
        """`v` becomes the slots of the plan, with its inputs and those of `needed` filled in."""
        template = self.bind(self.plan.template)
        given = zip(self.plan.feed_slots, self.inputs, strict=True)
        inputs = "".join(f"v[{slot}] = {x}; " for slot, x in given)
        return f"v = {template}.copy(); {inputs}{self.stores(needed)}"


def _called(units: Sequence[Any], any_size: bool) -> set[Any]:
    """Regions that are called, not written out: too large for the host, or of unknown size."""
    regions = [unit for unit in units if isinstance(unit, Region)]
    return {r for r in regions if not r.tiny or (any_size and size_limits(r))}


def _unchanged(body: Prepared, variables: int) -> set[int]:
    """Positions of inputs that are the same in every iteration."""
    graph = body.graph
    kept = {i for i in range(variables) if graph.fetches[i] == graph.feeds[i]}
    return kept | set(range(variables, len(graph.feeds)))


def _split(
    plan: Prepared, fixed: set[int], called: set[Any]
) -> tuple[set[HostNode], set[HostNode]]:
    """The nodes that need to run only once, and the others."""
    same = {node for i, (node, _) in enumerate(plan.graph.feeds) if i in fixed}
    moving = {*plan.nodes, *(node for node, _ in plan.graph.feeds)}
    elsewhere = {item.node for unit in plan.units if unit in called for item in unit.nodes}
    once: set[HostNode] = set()
    constants = {
        node for node in plan.nodes if node.definition.is_constant and node not in elsewhere
    }
    same |= constants
    for node, item in plan.nodes.items():
        if node in constants:
            continue
        needs = {source for source, _ in node.inputs} & moving
        needs |= {c for c in node.controls if c in plan.nodes}
        fixed_alone = item.kind == "pure" and not item.derefs and not _has_effect(node)
        if fixed_alone and node not in elsewhere and needs <= same:
            same.add(node)
            once.add(item)
    constant = {plan.nodes[node] for node in constants}
    return once, {*plan.nodes.values()} - once - constant


def _has_effect(node: Node) -> bool:
    return has_effect(node) or node.definition.blocking
