"""Host nodes that run again and again, as one generated Python function.

What the loop of interpret.py does per node, this does once: slots become local variables, kernels
are called directly. The line an error comes from tells which node raised it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.graph.kernel_call import list_length
from weft.passes.client_graph import Node
from weft.passes.regions.static_values import NodeContext
from weft.runtime.host.interpret import HostNode, located, run_one
from weft.runtime.resources import ResourceStore

Step = Callable[[list[Any]], None]
FILE = "<weft step>"


def straight_line(
    nodes: Sequence[HostNode], outputs: Sequence[int], store: ResourceStore, hold_lock: bool
) -> Step:
    """A function of a step's slots that runs `nodes` and fills the slots `outputs`.

    `hold_lock`: the store's lock is held throughout, so that the whole is one atomic update;
    otherwise only around each node that touches variables.
    """
    writer = Writer(store, hold_lock)
    made: set[int] = set()
    lines: list[str] = []
    for item in nodes:
        lines.append(writer.line(item, made))
        made.update(item.outs)
    loads = [f"s{i} = v[{i}]" for i in sorted(writer.loaded)]
    stores = [f"v[{i}] = s{i}" for i in outputs if i in made]
    source = [
        "def step(v):",
        "    " + ("; ".join(loads) or "pass"),
        "    with errstate(all='ignore')" + (", lock:" if hold_lock else ":"),
        *("        " + line for line in lines or ["pass"]),
        "    " + ("; ".join(stores) or "pass"),
    ]
    where = {4 + i: item.node for i, item in enumerate(nodes)}
    return _compiled("\n".join(source), writer.names, where)


def _compiled(source: str, names: dict[str, Any], where: dict[int, Node]) -> Step:
    exec(compile(source, FILE, "exec"), names)
    inner = names.pop("step")  # left there, it would be a cycle

    def step(values: list[Any]) -> None:
        try:
            inner(values)
        except Exception as error:
            node = node_of(error, where)
            raise_from(located(error, node) if node is not None else error, error)

    return step


def node_of(error: Exception, where: dict[int, Node]) -> Node | None:
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == FILE:
            return where.get(frame.tb_lineno)
        frame = frame.tb_next
    return None


class Writer:
    """Source lines for nodes, and the names they use."""

    def __init__(self, store: ResourceStore, hold_lock: bool, on_host: bool = False) -> None:
        self.store, self.hold_lock = store, hold_lock
        self.on_host = on_host  # a loop's own state never leaves the host
        self.prefix = "s"
        self.called: dict[int, str] = {}  # what slots are called that have a name of their own
        self.loaded: set[int] = set()
        self.names: dict[str, Any] = {
            "np": np, "lock": store.lock, "errstate": np.errstate, "asarray": np.asarray,
            "run_one": run_one, "store": store, "Deferred": Deferred,
        }  # fmt: skip

    def bind(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def slot(self, i: int) -> str:
        return self.called.get(i) or f"{self.prefix}{i}"

    def line(self, item: HostNode, made: Collection[int] = ()) -> str:
        self.loaded.update(i for i in item.ins if i not in made)
        if not self._is_direct(item):
            left = self._targets(item)
            return f"{left and left + '= '}run_one({self.bind(item)}, [{self._plain(item)}], store)"
        call = self._assigned(item, self._call(item))
        if item.kind == "cells" and not self.hold_lock:
            return f"with lock: {call}"
        return call

    def waiting_line(self, item: HostNode, made: Collection[int], leave: str) -> str:
        """As `line`, of a node that may have to wait: then it does `leave`, which may use `r`."""
        self.loaded.update(i for i in item.ins if i not in made)
        call = f"run_one({self.bind(item)}, [{self._plain(item)}], store)"
        if item.node.definition.kernel is not None:
            call = self._call(item)
        rest = self._assigned(item, "r")
        return f"r = {call}\nif type(r) is Deferred: {leave}\n{rest}"

    @staticmethod
    def _is_direct(item: HostNode) -> bool:
        """Whether a line can call the kernel itself."""
        definition = item.node.definition
        if definition.xla or definition.kernel is None or definition.blocking or item.grows:
            return False
        return item.kind in ("pure", "cells", "context")

    def _targets(self, item: HostNode) -> str:
        return "".join(f"{self.slot(i)}, " for i in item.outs)

    def _assigned(self, item: HostNode, call: str) -> str:
        if item.node.definition.single_output:
            return f"{self.slot(item.outs[0])} = {call}"
        return f"{self._targets(item)}= {call}" if item.outs else call

    def _plain(self, item: HostNode) -> str:
        return ", ".join(self.slot(i) for i in item.ins)

    def converted(self, item: HostNode, position: int) -> str:
        """An input that may lie on a device, as an array of the host."""
        value = self.slot(item.ins[position])
        from_program = item.node.inputs[position][0].type in ("_While", "_If")
        return f"asarray({value})" if from_program or not self.on_host else value

    def _call(self, item: HostNode) -> str:
        definition, attrs = item.node.definition, item.node.attrs
        args = [self.slot(i) for i in item.ins]
        for position in item.converts:
            args[position] = self.converted(item, position)
        for position in item.derefs:
            args[position] += ".read()"
        infix = getattr(definition.kernel, "infix", None)
        if infix is not None and _cannot_fail(item.node):
            return f"{args[0]} {infix} {args[1]}"
        short = _prepared(item.node)
        if short is not None:
            return f"{self.bind(short)}({args[0]})"
        if definition.has_list_input:
            args = _grouped(item.node, args)
        if item.kind == "context":
            args.insert(0, self.bind(item.ctx))
        named = [
            f"{key}={self.bind(attrs[key if key in attrs else key.rstrip('_')])}"
            for key in definition.kernel_attrs
        ]
        return f"{self.bind(definition.kernel)}({', '.join(['np', *args, *named])})"


def _cannot_fail(node: Node) -> bool:
    """Whether two operands are numbers that fit together, whatever they are: one is a scalar."""
    numeric = all(source.dtypes[i].base_dtype != dtypes.string for source, i in node.inputs)
    return numeric and () in [source.dims[i] for source, i in node.inputs]


def _prepared(node: Node) -> Callable[[Any], Any] | None:
    """What the kernel does to its first input, if all others are constants and it knows."""
    prepare = node.definition.prepare
    if prepare is None or any(source.type != "Const" for source, _ in node.inputs[1:]):
        return None
    return prepare(NodeContext(node))


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
