"""`print_tensor` and `eval`: values."""

from __future__ import annotations

import argparse
from typing import Any

from weft.lib.debug import shared, words
from weft.lib.debug.answers.menu import add_main_menu
from weft.lib.debug.names import parse_node_or_tensor_name
from weft.lib.debug.text import (
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)


def print_tensor(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    dump = analyzer.dump
    tensor_name, slicing = words.parse_tensor_name_with_slicing(parsed.tensor_name)
    node, slot = parse_node_or_tensor_name(tensor_name)
    if dump.loaded_partition_graphs() and not dump.node_exists(node):
        wrong = shared.error(f'Node "{node}" does not exist in partition graphs')
        return add_main_menu(wrong, off=("print_tensor",))
    data = [d for key in dump.debug_watch_keys(node) for d in dump.watch_key_to_data(key)]
    slots = {datum.output_slot for datum in data}
    if slot is None and len(slots) != 1:
        told = [
            f'Node "{node}" generated debug dumps from {len(slots)} output slots:',
            f"Please specify the output slot: {node}:x.",
        ]
        return add_main_menu(RichTextLines(told), node, off=("print_tensor",))
    slot = slots.pop() if slot is None else slot
    data = [datum for datum in data if datum.output_slot == slot]
    if not data:
        return shared.error(f'Tensor "{parsed.tensor_name}" did not generate any dumps.')
    chosen = _choose(dump, data, parsed)
    if not isinstance(chosen, RichTextLines):
        datum, label = chosen
        chosen = shared.format_tensor(
            datum.get_tensor(),
            label,
            shared.numpy_printoptions_from_screen_info(screen_info),
            print_all=parsed.print_all,
            tensor_slicing=slicing,
            highlight_options=shared.parse_ranges_highlight(parsed.ranges),
            include_numeric_summary=parsed.numeric_summary,
            write_path=parsed.write_path,
        )
    return add_main_menu(chosen, node, off=("print_tensor",))


def _choose(dump: Any, data: list[Any], parsed: Any) -> Any:
    """One dump and its label; or an answer that says why there is none."""
    name, number, count = parsed.tensor_name, parsed.number, len(data)
    if count == 1:
        if number <= 0:
            return data[0], data[0].watch_key
        return shared.error(
            f"Invalid number ({number}) for tensor {name}, which generated one dump."
        )
    if number >= count:
        return shared.error(
            f"Specified number ({number}) exceeds the number of available dumps ({count}) for"
            f" tensor {name}"
        )
    if number >= 0:
        return data[number], f"{data[number].watch_key} (dump #{number})"
    lines: list[Any] = [f'Tensor "{name}" generated {count} dumps:']
    for i, datum in enumerate(data):
        when = (datum.timestamp - dump.t0) / 1000.0
        link = MenuItem(None, f"print_tensor {name} -n {i}")
        lines.append(RichLine(f"#{i} [{when:.3f} ms] ") + RichLine(datum.watch_key, link))
    lines += ["", "You can use the -n (--number) flag to specify which dump to print."]
    lines += ["For example:", f"  print_tensor {name} -n 0"]
    return rich_text_lines_from_rich_line_list(lines)


def add_eval_arguments(parser: argparse.ArgumentParser, config: Any) -> None:
    add = parser.add_argument
    add(
        "expression",
        help="An expression of Python, with np for NumPy and tensors between backticks:"
        " `dense/MatMul:0`, `dense/MatMul:0:DebugNanCount`,"
        " `/job:worker/replica:0/task:0/gpu:0:dense/MatMul:0`, and `while/add:0[2]` for the third"
        " dump. In quotes where it has spaces.",
    )
    add("-a", "--all", dest="print_all", action="store_true", help="All elements, no ellipsis.")
    add("-w", "--write_path", default="", help="A file that the result is written to.")


def evaluate(analyzer: Any, parsed: Any, screen_info: Any) -> RichTextLines:
    return shared.format_tensor(
        analyzer.evaluator.evaluate(parsed.expression),
        f"from eval of expression '{parsed.expression}'",
        shared.numpy_printoptions_from_screen_info(screen_info),
        print_all=parsed.print_all,
        include_numeric_summary=True,
        write_path=parsed.write_path,
    )
