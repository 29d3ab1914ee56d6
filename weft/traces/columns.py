"""A Chrome trace -> columns of numbers, which a page can draw a million events from.

The bytes are: the length of the header (4 bytes), the header (JSON, padded to 8 bytes), and the
arrays that it lists, one after the other, little-endian. Events are in the order of their bars:
by row, by depth in the row, by start.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.traces.flows import flow_time

Json = dict[str, Any]


class _Words:
    """The words of events, each different name, kind and detail once."""

    def __init__(self, events: Sequence[Json]) -> None:
        names: dict[str, int] = {}
        kinds: dict[str, int] = {}
        details: dict[str, int] = {}
        self.details: list[Json] = []
        self.name = np.empty(len(events), np.uint32)
        self.kind = np.empty(len(events), np.uint8)
        self.detail = np.empty(len(events), np.uint32)
        for i, event in enumerate(events):
            args = event.get("args") or {}
            if "flow" in args:  # another one for every step
                args = {k: v for k, v in args.items() if k != "flow"}
            place = details.setdefault(repr(args), len(details))
            if place == len(self.details):
                self.details.append(args)
            self.name[i] = names.setdefault(event["name"], len(names))
            self.kind[i] = min(255, kinds.setdefault(event.get("cat") or "event", len(kinds)))
            self.detail[i] = place
        self.names, self.kinds = list(names), list(kinds)[:256]


def to_columns(trace: Json) -> bytes:
    """The bytes that the page reads."""
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    keys = [(e.get("pid", 0), e.get("tid", 0)) for e in events]
    rows = _rows(trace["traceEvents"], keys)
    place = {row: i for i, row in enumerate(rows)}
    lanes = np.array([place[key] for key in keys], np.int64)
    starts = np.array([e["ts"] for e in events], np.float64)
    durations = np.array([e.get("dur", 0) for e in events], np.float64)
    origin = float(starts.min()) if events else 0.0
    by_start = np.lexsort((-durations, starts, lanes))
    depths = _depths(lanes[by_start], starts[by_start], durations[by_start])
    by_bar = np.lexsort((starts[by_start], depths, lanes[by_start]))
    order, depths = by_start[by_bar], depths[by_bar]
    words = _Words(events)
    columns: dict[str, np.ndarray] = {
        "start": starts[order] - origin,
        "duration": durations[order],
        "name": words.name[order],
        "detail": words.detail[order],
        "arrow": _arrows(trace["traceEvents"], events, order),
        "order": np.argsort(starts[order], kind="stable").astype(np.uint32),
        "kind": words.kind[order],
    }
    header = {
        "origin": origin,
        "processes": _processes(trace["traceEvents"], rows.values()),
        "rows": _bars(list(rows.values()), lanes[order], depths),
        "names": words.names, "kinds": words.kinds, "details": words.details,
        "lines": trace.get("weft", {}).get("lines", {}),
        "about": trace.get("weft", {}).get("about", {}),
    }  # fmt: skip
    return _packed(header, columns)


def _packed(header: Json, columns: dict[str, np.ndarray]) -> bytes:
    header["columns"] = [[n, c.dtype.str, len(c)] for n, c in columns.items()]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    parts = [struct.pack("<I", len(text)), text]
    for column in columns.values():
        data = column.tobytes()
        parts.append(data + b"\0" * (-len(data) % 8))
    return b"".join(parts)


# ---- rows ----------------------------------------------------------------------------------------


def _rows(events: Sequence[Json], keys: Sequence[tuple[Any, Any]]) -> dict[Any, Json]:
    """(pid, tid) -> row, in the order that the trace wants."""
    rows: dict[Any, Json] = {}
    for key in keys:
        rows.setdefault(key, {"process": key[0], "name": f"thread {key[1]}", "rank": 0})
    process_rank: dict[Any, Any] = {}
    for event in events:
        if event.get("ph") != "M":
            continue
        row, args = rows.get((event.get("pid", 0), event.get("tid", 0))), event.get("args", {})
        if event["name"] == "process_sort_index":
            process_rank[event.get("pid", 0)] = args.get("sort_index", 0)
        elif row is not None and event["name"] == "thread_name":
            row["name"] = args["name"]
        elif row is not None and event["name"] == "thread_sort_index":
            row["rank"] = args["sort_index"]
    ranked = sorted(rows, key=lambda k: (process_rank.get(k[0], 0), str(k[0]), rows[k]["rank"]))
    return {key: rows[key] for key in ranked}


def _processes(events: Sequence[Json], rows: Any) -> list[Json]:
    names = {
        e.get("pid", 0): e["args"]["name"]
        for e in events
        if e.get("ph") == "M" and e["name"] == "process_name"
    }
    found = dict.fromkeys(row["process"] for row in rows)
    return [{"id": pid, "name": names.get(pid, f"process {pid}")} for pid in found]


def _depths(lanes: np.ndarray, starts: np.ndarray, durations: np.ndarray) -> np.ndarray:
    """The number of events of its row that each is inside of; they come by row and start."""
    depths = np.zeros(len(lanes), np.int64)
    ends, stack, lane = (starts + durations).tolist(), list[float](), -1
    for i, (own, start) in enumerate(zip(lanes.tolist(), starts.tolist(), strict=True)):
        if own != lane:
            stack, lane = [], own
        while stack and stack[-1] <= start:
            stack.pop()
        depths[i] = len(stack)
        stack.append(ends[i])
    return depths


def _bars(rows: list[Json], lanes: np.ndarray, depths: np.ndarray) -> list[Json]:
    """Of each row, where the events of each depth begin and how many they are."""
    found = [{**row, "bars": []} for row in rows]
    if len(lanes):
        changes = np.flatnonzero(np.diff(lanes) | np.diff(depths)) + 1
        firsts = [0, *changes.tolist(), len(lanes)]
        for first, end in itertools.pairwise(firsts):
            found[int(lanes[first])]["bars"].append([first, end - first])
    return found


def _arrows(all_events: Sequence[Json], events: Sequence[Json], order: np.ndarray) -> np.ndarray:
    """Pairs of positions of events, from a send to its receive: what flow events are inside of."""
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    ends: dict[Any, dict[str, Any]] = {}
    for event in all_events:
        if event.get("ph") in ("s", "f"):
            ends.setdefault(event.get("id"), {})[event["ph"]] = _where(event)
    inside = {_where(e): i for i, e in enumerate(events) if e.get("cat") in ("send", "receive")}
    pairs = [
        int(position[inside[pair[end]]])
        for pair in ends.values()
        if all(pair.get(end) in inside for end in "sf")
        for end in "sf"
    ]
    return np.array(pairs, np.uint32)


def _where(event: Json) -> tuple[Any, Any, int]:
    """Row and time, in nanoseconds, of a flow event, or of the event that it is drawn from."""
    at = flow_time(event) if event["ph"] == "X" else event["ts"]
    return event.get("pid"), event.get("tid"), round(at * 1e3)
