"""`list_tensors`: a table of what was dumped."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.lib.debug import shared
from weft.lib.debug.answers.menu import add_main_menu
from weft.lib.debug.text import MenuItem, RichLine, RichTextLines

_TIMESTAMP, _SIZE, _TYPE, _NAME = "timestamp", "dump_size", "op_type", "tensor_name"
# By what the table can be sorted, and the head of that column.
_HEADS = {_TIMESTAMP: "t (ms)", _SIZE: "Size (B)", _TYPE: "Op type", _NAME: "Tensor name"}


def add_arguments(parser: argparse.ArgumentParser, config: Any) -> None:
    add = parser.add_argument
    add("-f", "--tensor_filter", default="", help="Only tensors for which this filter holds.")
    add(
        "-fenn", "--filter_exclude_node_names", default="",
        help="With -f: nodes whose names match this pattern are passed over.",
    )  # fmt: skip
    add("-n", "--node_name_filter", default="", help="Only nodes whose names match this pattern.")
    add("-t", "--op_type_filter", default="", help="Only nodes whose types match this pattern.")
    add("-s", "--sort_by", default=_TIMESTAMP, help=f"What to sort by: {' | '.join(_HEADS)}")
    add("-r", "--reverse", action="store_true", help="The other way round.")


class _Row(NamedTuple):
    timestamp: int
    size: int
    op_type: str
    tensor_name: str
    texts: tuple[str, str, str]
    node_name: str


_KEYS: dict[str, Callable[[_Row], Any]] = {
    _TIMESTAMP: lambda row: row.timestamp,
    _SIZE: lambda row: row.size,
    _TYPE: lambda row: row.op_type,
    _NAME: lambda row: row.tensor_name,
}


def answer(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    dump = analyzer.dump
    if parsed.filter_exclude_node_names and not parsed.tensor_filter:
        raise ValueError(
            "The flag --filter_exclude_node_names is valid only when the flag -f or"
            " --tensor_filter is used."
        )
    data, passing = dump.dumped_tensor_data, ""
    if parsed.tensor_filter:
        if parsed.tensor_filter not in analyzer.tensor_filters:
            wrong = shared.error(f'There is no tensor filter named "{parsed.tensor_filter}".')
            return add_main_menu(wrong, off=("list_tensors",))
        chosen = analyzer.tensor_filters[parsed.tensor_filter]
        data = dump.find(chosen, exclude_node_names=parsed.filter_exclude_node_names)
        passing = f' passing filter "{parsed.tensor_filter}"'
    if parsed.sort_by not in _HEADS:
        raise ValueError(f"Unsupported key to sort tensors by: {parsed.sort_by}")
    rows = [_row(dump, datum) for datum in data]
    widths = [_width(i, rows, head) for i, head in enumerate(list(_HEADS.values())[:3])]
    kept = [row for row in rows if _matches(row, parsed)]
    kept.sort(key=_KEYS[parsed.sort_by], reverse=parsed.reverse)
    output = RichTextLines([f"{len(kept)} dumped tensor(s){passing}:", *_filters(parsed), ""])
    output.append_rich_line(_heads(parsed, widths))
    for row in kept:
        padded = "".join(text.ljust(w) for text, w in zip(row.texts, widths, strict=True))
        name = RichLine(row.tensor_name, MenuItem("", f"pt {row.tensor_name}"))
        output.append_rich_line(RichLine(padded) + name)
    return add_main_menu(output, off=("list_tensors",))


def _row(dump: Any, datum: Any) -> _Row:
    op_type = dump.node_op_type(datum.node_name)
    size = datum.dump_size_bytes
    when = f"[{(datum.timestamp - dump.t0) / 1000.0:.3f}]"
    texts = when, shared.bytes_to_readable_str(size), op_type
    return _Row(datum.timestamp, size or 0, op_type, datum.tensor_name, texts, datum.node_name)


def _width(column: int, rows: list[_Row], head: str) -> int:
    """One more than what is widest; times of the last tensor, which are longest, two more."""
    if column == 0:
        widest = len(rows[-1].texts[0]) + 1 if rows else 0
    else:
        widest = max((len(row.texts[column]) for row in rows), default=0)
    return max(widest, len(head)) + 1


def _matches(row: _Row, parsed: Any) -> bool:
    asked = (parsed.node_name_filter, row.node_name), (parsed.op_type_filter, row.op_type)
    return all(not pattern or re.match(pattern, text) for pattern, text in asked)


def _filters(parsed: Any) -> list[str]:
    named = ("Op type", parsed.op_type_filter), ("Node name", parsed.node_name_filter)
    return [f'{what} regex filter: "{pattern}"' for what, pattern in named if pattern]


def _heads(parsed: Any, widths: list[int]) -> RichLine:
    """The heads of the columns; each is a link that sorts by it, or turns the order round."""
    command = "list_tensors"
    for flag, value in (
        ("-f", parsed.tensor_filter), ("-t", parsed.op_type_filter), ("-n", parsed.node_name_filter)
    ):  # fmt: skip
        command += f" {flag} {value}" if value else ""
    line = RichLine()
    for (key, head), width in zip(_HEADS.items(), [*widths, 0], strict=True):
        turn = " -r" if parsed.sort_by == key and not parsed.reverse else ""
        link = MenuItem("", f"{command} -s {key}{turn}")
        line = line + RichLine(head, [link, "bold"]) + " " * (width - len(head))
    return line
