"""Host nodes that run again and again, as one generated Python function.

What the loop of interpret.py does per node, this does once: slots become local variables, kernels
are called directly. The line an error comes from tells which node raised it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.passes.client_graph import Node
from weft.runtime.interpret import HostNode, located, run_one
from weft.runtime.resources import ResourceStore

Step = Callable[[list[Any]], None]
_FILE = "<weft step>"


def straight_line(
    nodes: Sequence[HostNode], outputs: Sequence[int], store: ResourceStore, hold_lock: bool
) -> Step:
    """A function of a step's slots that runs `nodes` and fills the slots `outputs`.

    `hold_lock`: the store's lock is held throughout, so that the whole is one atomic update;
    otherwise only around each node that touches variables.
    """
    writer = _Writer(store, hold_lock)
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
    exec(compile(source, _FILE, "exec"), names)
    inner = names["step"]

    def step(values: list[Any]) -> None:
        try:
            inner(values)
        except Exception as error:
            node = _node_of(error, where)
            raise (located(error, node) if node is not None else error) from error

    return step


def _node_of(error: Exception, where: dict[int, Node]) -> Node | None:
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == _FILE:
            return where.get(frame.tb_lineno)
        frame = frame.tb_next
    return None


class _Writer:
    """Source lines for nodes, and the names they use."""

    def __init__(self, store: ResourceStore, hold_lock: bool) -> None:
        self.store, self.hold_lock = store, hold_lock
        self.loaded: set[int] = set()
        self.names: dict[str, Any] = {
            "np": np, "lock": store.lock, "errstate": np.errstate, "asarray": np.asarray,
            "run_one": run_one, "store": store,
        }  # fmt: skip

    def bind(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def line(self, item: HostNode, made: set[int]) -> str:
        self.loaded.update(i for i in item.ins if i not in made)
        left = "".join(f"s{i}, " for i in item.outs)
        definition = item.node.definition
        if item.kind not in ("pure", "cells") or definition.xla:
            return f"{left and left + '= '}run_one({self.bind(item)}, [{self._plain(item)}], store)"
        call = self._call(item)
        if definition.single_output:
            call = f"s{item.outs[0]} = {call}"
        elif item.outs:
            call = f"{left}= {call}"
        if item.kind == "cells" and not self.hold_lock:
            return f"with lock: {call}"
        return call

    def _plain(self, item: HostNode) -> str:
        return ", ".join(f"s{i}" for i in item.ins)

    def _call(self, item: HostNode) -> str:
        definition, attrs = item.node.definition, item.node.attrs
        args = [f"s{i}" for i in item.ins]
        for position in item.converts:
            args[position] = f"asarray({args[position]})"
        for position in item.derefs:
            args[position] += ".read()"
        if definition.has_list_input:
            args = _grouped(item.node, args)
        named = [
            f"{key}={self.bind(attrs[key if key in attrs else key.rstrip('_')])}"
            for key in definition.kernel_attrs
        ]
        return f"{self.bind(definition.kernel)}({', '.join(['np', *args, *named])})"


def _grouped(node: Node, args: list[str]) -> list[str]:
    grouped: list[str] = []
    position = 0
    for arg in node.definition.input_args:
        if not arg.is_list:
            grouped.append(args[position])
            position += 1
            continue
        types = node.attrs[arg.number_attr] if arg.number_attr else None
        count = types if types is not None else len(node.attrs[arg.type_list_attr])
        grouped.append(f"[{', '.join(args[position : position + count])}]")
        position += count
    return grouped
