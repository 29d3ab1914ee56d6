"""What a step gives back: NumPy arrays that are the caller's own.

Most are copied. A large result that only the caller asked for stays where its program has put it:
its memory changes hands.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft.core import machine
from weft.core.dtypes import DType
from weft.core.shapes import Dims
from weft.core.step_limits import looking_up
from weft.ops.kit.room import check_room
from weft.passes.client_graph import ClientGraph
from weft.passes.regions.units import Unit
from weft.runtime.resources import Variable

_LARGE = machine.large()
_PIECE = 1 << 26  # bytes that are copied in a fraction of a second
_WORTH = 1 << 16  # bytes from which on a copy takes longer than handing over
_HOLDERS = 3  # of an array that nobody else has: the list of results, a name, and who asks


def to_user(value: Any) -> Any:
    """A fetched value as the caller's own: NumPy, writable, shared with nothing.

    Scalars come as NumPy scalars (strings as bytes).
    """
    if type(value) is np.ndarray and value.ndim and value.nbytes < _LARGE:
        return value.copy("K")
    if isinstance(value, Variable):
        if not value.is_reference:
            return repr(value)  # a handle: the variable need not even hold a value
        value = value.read()
    if not isinstance(value, (np.ndarray, np.generic)):
        if not hasattr(value, "__array__"):
            return value  # a resource handle
        value = np.asarray(value)
    if value.ndim == 0:
        return value[()]
    if value.nbytes >= _LARGE:
        check_room(value.shape, value.dtype)
        return _copy_in_pieces(value)
    return np.array(value)


def _copy_in_pieces(value: np.ndarray) -> np.ndarray:
    """A copy of many bytes; between two of its pieces the step can end."""
    copy = np.empty(value.shape, value.dtype)
    source, target = value.squeeze(), copy.squeeze()
    rows = max(1, len(source) * _PIECE // value.nbytes)
    for start in looking_up(range(0, len(source), rows)):
        target[start : start + rows] = source[start : start + rows]
    return copy


# ---- memory that changes hands ------------------------------------------------------------------


def handed_over(graph: ClientGraph, units: Iterable[Unit]) -> dict[int, bool]:
    """Which fetches may be large and the caller's alone; whether a program on the host makes them.

    Those of programs are read by nothing else of the step.
    """
    home = {node: unit for unit in units for node in unit.nodes}
    read = {
        edge for node, unit in home.items() for edge in node.inputs if home.get(edge[0]) is not unit
    }
    counts = Counter(graph.fetches)
    return {
        i: home[node].is_region and (node, output) not in read
        for i, (node, output) in enumerate(graph.fetches)
        if counts[node, output] == 1
        and node in home
        and _may_be_large(node.dims[output], node.dtypes[output])
    }


def _may_be_large(dims: Dims, dtype: DType) -> bool:
    if dims is None or None in dims:
        return True
    return math.prod(dims) * (dtype.size or 1) >= _WORTH  # type: ignore[arg-type]


def taken(results: Sequence[Any], place: int, of_a_program: bool) -> Any:
    """A result as the caller's own: where it lies, if nobody else has that memory.

    NumPy's arrays tell whether somebody has: whoever does holds the array. Those of jax may share
    theirs unseen, unless a program has just made them.
    """
    value = results[place]
    if getattr(value, "nbytes", 0) < _WORTH or sys.getrefcount(value) > _HOLDERS:
        return to_user(value)
    if type(value) is np.ndarray:
        return (
            value if value.ndim and value.flags.writeable and _is_alone(value) else to_user(value)
        )
    if not of_a_program or not hasattr(value, "unsafe_buffer_pointer"):
        return to_user(value)
    view = np.asarray(value)
    if not view.ndim or view.dtype.isbuiltin != 1 or not view.flags.c_contiguous:
        return to_user(value)
    return np.asarray(_Owner(value, view))


def _is_alone(value: np.ndarray) -> bool:
    """Whether an array has its memory for itself, be it as the only other form of an array."""
    base = value.base
    if base is None:
        return value.flags.owndata
    if type(base) is not np.ndarray or not base.flags.owndata or base.nbytes != value.nbytes:
        return False
    return sys.getrefcount(base) <= _HOLDERS  # the value, the name here, and who asks


class _Owner:
    """An array of jax's that nobody else knows of, as memory to write to."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: Any, view: np.ndarray) -> None:
        self.array = array
        address, _ = view.__array_interface__["data"]
        self.__array_interface__ = {**view.__array_interface__, "data": (address, False)}
