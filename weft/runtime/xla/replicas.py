"""One program over several devices of this process: the replicas of a step, each on its own.

Every device has its own copy of a variable that each replica has. A variable that there is once is
copied to all devices for the program, and comes back from the first. Between two steps, arrays stay
where the program left them, as one array over all devices, as long as nothing else writes to the
variables.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from weft.core.device_name import parse
from weft.graph.kernel_call import bind
from weft.ops.devices.replica_collectives import AXIS
from weft.passes.client_graph import Edge, Node
from weft.passes.regions.group import group
from weft.passes.replicas.match import Row
from weft.passes.replicas.step import ReplicatedStep
from weft.runtime.devices import kinds
from weft.runtime.host.interpret import Context, take_rng
from weft.runtime.resources import ResourceStore, Variable
from weft.runtime.xla.checks import finder_of_outside
from weft.runtime.xla.compile import Program, Spec, compile_region, load
from weft.runtime.xla.lower import NotCompilable
from weft.runtime.xla.region import MAX_PROGRAMS
from weft.runtime.xla.span import Span
from weft.runtime.xla.tracer import inner_random
from weft.runtime.xla.words import announced

# Devices of the host have their threads in common: two programs at once could wait for each other.
_TURN = threading.Lock()


class ReplicaSpan(Span):
    """Devices of this process, one for each replica."""

    # XLA ends the process if replicas wait long for one that a busy machine has not started yet.
    options: ClassVar[Mapping[str, str]] = {
        "xla_cpu_collective_call_terminate_timeout_seconds": "86400"
    }

    def __init__(self, devices: Sequence[Any]) -> None:
        super().__init__(load().sharding.Mesh(np.array(devices), (AXIS,)))
        self.devices = list(devices)
        self.on_host = kinds.is_host(devices[0])

    def agree(self, bit: Any) -> Any:
        return load().lax.psum(bit.astype(np.int32), AXIS) > 0

    def spread(self, values: Sequence[Any]) -> Any:
        """The values, one of each replica or one for all, as one array of the program."""
        jax = load()
        if len(values) == 1:
            return jax.device_put(values[0], self.sharding)
        parts = jax.device_put(list(values), self.devices)
        make = jax.make_array_from_single_device_arrays
        return make(np.shape(values[0]), self.sharding, parts)


def _home(store: ResourceStore) -> Any:
    """jax's device on which the values of a store lie."""
    return load().local_devices()[0] if store.device is None else store.device


def has_several(stores: Mapping[str, ResourceStore]) -> bool:
    """Whether any two devices of a session are not the same to XLA."""
    hosts = len(load().local_devices(backend="cpu"))
    return hosts > 1 or len({_home(store) for store in stores.values()}) > 2


def find_span(names: Sequence[str], stores: Mapping[str, ResourceStore]) -> ReplicaSpan | None:
    """jax's devices for those of a session; None if it has fewer."""
    jax = load()
    handles = [stores[name].device for name in names]
    kind = parse(names[0]).device_type or "CPU"
    if kind == "CPU":
        hosts = jax.local_devices(backend="cpu")
        numbers = [parse(name).device_index or 0 for name in names]
        handles = [hosts[i] for i in numbers] if max(numbers) < len(hosts) else []
    if len(set(handles)) < len(names):
        return None
    return ReplicaSpan(handles)


@dataclass
class _Cells:
    """A variable of the program: that of each replica, or the one for all.

    `array` is its value on all devices, as long as the variables hold the `parts` of it.
    """

    cells: list[Variable]
    array: Any = None
    parts: list[Any] = field(default_factory=list)

    def given(self, span: ReplicaSpan) -> Any:
        values = [cell.value for cell in self.cells]
        if self.array is None or any(v is not p for v, p in zip(values, self.parts, strict=True)):
            self.array, self.parts = span.spread(values), values
        return self.array

    def put(self, array: Any) -> None:
        """Takes what the program has made of the variable."""
        parts = array._arrays[: len(self.cells)]
        if len(self.cells) == 1 and parts[0].devices() != {home := _home(self.cells[0].store)}:
            parts = [load().device_put(parts[0], home)]
        self.array, self.parts = array, parts
        for cell, value in zip(self.cells, parts, strict=True):
            cell.value = value


