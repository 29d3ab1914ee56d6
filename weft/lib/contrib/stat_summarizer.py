"""tf.contrib.stat_summarizer: a report on the nodes of some steps, by time, memory and type."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["DeleteStatSummarizer", "NewStatSummarizer", "StatSummarizer"]
_RULE = "=" * 30
_TYPE = re.compile(r".* = (\w+)\(")
_HEADER = (("[node type]", 24), ("[start]", 17), ("[first]", 9), ("[avg ms]", 9), ("[%]", 8),
           ("[cdf%]", 8), ("[mem KB]", 10), ("[times called]", 9))  # fmt: skip
_TYPE_HEADER = (("[Node type]", 24), ("[count]", 9), ("[avg ms]", 10), ("[avg %]", 11),
                ("[cdf %]", 11), ("[mem KB]", 10), ("[times called]", 10))  # fmt: skip


@dataclass
class _Node:
    name: str
    type: str
    order: int
    starts: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


def _row(cells: Any) -> str:
    """Cells to the right of their fields; numbers with three places."""
    shown = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell, _ in cells)
    widths = (width for _, width in cells)
    return "".join(f"\t{text:>{width}}" for text, width in zip(shown, widths, strict=True))


def _percent(value: float, width: int) -> tuple[str, int]:
    return f"{value:>{width}.3f}%", width + 1


def _told(values: list[int]) -> str:
    """The statistics of numbers, one for each run."""
    if not values:
        return "count=0"
    if len(set(values)) == 1:
        return f"count={len(values)} curr={values[-1]}" + (" (all same)" if values else "")
    first, last = values[0], values[-1]
    return (
        f"count={len(values)} first={first} curr={last} min={min(values)} max={max(values)} "
        f"avg={np.mean(values):.6g} std={int(np.std(values))}"
    )


class StatSummarizer:
    """Collects the statistics of steps, and reports on all of them together."""

    def __init__(self, unused: Any = None) -> None:
        self._nodes: dict[str, _Node] = {}
        self._totals: list[int] = []
        self._memory: list[int] = []

    def ProcessStepStatsStr(self, step_stats_str: bytes) -> None:
        """Adds the statistics of a step, as bytes."""
        from tensorboard.compat.proto.step_stats_pb2 import StepStats

        self.ProcessStepStats(StepStats.FromString(step_stats_str))

    def ProcessStepStats(self, step_stats: Any) -> None:
        """Adds the statistics of a step."""
        found = [(d.device, node) for d in step_stats.dev_stats for node in d.node_stats]
        begun = min((node.all_start_micros for _, node in found), default=0)
        total = memory = 0
        for order, (_, node) in enumerate(found, 1):
            took = node.op_end_rel_micros or node.all_end_rel_micros
            held = sum(each.total_bytes for each in node.memory)
            kind = _TYPE.match(node.timeline_label)
            kept = self._nodes.setdefault(
                node.node_name, _Node(node.node_name, kind[1] if kind else "<>", order)
            )
            kept.starts.append(node.all_start_micros - begun)
            kept.times.append(took)
            kept.memory.append(held)
            total, memory = total + took, memory + held
        self._totals.append(total)
        self._memory.append(memory)

    def GetOutputString(self) -> str:
        """The report: nodes in the order they ran, the longest, the largest; types; totals."""
        parts = [
            self._nodes_by("Run Order", lambda node: -node.order, 0),
            self._nodes_by("Top by Computation Time", lambda node: np.mean(node.times), 10),
            self._nodes_by("Top by Memory Use", lambda node: np.mean(node.memory), 10),
            self._by_type(),
            f"Timings (microseconds): {_told(self._totals)}\n"
            f"Memory (bytes): {_told(self._memory)}\n{len(self._nodes)} nodes observed\n\n",
        ]
        return "".join(parts)

    def PrintStepStats(self) -> None:
        """Logs the report."""
        from weft.lib.platform import tf_logging as logging

        logging.info("%s", self.GetOutputString())

    def _nodes_by(self, title: str, key: Callable[[_Node], Any], limit: int) -> str:
        lines = [f"{_RULE} {title} {_RULE}", _row(_HEADER) + "\t[Name]"]
        whole, so_far = sum(self._totals) or 1, 0
        ranked = sorted(self._nodes.values(), key=key, reverse=True)
        for node in ranked[:limit] if limit else ranked:
            so_far += sum(node.times)
            cells = [
                (node.type, 24),
                (float(np.mean(node.starts)) / 1000, 17),
                (node.times[0] / 1000, 9),
                (float(np.mean(node.times)) / 1000, 9),
                _percent(sum(node.times) * 100 / whole, 7),
                _percent(so_far * 100 / whole, 7),
                (node.memory[-1] / 1000, 10),
                (len(node.times) // len(self._totals), 9),
            ]
            lines.append(f"{_row(cells)}\t{node.name}")
        return "\n".join(lines) + "\n\n"

    def _by_type(self) -> str:
        runs = len(self._totals) or 1
        kinds: dict[str, list[_Node]] = {}
        for node in self._nodes.values():
            kinds.setdefault(node.type, []).append(node)
        times = {kind: sum(sum(n.times) // runs for n in own) for kind, own in kinds.items()}
        lines = [
            f"Number of nodes executed: {len(self._nodes)}",
            f"{_RULE} Summary by node type {_RULE}",
            _row(_TYPE_HEADER),
        ]
        whole, so_far = sum(times.values()) or 1, 0.0
        for kind in sorted(kinds, key=lambda kind: (times[kind], kind), reverse=True):
            own = kinds[kind]
            share = times[kind] * 100 / whole
            so_far += share
            cells = [
                (kind, 24), (len(own), 9), (times[kind] / 1000, 10), _percent(share, 10),
                _percent(so_far, 10), (sum(node.memory[-1] for node in own) / 1000, 10),
                (sum(len(node.times) // runs for node in own), 9),
            ]  # fmt: skip
            lines.append(_row(cells))
        return "\n".join(lines) + "\n\n"


def NewStatSummarizer(unused: Any) -> StatSummarizer:
    """A summarizer; the graph that it once took is not needed."""
    return StatSummarizer(unused)


def DeleteStatSummarizer(ss: StatSummarizer) -> None:
    """Lets go of a summarizer."""
    del ss
