"""The text of a compiled program -> the node of the graph that each instruction comes from.

Most instructions carry the scope that they were traced in. Those that XLA has put in (copies,
transposes, parts of fusions) carry none, and count for their neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{\s*$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (.*)$")
_SCOPE = re.compile(r'op_name="([^"]*)"')
_CALLED = re.compile(r"(?:calls|body|to_apply)=%?([\w.\-]+)")
_READ = re.compile(r"%([\w.\-]+)")


class Instruction(NamedTuple):
    computation: str
    scope: str
    called: list[str]
    read: list[str]


def nodes_of_instructions(text: str, nodes: Collection[str]) -> dict[str, str]:
    """Instruction -> node: its own; else that of what it calls, or reads, or is read by."""
    instructions = parsed(text)
    found = {name: node_of(each.scope, nodes) for name, each in instructions.items()}
    inside: dict[str, str] = {}  # computation -> the node of its last instruction that has one
    for name, each in instructions.items():
        if found[name]:
            inside[each.computation] = found[name]
    for name, each in instructions.items():
        near = [inside.get(called, "") for called in each.called]
        near += [found.get(read, "") for read in each.read]
        found[name] = found[name] or next(filter(None, near), "")
    for name, each in reversed(instructions.items()):
        for read in each.read:
            if not found.get(read, "other"):
                found[read] = found[name]
    return {name: node for name, node in found.items() if node}


def parsed(text: str) -> dict[str, Instruction]:
    """The instructions of all computations, in the order of the text."""
    found, computation = {}, ""
    for line in text.splitlines():
        if match := _INSTRUCTION.match(line):
            name, rest = match.groups()
            scope = _SCOPE.search(rest)
            read = _READ.findall(rest.partition("metadata=")[0])
            called = _CALLED.findall(rest)
            found[name] = Instruction(computation, scope[1] if scope else "", called, read)
        elif match := _COMPUTATION.match(line):
            computation = match[1]
    return found


def node_of(scope: str, nodes: Collection[str]) -> str:
    """The innermost node whose name is a part of a scope like `jit(f)/while/body/a/MatMul/dot`."""
    parts = scope.split("/")
    for end in range(len(parts), 0, -1):
        for begin in range(end):
            name = "/".join(parts[begin:end])
            if name in nodes:
                return name
    return ""
