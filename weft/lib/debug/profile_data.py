"""The nodes of a traced run with the lines that made them, and their sums by line."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from weft.lib.debug.sources import guess_is_tensorflow_py_library


class ProfileDatum:
    """What one run of one node took, and the line that made the node."""

    def __init__(
        self, device_name: str, node_exec_stats: Any, file_path: str, line_number: int,
        func_name: str, op_type: str,
    ) -> None:  # fmt: skip
        self.device_name, self.node_exec_stats = device_name, node_exec_stats
        self.file_path, self.line_number, self.func_name = file_path, line_number, func_name
        self.op_type = op_type
        self.start_time = node_exec_stats.all_start_micros
        self.op_time = node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros
        base = os.path.basename(file_path) if file_path else ""
        self.file_line_func = f"{base}:{line_number}({func_name})" if base else ""

    @property
    def exec_time(self) -> int:
        return int(self.node_exec_stats.all_end_rel_micros)


class AggregateProfile:
    """Several of them added up."""

    def __init__(self, profile_datum: ProfileDatum) -> None:
        self.total_op_time = self.total_exec_time = 0
        self._runs: Counter[tuple[str, str]] = Counter()
        self.add(profile_datum)

    def add(self, profile_datum: ProfileDatum) -> None:
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        self._runs[profile_datum.device_name, profile_datum.node_exec_stats.node_name] += 1

    @property
    def node_count(self) -> int:
        return len(self._runs)

    @property
    def node_exec_count(self) -> int:
        return self._runs.total()


def user_line(op: Any) -> tuple[str, int, str]:
    """(file, line, function) of the innermost frame outside of weft that made an operation."""
    for path, number, function, *_ in reversed(op.traceback):
        if not path.endswith(".py") or not guess_is_tensorflow_py_library(path):
            return path, number, function
    return "", 0, ""


def profile_data(
    graph: Any, run_metadata: Any, device_pattern: str = ""
) -> Iterator[tuple[str, list[ProfileDatum]]]:
    """The nodes of each device of a traced run."""
    lines = {op.name: (*user_line(op), op.type) for op in graph.get_operations()}
    for device in run_metadata.step_stats.dev_stats:
        if not device_pattern or re.match(device_pattern, device.device):
            nodes = [n for n in device.node_stats if n.node_name not in ("_SOURCE", "_SINK")]
            known = [lines.get(n.node_name, ("", 0, "", "")) for n in nodes]
            made = zip(nodes, known, strict=True)
            yield device.device, [ProfileDatum(device.device, n, *line) for n, line in made]


def annotate_source_against_profile(
    profile_data: list[ProfileDatum], source_file_path: str, node_name_filter: str | None = None,
    op_type_filter: str | None = None, min_line: int | None = None, max_line: int | None = None,
) -> dict[int, AggregateProfile]:  # fmt: skip
    """Line number of a file -> what its nodes took."""
    wanted, found = os.path.abspath(source_file_path), dict[int, AggregateProfile]()
    low = -1 if min_line is None else min_line
    high = float("inf") if max_line is None else max_line
    for datum in profile_data:
        texts = (node_name_filter, datum.node_exec_stats.node_name), (op_type_filter, datum.op_type)
        if not datum.file_path or os.path.abspath(datum.file_path) != wanted:
            continue
        if not low <= datum.line_number < high:
            continue
        if any(pattern and not re.match(pattern, text) for pattern, text in texts):
            continue
        if datum.line_number in found:
            found[datum.line_number].add(datum)
        else:
            found[datum.line_number] = AggregateProfile(datum)
    return found
