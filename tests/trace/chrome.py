"""Chrome's Trace Event Format, as far as weft writes it: what each phase must have.

Perfetto and chrome://tracing drop, or draw wrongly, what breaks one of these rules.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import Any

Event = dict[str, Any]
_NAMES = {"process_name": str, "thread_name": str}
_NUMBERS = {"process_sort_index": int, "thread_sort_index": int}
_FIELDS = {
    "X": {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"},
    "M": {"ph", "name", "pid", "tid", "args"},
    "s": {"ph", "cat", "name", "pid", "tid", "ts", "id"},
    "f": {"ph", "cat", "name", "pid", "tid", "ts", "id", "bp"},
}
_OPTIONAL = {"args"}
_TINY = 0.5  # microseconds: times since 1970 are as exact as this


def complaints(trace: Any) -> list[str]:
    """What is wrong with a trace; nothing, if viewers show it as it is meant."""
    trace = json.loads(json.dumps(trace, allow_nan=False))  # as a file has it
    events = trace["traceEvents"]
    found = [] if trace["displayTimeUnit"] in ("ms", "ns") else ["displayTimeUnit"]
    for event in events:
        found += [f"{what}: {event}" for what in _of_one(event)]
    if not found:
        found += _unnamed(events) + _crossing(events) + _loose_flows(events)
    return found


def _of_one(event: Event) -> list[str]:
    fields = _FIELDS.get(event.get("ph", ""))
    if fields is None:
        return ["an unknown phase"]
    found = []
    if not fields - (_OPTIONAL if event["ph"] == "X" else set()) <= event.keys() <= fields:
        found.append(f"not the fields {sorted(fields)}")
    found += [f"{key} is no number" for key in ("pid", "tid") if type(event.get(key)) is not int]
    if not isinstance(event.get("name"), str) or not event["name"]:
        found.append("no name")
    for key in {"ts", "dur"} & event.keys():
        value = event[key]
        if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
            found.append(f"{key} is no time")
    if event["ph"] == "M":
        (value,) = event["args"].values()
        kind = (_NAMES | _NUMBERS).get(event["name"])
        wanted = "name" if event["name"] in _NAMES else "sort_index"
        if kind is None or list(event["args"]) != [wanted] or type(value) is not kind:
            found.append("no such metadata")
    if not isinstance(event.get("args", {}), dict):
        found.append("args is no object")
    if event.get("bp", "e") != "e":
        found.append("a flow that ends at the next event")
    return found


def _unnamed(events: list[Event]) -> list[str]:
    """Processes and threads without a name, or with two."""
    processes = [e["pid"] for e in events if e["name"] == "process_name"]
    threads = [(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"]
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] != "M"}
    found = [f"no process_name: {pid}" for pid, _ in used if processes.count(pid) != 1]
    return found + [f"no thread_name: {each}" for each in used if threads.count(each) != 1]


def _crossing(events: list[Event]) -> list[str]:
    """Events of one thread that overlap without one being inside of the other."""
    rows = defaultdict[Any, list[Event]](list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append(event)
    found = []
    for row in rows.values():
        ends: list[float] = []
        for event in sorted(row, key=lambda e: (e["ts"], -e["dur"])):
            while ends and ends[-1] <= event["ts"] + _TINY:
                ends.pop()
            if ends and event["ts"] + event["dur"] > ends[-1] + _TINY:
                found.append(f"it crosses another: {event}")
            ends.append(event["ts"] + event["dur"])
    return found


def _loose_flows(events: list[Event]) -> list[str]:
    """Arrows without two ends, that go back in time, or that begin or end in no event."""
    ends = defaultdict[Any, list[Event]](list)
    for event in events:
        if event["ph"] in "sf":
            ends[event["cat"], event["id"]].append(event)
    found = []
    for pair in ends.values():
        if sorted(e["ph"] for e in pair) != ["f", "s"] or pair[0]["name"] != pair[1]["name"]:
            found.append(f"no pair: {pair}")
            continue
        first, last = sorted(pair, key=lambda e: e["ph"], reverse=True)
        if first["ts"] > last["ts"] + _TINY:
            found.append(f"back in time by {first['ts'] - last['ts']}: {pair}")
        found += [f"an end in no event: {e}" for e in pair if not _is_in_one(e, events)]
    return found


def _is_in_one(end: Event, events: list[Event]) -> bool:
    return any(
        e["ph"] == "X"
        and (e["pid"], e["tid"]) == (end["pid"], end["tid"])
        and e["ts"] <= end["ts"] + _TINY
        and end["ts"] <= e["ts"] + e["dur"] + _TINY
        for e in events
    )
