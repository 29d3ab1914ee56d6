"""A step over several devices on one thread, for steps so small that waking another costs more.

The units of all partitions are put into one order in which each has its inputs; a transfer is then
the move of a value from the slots of one partition to those of another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core.errors import raise_from
from weft.core.walk import as_ready
from weft.passes.partition import Partition
from weft.runtime.executor import read
from weft.runtime.host.interpret import with_node
from weft.runtime.plan import Plan
from weft.runtime.prepared import Prepared
from weft.runtime.tasks import Task
from weft.runtime.xla.region import Region

Values = list[list[Any]]  # the slots of every partition
Place = tuple[int, Task]  # partition, task of its plan


class MergedPlan:
    """The partitions of one step, which have nothing to wait for but each other."""

    def __init__(self, parts: Sequence[Partition], plans: Sequence[Plan]) -> None:
        self.plans = plans
        numbered = list(enumerate(zip(parts, plans, strict=True)))
        # Partition, slot and number of every feed; partition and slot of every fetch, in order.
        self.feeds = [
            (i, slot, number)
            for i, (part, plan) in numbered
            for slot, number in zip(plan.feed_slots, part.feeds, strict=True)
        ]
        fetches = {
            number: (i, slot)
            for i, (part, plan) in numbered
            for slot, number in zip(plan.fetch_slots, part.fetches, strict=True)
        }
        self.fetches = [fetches[number] for number in range(len(fetches))]
        self._prepare([plan.ready() for plan in plans])

    @classmethod
    def of(cls, parts: Sequence[Partition], plans: Sequence[Plan]) -> MergedPlan | None:
        """None where the host has more to do, or to wait for, than transfers among `plans`."""
        if not all(_only_transfers(plan) for plan in plans):
            return None
        ready = [plan.ready() for plan in plans]
        is_closed = _transfers(ready, "send").keys() == _transfers(ready, "recv").keys()
        return cls(parts, plans) if is_closed else None

    def _prepare(self, prepared: list[Prepared]) -> None:
        self.prepared = prepared
        self.regions = [u for each in prepared for u in each.units if isinstance(u, Region)]
        self.calls = _calls(prepared)

    def is_worth_it(self) -> bool:
        """Whether every region has shown that it is small."""
        return all([region.tiny for region in self.regions])

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """The fetches of the step."""
        prepared = [plan.ready() for plan in self.plans]
        if prepared != self.prepared:
            self._prepare(prepared)
        values = [each.template.copy() for each in prepared]
        for part, slot, number in self.feeds:
            values[part][slot] = feeds[number]
        for call in self.calls:
            call(values)
        return [values[part][slot] for part, slot in self.fetches]


def _only_transfers(plan: Plan) -> bool:
    if plan.in_order or plan.by_tokens:
        return False
    host = [unit.nodes[0] for unit in plan.layout.units if not unit.is_region]
    return all(node.definition.transfer is not None for node in host)


def _transfers(plans: Sequence[Prepared], kind: str) -> dict[str, Place]:
    """The sends or the receives, by the key of the transfer."""
    return {
        task.transfer_key: (part, task)
        for part, plan in enumerate(plans)
        for task in plan.tasks.tasks
        if task.kind == kind
    }


def _calls(plans: Sequence[Prepared]) -> list[Callable[[Values], None]]:
    sends = _transfers(plans, "send")
    calls = []
    for part, task in _order(plans):
        if task.kind == "plain":
            calls.append(_computes(part, task))
        elif task.kind == "recv":
            calls.append(_moves(*sends[task.transfer_key], part, task))
    return calls


def _order(plans: Sequence[Prepared]) -> list[Place]:
    """All tasks, each after what it waits for: in its own partition, or through a transfer."""
    before: dict[Place, list[Place]] = {
        (part, task): [] for part, plan in enumerate(plans) for task in plan.tasks.tasks
    }
    for part, task in before:
        for user in task.control_outs:
            before[part, user].append((part, task))
    sends = _transfers(plans, "send")
    for key, place in _transfers(plans, "recv").items():
        before[place].append(sends[key])
    return as_ready(before, before.__getitem__, rank=lambda place, n: -n)


def _computes(part: int, task: Task) -> Callable[[Values], None]:
    def call(values: Values) -> None:
        try:
            task.run(values[part])
        except Exception as error:
            raise_from(error if task.node is None else with_node(error, task.node), error)

    return call


def _moves(source: int, send: Task, part: int, recv: Task) -> Callable[[Values], None]:
    from_slot, to_slot, arrive = send.in_slots[0], recv.out_slots[0], recv.arrive

    def call(values: Values) -> None:
        try:
            value = read(values[source][from_slot])
        except Exception as error:
            raise_from(error if send.node is None else with_node(error, send.node), error)
        values[part][to_slot] = arrive(value)

    return call
