"""What a program leaves in its graph, line by line: the same text from weft and from TensorFlow."""

from __future__ import annotations

import re
from typing import Any

# Attributes that say what an iterator does with its dataset, and where.
_SHOWN = ("_class", "algorithm", "cpu_budget", "optimization_configs", "reshuffle_each_iteration")


def graph_lines(graph: Any) -> list[str]:
    """The nodes of a graph and of the functions that datasets call, in order."""
    message = graph.as_graph_def()
    called = [each for each in message.library.function if _is_called(each.signature.name)]
    functions = sorted(map(_function, called))
    return [_line(node) for node in message.node] + [
        line for function in functions for line in function
    ]


def _is_called(name: str) -> bool:
    return name.startswith(("__inference_Dataset", "_make_dataset", "Dataset"))


def _function(function: Any) -> list[str]:
    arguments = ", ".join(arg.name for arg in function.signature.input_arg)
    head = f"function {_label(function.signature.name)}({arguments})"
    return [head, *("  " + _line(node) for node in function.node_def)]


def _line(node: Any) -> str:
    own = [
        name for name in node.input if not name.startswith("^")
    ]  # what has effects is in order either way
    attrs = "".join(f" {key}={_value(node.attr[key])}" for key in _SHOWN if key in node.attr)
    device = f" on {node.device}" if node.device else ""
    return f"{node.op} {node.name}({', '.join(own)}){attrs}{device}"


def _value(attr: Any) -> str:
    return re.sub(r"\s+", " ", str(attr)).strip()


def _label(name: str) -> str:
    """The name of a function without what tells it from others."""
    return "_make_dataset" if name.startswith("_make_dataset") else re.sub(r"_\d+$", "", name)


def plain(value: Any) -> Any:
    """A fetched value as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return round(value, 5) if isinstance(value, float) else value
