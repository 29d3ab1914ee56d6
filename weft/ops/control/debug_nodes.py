"""Nodes that a debugger puts into a graph: values passed on, counted and summed up.

Watched tensors are published without such nodes (`weft/runtime/debug/watches.py`): a node with
`debug_urls` of its own says that it sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.core.errors import UnimplementedError
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, UNINITIALIZED

_WATCHED = (
    'T: type, device_name: string = "", tensor_name: string = "", debug_urls: list(string) = [],'
    "%s gated_grpc: bool = false"
)
_COPIED = 'T: type, tensor_name: string = "", debug_ops_spec: list(string) = []'


def _check_urls(debug_urls: list[Any]) -> None:
    if debug_urls:
        raise UnimplementedError(None, None, f"Tensors cannot be sent to {debug_urls}.")


@op("DebugIdentity", inputs="input: T", outputs="output: T", attrs=_WATCHED % "",
    shape=s.unchanged, traits=HOST | UNINITIALIZED)  # fmt: skip
def debug_identity_(xp: Any, input: Any, *, debug_urls: list[Any]) -> Any:
    _check_urls(debug_urls)
    return input


@op("DebugNanCount", inputs="input: T", outputs="output: int64", attrs=_WATCHED % "",
    shape=lambda c: (1,), traits=HOST | UNINITIALIZED)  # fmt: skip
def debug_nan_count_(xp: Any, input: Any, *, debug_urls: list[Any]) -> Any:
    _check_urls(debug_urls)
    return np.array([np.count_nonzero(np.isnan(input))], np.int64)


def numeric_summary(
    value: Any, dtype: DType, lower: float = -np.inf, upper: float = np.inf,
    missing: tuple[int, ...] | None = None,
) -> np.ndarray:  # fmt: skip
    """Counts, ends and moments of an array, its type and shape.

    `missing`: the shape of a variable that has no value yet.
    """
    x = np.zeros(0) if missing is not None else np.asarray(value).astype(np.float64).ravel()
    finite = x[np.isfinite(x)]
    low = (x == -np.inf) | (np.isfinite(x) & np.isfinite(lower) & (x <= lower))
    high = (x == np.inf) | (np.isfinite(x) & np.isfinite(upper) & (x >= upper))
    inside = np.isfinite(x) & ~low & ~(high & ~low)
    ends = (finite.min(), finite.max()) if finite.size else (np.inf, -np.inf)
    moments = (finite.mean(), finite.var()) if finite.size else (np.nan, np.nan)
    counts = [np.isnan(x), low, inside & (x < 0), inside & (x == 0), inside & (x > 0), high & ~low]
    head = [missing is None, x.size, *map(np.count_nonzero, counts), *ends, *moments]
    shape = np.shape(value) if missing is None else missing
    return np.array([*head, dtype.base_dtype.as_datatype_enum, len(shape), *shape], np.float64)


# Called with the node and the gradient that comes back through it.
gradient_listeners: list[Callable[[Any, Any], None]] = []


def passed_on(node: Any, grad: Any) -> Any:
    """The gradient as it is; listeners hear of it."""
    for listener in gradient_listeners:
        listener(node, grad)
    return grad


def _summary_shape(c: ShapeContext) -> Dims:
    dims = c.dims(0)
    return (None if dims is None else 14 + len(dims),)


@op("DebugNumericSummary", inputs="input: T", outputs="output: double",
    attrs=_WATCHED % " lower_bound: float = -inf, upper_bound: float = inf,"
    " mute_if_healthy: bool = false,",
    shape=_summary_shape, traits=HOST | UNINITIALIZED)  # fmt: skip
def debug_numeric_summary_(
    xp: Any, input: Any, *, T: DType, debug_urls: list[Any], lower_bound: float,
    upper_bound: float,
) -> Any:  # fmt: skip
    """Counts, ends and moments: [is there, size, NaN, -inf, < 0, 0, > 0, inf, min, max, ...]."""
    _check_urls(debug_urls)
    return numeric_summary(input, T, lower_bound, upper_bound)


@op("DebugGradientIdentity", inputs="input: T", outputs="output: T", attrs="T: type",
    shape=s.unchanged, traits=UNINITIALIZED)  # fmt: skip
def debug_gradient_identity_(xp: Any, input: Any) -> Any:
    return input


debug_gradient_identity_.gradient(passed_on)


@op("Copy", inputs="input: T", outputs="output: T", attrs=_COPIED, shape=s.unchanged,
    traits=UNINITIALIZED)  # fmt: skip
def copy_(xp: Any, input: Any) -> Any:
    return input


@op("CopyHost", inputs="input: T", outputs="output: T", attrs=_COPIED, shape=s.unchanged,
    traits=HOST | UNINITIALIZED)  # fmt: skip
def copy_host_(xp: Any, input: Any) -> Any:
    return input
