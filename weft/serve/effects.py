"""Whether a step leaves something behind: only those that do not may be run at will."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from weft.graph.graph import Graph
from weft.graph.op_def import REGISTRY, FuncRef
from weft.graph.operation import Operation

# Stateful for the passes, but nothing stays of a step that runs them.
_HARMLESS = frozenset(
    """
    VarHandleOp Variable VariableV2 HashTable HashTableV2 MutableHashTable MutableHashTableV2
    LookupTableFind LookupTableFindV2 LookupTableSize LookupTableSizeV2 Placeholder
    PlaceholderWithDefault Assert
    """.split()
)
# Not stateful, but they show what is outside of the model.
_OUTSIDE = frozenset("ReadFile MatchingFiles".split())


def lasting_effect(graph: Graph, ops: Iterable[Operation], fed: Iterable[str]) -> str:
    """The first operation found that leaves something behind, in words; "" if none does."""
    for op in _needed(list(ops), set(fed)):
        if not _is_harmless(op.type, _called(op.attrs.values()), graph, set()):
            return f"{op.name} ({op.type})"
    return ""


def _needed(ops: list[Operation], fed: set[str]) -> Iterator[Operation]:
    """The operations that a step runs for these."""
    seen, waiting = set(ops), list(ops)
    while waiting:
        op = waiting.pop()
        if op.outputs and all(tensor.name in fed for tensor in op.outputs):
            continue
        yield op
        needed = [t.op for t in op.inputs if t.name not in fed] + op.control_inputs
        for each in needed:
            if each not in seen:
                seen.add(each)
                waiting.append(each)


def _called(values: Iterable[Any]) -> list[str]:
    """The functions that attributes name."""
    found: list[str] = []
    for value in values:
        if isinstance(value, FuncRef):
            found.append(value.name)
        elif isinstance(value, (list, tuple)):
            found += [each.name for each in value if isinstance(each, FuncRef)]
    return found


def _is_harmless(kind: str, called: Iterable[str], graph: Graph, seen: set[str]) -> bool:
    library = graph._functions
    bodies = [*called, kind] if kind in library else list(called)
    for name in bodies:
        if name in seen:
            continue
        seen.add(name)
        if name not in library:
            return False
        for node in library[name].message.node_def:
            if not _is_harmless(node.op, _called_in(node), graph, seen):
                return False
    return kind in library or _leaves_nothing(kind, bool(bodies))


def _called_in(node: Any) -> list[str]:
    """The functions that a NodeDef names."""
    found = []
    for value in node.attr.values():
        found += [value.func.name] if value.HasField("func") else []
        found += [each.name for each in value.list.func]
    return found


def _leaves_nothing(kind: str, is_call: bool) -> bool:
    known = REGISTRY.get(kind)
    if kind in _OUTSIDE or known is None:
        return False
    if kind in _HARMLESS or known.reads_only or (is_call and known.calls is not None):
        return True
    return not known.stateful
