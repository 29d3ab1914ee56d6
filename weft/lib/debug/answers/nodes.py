"""`node_info`, `list_inputs` and `list_outputs`: a node and what is around it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.lib.debug import shared
from weft.lib.debug.answers.menu import add_main_menu
from weft.lib.debug.names import get_node_name
from weft.lib.debug.text import (
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

# Nodes that the runtime puts in, and that tell nothing.
_HIDDEN = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Retval")


def add_info_arguments(parser: argparse.ArgumentParser, config: Any) -> None:
    add = parser.add_argument
    add("node_name", help="The node, or one of its tensors: dense/MatMul, dense/MatMul:0")
    add("-a", "--attributes", action="store_true", help="Also its attributes.")
    add("-d", "--dumps", action="store_true", help="Also its dumped tensors.")
    add("-t", "--traceback", action="store_true", help="Also the lines of Python that made it.")


def add_tree_arguments(parser: argparse.ArgumentParser, config: Any) -> None:
    add = parser.add_argument
    add("node_name", help="The node, or one of its tensors: dense/MatMul, dense/MatMul:0")
    add("-c", "--control", action="store_true", help="Also by control edges.")
    add(
        "-d", "--depth", type=int, default=config.get("graph_recursion_depth"),
        help="How many edges away from the node, with -r.",
    )  # fmt: skip
    add("-r", "--recursive", action="store_true", help="And theirs, and so on.")
    add("-t", "--op_type", action="store_true", help="Also the types of the nodes.")


def _visible(dump: Any, names: list[str]) -> list[str]:
    return [name for name in names if dump.node_op_type(get_node_name(name)) not in _HIDDEN]


def _unknown(name: str) -> RichTextLines:
    return shared.error(f'There is no node named "{name}" in the partition graphs')


# ---- node_info -----------------------------------------------------------------------------------


def info(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    dump, name = analyzer.dump, get_node_name(parsed.node_name)
    if not dump.node_exists(name):
        off = "node_info", "list_inputs", "list_outputs"
        return add_main_menu(_unknown(name), off=off)
    lines: list[Any] = [RichLine("Node ") + RichLine(name, "bold"), ""]
    lines += [f"  Op: {dump.node_op_type(name)}", f"  Device: {dump.node_device(name)}"]
    lines += _neighbors(dump, "input", name, dump.node_inputs)
    lines += _neighbors(dump, "recipient", name, dump.node_recipients)
    if parsed.attributes:
        lines += _attributes(dump, name)
    if parsed.dumps:
        lines += _dumps(dump, name)
    if parsed.traceback:
        lines += _traceback(dump, name)
    output = rich_text_lines_from_rich_line_list(lines)
    return add_main_menu(output, name, off=("node_info",))


def _neighbors(dump: Any, kind: str, name: str, find: Callable[..., list[str]]) -> list[Any]:
    data = _visible(dump, find(name))
    controls = _visible(dump, find(name, is_control=True))
    lines: list[Any] = ["", f"  {len(data)} {kind}(s) + {len(controls)} control {kind}(s):"]
    lines += [f"    {len(data)} {kind}(s):", *(_neighbor(dump, each) for each in data)]
    if controls:
        lines += ["", f"    {len(controls)} control {kind}(s):"]
        lines += [_neighbor(dump, each) for each in controls]
    return lines


def _neighbor(dump: Any, name: str) -> RichLine:
    typed = RichLine(f"      [{dump.node_op_type(get_node_name(name))}] ")
    return typed + RichLine(name, MenuItem(None, f"ni -a -d -t {name}"))


def _attributes(dump: Any, name: str) -> list[str]:
    lines = ["", "Node attributes:"]
    for key, value in dump.node_attributes(name).items():
        lines += [f"  {key}:", f"    {repr(value).strip().replace(chr(10), ' ')}", ""]
    return lines


def _dumps(dump: Any, name: str) -> list[Any]:
    data = [d for key in dump.debug_watch_keys(name) for d in dump.watch_key_to_data(key)]
    lines: list[Any] = [f"{len(data)} dumped tensor(s):", ""]
    for number, datum in enumerate(data):
        when = (datum.timestamp - dump.t0) / 1000.0
        text = f"Slot {datum.output_slot} @ {datum.debug_op} @ {when:.3f} ms"
        link = MenuItem(None, f"pt {name}:{datum.output_slot} -n {number}")
        lines.append(RichLine("  ") + RichLine(text, link))
    return lines


def _traceback(dump: Any, name: str) -> list[Any]:
    lines: list[Any] = ["", "", RichLine("Traceback of node construction:", "bold")]
    try:
        frames = list(dump.node_traceback(name))
    except KeyError:
        return [*lines, "(Node unavailable in the loaded Python graph)"]
    except LookupError:
        return [*lines, "(Unavailable because no Python graph has been loaded)"]
    for depth, (path, number, function, text) in enumerate(frames):
        link = MenuItem("", f"ps {path} -b {number}") if text else None
        quoted = f'"{text}"' if text else "None"
        lines += [f"{depth}: {path}", RichLine("  ") + RichLine(f"Line:     {number}", link)]
        lines += [f"  Function: {function}", f"  Text:     {quoted}", ""]
    return lines


# ---- trees ---------------------------------------------------------------------------------------


class _Direction(NamedTuple):
    """Which way a tree goes: up to what a node needs, or down to what needs it."""

    title: str
    plural: str
    command: str
    own_command: str


_UP = _Direction("Inputs to", "inputs", "li", "list_inputs")
_DOWN = _Direction("Recipients of", "recipients", "lo", "list_outputs")


def inputs(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    return _tree(analyzer.dump, parsed, _UP, analyzer.dump.node_inputs)


def outputs(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    return _tree(analyzer.dump, parsed, _DOWN, analyzer.dump.node_recipients)


def _tree(dump: Any, parsed: Any, way: _Direction, find: Callable[..., list[str]]) -> RichTextLines:
    name = get_node_name(parsed.node_name)
    if not dump.node_exists(name):
        return add_main_menu(_unknown(name), name, off=(way.own_command,))
    limit = parsed.depth if parsed.recursive else 1
    included = f", control {way.plural} included" if parsed.control else ""
    title = RichLine(f'{way.title} node "') + RichLine(name, "bold")
    lines: list[Any] = [title + f'" (Depth limit = {limit}{included}):']
    branches = _Branches(dump, parsed, way, find, limit)
    branches.grow(name, 1, "")
    lines += branches.lines or ["  [None]"]
    lines += ["", "Legend:", "  (d): recursion depth = d."]
    lines += ["  (Ctrl): Control input."] if parsed.control else []
    lines += ["  [Op]: Input node has op type Op."] if parsed.op_type else []
    output = rich_text_lines_from_rich_line_list(lines)
    return add_main_menu(output, name, off=(way.own_command,))


class _Branches:
    """The lines of a tree, one per edge."""

    def __init__(
        self, dump: Any, parsed: Any, way: _Direction, find: Callable[..., list[str]], limit: int
    ) -> None:
        self.dump, self.parsed, self.way, self.find = dump, parsed, way, find
        self.limit, self.lines = limit, list[RichLine]()

    def _edges(self, name: str) -> list[tuple[str, str]]:
        """(a label, the neighbor) of each edge."""
        found = [("", each) for each in _visible(self.dump, self.find(name, is_control=False))]
        if self.parsed.control:
            controls = _visible(self.dump, sorted(self.find(name, is_control=True)))
            found += [("(Ctrl) ", each) for each in controls]
        return found

    def grow(self, name: str, depth: int, hang: str) -> None:
        """Adds the neighbors of a node; `hang` are the bars of the branches they hang on."""
        edges = self._edges(name)
        if edges and depth > self.limit:
            self.lines.append(RichLine(f"{hang}|- ..."))
            return
        for i, (label, other) in enumerate(edges):
            source = get_node_name(other)
            kind = f"[{self.dump.node_op_type(source)}] " if self.parsed.op_type else ""
            link = MenuItem(None, f"{self.way.command} -c -r {other}")
            line = RichLine(f"{hang}|- ({depth}) {label}{kind}") + RichLine(other, link)
            self.lines.append(line)
            self.grow(source, depth + 1, hang + ("|  " if i < len(edges) - 1 else "   "))
