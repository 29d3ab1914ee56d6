"""Host nodes that run again and again, as one generated Python function.

What the loop of interpret.py does per node, this does once: slots become local variables, kernels
are called directly. The line an error comes from tells which node raised it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph.kernel_call import list_length
from weft.passes.client_graph import Node
from weft.runtime.interpret import HostNode, located, run_one
from weft.runtime.resources import ResourceStore

Step = Callable[[list[Any]], None]
Loop = Callable[[Sequence[Any], Sequence[Any], list[int]], list[Any]]
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


def straight_loop(condition: Any, body: Any, variables: int, store: ResourceStore) -> Loop:
    """A whole loop over two plans as one function: (state, fixed inputs, count) -> final state.

    `count` is a one-element list that holds the number of finished iterations, also on failure.
    """
    parts = [_Writer(store, False, "c"), _Writer(store, False, "b")]
    names: dict[str, Any] = {}
    lines: list[list[str]] = []
    for writer, plan in zip(parts, (condition, body), strict=True):
        writer.names, made = names | writer.names, set(plan.feed_slots)
        lines.append([writer.line(item, made | set(_outs(plan))) for item in plan.nodes.values()])
        names = writer.names
        for slot, value in enumerate(plan.template):
            if value is not None:
                names[f"{writer.prefix}{slot}"] = value
    inputs = [f"x{i}" for i in range(len(body.feed_slots))]
    state = ", ".join(inputs[:variables])
    source = [
        "def loop(state, fixed, count):",
        f"    {''.join(x + ', ' for x in inputs)} = *state, *fixed",
        *_moves(parts[0].prefix, condition.feed_slots, inputs, "    "),
        *_moves(parts[1].prefix, body.feed_slots, inputs, "    "),
        "    n = 0",
        "    with errstate(all='ignore'):",
        "        try:",
        "            while True:",
    ]
    where: dict[int, Node] = {}
    pad = " " * 16
    for part, (writer, plan) in enumerate(zip(parts, (condition, body), strict=True)):
        for line, item in zip(lines[part], plan.nodes.values(), strict=True):
            where[len(source) + 1] = item.node
            source.append(pad + line)
        results = [f"{writer.prefix}{i}" for i in plan.fetch_slots]
        if part == 0:
            source.append(f"{pad}if not {results[0]}: return {f'[{state}]'}")
            continue
        source.append(f"{pad}{state} = {', '.join(results)}" if variables else f"{pad}pass")
        for other, slots in zip(parts, (condition.feed_slots, body.feed_slots), strict=True):
            source += _moves(other.prefix, slots[:variables], inputs, pad)
        source.append(f"{pad}n += 1")
    source += ["        finally:", "            count[0] = n"]
    exec(compile("\n".join(source), _FILE, "exec"), names)
    inner = names["loop"]

    def loop(state: Sequence[Any], fixed: Sequence[Any], count: list[int]) -> list[Any]:
        try:
            final: list[Any] = inner(state, fixed, count)
            return final
        except Exception as error:
            node = _node_of(error, where)
            raise (located(error, node) if node is not None else error) from error

    return loop


def _outs(plan: Any) -> list[int]:
    return [slot for item in plan.nodes.values() for slot in item.outs]


def _moves(prefix: str, slots: Sequence[int], inputs: list[str], pad: str) -> list[str]:
    pairs = [f"{prefix}{slot} = {name}" for slot, name in zip(slots, inputs, strict=False)]
    return [pad + "; ".join(pairs)] if pairs else []


class _Writer:
    """Source lines for nodes, and the names they use."""

    def __init__(self, store: ResourceStore, hold_lock: bool, prefix: str = "s") -> None:
        self.store, self.hold_lock, self.prefix = store, hold_lock, prefix
        self.on_host = prefix != "s"  # a loop's own state never leaves the host
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
        left = "".join(f"{self.prefix}{i}, " for i in item.outs)
        definition = item.node.definition
        if item.kind not in ("pure", "cells") or definition.xla or definition.kernel is None:
            return f"{left and left + '= '}run_one({self.bind(item)}, [{self._plain(item)}], store)"
        call = self._call(item)
        if definition.single_output:
            call = f"{self.prefix}{item.outs[0]} = {call}"
        elif item.outs:
            call = f"{left}= {call}"
        if item.kind == "cells" and not self.hold_lock:
            return f"with lock: {call}"
        return call

    def _plain(self, item: HostNode) -> str:
        return ", ".join(f"{self.prefix}{i}" for i in item.ins)

    def _call(self, item: HostNode) -> str:
        definition, attrs = item.node.definition, item.node.attrs
        args = [f"{self.prefix}{i}" for i in item.ins]
        for position in item.converts:
            if not self.on_host or item.node.inputs[position][0].type in ("_While", "_If"):
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
        count = list_length(arg, node.attrs)
        grouped.append(f"[{', '.join(args[position : position + count])}]")
        position += count
    return grouped
