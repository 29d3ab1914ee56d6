"""Host nodes that run again and again, as one generated Python function.

What the loop of interpret.py does per node, this does once: slots become local variables, kernels
are called directly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.deferred import Deferred
from weft.core.quiet import quiet
from weft.graph.by_library import form_for_numpy
from weft.graph.kernel_call import list_length
from weft.passes.client_graph import Node
from weft.passes.regions.static_values import NodeContext
from weft.runtime.host.emitter import Emitter
from weft.runtime.host.interpret import HostNode, run_one
from weft.runtime.resources import ResourceStore

Step = Callable[[list[Any]], None]


def straight_line(
    nodes: Sequence[HostNode], outputs: Collection[int], store: ResourceStore, hold_lock: bool,
    frees: bool = False,
) -> Step:  # fmt: skip
    """A function of a step's slots that runs `nodes` and fills the slots `outputs`.

    `hold_lock`: the store's lock is held throughout, so that the whole is one atomic update;
    otherwise only around each node that touches variables. `frees`: values are let go after their
    last reader, as large ones should be.
    """
    source = NodeEmitter(store, hold_lock)
    source.open_step()
    for item in nodes:
        source.add(2, source.line(item), item.node)
        source.made.update(item.outs)
        if frees and item.frees:
            source.add(2, source.let_go(item.frees))
    source.close_step(outputs)
    return source.guarded_function("step")


class NodeEmitter(Emitter):
    """Lines for nodes, in which slots are local variables.

    `made`: the slots that lines before have filled; `loaded`: those that must be loaded first.
    """

    def __init__(self, store: ResourceStore, hold_lock: bool, on_host: bool = False) -> None:
        super().__init__(
            np=np, lock=store.lock, quiet=quiet, asarray=np.asarray, run_one=run_one,
            Deferred=Deferred,
        )  # fmt: skip
        self.hold_lock = hold_lock
        self.on_host = on_host  # a loop's own state never leaves the host
        self.prefix = "s"
        self.aliases: dict[int, str] = {}  # slots that have a name of their own
        self.made: set[int] = set()
        self.loaded: set[int] = set()

    def open_step(self) -> None:
        """Begins a function of a step's slots; what is added at depth 2 is its body."""
        lock = ", lock" if self.hold_lock else ""
        self.lines += [
            "def step(v):",
            "",
            f"    with quiet(){lock}:",
            "        pass",
        ]

    def close_step(self, outputs: Collection[int], settled: Collection[int] = ()) -> None:
        """Ends it: the slots `outputs` are filled; those that are `settled` need not be loaded."""
        self.add(1, self.stores(outputs))
        loads = sorted(self.loaded - {*settled})
        self.lines[1] = "    " + ("; ".join(f"s{i} = v[{i}]" for i in loads) or "pass")

    def stores(self, slots: Collection[int], into: str = "v") -> str:
        """Puts those of `slots` that were computed so far into the slots of a step."""
        made = sorted({*slots} & self.made)
        return "; ".join(f"{into}[{i}] = {self.slot(i)}" for i in made) or "pass"

    def let_go(self, slots: Sequence[int]) -> str:
        """Empties slots, and what they were loaded from."""
        loaded = [f"v[{i}] = " for i in slots if i not in self.made]
        return "".join([*(f"{self.slot(i)} = " for i in slots), *loaded, "None"])

    def slot(self, i: int) -> str:
        return self.aliases.get(i) or f"{self.prefix}{i}"

    def load_inputs(self, item: HostNode) -> None:
        self.loaded.update(i for i in item.ins if i not in self.made)

    def line(self, item: HostNode) -> str:
        self.load_inputs(item)
        if not self._is_direct(item):
            left = self._targets(item)
            return f"{left and left + '= '}{self._interpreted(item)}"
        call = self._assigned(item, self._call(item))
        if item.check_size is not None:
            given = "".join(f"{self.slot(i)}, " for i in item.ins)
            call = f"{self.bind(item.check_size)}(({given})); {call}"
        if item.kind == "cells" and not self.hold_lock:
            return f"with lock: {call}"
        return call

    def waiting_line(self, item: HostNode, leave: str) -> str:
        """As `line`, of a node that may have to wait: then it does `leave`, which may use `r`."""
        self.load_inputs(item)
        has_kernel = item.node.definition.kernel is not None
        call = self._call(item) if has_kernel else self._interpreted(item)
        rest = self._assigned(item, "r")
        return f"r = {call}\nif type(r) is Deferred: {leave}\n{rest}"

    @staticmethod
    def _is_direct(item: HostNode) -> bool:
        """Whether a line can call the kernel itself."""
        definition = item.node.definition
        if definition.needs_xla or definition.kernel is None or definition.blocking:
            return False
        if item.check_size is not None and item.derefs:
            return False
        return item.kind in ("pure", "cells", "context")

    def _targets(self, item: HostNode) -> str:
        return "".join(f"{self.slot(i)}, " for i in item.outs)

    def _assigned(self, item: HostNode, call: str) -> str:
        if item.node.definition.single_output:
            return f"{self.slot(item.outs[0])} = {call}"
        return f"{self._targets(item)}= {call}" if item.outs else call

    def _interpreted(self, item: HostNode) -> str:
        return f"run_one({self.bind(item)}, [{', '.join(map(self.slot, item.ins))}])"

    def _converted(self, item: HostNode, position: int) -> str:
        """An input that may lie on a device, as an array of the host."""
        value = self.slot(item.ins[position])
        source = item.node.inputs[position][0]
        from_program = source.loop is not None or source.branches is not None
        return f"asarray({value})" if from_program or not self.on_host else value

    def arguments(self, item: HostNode) -> list[str]:
        """The inputs of a node as values of the host."""
        args = [self.slot(i) for i in item.ins]
        for position in item.converts:
            args[position] = self._converted(item, position)
        for position in item.derefs:
            args[position] += ".read()"
        return args

    def _call(self, item: HostNode) -> str:
        definition, attrs = item.node.definition, item.node.attrs
        args = self.arguments(item)
        if definition.infix is not None and _cannot_fail(item.node):
            return f"{args[0]} {definition.infix} {args[1]}"
        short = _prepared(item.node)
        if short is not None:
            return f"{self.bind(short)}({', '.join(args[: definition.kernels.prepared_inputs])})"
        if definition.has_list_input:
            args = _grouped(item.node, args)
        if item.kind == "context":
            args.insert(0, self.bind(item.ctx))
        named = [
            f"{key}={self.bind(attrs[key if key in attrs else key.rstrip('_')])}"
            for key in definition.kernel_attrs
        ]
        assert definition.kernel is not None
        kernel = self.bind(form_for_numpy(definition.kernel))
        return f"{kernel}({', '.join(['np', *args, *named])})"


def _cannot_fail(node: Node) -> bool:
    """Whether two operands are numbers that fit together, whatever they are: one is a scalar."""
    numeric = all(source.dtypes[i].base_dtype != dtypes.string for source, i in node.inputs)
    return numeric and () in [source.dims[i] for source, i in node.inputs]


def _prepared(node: Node) -> Callable[..., Any] | None:
    """A function of the first inputs alone, of a kernel that offers one for constant others."""
    prepare = node.definition.prepare
    if prepare is None:
        return None
    others = node.inputs[node.definition.kernels.prepared_inputs :]
    constant = all(source.definition.is_constant for source, _ in others)
    return prepare(NodeContext(node)) if constant else None


def _grouped(node: Node, args: list[str]) -> list[str]:
    grouped: list[str] = []
    position = 0
    for arg in node.definition.input_args:
        if not arg.is_list:
            grouped.append(args[position])
            position += 1
            continue
        count = list_length(arg, node.attrs)
        grouped.append(f"[{', '.join(args[position : position + count])}]")
        position += count
    return grouped
