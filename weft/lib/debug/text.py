"""Text with colours and links: what the debugger's commands answer with.

A segment (start, end, attributes) gives part of a line a colour, a style, or a `MenuItem`: the
command that a click on it runs. Annotations say something of a line by its number, or of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

Segment = tuple[int, int, Any]
REGEX_MATCH_LINES_KEY = "regex_match_lines"
INIT_SCROLL_POS_KEY = "init_scroll_pos"
MAIN_MENU_KEY = "mm:"


class RichLine:
    """One line; `+` puts text or another line behind it."""

    def __init__(self, text: str = "", font_attr: Any = None) -> None:
        self.text = text
        self.font_attr_segs: list[Segment] = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other: str | RichLine) -> RichLine:
        if isinstance(other, str):
            other = RichLine(other)
        if not isinstance(other, RichLine):
            raise TypeError(f"{other!r} cannot be concatenated with a RichLine")
        joined, by = RichLine(self.text + other.text), len(self.text)
        moved = [(start + by, end + by, kind) for start, end, kind in other.font_attr_segs]
        joined.font_attr_segs = [*self.font_attr_segs, *moved]
        return joined

    def __len__(self) -> int:
        return len(self.text)


def _shifted(table: dict[Any, Any], by: int) -> dict[Any, Any]:
    """A table by line numbers, of lines that have moved down; other keys stay."""
    return {key + by if isinstance(key, int) else key: value for key, value in table.items()}


class RichTextLines:
    """Lines of text with segments and annotations by line number."""

    def __init__(
        self, lines: list[str] | str, font_attr_segs: dict[int, list[Segment]] | None = None,
        annotations: dict[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(lines, (list, str)):
            raise ValueError(f"Unexpected type in lines: {type(lines)}")
        self.lines = [lines] if isinstance(lines, str) else lines
        self.font_attr_segs = font_attr_segs or {}
        self.annotations = annotations or {}

    def num_lines(self) -> int:
        return len(self.lines)

    def slice(self, begin: int, end: int) -> RichTextLines:
        """The lines from `begin` up to `end`."""
        if min(begin, end) < 0:
            raise ValueError("Encountered negative index.")

        def part(table: dict[Any, Any]) -> dict[Any, Any]:
            kept = {k: v for k, v in table.items() if not isinstance(k, int) or begin <= k < end}
            return _shifted(kept, -begin)

        return RichTextLines(
            self.lines[begin:end], part(self.font_attr_segs), part(self.annotations)
        )

    def extend(self, other: RichTextLines) -> None:
        """Puts other lines behind these."""
        by = len(self.lines)
        self.lines.extend(other.lines)
        self.font_attr_segs.update(_shifted(other.font_attr_segs, by))
        self.annotations.update(_shifted(other.annotations, by))

    def append(self, line: str, font_attr_segs: list[Segment] | None = None) -> None:
        self.lines.append(line)
        if font_attr_segs:
            self.font_attr_segs[len(self.lines) - 1] = font_attr_segs

    def append_rich_line(self, rich_line: RichLine) -> None:
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line: Any, font_attr_segs: list[Segment] | None = None) -> None:
        """Puts a line, or a list of them, in front."""
        first = RichTextLines(line, {0: font_attr_segs} if font_attr_segs else None)
        by = len(first.lines)
        self.lines = first.lines + self.lines
        self.font_attr_segs = _shifted(self.font_attr_segs, by) | first.font_attr_segs
        self.annotations = _shifted(self.annotations, by)

    def write_to_file(self, file_path: str) -> None:
        """Writes the plain text."""
        with open(file_path, "w") as file:
            file.writelines(line + "\n" for line in self.lines)


def rich_text_lines_from_rich_line_list(
    rich_text_list: Iterable[RichLine | str], annotations: dict[Any, Any] | None = None
) -> RichTextLines:
    """Lines put together."""
    made = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        made.append_rich_line(RichLine(line) if isinstance(line, str) else line)
    return made


def regex_find(orig_screen_output: RichTextLines, regex: str, font_attr: Any) -> RichTextLines:
    """The same text with the matches of a pattern marked, and a list of the lines that have one."""
    try:
        pattern = re.compile(regex)
    except re.error:
        raise ValueError(f'Invalid regular expression: "{regex}"') from None
    segments = {row: list(each) for row, each in orig_screen_output.font_attr_segs.items()}
    matched = []
    for row, line in enumerate(orig_screen_output.lines):
        found = [(each.start(), each.end(), font_attr) for each in pattern.finditer(line)]
        if found:
            segments[row] = sorted(segments.get(row, []) + found, key=lambda segment: segment[0])
            matched.append(row)
    notes = orig_screen_output.annotations
    notes[REGEX_MATCH_LINES_KEY] = matched
    return RichTextLines(orig_screen_output.lines, segments, notes)


def wrap_rich_text_lines(inp: RichTextLines, cols: int) -> tuple[RichTextLines, list[int]]:
    """Lines of at most `cols` columns, and where each line of the input begins among them."""
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    rest = {key: note for key, note in inp.annotations.items() if not isinstance(key, int)}
    out, begins = RichTextLines([], annotations=rest), []
    for row, line in enumerate(inp.lines):
        begins.append(len(out.lines))
        if row in inp.annotations:
            out.annotations[len(out.lines)] = inp.annotations[row]
        segments = inp.font_attr_segs.get(row, [])
        for left in range(0, max(len(line), 1), cols):
            out.append(line[left : left + cols], _cut(segments, left, left + cols))
    return out, begins


def _cut(segments: list[Segment], left: int, right: int) -> list[Segment]:
    """The parts of segments between two columns."""
    parts = [(max(start, left), min(end, right), kind) for start, end, kind in segments]
    return [(start - left, end - left, kind) for start, end, kind in parts if start < end]


class MenuItem:
    """A command that can be chosen: its caption and the command line that it runs."""

    def __init__(self, caption: str | None, content: str | None, enabled: bool = True) -> None:
        self.caption, self.content, self._enabled = caption, content, enabled

    def is_enabled(self) -> bool:
        return self._enabled

    def disable(self) -> None:
        self._enabled = False

    def enable(self) -> None:
        self._enabled = True


class Menu(list[MenuItem]):
    """The commands on offer above an answer: a list, to which items are added as to any other."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    num_items = list.__len__

    def captions(self) -> list[str | None]:
        """The words of all items, in order."""
        return [item.caption for item in self]

    def caption_to_item(self, caption: str) -> MenuItem:
        """The item with these words."""
        known = {item.caption: item for item in reversed(self)}
        if caption not in known:
            raise LookupError(f'There is no menu item with the caption "{caption}"')
        return known[caption]

    def format_as_single_line(
        self, prefix: str | None = None, divider: str = " | ", enabled_item_attrs: Any = None,
        disabled_item_attrs: Any = None,
    ) -> RichTextLines:  # fmt: skip
        """The menu as one line, each item a link."""
        on, off = _as_list(enabled_item_attrs), _as_list(disabled_item_attrs)
        line = RichLine(prefix or "")
        for item in self:
            kinds = [item, *on] if item.is_enabled() else off
            line = line + RichLine(item.caption or "", kinds) + divider
        return RichTextLines(line.text, {0: line.font_attr_segs})


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
