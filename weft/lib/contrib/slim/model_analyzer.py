"""How large a model is: its operations and variables, counted and printed."""

from __future__ import annotations

import sys
from typing import Any


def _say(*parts: Any) -> None:
    sys.stdout.write(" ".join(str(part) for part in parts) + "\n")


def _title(text: str) -> None:
    for line in ("---------", text, "---------"):
        _say(line)


def tensor_description(var: Any) -> str:
    """Type and shape, such as `(float32_ref 3x3)`."""
    return f"({var.dtype.name} {'x'.join(str(size) for size in var.shape)})"


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """The number of elements of all outputs whose shape is known."""
    if print_info:
        _title("Operations: name -> (type shapes) [size]")
    total = 0
    for op in graph.get_operations():
        size = sum(output.shape.num_elements() or 0 for output in op.outputs)
        if print_info:
            shapes = [tensor_description(output) for output in op.outputs if output.shape]
            _say(op.name, "\t->", ", ".join(shapes), f"[{size}]")
        total += size
    return total


def analyze_vars(variables: Any, print_info: bool = False) -> tuple[int, int]:
    """The number of elements of the variables, and how many bytes they take."""
    if print_info:
        _title("Variables: name (type shape) [size]")
    total_size = total_bytes = 0
    for var in variables:
        size = var.shape.num_elements() or 0
        total_size += size
        total_bytes += size * var.dtype.size
        if print_info:
            shown = f"[{size}, bytes: {size * var.dtype.size}]"
            _say(var.name, tensor_description(var), shown)
    if print_info:
        _say(f"Total size of variables: {total_size}")
        _say(f"Total bytes of variables: {total_bytes}")
    return total_size, total_bytes
