"""Summaries with a prefix, of one tensor or of many."""

from __future__ import annotations

from typing import Any

from weft.lib.summary import summary
from weft.ops.control.printing import Print
from weft.ops.nn.zero_fraction import zero_fraction


def _tag(tensor: Any, name: str | None, prefix: str | None) -> str:
    name = name or tensor.op.name
    return f"{prefix}/{name}" if prefix else name


def _printed(tensor: Any, tag: str, print_summary: bool) -> Any:
    return Print(tensor, [tensor], tag) if print_summary else tensor


def add_scalar_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """Adds a plot of a number, named after the tensor; prints it too, if wanted."""
    tag = _tag(tensor, name, prefix)
    return summary.scalar(tag, _printed(tensor, tag, print_summary))


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """Adds a plot of how the elements of a tensor are spread, named after it."""
    return summary.histogram(_tag(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """Adds the first pictures of a batch, named after the tensor."""
    tag = _tag(tensor, name, prefix)
    return summary.image(tag, _printed(tensor, tag, print_summary))


def add_zero_fraction_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """How much of a tensor is zero."""
    tag = _tag(tensor, name or f"Fraction of Zero Values/{tensor.op.name}", prefix)
    return summary.scalar(tag, _printed(zero_fraction(tensor), tag, print_summary))


def add_scalar_summaries(
    tensors: Any, prefix: str | None = None, print_summary: bool = False
) -> list[Any]:
    """Adds a plot for each of some numbers."""
    return [add_scalar_summary(t, prefix=prefix, print_summary=print_summary) for t in tensors]


def add_histogram_summaries(tensors: Any, prefix: str | None = None) -> list[Any]:
    """Adds, for each tensor, a plot of how its elements are spread."""
    return [add_histogram_summary(t, prefix=prefix) for t in tensors]


def add_image_summaries(tensors: Any, prefix: str | None = None) -> list[Any]:
    """Adds the first pictures of each batch."""
    return [add_image_summary(t, prefix=prefix) for t in tensors]


def add_zero_fraction_summaries(tensors: Any, prefix: str | None = None) -> list[Any]:
    """Adds, for each tensor, a plot of how much of it is zero."""
    return [add_zero_fraction_summary(t, prefix=prefix) for t in tensors]