class ReplicatedProgram:
    """The program of a step's replicas: `run(values)` takes and gives what `separate` does."""

    def __init__(
        self, step: ReplicatedStep, stores: Mapping[str, ResourceStore], span: ReplicaSpan
    ) -> None:
        self.step, self.stores, self.span = step, stores, span
        layout = group(step.program)
        units = layout.units
        if len(units) != 1 or not units[0].is_region or units[0].static or units[0].leaving:
            raise NotCompilable(step.program.nodes[0], "replicas are more than one program")
        self.unit = units[0]
        constants = [e for e in self.unit.inputs if e[0].definition.is_constant]
        self.moving = [e for e in self.unit.inputs if not e[0].definition.is_constant]
        self.unit.inputs = self.moving + constants
        feeds = {edge: i for i, edge in enumerate(step.program.feeds)}
        self.arguments = [step.arguments[feeds[edge]] for edge in self.moving]
        self.constants = [span.spread([e[0].attrs["value"]]) for e in constants]
        self.outputs = [self._output(edge) for edge in step.program.fetches]
        self.random = [n for n in self.unit.nodes if n.definition.takes_rng]
        self.inner_random = inner_random(self.unit.nodes)
        for node in self.random + self.inner_random:
            self._origins(node)
        self.used = [stores[name] for name in sorted(stores)]
        self.programs: dict[Any, Program] = {}
        self.generations: list[int] = []

    def _output(self, edge: Edge) -> int:
        if edge not in self.unit.outputs:
            raise NotCompilable(edge[0], "it leaves the program as it came in")
        return self.unit.outputs.index(edge)

    def _origins(self, node: Node) -> Row:
        row = self.step.origins.get(node.name)
        if row is None:
            raise NotCompilable(node, "no replica has it")
        return row

    # ---- a step ----

    def run(self, values: Sequence[Any]) -> list[Any] | None:
        """What the program makes; None if it must be found out another way, which may fail."""
        with self._locked():
            self._resolve()
            if any(cell.value is None for each in self.cells for cell in each.cells):
                return None
            given = [[values[i] for i in places] for places in self.arguments]
            key = tuple(np.shape(v[0]) for v in given), *(s.shape_epoch for s in self.used)
            if any(np.shape(v) != np.shape(each[0]) for each in given for v in each):
                return None
            program = self.programs.get(key)
            if program is None:
                if len(self.programs) >= MAX_PROGRAMS:
                    self.programs.clear()
                program = self.programs[key] = self._compile(given)
            if any(self._is_outside(given[i], self.moving[i], n) for i, n in program.beforehand):
                return None
            return self._call(program, given)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Within, the variables of all devices are this step's, and so are the hosts' threads."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(_TURN)
            for store in self.used:
                stack.enter_context(store.lock)
            yield

    def _call(self, program: Program, given: list[list[Any]]) -> list[Any] | None:
        donated = [each.given(self.span) for each in self.written]
        kept = [each.given(self.span) for each in self.kept]
        inputs = [self.span.spread(each) for each in given] + self.constants
        new, outputs, rest = program.call(donated, kept, inputs, self._rngs(), None)
        if self.span.on_host:
            load().block_until_ready((new, outputs, rest))
        for each, array in zip(self.written, new, strict=True):
            each.put(array)
        if program.checked and np.asarray(rest[4]):
            return None
        self._advance(program, rest)
        found = [outputs[i] for i in self.outputs]
        return [found[fetch]._arrays[replica] for fetch, replica in self.step.results]

    def _is_outside(self, values: list[Any], edge: Edge, limit: int) -> bool:
        has_outside = finder_of_outside(edge[0].dtypes[edge[1]].np_storage, limit)
        return has_outside is not None and any(map(has_outside, values))

    # ---- variables and generators ----

    def _resolve(self) -> None:
        """Finds the variables that the program is about, anew if some were removed."""
        generations = [store.generation for store in self.used]
        if generations == self.generations:
            return
        self._settle()
        self.generations = [store.generation for store in self.used]
        self.cells = [_Cells(self._cells(root[0])) for root in self.unit.cells]
        pairs = list(zip(self.cells, self.unit.cells.values(), strict=True))
        self.written = [each for each, is_written in pairs if is_written]
        self.kept = [each for each, is_written in pairs if not is_written]

    def _cells(self, handle: Node) -> list[Variable]:
        found = []
        for node in self._origins(handle):
            call = bind(node.definition, node.attrs)
            found.append(call(np, (), Context(self.stores[node.device], node))[0])
        return found

    def _settle(self) -> None:
        """Gives each host its own device of XLA's, where values of the program stay."""
        for name, device in zip(self.step.devices, self.span.devices, strict=True):
            store = self.stores[name]
            if _home(store) == device:
                continue
            store.device = device
            store.generation += 1
            store.shape_epoch += 1
            for _, _, _, cell in store:
                if isinstance(cell, Variable) and hasattr(cell.value, "devices"):
                    cell.value = load().device_put(cell.value, device)

    def _rngs(self) -> Any:
        nodes = self.random + self.inner_random
        if not nodes:
            return None
        count = len(self.step.devices)
        return self.span.spread([self._states(nodes, replica) for replica in range(count)])

    def _states(self, nodes: list[Node], replica: int) -> np.ndarray:
        return np.stack([take_rng(*self._generator(node, replica)) for node in nodes])

    def _generator(self, node: Node, replica: int) -> tuple[ResourceStore, Node]:
        row = self._origins(node)
        mine = row[replica] if len(row) > 1 else row[0]
        return self.stores[mine.device], mine

    def _advance(self, program: Program, rest: Any) -> None:
        from weft.ops.kit.philox import advance

        for node, blocks in zip(self.random, program.rng_blocks, strict=True):
            for replica in range(len(self._origins(node))):
                store, mine = self._generator(node, replica)
                store.rng[mine.name] = advance(store.rng[mine.name], blocks)
        for node, states in zip(self.inner_random, rest[0], strict=True):
            for replica in range(len(self._origins(node))):
                store, mine = self._generator(node, replica)
                store.rng[mine.name] = np.asarray(states._arrays[replica])

    # ---- compiling ----

    def _compile(self, given: list[list[Any]]) -> Program:
        inputs = [each[0] for each in given] + self.constants
        first = [each.cells[0] for each in self.cells]
        spec = Spec(tuple(_spec(cell.value) for cell in first), tuple(map(_spec, inputs)), ())
        device = self.span.devices[0]
        with announced(self.unit.nodes, (spec.cells, spec.inputs, len(self.span.devices))):
            program = compile_region(self.unit, first, spec, device, self.span)
        if program.factor or program.reshapes or program.watched:
            raise NotCompilable(self.unit.nodes[0], "it may have to be compiled anew")
        return program


def _spec(value: Any) -> Any:
    return np.shape(value), value.dtype
