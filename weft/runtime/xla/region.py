"""A region at run time: interpreted while it is cold or tiny, compiled once it is hot.

Programs are kept per signature: the shapes of what comes in, the values it is specialised on. The
table is bounded, and a region that meets ever new signatures stays with the interpreter.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import flags
from weft.core.errors import raise_from
from weft.graph.shape_fn import known, size
from weft.passes.client_graph import Edge, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.control_flow.structured_nodes import has_loops
from weft.passes.devices import DeviceInfo
from weft.passes.place.cost import estimated_time
from weft.passes.regions.units import Unit
from weft.runtime.debug import report
from weft.runtime.devices import kinds
from weft.runtime.devices.huge_pages import use_huge_pages
from weft.runtime.devices.memory import can_overwrite, memory_for_host
from weft.runtime.host.codegen import Step, straight_line
from weft.runtime.host.direct_tiny import direct_tiny_step
from weft.runtime.host.interpret import HostNode, run_nodes, run_nodes_observed, take_rng
from weft.runtime.host.program_call import DirectStep, call_site, direct_step
from weft.runtime.limits import limits
from weft.runtime.resources import ResourceStore, Variable
from weft.runtime.xla.compile import (
    Program,
    Spec,
    compile_region,
    has_collectives,
    load,
    translate,
)
from weft.runtime.xla.lower import NotCompilable
from weft.runtime.xla.staging import MOST as MOST_STAGED
from weft.runtime.xla.staging import Staging
from weft.runtime.xla.stopping import call_stoppably, take_switch
from weft.runtime.xla.tracer import inner_random
from weft.runtime.xla.words import announced

MAX_PROGRAMS, MAX_COVERED = 64, 16
FEW_SIGNATURES = 3  # so many are compiled without further ado
NODE_COMPILED = 3e-3  # seconds that compiling takes, by node
MAX_STATIC_ELEMENTS = 4096
LARGE_VALUE = 1 << 16  # bytes
HEAVY = 3e5  # microseconds: what compiling takes at least
INTERPRETER = DeviceInfo("/device:CPU:0", flops=1e4, bytes=3e3)
SLOW_HALVES = 4.0
# Microseconds, to order of magnitude: one NumPy kernel, one XLA call (on the host, half of it is
# the way to the thread that computes, and back), one buffer of that call.
NODE_COST, CALL_COST, BUFFER_COST, ELEMENT_COST = 1.5, 40.0, 2.5, 0.001
# How many times as much a call takes in an iteration of a loop, which waits for what it gives.
INSIDE = 4.0
PATIENCE = (
    4.0  # How many times as long as compiling takes, loops are driven before their parts are.
)
LOOK = 0.3  # of an element that is made: one that is only looked at, as sums do


class Entry:
    """Everything learned about one signature."""

    __slots__ = (
        "checked", "direct", "epoch", "program", "runs", "spent", "staging", "step", "tiny",
    )  # fmt: skip

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch  # since when variables have had the shapes that the program is for
        self.runs = 0
        self.spent = 0.0  # seconds of interpreting
        self.checked = False  # interpreted to the end: there is memory for what its nodes make
        self.tiny = False
        self.program: Program | None = None
        self.staging: Staging | None = None  # of what is fed to it
        self.step: Step | None = None  # calls the program
        self.direct: DirectStep | None = None  # does so for a plan that is nothing else


class Region:
    """`run(values)` executes the unit over a step's slots."""

    def __init__(
        self,
        unit: Unit,
        slots: dict[Edge, int],
        nodes: list[HostNode],
        cells: dict[Edge, Variable],
        store: ResourceStore,
        refuse: Callable[[Node], object],
        nested: bool = False,
    ) -> None:
        self.unit, self.nodes, self.store, self.refuse = unit, nodes, store, refuse
        self.waited_for = INSIDE if nested else 1.0
        # What is in a loop is soon compiled with all of it, if the loop does not take long.
        self.patience = PATIENCE if nested and store.is_host else 0.0
        self.cannot_compile: NotCompilable | None = None
        constants = [e for e in unit.inputs if e[0].definition.is_constant and e not in unit.static]
        moving = [e for e in unit.inputs if e not in unit.static and e not in set(constants)]
        # The order of inputs is: what moves from step to step, then large constants.
        self.static = [e for e in unit.inputs if e in unit.static]
        self.unit.inputs = moving + constants + self.static
        self.moving_slots = tuple(slots[e] for e in moving)
        self.static_slots = tuple(slots[e] for e in self.static)
        self.is_constant = not moving and not self.static  # only variables can differ
        self.out_slots = tuple(slots[e] for e in unit.outputs)
        self.leaving_slots = tuple(slots[e] for e in unit.leaving)
        self.given_slots: tuple[int, ...] = ()  # arrays of objects that the program is given
        self.constants = [e[0].attrs["value"] for e in constants]
        self.constants_on_device: list[Any] | None = None
        self.cells = [cells[root] for root in unit.cells]
        self.written = [c for c, w in zip(self.cells, unit.cells.values(), strict=True) if w]
        self.kept = [c for c, w in zip(self.cells, unit.cells.values(), strict=True) if not w]
        self.random_nodes = [n for n in unit.nodes if n.definition.takes_rng]
        self.inner_random = inner_random(unit.nodes)
        self.needs_xla = any(n.definition.needs_xla for n in unit.nodes)
        self.has_loops = has_loops(unit.nodes)
        device = store.device
        self.can_be_stopped = self.has_loops and can_overwrite(device)
        self.is_unstoppable = self.has_loops and not self.can_be_stopped
        self.on_accelerator = not kinds.is_host(device)
        self.only_moves = not self.on_accelerator and all(n.definition.hands_on for n in unit.nodes)
        self.entries: OrderedDict[Any, Entry] = OrderedDict()
        # The epoch since which our variables have these shapes, and that at which we last looked.
        self.shapes: list[Any] = []
        self.since, self.looked = -1, -1
        # Epochs with the ranks, and dimensions of what comes in, of signatures that were checked.
        self.covered: deque[tuple[list[int], list[int]]] = deque(maxlen=MAX_COVERED)
        self.has_program = False
        self.compiling, self.compiled = 0.0, 0  # seconds, programs
        self.tiny = False  # whether it has met something, and did all of that faster on the host
        self.is_settled = False  # one of the signatures has been run as it will be from now on
        self._lock = threading.Lock()

    # ---- choosing ----

    def run(self, values: list[Any]) -> None:
        try:
            key = self._signature(values)
        except AttributeError:
            if all(values[i] is not None for i in self.moving_slots):
                raise
            # What a branch hands on to its gradient is not there if another was taken.
            self._to_host(values)
            run_nodes(self.nodes, values)
            return
        entry = self.entries.get(key)
        if entry is None:
            entry = self._new_entry(key)
        step = entry.step
        if limits.deadline is not None and self.is_unstoppable:
            self._to_host(values)
            run_nodes(self.nodes, values)
        elif step is not None:
            try:
                failed = step(values)
            except Exception as error:
                raise_from(translate(error), error)
            if failed:
                self._run_again(values)
        elif entry.tiny:
            self._to_host(values)
            self._straight_step(values)
            self.is_settled = True
        elif not self._is_hot(entry, values):
            self._interpret(entry, values)
        else:
            self._run_hot(entry, values)

    def can_be_direct(self, feed_slots: Sequence[int], fetch_slots: Sequence[int]) -> bool:
        """Whether what a step feeds is all this needs, and what it fetches all comes from here."""
        if self.static_slots or self.leaving_slots or self.has_loops:
            return False
        given, made = set(feed_slots), set(self.out_slots)
        return set(self.moving_slots) <= given and set(fetch_slots) <= made

    def direct(
        self, values: list[Any], feed_slots: Sequence[int], fetch_slots: Sequence[int]
    ) -> DirectStep | None:
        """The whole step of a plan that is nothing but this region, for shapes as in `values`."""
        key = self._signature(values)
        entry = self.entries.get(key)
        if entry is None:
            return None
        if entry.direct is not None:
            return entry.direct
        program = entry.program if entry.step is not None else None
        if entry.tiny:
            entry.direct = direct_tiny_step(self, entry, key, values, feed_slots, fetch_slots)
        elif program is not None and not (program.factor or program.reshapes):
            entry.direct = direct_step(self, entry, key, feed_slots, fetch_slots)
        return entry.direct

    def _signature(self, values: list[Any]) -> Any:
        epoch = self._epoch() if self.cells else 0
        if self.is_constant:
            return epoch
        shapes = tuple([values[i].shape for i in self.moving_slots])
        if not self.static_slots:
            return epoch, shapes
        fixed = [np.asarray(values[i]) for i in self.static_slots]
        return epoch, shapes, tuple((v.shape, v.tobytes()) for v in fixed)

    def _epoch(self) -> int:
        """The epoch since which our variables have had the shapes they have now."""
        store = self.store
        if self.looked == store.shape_epoch:
            return self.since
        with store.lock:
            now, shapes = store.shape_epoch, [_spec(cell.value) for cell in self.cells]
            if shapes != self.shapes:
                self.since, self.shapes = now, shapes
            self.looked = now
            return self.since

    def _new_entry(self, key: Any) -> Entry:
        with self._lock:
            self.tiny = False
            entry = self.entries.setdefault(key, Entry(key if self.is_constant else key[0]))
            while len(self.entries) > MAX_PROGRAMS:
                self.entries.popitem(last=False)
            return entry

    def _is_hot(self, entry: Entry, values: list[Any]) -> bool:
        """Compile a signature on its second run; in loops, or if they change, when that pays."""
        entry.runs += 1
        if (
            not flags.XLA
            or self.only_moves
            or self.cannot_compile
            or any(values[i].size > MAX_STATIC_ELEMENTS for i in self.static_slots)
        ):
            return False
        few = limits.compiles or len(self.entries) <= FEW_SIGNATURES
        if self._is_heavy or (few and self.needs_xla):
            return True
        if few and not self.patience:
            return entry.runs > 1
        took = self.compiling / max(self.compiled, 1)  # a program of this region, until now
        return entry.spent > (self.patience or 1.0) * max(
            took, NODE_COMPILED * len(self.unit.nodes)
        )

    @functools.cached_property
    def _is_heavy(self) -> bool:
        """Whether interpreting even once would take longer than compiling, as shapes have it."""
        return sum(_interpreted_time(node) for node in self.unit.nodes) > HEAVY

    # ---- interpreting ----

    def _to_host(self, values: list[Any]) -> None:
        for i in self.moving_slots:
            if values[i] is not None and not isinstance(values[i], (np.ndarray, np.generic)):
                values[i] = np.asarray(values[i])

    def _interpret(self, entry: Entry, values: list[Any]) -> None:
        start = time.perf_counter()
        self._run_interpreted(entry, values)
        entry.spent += time.perf_counter() - start

    def _run_interpreted(self, entry: Entry, values: list[Any]) -> None:
        self._to_host(values)
        entry.checked = entry.checked or self._is_covered(values)
        # Several variables change as one, as they do when a program changes them.
        with self.store.lock if len(self.written) > 1 else contextlib.nullcontext():
            if not entry.checked:
                self._interpret_first(entry, values)
            elif len(self.entries) > FEW_SIGNATURES:
                self._frugal_step(values)
            else:
                run_nodes(self.nodes, values)

    def _is_covered(self, values: list[Any]) -> bool:
        """Whether shapes at least as large in all dimensions were checked, and were not tiny.

        So a region that meets ever new shapes need not be looked at closely each time.
        """
        if len(self.entries) <= FEW_SIGNATURES:
            return False
        kind, sizes = self._sizes(values)
        return any(
            kind == known and all(map(operator.le, sizes, most)) for known, most in self.covered
        )

    def _sizes(self, values: list[Any]) -> tuple[list[int], list[int]]:
        shapes = [values[i].shape for i in self.moving_slots]
        kind = [self.since, *map(len, shapes)]
        return kind, [*itertools.chain.from_iterable(shapes)]

    def _interpret_first(self, entry: Entry, values: list[Any]) -> None:
        cost, sizes = 0.0, self._sizes(values)

        def add_up(node: Node, inputs: Any, outputs: Any, start: float, end: float) -> None:
            nonlocal cost
            cost += NODE_COST + ELEMENT_COST * _work(node, inputs, outputs)

        run_nodes_observed(self.nodes, values, add_up, inside=False)
        entry.checked = True
        buffers = len(self.moving_slots) + len(self.out_slots) + len(self.cells) + len(self.written)
        entry.tiny = self.only_moves or (
            cost < CALL_COST * self.waited_for + BUFFER_COST * buffers and not self.needs_xla
        )
        self.tiny = all(each.tiny for each in list(self.entries.values()))
        if not entry.tiny:
            self.covered.append(sizes)

    def _run_again(self, values: list[Any]) -> None:
        """Interprets what has failed in a program, from the same inputs: the same checks raise.

        If none does, for they decide what is bad, the step is done. If one does, what was assigned
        until then is undone, as the program has not assigned anything either. Before an assertion
        of the program's author it stays: it may be what is asserted.
        """
        self._to_host(values)
        store = self.store
        with store.lock:
            epoch = store.shape_epoch
            for cell in self.written:  # copies: programs inside of loops take arrays of jax away
                cell.value = None if cell.value is None else np.array(cell.value)
            before = [cell.value for cell in self.written]
            try:
                run_nodes(self.nodes, values)
            except Exception as error:
                if not _is_assertion(error):
                    for cell, value in zip(self.written, before, strict=True):
                        cell.value = value
                    store.shape_epoch += store.shape_epoch != epoch
                raise

    @functools.cached_property
    def _straight_step(self) -> Step:
        outputs = self.out_slots + self.leaving_slots
        return straight_line(self.nodes, outputs, self.store, hold_lock=bool(self.cells))

    @functools.cached_property
    def _frugal_step(self) -> Step:
        """As `_straight_step`, where values are large and steps take longer."""
        outputs = self.out_slots + self.leaving_slots
        return straight_line(self.nodes, outputs, self.store, hold_lock=False, frees=True)

    # ---- compiled ----

    def _run_hot(self, entry: Entry, values: list[Any]) -> None:
        try:
            self._compile(entry, values)
        except NotCompilable as error:
            reason = str(error).partition("\n")[0]
            report.say(3, lambda: f"not compiled: {reason}")
            # A mistake of the user's is raised here: another step may well be compiled. What did
            # not fit a program is looked at once more, as on a first run.
            entry.checked = False
            self._interpret(entry, values)
            self.cannot_compile = error
            self.refuse(error.node)
        else:
            self.run(values)
            if not self.on_accelerator:
                with self.store.lock:
                    use_huge_pages(cell.value for cell in self.cells)

    def _compile(self, entry: Entry, values: list[Any], factor: int = 1) -> None:
        """Gives the signature a program with room for `factor` times what loops seem to need."""
        with self._lock:
            if entry.program is None or 0 < entry.program.factor < factor:
                timed = report.timed(3, lambda: f"compile region of {len(self.unit.nodes)} nodes")
                with timed, limits.not_counted():
                    entry.staging, entry.program = self._build(values, factor)
                    entry.step = call_site(self, entry)
                    self.has_program = self.is_settled = True

    def _build(self, values: list[Any], factor: int) -> tuple[Staging | None, Program]:
        if self.constants_on_device is None:
            jax = load()
            put = jax.device_put
            self.constants_on_device = [put(v, self.store.device) for v in self.constants]
        inputs = [values[i] for i in self.moving_slots] + self.constants
        static = zip(self.static, self.static_slots, strict=True)
        staged = self._staged(inputs)
        spec = Spec(
            tuple(_spec(cell.value) for cell in self.cells),
            tuple(_spec(v) for v in [*inputs, *(values[i] for i in self.given_slots)]),
            tuple((edge, np.asarray(values[slot])) for edge, slot in static),
            factor,
            frozenset(staged),
            *self._given(values),
        )
        began = time.perf_counter()
        with announced(self.unit.nodes, (spec.cells, spec.inputs, factor)):
            program = compile_region(self.unit, self.cells, spec, self.store.device)
        self.compiling += time.perf_counter() - began
        self.compiled += 1
        if not staged:
            return None, program
        specs = [_spec(inputs[i]) for i in staged]
        return Staging(self.store.device, staged, specs), program

    def _given(self, values: list[Any]) -> tuple[tuple[tuple[Edge, Any], ...], int]:
        """The objects that a program is given, by the edges that they come on, and its room."""
        return (), 0

    def _staged(self, inputs: Sequence[Any]) -> list[int]:
        """The inputs that a program finds in memory of the host, if they are not too large."""
        unit = self.unit
        if not unit.fed or self.has_loops or has_collectives(unit.nodes):
            return []
        found = [i for i in range(len(self.moving_slots)) if unit.inputs[i] in unit.fed]
        found = [i for i in found if type(inputs[i]) is np.ndarray and inputs[i].size]
        fits = sum(inputs[i].nbytes for i in found) <= MOST_STAGED
        return found if fits and memory_for_host(self.store.device) is not None else []

    def rngs(self) -> np.ndarray:
        """The states of the region's generators, a row each."""
        return np.stack([take_rng(self.store, n) for n in self.random_nodes + self.inner_random])

    def settled(self, cell: Variable) -> Any:
        """The value of a variable that is only read; moved to the device once, not every step."""
        value = cell.value
        if self.on_accelerator or value.nbytes > LARGE_VALUE:
            value = cell.value = load().device_put(value, self.store.device)
        return value

    def call_with_room(self, entry: Entry, values: list[Any], *args: Any) -> Any:
        """Calls the program, with more room again when that which it had did not suffice."""
        while True:
            program = entry.program
            assert program is not None
            if program.watched:
                results = call_stoppably(program, args, self.store.device)
            else:
                results = program.call(*args, self.idle_switch)
            if not program.factor or (needed := int(results[2][2])) <= program.factor:
                return results
            self._compile(entry, values, 1 << (needed - 1).bit_length())

    @functools.cached_property
    def idle_switch(self) -> Any:
        """A switch that is never thrown, for programs that need not be stopped."""
        return take_switch(self.store.device) if self.can_be_stopped else None

    def after(self, entry: Entry, rest: Any) -> None:
        """Notes what a call has changed besides the values of variables."""
        assert entry.program is not None
        if entry.program.reshapes:
            self.store.shape_epoch += 1
        for node, state in zip(self.inner_random, rest[0], strict=True):
            self.store.rng[node.name] = np.asarray(state)
        if self.random_nodes:
            from weft.ops.kit.philox import advance

            for node, blocks in zip(self.random_nodes, entry.program.rng_blocks, strict=True):
                self.store.rng[node.name] = advance(self.store.rng[node.name], blocks)

    def leave(self, entry: Entry, rest: Any, values: list[Any]) -> None:
        """Puts the arrays that leave the region into their slots, as ones of the host."""
        assert entry.program is not None
        arrays = zip(self.leaving_slots, entry.program.leaving, rest[1], strict=True)
        for slot, array, state in arrays:
            values[slot] = array.to_host(state)


