"""Pieces that the answers of several commands are made of."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import numpy as np

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.debug import tensor_text, words
from weft.lib.debug.names import get_flattened_names, get_graph_element_name
from weft.lib.debug.text import (
    MAIN_MENU_KEY,
    Menu,
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from weft.ops.state.variables import Variable

DEFAULT_NDARRAY_DISPLAY_THRESHOLD = 2000
COLORS = "black blue cyan gray green magenta red white yellow".split()
(
    COLOR_BLACK, COLOR_BLUE, COLOR_CYAN, COLOR_GRAY, COLOR_GREEN, COLOR_MAGENTA, COLOR_RED,
    COLOR_WHITE, COLOR_YELLOW,
) = COLORS  # fmt: skip
TIME_UNITS = [TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S] = ["us", "ms", "s"]
_BAR = "=" * 38


def bytes_to_readable_str(num_bytes: int | None, include_b: bool = False) -> str:
    """1536 -> `1.50k`."""
    if num_bytes is None:
        return "None"
    for power, unit in ((30, "G"), (20, "M"), (10, "k")):
        if num_bytes >= 1 << power:
            text = f"{num_bytes / (1 << power):.2f}{unit}"
            break
    else:
        text = str(int(num_bytes))
    return text + ("B" if include_b else "")


def time_to_readable_str(value_us: float, force_time_unit: str | None = None) -> str:
    """1500 -> `1.5ms`."""
    if not value_us:
        return "0"
    if force_time_unit and force_time_unit not in TIME_UNITS:
        raise ValueError(f"Invalid time unit: {force_time_unit}")
    if force_time_unit:
        return f"{value_us / 1e3 ** TIME_UNITS.index(force_time_unit):.10g}{force_time_unit}"
    order = min(len(TIME_UNITS) - 1, int(math.log10(value_us) / 3))
    return f"{value_us / 1e3**order:.3g}{TIME_UNITS[order]}"


def parse_ranges_highlight(ranges_string: str) -> tensor_text.HighlightOptions | None:
    """What `-r` marks."""
    if not ranges_string:
        return None
    # "inf" is read as the greatest number, which infinities are beyond.
    most = sys.float_info.max
    ends = {most: math.inf, -most: -math.inf}
    ranges = [[ends.get(end, end) for end in pair] for pair in words.parse_ranges(ranges_string)]

    def inside(array: np.ndarray) -> np.ndarray:
        found, wide = np.zeros(array.shape, bool), array.astype(np.float64)
        for low, high in ranges:
            found |= (wide >= low) & (wide <= high)
        return found

    return tensor_text.HighlightOptions(inside, description=ranges_string)


def numpy_printoptions_from_screen_info(screen_info: Any) -> dict[str, Any]:
    known = screen_info and "cols" in screen_info
    return {"linewidth": screen_info["cols"]} if known else {}


def format_tensor(
    tensor: Any, tensor_name: str, np_printoptions: dict[str, Any], print_all: bool = False,
    tensor_slicing: str | None = None, highlight_options: Any = None,
    include_numeric_summary: bool = False, write_path: str | None = None,
) -> RichTextLines:  # fmt: skip
    """A value, or a slice of it, under its name."""
    value = words.evaluate_tensor_slice(tensor, tensor_slicing) if tensor_slicing else tensor
    if isinstance(value, (np.generic, float, int)) and tensor_slicing:
        value = np.asarray(value)
    size = value.size if isinstance(value, np.ndarray) else 0
    threshold = size if print_all else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return tensor_text.format_tensor(
        value,
        tensor_name + (tensor_slicing or ""),
        include_metadata=True,
        include_numeric_summary=include_numeric_summary,
        auxiliary_message=_saved(value, write_path) if write_path else None,
        np_printoptions={**np_printoptions, "threshold": max(threshold, 1)},
        highlight_options=highlight_options,
    )


def _saved(value: Any, path: str) -> RichTextLines:
    with open(path, "wb") as file:
        np.save(file, value)
    size = bytes_to_readable_str(os.path.getsize(path))
    line = RichLine("Saved value to: ") + RichLine(path, "bold") + f" ({size}B)"
    return rich_text_lines_from_rich_line_list([line, ""])


def error(msg: str) -> RichTextLines:
    """An answer that says what is wrong."""
    return rich_text_lines_from_rich_line_list([RichLine(f"ERROR: {msg}", COLOR_RED)])


# ---- before and after a run ----------------------------------------------------------------------

_COMMANDS = (
    ("run", "Execute the run() call with debug tensor-watching", True),
    ("run -n", "Execute the run() call without debug tensor-watching", True),
    (
        "run -t <T>",
        "Execute run() calls (T - 1) times without debugging, then execute run() once more with"
        " debugging and drop back to the CLI",
        False,
    ),
    (
        "run -f <filter_name>",
        "Keep executing run() calls until a dumped tensor passes a given, registered filter"
        " (conditional breakpoint mode)",
        False,
    ),
)


def get_tfdbg_logo() -> RichTextLines:
    """A line above the first run."""
    return RichTextLines(["", "weft's debugger, with the commands of tfdbg", ""])


def _recommend_command(command: str, description: str, create_link: bool) -> list[Any]:
    kind = [MenuItem("", command), "bold"] if create_link else "bold"
    return [RichLine("  ") + RichLine(command, kind) + ":", f"    {description}"]


def get_run_start_intro(
    run_call_count: int, fetches: Any, feed_dict: Any, tensor_filters: Any,
    is_callable_runner: bool = False,
) -> RichTextLines:  # fmt: skip
    """What is about to run, and the commands that run it."""
    lines: list[Any] = [_BAR]
    if is_callable_runner:
        lines.append("Running a runner returned by Session.make_callable()")
    else:
        lines += [f"Session.run() call #{run_call_count}:", "", "Fetch(es):"]
        lines += [f"  {name}" for name in get_flattened_names(fetches)]
        lines += ["", "Feed dict:", *_feed_lines(feed_dict)]
    lines += [_BAR, "", "Select one of the following commands to proceed ---->"]
    for command in _COMMANDS:
        lines += _recommend_command(*command)
    lines.append("    Registered filter(s):")
    for name in tensor_filters or ():
        lines.append(RichLine("        * ") + RichLine(name, MenuItem("", f"run -f {name}")))
    if not tensor_filters:
        lines.append("        (None)")
    more = RichLine("For more details, see ") + RichLine("help.", MenuItem("", "help")) + "."
    lines += ["", more, ""]
    menu = Menu()
    for caption in ("run", "exit"):
        menu.append(MenuItem(caption, caption))
    return rich_text_lines_from_rich_line_list(lines, {MAIN_MENU_KEY: menu})


def _feed_lines(feed_dict: Any) -> list[RichLine]:
    names = [get_graph_element_name(key) for key in feed_dict or ()]
    # In quotes: the name of a sparse tensor has spaces.
    found = [RichLine("  ") + RichLine(name, MenuItem(None, f"pf '{name}'")) for name in names]
    return found or [RichLine("  (Empty)")]


def get_run_short_description(
    run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False
) -> str:
    """`run #2: 1 fetch (loss:0); 1 feed (x:0)`."""
    if is_callable_runner:
        return "runner from make_callable()"
    count = len(get_flattened_names(fetches))
    fetched = f"{count} fetch{'es' if count > 1 else ''}"
    if isinstance(fetches, (Tensor, Operation, Variable)):
        fetched = f"1 fetch ({get_graph_element_name(fetches)})"
    keys = list(feed_dict or ())
    fed = f"{len(keys)} feeds"
    if len(keys) == 1:
        fed = f"1 feed ({getattr(keys[0], 'name', keys[0])})"
    return f"run #{run_call_count}: {fetched}; {fed}"


def get_error_intro(tf_error: Any) -> RichTextLines:
    """What went wrong in a run, and the commands that tell more."""
    name = getattr(getattr(tf_error, "op", None), "name", None)
    bar = "-" * 38
    lines: list[Any] = [bar, RichLine("!!! An error occurred during the run !!!", "blink"), ""]
    if name is None:
        lines.append("WARNING: Cannot determine the name of the op that caused the error.")
    else:
        lines.append("You may use the following commands to debug:")
        for command, description in (
            (f"ni -a -d -t {name}", "Inspect information about the failing op."),
            (f"li -r {name}", "List inputs to the failing op, recursively."),
            ("lt", "List all tensors dumped during the failing run() call."),
        ):
            lines += _recommend_command(command, description, True)
    lines += ["", f"Op name:    {name}", f"Error type: {type(tf_error)}", "", "Details:"]
    return rich_text_lines_from_rich_line_list([*lines, str(tf_error), "", bar, ""])
