"""A loop as a program of its own, where what is around it is not compiled with it.

That may be because something there cannot be, or because each step brings other shapes. The arrays
and stacks that the loop uses are the host's; the program is given them with room for more than they
hold, so that few programs serve all lengths. Room grows by factors of four, and a loop keeps to the
largest it has needed, unless that were far too large.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft.core import flags
from weft.core.errors import raise_from
from weft.graph.kernel_call import bind
from weft.ops.lists import given_array, given_stack
from weft.ops.lists.stacks import Stack
from weft.ops.lists.tensor_array_nodes import TensorArrayValue
from weft.passes.client_graph import Edge, Node
from weft.passes.control_flow.structured_nodes import nodes_inside
from weft.passes.regions.compilable import can_compile
from weft.passes.regions.loop_unit import Use, loop_unit
from weft.passes.regions.units import Unit
from weft.runtime.debug import report
from weft.runtime.host.interpret import Context, HostNode, run_nodes
from weft.runtime.limits import limits
from weft.runtime.resources import ResourceStore, Variable
from weft.runtime.xla.compile import translate
from weft.runtime.xla.lower import NotCompilable
from weft.runtime.xla.region import MAX_STATIC_ELEMENTS, NODE_COMPILED, Entry, Region

_LEAST_ROOM, _STEP, _MOST_UNUSED = 16, 4, 16

Drive = Callable[[Sequence[Any]], Sequence[Any]]
Forms = tuple[tuple[Edge, Any], ...]


def loop_program(node: Node, store: ResourceStore, drive: Drive) -> LoopProgram | None:
    """The program of a loop that `drive` runs otherwise, if it can have one."""
    if not can_compile(node, {edge: edge for edge in node.inputs}):
        return None
    found = loop_unit(node)
    return None if found is None else LoopProgram(*found, store, drive)


class LoopProgram(Region):
    """`call(inputs)` runs the loop: driven at first, compiled once that has taken long enough.

    Slots are those of inputs and outputs, then of the arrays that objects consist of, and last the
    forms of the objects and the room of the program.
    """

    def __init__(
        self, unit: Unit, objects: dict[Edge, Use], store: ResourceStore, drive: Drive
    ) -> None:
        (node,) = unit.nodes
        self.node, self.objects = node, objects
        outputs = [(node, i) for i in range(len(node.dtypes))]
        slots = {edge: i for i, edge in enumerate(dict.fromkeys([*node.inputs, *outputs]))}
        item = HostNode(node, slots, store)
        item.call = lambda xp, inputs: drive(inputs)
        self.ins, self.outs, self.count = item.ins, item.outs, len(slots)
        cells: dict[Edge, Variable] = {root: _named_by(root[0], store) for root in unit.cells}
        super().__init__(unit, slots, [item], cells, store, lambda node: None)
        self.is_constant = False  # objects can differ
        self.generation = store.generation
        self.expected = NODE_COMPILED * len(nodes_inside(node))  # seconds to compile it
        self.most = _LEAST_ROOM

    def call(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs of the loop."""
        values: list[Any] = [None] * self.count
        for slot, value in zip(self.ins, inputs, strict=True):
            values[slot] = value
        self.run(values)
        return [values[slot] for slot in self.outs]

    def run(self, values: list[Any]) -> None:
        entry = self._entry(values) if self.cannot_compile is None else None
        if entry is None or (limits.deadline is not None and self.is_unstoppable):
            run_nodes(self.nodes, values)
        elif entry.step is None and not self._is_hot(entry, values):
            start = time.perf_counter()
            run_nodes(self.nodes, values)
            entry.spent += time.perf_counter() - start
        else:
            self._run_compiled(entry, values)

    def _entry(self, values: list[Any]) -> Entry | None:
        """What is known of loops like this; None where objects have no form for a program."""
        given = self._forms(values)
        if given is None:
            return None
        try:
            key = *self._signature(values), given
        except AttributeError:
            return None  # something that is not there, or is no array
        values.append(given)
        return self.entries.get(key) or self._new_entry(key)

    def _is_hot(self, entry: Entry, values: list[Any]) -> bool:
        if flags.CONTROL_FLOW.value == "loops":
            return True
        if any(values[i].size > MAX_STATIC_ELEMENTS for i in self.static_slots):
            return False
        took = self.compiling / max(self.compiled, 1)
        return entry.spent > max(took, self.expected)

    def _run_compiled(self, entry: Entry, values: list[Any]) -> None:
        self._fill(values)
        try:
            if entry.step is None:
                self._compile(entry, values)
            assert entry.step is not None
            failed = entry.step(values)
        except NotCompilable as error:
            self._give_up(str(error).partition("\n")[0])
            run_nodes(self.nodes, values)
        except Exception as error:
            raise_from(translate(error), error)
        else:
            if failed:
                self._run_again(values)
                self._give_up("its conditions are stricter than those of the loop")

    def _give_up(self, reason: str) -> None:
        report.say(3, lambda: f"loop {self.node.name} not compiled: {reason}")
        self.cannot_compile = NotCompilable(self.node, reason)

    # ---- objects ----

    def _forms(self, values: list[Any]) -> tuple[Forms, int] | None:
        """The forms of the objects, and the room that the program must have for them."""
        held = [values[slot] for slot in self.leaving_slots]
        if not all(isinstance(each, (Stack, TensorArrayValue)) for each in held):
            return None
        room = self._room(max(map(_length, held), default=0))
        forms, pairs = [], list(zip(held, self.objects.items(), strict=True))
        in_step = _are_in_step([(value, use) for value, (_, use) in pairs])
        for value, (edge, use) in pairs:
            form = _form_of(value, use, room, in_step)
            if form is None:
                return None
            forms.append((edge, form))
        return (tuple(forms), room) if _are_apart(held, self.objects.values()) else None

    def _room(self, needed: int) -> int:
        assert self.node.loop is not None
        room = _LEAST_ROOM
        while room < (needed or self.node.loop.longest):
            room *= _STEP
        self.most = most = max(self.most, room)
        while most > room * _MOST_UNUSED:
            most //= _STEP
        return most

    def _fill(self, values: list[Any]) -> None:
        """Puts the arrays of the objects into the slots behind the others."""
        given = values.pop()
        for (_, form), slot in zip(given[0], self.leaving_slots, strict=True):
            values += _module(values[slot]).arrays_of(values[slot], form)
        self.given_slots = tuple(range(self.count, len(values)))
        values.append(given)

    def _given(self, values: list[Any]) -> tuple[Forms, int]:
        found: tuple[Forms, int] = values[-1]
        return found

    def leave(self, entry: Entry, rest: Any, values: list[Any]) -> None:
        """Makes the objects what they are after the program."""
        assert entry.program is not None
        states, objects = rest[1], entry.program.leaving
        trips = int(states[-1]) if len(states) > len(self.leaving_slots) else 0
        for slot, given, state in zip(self.leaving_slots, objects, states, strict=False):
            given.put_back(values[slot], state, trips)


