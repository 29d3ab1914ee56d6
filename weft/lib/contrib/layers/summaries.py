"""Summaries of tensors by what they are: numbers as scalars, the rest as histograms."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import GraphKeys, Tensor, get_collection
from weft.lib.summary import summary
from weft.ops.math import math


def _share(tensor: Tensor, holds: Callable[..., Tensor], limit: float, tag: str) -> None:
    """A scalar summary of which part of the input of an activation lies beyond `limit`."""
    x = tensor.op.inputs[0]
    beyond = holds(x, math.cast(limit, x.dtype))
    summary.scalar(f"{tensor.op.name}/{tag}", math.reduce_mean(math.to_float(beyond)))


def summarize_activation(op: Tensor) -> Tensor:
    """A histogram of an activation, and how much of it is cut off."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        _share(op, math.less, 0.0, "zeros")
    if op.op.type == "Relu6":
        _share(op, math.greater, 6.0, "sixes")
    return summary.histogram(f"{op.op.name}/activation", op)


def summarize_tensor(tensor: Any, tag: str | None = None) -> Tensor | None:
    """A scalar or a histogram; None for strings and booleans."""
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool):
        return None
    made = summary.scalar if tensor.shape.ndims == 0 else summary.histogram
    return made(tag or f"{tensor.op.name}_summary", tensor)


def summarize_tensors(tensors: Any, summarizer: Callable[..., Any] = summarize_tensor) -> Any:
    """Adds a summary of each tensor; `summarizer` makes one."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[..., Any] = summarize_tensor,
) -> Any:
    """A summary of every tensor of a collection whose name matches."""
    found = get_collection(collection)
    chosen = [t for t in found if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(chosen, summarizer)


summarize_variables = functools.partial(summarize_collection, GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[..., Any] = summarize_activation
) -> Any:
    """Adds summaries of all activations of the graph, by default two of each."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
