"""Timeline: the StepStats of a traced step in the form that chrome://tracing shows."""

from __future__ import annotations

import json
import re
from typing import Any

_LABEL = re.compile(r"(.*) = ([^(]+)\((.*)\)", re.DOTALL)


class Timeline:
    """One step: a row of bars for each device, one bar for each operation."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(
        self,
        show_dataflow: bool = True,
        show_memory: bool = False,
        op_time: str = "schedule",
    ) -> str:
        """JSON text. `show_dataflow` adds arrows from producers to consumers, `show_memory` a
        counter of the bytes of outputs; `op_time="gpu"` and the like change nothing here, where
        there is one time for each operation.
        """
        events: list[dict[str, Any]] = []
        made: dict[str, tuple[int, int, int]] = {}
        for pid, device in enumerate(self._stats.dev_stats):
            events.append(
                {
                    "name": "process_name",
                    "ph": "M",
                    "pid": pid,
                    "args": {"name": f"{device.device} Compute"},
                }
            )
            lanes = _Lanes()
            for node in sorted(device.node_stats, key=lambda n: n.all_start_micros):
                lane = lanes.place(node)
                events.append(_bar(node, pid, lane))
                made[node.node_name] = (pid, lane, node.all_start_micros + node.all_end_rel_micros)
            if show_memory:
                events.extend(_memory(device, pid))
        if show_dataflow:
            events.extend(self._arrows(made))
        return json.dumps({"traceEvents": events}, indent=4)

    def _arrows(self, made: dict[str, tuple[int, int, int]]) -> list[dict[str, Any]]:
        arrows: list[dict[str, Any]] = []
        for pid, device in enumerate(self._stats.dev_stats):
            for node in device.node_stats:
                for name in _inputs(node):
                    source = made.get(name.lstrip("^").partition(":")[0])
                    target = made.get(node.node_name)
                    if source is None or target is None:
                        continue
                    common = {"name": name, "cat": "DataFlow", "id": len(arrows) // 2}
                    at = {"pid": source[0], "tid": source[1], "ts": source[2]}
                    arrows.append({**common, "ph": "s", **at})
                    to = {"pid": pid, "tid": target[1], "ts": node.all_start_micros}
                    arrows.append({**common, "ph": "t", **to})
        return arrows


class _Lanes:
    """Puts bars that overlap in time on different rows."""

    def __init__(self) -> None:
        self._free_at: list[int] = []

    def place(self, node: Any) -> int:
        start, end = node.all_start_micros, node.all_start_micros + node.all_end_rel_micros
        for lane, free in enumerate(self._free_at):
            if free <= start:
                self._free_at[lane] = end
                return lane
        self._free_at.append(end)
        return len(self._free_at) - 1


def _bar(node: Any, pid: int, lane: int) -> dict[str, Any]:
    parsed = _LABEL.fullmatch(node.timeline_label)
    kind = parsed[2] if parsed else node.node_name
    args = {"name": node.node_name, "op": kind}
    args |= {f"input{i}": name for i, name in enumerate(_inputs(node))}
    return {
        "name": kind,
        "ph": "X",
        "cat": "Op",
        "pid": pid,
        "tid": lane,
        "ts": node.all_start_micros,
        "dur": max(node.all_end_rel_micros, 1),
        "args": args,
    }


def _inputs(node: Any) -> list[str]:
    parsed = _LABEL.fullmatch(node.timeline_label)
    return [name for name in parsed[3].split(", ") if name] if parsed else []


def _memory(device: Any, pid: int) -> list[dict[str, Any]]:
    events, total = [], 0
    for node in sorted(device.node_stats, key=lambda n: n.all_start_micros + n.all_end_rel_micros):
        total += sum(
            output.tensor_description.allocation_description.requested_bytes
            for output in node.output
        )
        at = node.all_start_micros + node.all_end_rel_micros
        events.append(
            {"name": "outputs", "ph": "C", "cat": "Memory", "pid": pid, "ts": at,
             "args": {"bytes": total}}
        )  # fmt: skip
    return events