def _is_assertion(error: Exception) -> bool:
    op = getattr(error, "op", None)
    return op is not None and op.definition.asserts


def _interpreted_time(node: Node) -> float:
    """Microseconds a node takes on NumPy, which has no 16-bit arithmetic of its own."""
    narrow = any(d.base_dtype.is_floating and d.size == 2 for d in node.dtypes)
    return estimated_time(node, INTERPRETER) * (SLOW_HALVES if narrow else 1.0)


def _spec(value: Any) -> Any:
    return None if value is None else (value.shape, value.dtype)


def _expected_work(node: Node) -> float:
    """As below of a node in a branch, by what is known before it runs."""
    if node.definition.is_given or node.definition.is_handle:
        return 0.0
    if not all(map(known, node.dims)) or node.definition.flops is not None:
        return 1e9
    inner = _work(node, (), ()) if subgraphs(node) else 0.0
    return NODE_COST / ELEMENT_COST + sum(size(dims) or 0 for dims in node.dims) + inner


def _work(node: Node, inputs: Any, outputs: Any) -> float:
    """Elements a NumPy kernel handles, multiplications of a matrix product counted in part."""
    if node.loop is not None:
        return 1e9  # what a loop costs shows only when it runs; compiled whole it is never slower
    if node.branches is not None:
        return max(float(sum(map(_expected_work, g.nodes))) for g in subgraphs(node))
    size = _elements(outputs)
    if _looks_at_all(node):
        size = max(size, LOOK * _elements(inputs))
    if node.definition.flops is not None:
        flops = node.definition.flops([np.shape(v) for v in inputs], node.attrs)
        # A product is one call; an update of a variable is a call for each of its operations.
        return size + (flops if node.definition.stateful else 0.05 * flops)
    return size


def _elements(values: Any) -> float:
    return float(sum(np.size(v) for v in values if isinstance(v, (np.ndarray, np.generic))))


def _looks_at_all(node: Node) -> bool:
    """Whether a kernel goes through its inputs, however little it makes of them, as sums do."""
    made = node.definition
    moves = made.moves or made.hands_on or made.is_identity or made.is_free
    return not (moves or made.measures or made.of_shapes or made.stateful or made.is_given)
