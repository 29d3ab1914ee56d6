"""The debug operations: functions of one watched value, in NumPy.

A specification names one, maybe with attributes: `DebugNumericSummary(lower_bound=-1; ...)`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes, errors
from weft.ops.control.debug_nodes import numeric_summary

_TRUE = ("1", "true", "t", "yes", "y")
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "DebugIdentity": ("gated_grpc",),
    "DebugNanCount": ("gated_grpc",),
    "DebugNumericSummary": ("gated_grpc", "lower_bound", "upper_bound", "mute_if_healthy"),
}


class Uninitialized(NamedTuple):
    """The value of a variable that has none yet."""

    dtype: dtypes.DType
    dims: tuple[int, ...]


class Resource(NamedTuple):
    """A handle: of a queue, a table, a variable that is no reference."""

    text: str


class DebugOp(NamedTuple):
    """One debug operation with its attributes."""

    name: str
    attributes: dict[str, str]

    @property
    def is_gated(self) -> bool:
        return self.attributes.get("gated_grpc", "").lower() in _TRUE

    def __call__(self, value: Any, dtype: dtypes.DType) -> Any:
        """The array to publish; None: nothing is."""
        if self.name == "DebugIdentity":
            return value
        _check_number(self.name, dtype)
        if self.name == "DebugNanCount":
            return np.array([0 if isinstance(value, Uninitialized) else _nans(value).sum()])
        return self._summary(value, dtype)

    def _summary(self, value: Any, dtype: dtypes.DType) -> np.ndarray | None:
        lower = float(self.attributes.get("lower_bound", "-inf"))
        upper = float(self.attributes.get("upper_bound", "inf"))
        missing = value.dims if isinstance(value, Uninitialized) else None
        found = numeric_summary(value, dtype, lower, upper, missing)
        is_healthy = not found[[2, 3, 7]].any()
        mute = self.attributes.get("mute_if_healthy", "").lower() in _TRUE
        return None if mute and is_healthy else found


def parse(specification: str, tensor_name: str = "", number: int = 0) -> DebugOp:
    """The operation that a watch of a tensor asks for, as its debug operation `number`."""
    found = re.fullmatch(r"(\w+)(?:\((.*)\))?", specification.strip())
    if found is None:
        raise errors.InvalidArgumentError(
            None, None, f"Malformed debug op specification: {specification}"
        )
    pairs = [part.split("=", 1) for part in (found[2] or "").split(";") if part.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise errors.InvalidArgumentError(
            None, None, f"Malformed attributes in debug op name: {specification}"
        )
    attributes = {name.strip(): text.strip() for name, text in pairs}
    name = found[1]
    node = f"__dbg_{tensor_name}_{number}_{name}"
    if name not in _ATTRIBUTES:
        raise errors.FailedPreconditionError(
            None, None, f"Failed to create debug node {node}: there is no debug op {name}"
        )
    unknown = sorted(set(attributes) - set(_ATTRIBUTES[name]))
    if unknown:
        raise errors.FailedPreconditionError(
            None, None,
            f"{len(unknown)} attribute key(s) were not valid for debug node {node}:"
            f" {', '.join(unknown)}",
        )  # fmt: skip
    return DebugOp(name, attributes)


def _check_number(name: str, dtype: dtypes.DType) -> None:
    base = dtype.base_dtype
    if not (base.is_floating or base.is_integer or base.is_bool):
        raise errors.FailedPreconditionError(
            None, None, f"Failed to create debug node: {name} does not take {base.name} tensors"
        )


def _nans(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return np.isnan(array.astype(np.float64))
