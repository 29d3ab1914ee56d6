"""`print_source` and `list_source`: lines and files of Python, and what they made."""

from __future__ import annotations

import argparse
from typing import Any

from weft.lib.debug import shared, sources
from weft.lib.debug.answers.menu import add_main_menu
from weft.lib.debug.names import get_node_name
from weft.lib.debug.text import (
    INIT_SCROLL_POS_KEY,
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

_HEADS = ("Source file path", "#(nodes)", "#(tensors)", "#(tensor dumps)")


def add_print_arguments(parser: argparse.ArgumentParser, config: Any) -> None:
    add = parser.add_argument
    add("source_file_path", help="The file.")
    add("-t", "--tensors", action="store_true", help="The dumped tensors of a line, not its nodes.")
    add("-m", "--max_elements_per_line", type=int, default=10, help="At most so many for a line.")
    add("-b", "--line_begin", type=int, default=1, help="The line to begin at, counted from 1.")


def add_list_arguments(parser: argparse.ArgumentParser, config: Any) -> None:
    add = parser.add_argument
    add("-p", "--path_filter", default="", help="Only files whose paths match this pattern.")
    add("-n", "--node_name_filter", default="", help="Only nodes whose names match this pattern.")


def print_source(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    path = parsed.source_file_path
    made_by = sources.annotate_source(analyzer.dump, path, do_dumped_tensors=parsed.tensors)
    text, width = sources.load_source(path)
    lines: list[RichLine] = []
    scroll = 0
    for number, line in enumerate(text, 1):
        if number == parsed.line_begin:
            scroll = len(lines)
        label = RichLine(f"L{number}", shared.COLOR_YELLOW)
        lines.append(label + " " * (width - len(label)) + line)
        lines += _elements(analyzer.dump, sorted(made_by.get(number, ())), number, parsed)
    output = rich_text_lines_from_rich_line_list(lines, {INIT_SCROLL_POS_KEY: scroll})
    return add_main_menu(output)


def _elements(dump: Any, names: list[str], number: int, parsed: Any) -> list[RichLine]:
    most = parsed.max_elements_per_line
    lines = []
    for name in names[:most]:
        is_dumped = bool(dump.debug_watch_keys(get_node_name(name)))
        link = MenuItem("", f"pt {name}") if is_dumped else shared.COLOR_BLUE
        lines.append(RichLine("    ") + RichLine(name, link))
    if len(names) > most:
        what, flag = ("tensor(s)", "-t") if parsed.tensors else ("op(s)", "")
        more = f"ps {parsed.source_file_path} {flag} -b {number} -m {most + 5}"
        omitted = f"    (... Omitted {len(names) - most} of {len(names)} {what} ...) "
        lines.append(RichLine(omitted) + RichLine("+5", MenuItem(None, more)))
    return lines


def list_source(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    found = sources.list_source_files_against_dump(
        analyzer.dump, parsed.path_filter, parsed.node_name_filter
    )
    lines = [RichLine("List of source files that created nodes in this run", "bold")]
    named = ("File path", parsed.path_filter), ("Node name", parsed.node_name_filter)
    lines += [RichLine(f'{what} regex filter: "{text}"') for what, text in named if text]
    lines.append(RichLine())
    if not found:
        return rich_text_lines_from_rich_line_list([*lines, "[No source file information.]"])
    own = [row for row in found if not row[1]]
    lines += _table("File(s) outside TensorFlow Python library:", own, shared.COLOR_WHITE)
    library = [row for row in found if row[1]]
    lines += _table("TensorFlow Python library file(s):", library, shared.COLOR_GRAY)
    return add_main_menu(rich_text_lines_from_rich_line_list(lines))


def _table(title: str, rows: list[Any], color: str) -> list[RichLine]:
    lines = [RichLine(title, color)]
    if not rows:
        return [*lines, RichLine("[No files.]"), RichLine()]
    cells = [[path, *map(str, counts)] for path, _, *counts, _ in rows]
    widths = [max(map(len, column)) + 1 for column in zip(_HEADS, *cells, strict=True)]
    widths[-1] = 0
    head = RichLine()
    for text, width in zip(_HEADS, widths, strict=True):
        head += RichLine(text.ljust(width), color)
    lines.append(head)
    for row, (path, *counts) in zip(rows, cells, strict=True):
        kinds: list[Any] = [color]
        if sources.is_extension_uncompiled_python_source(path):
            kinds.append(MenuItem(None, f"ps {path} -b {row[-1]}"))
        line = RichLine(path, kinds) + " " * (widths[0] - len(path))
        for text, width in zip(counts, widths[1:], strict=True):
            line += RichLine(text.ljust(width), color)
        lines.append(line)
    return [*lines, RichLine()]
