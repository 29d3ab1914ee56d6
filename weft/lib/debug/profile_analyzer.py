"""The prompt after `run -p`: `list_profile` by node, `print_source` by line."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from weft.lib.debug import profile_data, shared, sources, words
from weft.lib.debug.profile_data import AggregateProfile, ProfileDatum
from weft.lib.debug.text import (
    INIT_SCROLL_POS_KEY,
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from weft.lib.debug.ui import get_ui

_COST, _NUMBER = shared.COLOR_CYAN, shared.COLOR_YELLOW
_BAR = 10
# What a table can be sorted by: the head of the column, and the value.
_COLUMNS: dict[str, tuple[str, Callable[[ProfileDatum], Any]]] = {
    "node": ("Node", lambda d: d.node_exec_stats.node_name),
    "op_type": ("Op Type", lambda d: d.op_type),
    "start_time": ("Start Time (us)", lambda d: d.start_time),
    "op_time": ("Op Time ({unit})", lambda d: d.op_time),
    "exec_time": ("Exec Time ({unit})", lambda d: d.exec_time),
    "line": ("Filename:Lineno(function)", lambda d: d.file_line_func),
}
_FILTERS = ("device_name_filter", "node_name_filter", "op_type_filter")


def _add_filters(parser: argparse.ArgumentParser) -> None:
    for flag, name in zip(("-d", "-n", "-t"), _FILTERS, strict=True):
        what = name.removesuffix("_filter").replace("_", " ")
        parser.add_argument(flag, f"--{name}", default="", help=f"Only where the {what} matches.")
    units = " | ".join(shared.TIME_UNITS)
    parser.add_argument("--time_unit", default=shared.TIME_UNIT_US, help=f"Unit of time: {units}")


def _list_parser() -> argparse.ArgumentParser:
    parser = words.new_parser("List nodes profile information.")
    add = parser.add_argument
    _add_filters(parser)
    add("-f", "--file_path_filter", default="", help="Only where the file's path matches.")
    add("--min_lineno", type=int, default=-1, help="Only lines from this one on.")
    add("--max_lineno", type=int, default=-1, help="Only lines before this one.")
    add("-e", "--execution_time", default="", help="An interval of time: >100us, [1ms,2ms]")
    add("-o", "--op_time", default="", help="The same, of the kernel alone.")
    add("-s", "--sort_by", default="start_time", help=f"What to sort by: {' | '.join(_COLUMNS)}")
    add("-r", "--reverse", action="store_true", help="The other way round.")
    return parser


def _source_parser() -> argparse.ArgumentParser:
    parser = words.new_parser("Print a Python file with what the nodes of its lines took.")
    parser.add_argument("source_file_path", help="The file.")
    costs = ["exec_time", "op_time"]
    parser.add_argument("--cost_type", choices=costs, default=costs[0], help="Which time.")
    _add_filters(parser)
    parser.add_argument("--init_line", type=int, default=0, help="The line to begin at.")
    return parser


class ProfileAnalyzer:
    """Answers commands about a traced run."""

    def __init__(self, graph: Any, run_metadata: Any) -> None:
        if not run_metadata:
            raise ValueError("No RunMetadata passed for profile analysis.")
        self._graph, self._run_metadata = graph, run_metadata
        self._parsers = {"list_profile": _list_parser(), "print_source": _source_parser()}

    def get_help(self, handler_name: str) -> str:
        return self._parsers[handler_name].format_help()

    def _devices(self, pattern: str) -> list[tuple[str, list[ProfileDatum]]]:
        return list(profile_data.profile_data(self._graph, self._run_metadata, pattern))

    # ---- by node ----

    def list_profile(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """A table of nodes for each device."""
        parsed = self._parsers["list_profile"].parse_args(args)
        sort = _COLUMNS.get(parsed.sort_by, _COLUMNS["start_time"])[1]
        wanted = _wanted(parsed)
        everywhere = [device.device for device in self._run_metadata.step_stats.dev_stats]
        width = (screen_info or {}).get("cols", 80)
        output = RichTextLines([""])
        for device, data in self._devices(parsed.device_name_filter):
            kept = sorted(filter(wanted, data), key=sort, reverse=parsed.reverse)
            where = f"Device {everywhere.index(device) + 1} of {len(everywhere)}: {device}"
            lines = [RichLine("-" * width), RichLine(where), RichLine(), *_table(kept, parsed)]
            output.extend(rich_text_lines_from_rich_line_list(lines))
        return output

    # ---- by line ----

    def print_source(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """A file, with a bar and the time in front of each line that made nodes."""
        parsed = self._parsers["print_source"].parse_args(args)
        path = os.path.expanduser(parsed.source_file_path)
        data = [d for _, each in self._devices(parsed.device_name_filter) for d in each]
        sums = profile_data.annotate_source_against_profile(
            data, path, parsed.node_name_filter, parsed.op_type_filter
        )
        if not sums:
            told = f"The source file {parsed.source_file_path} does not contain any profile"
            told += " information for the previous Session run under the following filters:"
            return RichTextLines([told, *(f"  --{f}: {getattr(parsed, f)}" for f in _FILTERS)])
        text, width = sources.load_source(path)
        most = max(_cost(each, parsed.cost_type) for each in sums.values())
        head = " " * (_BAR + 3) + parsed.cost_type.ljust(len(parsed.cost_type) + 3)
        first = RichLine(head + "#nodes".ljust(9), _COST) + RichLine("lineno", _NUMBER)
        second = RichLine(" " * len(head) + "(#execs) ".ljust(9 + width), _COST)
        lines = [first, second + RichLine("source", "bold")]
        notes: dict[Any, Any] = {}
        for number, line in enumerate(text, 1):
            cells = RichLine(" " * (len(head) + 9))
            if number in sums:
                cells = _cells(sums[number], number, most, parsed, len(head))
            label = RichLine(f" L{number}", _NUMBER)
            lines.append(cells + label + " " * (width - len(label)) + line)
            if number == parsed.init_line:
                notes[INIT_SCROLL_POS_KEY] = len(lines) - 1
        return rich_text_lines_from_rich_line_list(lines, notes)


def _wanted(parsed: Any) -> Callable[[ProfileDatum], bool]:
    """Whether a node passes the filters of `list_profile`."""
    op_time, exec_time = (
        words.parse_time_interval(text) if text else None
        for text in (parsed.op_time, parsed.execution_time)
    )

    def wanted(datum: ProfileDatum) -> bool:
        texts = (
            (parsed.node_name_filter, datum.node_exec_stats.node_name),
            (parsed.file_path_filter, datum.file_path or ""),
            (parsed.op_type_filter, datum.op_type),
        )
        times = (op_time, datum.op_time), (exec_time, datum.exec_time)
        line = datum.line_number
        return (
            all(not pattern or re.match(pattern, text) for pattern, text in texts)
            and all(interval is None or interval.contains(value) for interval, value in times)
            and not (0 < line < parsed.min_lineno)
            and not (line and 0 < parsed.max_lineno <= line)
        )

    return wanted


def _table(data: list[ProfileDatum], parsed: Any) -> list[RichLine]:
    unit = parsed.time_unit

    def time(micros: float) -> str:
        return shared.time_to_readable_str(micros, force_time_unit=unit)

    heads = [head.format(unit=unit) for head, _ in _COLUMNS.values()]
    times = ("op_time", "exec_time")
    rows = [
        [time(value(d)) if key in times else str(value(d)) for key, (_, value) in _COLUMNS.items()]
        for d in data
    ]
    total = ["Device Total", "", time(sum(d.op_time for d in data))]
    total += [time(sum(d.exec_time for d in data)), "", ""]
    widths = [max(map(len, column)) + 2 for column in zip(heads, total, *rows, strict=True)]
    first = RichLine()
    for key, head, width in zip(_COLUMNS, heads, widths, strict=True):
        turn = " -r" if parsed.sort_by == key and not parsed.reverse else ""
        link = MenuItem(None, f"list_profile -s {key}{turn}")
        first = first + RichLine(head, [link, "bold"]) + " " * (width - len(head))
    lines = [first]
    for datum, row in zip(data, rows, strict=True):
        line = RichLine("".join(t.ljust(w) for t, w in zip(row[:-1], widths, strict=False)))
        place = f"{datum.file_path} --init_line {datum.line_number}"
        link = MenuItem(None, f"ps{_flags(parsed)} {place}")
        lines.append(line + RichLine(row[-1], link) + " " * (widths[-1] - len(row[-1])))
    last = "".join(text.ljust(width) for text, width in zip(total, widths, strict=True)).rstrip()
    return [*lines, RichLine(), RichLine(last)]


def _flags(parsed: Any) -> str:
    """The filters of a command, for the next one."""
    given = [(name, getattr(parsed, name)) for name in _FILTERS]
    return "".join(f" --{name} {value}" for name, value in given if value)


def _cost(profile: AggregateProfile, cost_type: str) -> int:
    return profile.total_exec_time if cost_type == "exec_time" else profile.total_op_time


def _cells(profile: AggregateProfile, number: int, most: int, parsed: Any, width: int) -> RichLine:
    """The bar, the time and the counts of a line."""
    cost = _cost(profile, parsed.cost_type)
    ticks = math.ceil(cost / max(most, 1) * _BAR) or 1
    bar = RichLine("[", _COST) + RichLine(("|" * ticks).ljust(_BAR), ["bold", _COST])
    text = shared.time_to_readable_str(cost, force_time_unit=parsed.time_unit)
    line = bar + RichLine("]", _COST) + " " + RichLine(text, _COST)
    line += " " * (width - len(line))
    pattern = re.escape(parsed.source_file_path) + "$"
    lines = f"--min_lineno {number} --max_lineno {number + 1}"
    link = MenuItem(None, f"lp --file_path_filter {pattern} {lines}{_flags(parsed)}")
    counts = RichLine(f"{profile.node_count}({profile.node_exec_count})", [_COST, link])
    return line + counts + " " * (9 - len(counts))


def create_profiler_ui(
    graph: Any, run_metadata: Any, ui_type: str = "curses",
    on_ui_exit: Callable[[], object] | None = None, config: Any = None,
) -> Any:  # fmt: skip
    """A prompt with all commands about a traced run."""
    analyzer = ProfileAnalyzer(graph, run_metadata)
    ui = get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for name, alias in (("list_profile", "lp"), ("print_source", "ps")):
        handler, text = getattr(analyzer, name), analyzer.get_help(name)
        ui.register_command_handler(name, handler, text, prefix_aliases=[alias])
    return ui
