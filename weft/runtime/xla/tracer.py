"""The nodes of a region run on tracers, once: what they do becomes a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import errors, flags
from weft.graph.kernel_call import bind, flat_arg_names
from weft.ops.kit.shared import is_concrete
from weft.ops.kit.value_checks import noting
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.devices import DeviceInfo
from weft.passes.regions.group import schedule
from weft.passes.regions.units import Unit
from weft.passes.resource_edges import cell_key, is_cell
from weft.runtime.host.expected_shapes import most_elements
from weft.runtime.host.interpret import _derefs
from weft.runtime.resources import Variable
from weft.runtime.xla.checks import TracedCell
from weft.runtime.xla.draws import draw_alike
from weft.runtime.xla.known_parts import KnownParts
from weft.runtime.xla.loop_bounds import note_limit
from weft.runtime.xla.loop_matmuls import Parts
from weft.runtime.xla.lower import NotCompilable, lower
from weft.runtime.xla.names import scope_of
from weft.runtime.xla.room import Largest, is_hollow
from weft.runtime.xla.traced_state import Cell, Objects

LARGE = 1 << 18  # elements
SMALL = 1 << 10  # elements
MOST_FOR_HOST = 1 << 28  # bytes of an output that a program leaves in memory of the host


class Tracer:
    """Runs the region's nodes on tracers, once, to record the program."""

    def __init__(
        self,
        unit: Unit,
        cells: list[Variable],
        static: dict[Edge, np.ndarray],
        factor: int,
        device: DeviceInfo,
    ) -> None:
        self.unit, self.variables, self.static = unit, cells, static
        self.factor, self.device = factor, device
        self.dynamic = [edge for edge in unit.inputs if edge not in static]
        self.random_nodes = [n for n in unit.nodes if n.definition.takes_rng]
        self.inner_random = inner_random(unit.nodes)
        self.rng_blocks: list[int] = []
        self.leaving: list[Any] = []
        self.reshapes = False
        self.says_done = False
        self.agree: Callable[[Any], Any] | None = None  # see Span
        self.memory_for_host: Any = None  # where it leaves what only the host reads
        self.staged: frozenset[int] = frozenset()  # inputs that it finds in memory of the host
        self.memory: Any = None  # of the device
        self.done_by: int | None = None  # the number of an output that says that it has ended
        self.given: Sequence[tuple[Edge, Any]] = ()  # objects of the host, and their forms
        self.room = 0  # for what loops save, where it is known
        self.on_host = device.device_type == "CPU"
        self.largest = Largest(on_host=self.on_host)
        self._depth = 0  # how many loops and branches are around what is traced

    @property
    def checked(self) -> bool:
        """Whether the program says that values were not as they must be."""
        failed = self.objects.failed
        return failed is not None and failed.noted

    @property
    def beforehand(self) -> list[tuple[int, int]]:
        """Inputs that must be looked at before the program is called, see `Failed`."""
        failed = self.objects.failed
        return [] if failed is None else sorted(failed.beforehand)

    def run(
        self, donated: list[Any], kept: list[Any], inputs: list[Any], rngs: Any, switch: Any
    ) -> tuple[list[Any], list[Any], Any]:
        import jax.numpy as jnp

        self.objects = Objects(self.factor, switch, self.device, self.room)
        self.parts = Parts()
        self.known_parts = KnownParts()
        cells = self._cells(donated, kept)
        self.cells = {cell_key(root[0]): cell for root, cell in cells.items()}
        before = [_shape_or_none(cell.state) for cell in cells.values()]
        values: dict[Edge, Any] = dict(cells)
        values.update(self.static)
        inputs = [self._input_of_host(v) if i in self.staged else v for i, v in enumerate(inputs)]
        inputs, arrays = inputs[: len(self.dynamic)], inputs[len(self.dynamic) :]
        values.update(zip(self.dynamic, inputs, strict=True))
        for edge, form in self.given:
            values[edge] = form.enter(jnp, self.objects, arrays[: form.arrays])
            arrays = arrays[form.arrays :]
        if self.objects.failed is not None:
            moving = [
                v
                for e, v in zip(self.dynamic, inputs, strict=True)
                if not e[0].definition.is_constant
            ]
            self.objects.failed.know_inputs(moving)
            self.objects.failed.know_stored([*inputs, *(c.before for c in cells.values())])
        # The states of all random nodes travel as one array, a row each.
        rngs = [] if rngs is None else list(rngs)
        self.states = dict(zip(self.random_nodes, rngs, strict=False))
        self.drawn = {} if self.on_host else draw_alike(self.states)
        inner = rngs[len(self.random_nodes) :]
        self.inner_rngs = {
            node.name: self.objects.add(Cell(rng))
            for node, rng in zip(self.inner_random, inner, strict=True)
        }
        self.rng_blocks = []
        with noting(self.objects.failed):
            for node in self.unit.nodes:
                self._run_node(node, values)
        if self.agree is not None and self.objects.failed is not None and self.checked:
            self.objects.failed.state = self.agree(self.objects.failed.state)
        self.reshapes = [_shape_or_none(c.state) for c in cells.values()] != before
        new = [cells[root].result() for root, w in self.unit.cells.items() if w]
        outputs = [self._output(edge, values[edge]) for edge in self.unit.outputs]
        self.done_by = self._sign_of_the_end(outputs, values) if self.staged else None
        self.leaving = [values[edge] for edge in self.unit.leaving]
        self.leaving += [] if self.objects.trips is None else [self.objects.trips]
        rest = (
            [cell.state for cell in self.inner_rngs.values()],
            [array.state for array in self.leaving],
            self.objects.excess.state if self.objects.guessed else None,
            self.objects.stopped.state if self.objects.watched else None,
            self.objects.failed.state if self.objects.failed and self.checked else None,
            jnp.zeros((), bool) if self.staged and self.done_by is None else None,
        )
        return new, [jnp.zeros((), bool)] if self.says_done else outputs, rest

    def run_graph(self, graph: ClientGraph, args: Sequence[Any]) -> list[Any]:
        """Traces the graph inside a loop or conditional."""
        values: dict[Edge, Any] = dict(zip(graph.feeds, args, strict=True))
        self._depth += 1
        for node in schedule(graph):
            if not node.definition.is_argument:
                self._run_node(node, values)
        self._depth -= 1
        return [_deref(values[edge]) for edge in graph.fetches]

    def _input_of_host(self, value: Any) -> Any:
        import jax

        return jax.device_put(value, self.memory)

    def _output(self, edge: Edge, value: Any) -> Any:
        if self.memory_for_host is None or edge not in self.unit.for_host or value is None:
            return _or_blank(value, edge)
        if is_concrete(value) or value.size * value.dtype.itemsize > MOST_FOR_HOST:
            return value
        import jax

        return jax.device_put(value, self.memory_for_host)

    def _sign_of_the_end(self, outputs: list[Any], values: dict[Edge, Any]) -> int | None:
        """The number of a small output that the program makes: an input may be there before."""
        for i, (edge, value) in enumerate(zip(self.unit.outputs, outputs, strict=True)):
            if value is not values[edge] and np.size(value) <= SMALL:
                return i
        return None

    def _cells(self, donated: list[Any], kept: list[Any]) -> dict[Edge, TracedCell]:
        take = {True: iter(donated), False: iter(kept)}
        return {
            root: self.objects.add(TracedCell(cell, next(take[written]), self.objects.failed))
            for (root, written), cell in zip(self.unit.cells.items(), self.variables, strict=True)
        }

    def _run_node(self, node: Node, values: dict[Edge, Any]) -> None:
        try:
            inputs = [self._input(edge, values) for edge in node.inputs]
            for i in _derefs(node):
                inputs[i] = inputs[i].read()
            too_large = self.largest.expect(node, inputs)
            given = self.known_parts.bounds(node, inputs)
            with scope_of(node):
                outputs = self._call(node, given) if too_large is None else ()
        except (NotCompilable, errors.InternalError):
            raise
        except Exception as error:
            # Whether the user is wrong or the kernel cannot be traced, the interpreter will tell.
            raise NotCompilable(node, f"{type(error).__name__}: {error}") from error
        too_large = too_large or self.largest.note(node, outputs)
        if too_large is not None:
            # A loop or a branch may never come there.
            is_in_doubt = self._depth or self.largest.has_too_many_elements
            raise NotCompilable(node, str(too_large)) if is_in_doubt else too_large
        if any(is_hollow(value) for value in (*inputs, *outputs)):
            raise NotCompilable(node, "nothing in very many rows")
        for i, value in enumerate(outputs):
            values[node, i] = (
                declared(node, i, value)
                if hasattr(value, "dtype") and hasattr(value, "astype")
                else value
            )
        if self.objects.failed is not None:
            self.objects.failed.follow(node, inputs, outputs)
        if self.objects.bounds and not subgraphs(node):
            self.objects.add_time(node, inputs, outputs)
        if node.type == "Pack":
            self.known_parts.note(inputs, values[node, 0])
        if node.type == "Minimum":
            note_limit(self.objects, inputs, values[node, 0])

    def _input(self, edge: Edge, values: dict[Edge, Any]) -> Any:
        if edge in values:
            return values[edge]
        node = edge[0]
        if node.definition.is_handle:
            return self.cells[cell_key(node)]
        if is_cell(edge):  # from a node outside of the region that only hands a variable on
            return self._input(next(e for e in node.inputs if is_cell(e)), values)
        constant: Any = node.attrs["value"]
        return constant

    def _call(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        import jax.numpy as jnp

        definition = node.definition
        if node.loop is not None or node.branches is not None:
            return lower(self, node, inputs)
        if definition.is_handle:
            return [self.cells[cell_key(node)]]
        call = bind(definition, node.attrs, traced=True)
        if definition.takes_rng:
            return self._draw(node, call, _as_arrays(node, inputs))
        if definition.takes_ctx:
            return call(jnp, inputs, self.objects)
        is_foldable = inputs and is_concrete(*inputs) and not definition.needs_xla
        # A large one is better computed by the program than a constant in it.
        if is_foldable and not definition.stateful and most_elements(node, inputs) <= LARGE:
            with np.errstate(all="ignore"):
                return call(np, inputs)
        part = self.parts.part(node, inputs) if self.objects.bounds else None
        if part is not None:
            return [part]
        outputs: Sequence[Any] = call(jnp, _as_arrays(node, inputs))
        if self.objects.bounds:
            self.parts.note(node, inputs, outputs[0] if outputs else None)
        return outputs

    def _draw(self, node: Node, call: Any, inputs: list[Any]) -> Sequence[Any]:
        """A random node: those of the region itself run once, those inside loops move on."""
        import jax.numpy as jnp

        from weft.ops.kit.philox import advanced

        cell = None if node in self.states else self.inner_rngs[node.name]
        state = self.states[node] if cell is None else cell.state
        known = self.drawn.get(node)
        outputs: Sequence[Any] = call(jnp, inputs, state) if known is None else [known]
        assert node.definition.random is not None
        blocks = node.definition.random(np.shape(outputs[0]), node.attrs)
        if cell is None:
            self.rng_blocks.append(blocks)
        else:
            cell.state = advanced(jnp, state, blocks)
        return outputs


def inner_random(nodes: Sequence[Node]) -> list[Node]:
    """The random nodes inside loops and conditionals, one of each name."""
    found: dict[str, Node] = {}
    stack = [inner for node in nodes for graph in subgraphs(node) for inner in graph.nodes]
    while stack:
        node = stack.pop()
        if node.definition.takes_rng:
            found[node.name] = node
        stack += [inner for graph in subgraphs(node) for inner in graph.nodes]
    return list(found.values())


def _as_arrays(node: Node, inputs: list[Any]) -> list[Any]:
    """The inputs of a kernel: arrays of jax.numpy, but for those that it looks at as NumPy's."""
    import jax.numpy as jnp

    definition = node.definition
    if definition.traced_kernel is not None or not any(map(is_concrete, inputs)):
        return inputs
    names = flat_arg_names(definition, node.attrs)
    return [
        jnp.asarray(value) if is_concrete(value) and name not in definition.known else value
        for name, value in zip(names, inputs, strict=True)
    ]


def _deref(value: Any) -> Any:
    return value.read() if isinstance(value, TracedCell) else value


def _or_blank(value: Any, edge: Edge) -> Any:
    """Zeros in place of results of a branch that was not taken, as outputs of the program."""
    node, i = edge
    return np.zeros((), node.dtypes[i].base_dtype.np_storage) if value is None else value


def _shape_or_none(value: Any) -> Any:
    return None if value is None else np.shape(value)


def declared(node: Node, i: int, value: Any) -> Any:
    """`value` if it has the declared type; kernels that widen are mistakes of ours."""
    wanted = node.dtypes[i].base_dtype.np_storage
    if value.dtype != wanted:
        if flags.CHECK:
            raise errors.InternalError(
                None, None, f"{node.type} {node.name!r} traced to {value.dtype}, declared {wanted}"
            )
        value = value.astype(wanted)
    return value
