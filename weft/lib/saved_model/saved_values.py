"""The values of a SavedModel's checkpoint and the objects that they belong to."""

from __future__ import annotations

from collections import deque
from typing import Any

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.train.checkpoint.reader import NewCheckpointReader
from weft.lib.train.checkpoint.saver_objects import OBJECT_GRAPH_PROTO_KEY
from weft.lib.train.checkpoint.saver_saveable import VARIABLE_VALUE_KEY
from weft.protos.checkpoint import TrackableObjectGraph

_TABLE_KEY = "table"


def checkpoint_keys(objects: Any, prefix: str) -> dict[int, str]:
    """Number of a variable or table among the saved objects -> the key of its value.

    Both know objects by the names that lead to them; numbers may differ.
    """
    reader = NewCheckpointReader(prefix)
    if not reader.has_tensor(OBJECT_GRAPH_PROTO_KEY):
        return {}
    message = TrackableObjectGraph()
    message.ParseFromString(reader.get_tensor(OBJECT_GRAPH_PROTO_KEY))
    found = {}
    for number, other in _matched(objects, message).items():
        for attribute in message.nodes[other].attributes:
            if attribute.name in (VARIABLE_VALUE_KEY, _TABLE_KEY):
                found[number] = attribute.checkpoint_key
    return found


def _matched(objects: Any, message: Any) -> dict[int, int]:
    found = {0: 0}
    waiting = deque([0])
    while waiting:
        number = waiting.popleft()
        there = {child.local_name: child.node_id for child in _children(message, found[number])}
        for child in objects.nodes[number].children:
            if child.node_id not in found and child.local_name in there:
                found[child.node_id] = there[child.local_name]
                waiting.append(child.node_id)
    for number, other in list(found.items()):
        _match_slots(objects.nodes[number], message.nodes[other], found)
    return found


def _children(message: Any, number: int) -> Any:
    return message.nodes[number].children


def _match_slots(saved: Any, other: Any, found: dict[int, int]) -> None:
    """Matches slot variables of optimizers, by their variables and names."""
    there = {
        (slot.original_variable_node_id, slot.slot_name): slot.slot_variable_node_id
        for slot in other.slot_variables
    }
    for slot in saved.slot_variables:
        key = found.get(slot.original_variable_node_id), slot.slot_name
        if key in there:
            found[slot.slot_variable_node_id] = there[key]  # type: ignore[index]


def table_content(prefix: str, key: str) -> list[Tensor]:
    """The keys and the values of a table that changes while a program runs."""
    names = [f"{key}-keys", f"{key}-values"]
    types = NewCheckpointReader(prefix).get_variable_to_dtype_map()
    return list(raw.RestoreV2(prefix, names, ["", ""], [types[name] for name in names]))
