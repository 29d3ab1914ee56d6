"""A graph as a picture: boxes in layers, one for each scope, open scopes shown by what is in them.

Layers go from what is read to what reads it; an edge that goes back, of a loop, counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

Json = dict[str, Any]
MOST = 400  # boxes


class Item(NamedTuple):
    """A node: its type, device, and the nodes it reads."""

    kind: str
    device: str
    reads: tuple[str, ...]


def items_of(graph: Any) -> dict[str, Item]:
    """The nodes of a graph by name."""
    return {
        op.name: Item(
            op.type,
            op.device,
            tuple(t.op.name for t in op.inputs) + tuple(c.name for c in op.control_inputs),
        )
        for op in graph.get_operations()
    }


def picture(items: Mapping[str, Item], opened: Collection[str] = ()) -> Json:
    """Boxes with their layer and place in it, and edges between them with their number."""
    scopes = {name[:i] for name in items for i, letter in enumerate(name) if letter == "/"}
    box = {name: box_of(name, opened, scopes) for name in items}
    members: dict[str, list[str]] = {}
    for name, owner in box.items():
        members.setdefault(owner, []).append(name)
    edges = Counter(
        (box[read], box[name])
        for name, item in items.items()
        for read in item.reads
        if read in box and box[read] != box[name]
    )
    layer = layers(members, edges)
    rows = ordered(layer, edges)
    boxes = [
        {"name": name, "layer": layer[name], "place": i, **_described(name, members[name], items)}
        for row in rows
        for i, name in enumerate(row)
    ]
    return {
        "boxes": boxes[:MOST], "left_out": max(0, len(boxes) - MOST), "open": sorted(opened),
        "edges": [[a, b, count] for (a, b), count in edges.items()],
    }  # fmt: skip


def box_of(name: str, opened: Collection[str], scopes: Collection[str] = ()) -> str:
    """The box that a node is in: its outermost scope that is not open, with a `/` at its end.

    A node that has the name of a scope, as variables do, is in there.
    """
    at = name.find("/")
    while at >= 0:
        if name[:at] not in opened:
            return name[: at + 1]
        at = name.find("/", at + 1)
    return f"{name}/" if name in scopes and name not in opened else name


def _described(name: str, members: list[str], items: Mapping[str, Item]) -> Json:
    kinds = Counter(items[each].kind for each in members)
    devices = sorted({items[each].device for each in members} - {""})
    return {"nodes": len(members), "kinds": kinds.most_common(4), "devices": devices[:4]}


def layers(members: Iterable[str], edges: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """The longest way to each box from one that reads nothing."""
    reads: dict[str, list[str]] = {name: [] for name in members}
    for source, target in edges:
        reads[target].append(source)
    found: dict[str, int] = {}
    for name in reads:
        _settle(name, reads, found)
    return found


def _settle(name: str, reads: Mapping[str, list[str]], found: dict[str, int]) -> None:
    """The layer of a box and of all before it; without recursion, graphs are deep."""
    stack, on_way = [(name, iter(reads[name]))], {name}
    while stack:
        current, rest = stack[-1]
        following = next((r for r in rest if r not in found and r not in on_way), None)
        if following is not None:
            stack.append((following, iter(reads[following])))
            on_way.add(following)
        else:
            known = [found[r] for r in reads[current] if r in found]
            found.setdefault(current, 1 + max(known, default=-1))
            on_way.discard(current)
            stack.pop()


def ordered(layer: Mapping[str, int], edges: Mapping[tuple[str, str], int]) -> list[list[str]]:
    """The boxes of each layer, each near what it reads."""
    rows: list[list[str]] = [[] for _ in range(1 + max(layer.values(), default=-1))]
    for name, number in layer.items():
        rows[number].append(name)
    reads: dict[str, list[str]] = {}
    for source, target in edges:
        reads.setdefault(target, []).append(source)
    place: dict[str, float] = {}
    for row in rows:
        near = {name: _mean([place[r] for r in reads.get(name, ()) if r in place]) for name in row}
        row.sort(key=lambda name: (near[name], name))
        place.update({name: i / max(1, len(row)) for i, name in enumerate(row)})
    return rows


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.5