def _named_by(handle: Node, store: ResourceStore) -> Any:
    call = bind(handle.definition, handle.attrs)
    return call(np, (), Context(store, handle))[0]


def _module(value: Any) -> Any:
    return given_stack if isinstance(value, Stack) else given_array


def _length(value: Stack | TensorArrayValue) -> int:
    return given_stack.length(value) if isinstance(value, Stack) else len(value.items)


def _are_apart(held: Sequence[Any], uses: Iterable[Use]) -> bool:
    """Whether all objects are different ones, and so are the arrays of their gradients."""
    every = [*held]
    for value, use in zip(held, uses, strict=True):
        every += [value.gradients[source] for source in use.sources]
    return len({*map(id, every)}) == len(every)


def _are_in_step(pairs: Sequence[tuple[Any, Use]]) -> bool:
    """Whether all stacks that a loop uses once in each iteration in one way are equally long."""
    found = {(use.step, _length(value)) for value, use in pairs if use.step}
    return len(found) == len({step for step, _ in found})


def _form_of(value: Any, use: Use, room: int, in_step: bool) -> Any:
    if isinstance(value, Stack):
        given = room, use.must_be_known, use.step if in_step else 0
        return given_stack.form_of(value, *given) if use.is_stack else None
    if use.must_be_known or not use.is_array:
        return None
    return given_array.form_of(value, room, use.is_used_itself, sorted(use.sources))
