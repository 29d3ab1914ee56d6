"""A tensor and an operation as a few lines of HTML."""

from __future__ import annotations

from typing import Any

from weft.core.html import card
from weft.core.user_frames import shown
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor

_LONGEST = 200  # characters of an attribute


def made_at(op: Operation) -> str:
    """The line of the user's program that made an operation, or ''."""
    frames = op.traceback
    return f"{shown(frames[-1][0])}:{frames[-1][1]}" if frames else ""


def tensor_card(tensor: Tensor) -> str:
    """A tensor of a graph."""
    op = tensor.op
    rows = [
        ("type", tensor.dtype.name),
        ("shape", tensor.shape),
        ("operation", op.type),
        ("inputs", ", ".join(each.name for each in op.inputs)),
        ("device", op.device),
        ("made at", made_at(op)),
    ]
    return card(f"Tensor {tensor.name}", rows)


def operation_card(op: Operation) -> str:
    """An operation, with its attributes."""
    rows: list[tuple[str, Any]] = [
        ("operation", op.type),
        ("inputs", ", ".join(each.name for each in op.inputs)),
        ("after", ", ".join(each.name for each in op.control_inputs)),
        *((f"output {i}", f"{t.dtype.name} {t.shape}") for i, t in enumerate(op.outputs)),
        ("device", op.device),
        ("made at", made_at(op)),
        *((f"attr {name}", _text(value)) for name, value in op.attrs.items()),
    ]
    return card(f"Operation {op.name}", rows)


def _text(value: Any) -> str:
    text = getattr(value, "name", None) or str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
