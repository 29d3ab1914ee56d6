"""Random numbers from a generator that is a variable: two words of a counter and a key.

A draw of n numbers moves the counter on by 256 n, so that whatever a number takes (a truncated
normal one may take many tries), the next draw begins behind it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.traits import DEPRECATED, HOST_STATE, STATEFUL
from weft.ops.kit import philox
from weft.ops.kit.philox import Array
from weft.ops.kit.shared import invalid
from weft.ops.random.random_nodes import check_bounds, dims_of

PHILOX = 1  # the algorithm
STATE_SIZE = 3
_PER_NUMBER = 256


class _AfterAlgorithm:
    """A state whose first element names the algorithm, as generators had it at first."""

    def __init__(self, xp: Any, cell: Any) -> None:
        self._xp, self._cell = xp, cell

    def read(self) -> Array:
        return self._cell.read()[1:]

    def write(self, state: Array) -> None:
        self._cell.write(self._xp.concatenate([self._cell.read()[:1], state]))


def checked_state(xp: Any, cell: Any, algorithm: Any) -> Array:
    """The state, if it is one of the algorithm."""
    if int(algorithm) != PHILOX:
        raise invalid(f"Unsupported algorithm id: {int(algorithm)}")
    state = cell.read()
    if state.dtype != np.int64:
        raise invalid(f"dtype of RNG state variable must be int64, not {state.dtype}")
    if state.ndim != 1 or state.shape[0] < STATE_SIZE:
        raise invalid(
            "For the Philox algorithm, the size of state must be at least"
            f" {STATE_SIZE}; got {state.size}"
        )
    return state


def generator_words(xp: Any, state: Array) -> Array:
    """The state as the words of a generator: the key, then the counter."""
    unsigned = state.astype(np.uint64)
    words = [unsigned[2], unsigned[0], unsigned[1]]
    halves = [half for word in words for half in (word & np.uint64(0xFFFFFFFF), word >> 32)]
    return xp.stack(halves).astype(np.uint32)


def moved_on(xp: Any, state: Array, blocks: Any) -> Array:
    """The state with its counter moved on."""
    unsigned = state.astype(np.uint64)
    low, high = unsigned[:1], unsigned[1:2]
    on = low + xp.asarray(blocks).astype(np.uint64)
    carried = high + (on < low).astype(np.uint64)
    return xp.concatenate([on, carried, unsigned[2:]]).astype(np.int64)


def drawn_shape(c: s.ShapeContext) -> s.Dims:
    """The shape that input 2 asks for."""
    s.with_rank(c.dims(1), 0)
    s.with_rank(c.dims(2), 1)
    return c.partial(2)


def _draw(
    xp: Any, cell: Any, algorithm: Any, shape: np.ndarray, draw: Callable[..., Array], dtype: DType
) -> Array:
    state, dims = checked_state(xp, cell, algorithm), dims_of(shape)
    found = draw(xp, generator_words(xp, state), dims, dtype.as_numpy_dtype)
    size = int(np.prod(dims, dtype=np.int64))
    cell.write(moved_on(xp, state, size * _PER_NUMBER))
    return found


def _declare(name: str, draw: Callable[..., Array], default: str) -> OpDef:
    def kernel(xp: Any, resource: Any, algorithm: Any, shape: np.ndarray, *, dtype: DType) -> Array:
        return _draw(xp, resource, algorithm, shape, draw, dtype)

    return op(
        name, inputs="resource: resource, algorithm: int64, shape: shape_dtype",
        outputs="output: dtype", attrs=f"dtype: type = {default}, shape_dtype: type = int64",
        shape=drawn_shape, static="algorithm, shape", traits=STATEFUL,
    )(kernel)  # fmt: skip


def _full_int(xp: Any, rng: Array, dims: tuple[int, ...], dtype: Any) -> Array:
    """All integers of a type, equally likely."""
    if np.dtype(dtype).itemsize == 8:
        words = philox.draw(xp, rng, dims, lambda xp, x0, x1: (philox.join(x0, x1),), words=2)
    else:
        words = philox.draw(xp, rng, dims, lambda xp, x: (x,), words=1)
    return words.astype(dtype)


stateful_uniform_ = _declare("StatefulUniform", philox.uniform, "float")
stateful_standard_normal_v2_ = _declare("StatefulStandardNormalV2", philox.normal, "float")
stateful_truncated_normal_ = _declare("StatefulTruncatedNormal", philox.truncated_normal, "float")
stateful_uniform_full_int_ = _declare("StatefulUniformFullInt", _full_int, "uint64")


def _shape_of_old(c: s.ShapeContext) -> s.Dims:
    s.with_rank(c.dims(1), 1)
    return c.partial(1)


@op(
    "StatefulStandardNormal", inputs="resource: resource, shape: shape_dtype",
    outputs="output: dtype", attrs="dtype: type = float, shape_dtype: type = int64",
    shape=_shape_of_old, traits=HOST_STATE | DEPRECATED,
)  # fmt: skip
def stateful_standard_normal_(xp: Any, resource: Any, shape: np.ndarray, *, dtype: DType) -> Array:
    state = _AfterAlgorithm(xp, resource)
    return _draw(xp, state, resource.read()[0], shape, philox.normal, dtype)


@op(
    "StatefulUniformInt",
    inputs="resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype",
    outputs="output: dtype", attrs="dtype: type = int64, shape_dtype: type = int64",
    shape=drawn_shape, static="algorithm, shape", traits=STATEFUL,
)  # fmt: skip
def stateful_uniform_int_(
    xp: Any, resource: Any, algorithm: Any, shape: np.ndarray, minval: Array, maxval: Array, *,
    dtype: DType,
) -> Array:  # fmt: skip
    check_bounds(xp, minval, maxval, dims_of(shape))

    def draw(xp: Any, rng: Array, dims: tuple[int, ...], kind: Any) -> Array:
        wide = np.int64 if np.dtype(kind).itemsize == 8 else np.int32
        low, high = xp.asarray(minval), xp.asarray(maxval)
        return philox.uniform_int(xp, rng, dims, low, high, wide).astype(kind)

    return _draw(xp, resource, algorithm, shape, draw, dtype)


@op(
    "RngSkip", inputs="resource: resource, algorithm: int64, delta: int64", attrs="",
    shape=s.none, static="algorithm", traits=STATEFUL,
)  # fmt: skip
def rng_skip_(xp: Any, resource: Any, algorithm: Any, delta: Array) -> None:
    state = checked_state(xp, resource, algorithm)
    resource.write(moved_on(xp, state, delta * _PER_NUMBER))


@op(
    "RngReadAndSkip", inputs="resource: resource, alg: int32, delta: uint64",
    outputs="value: int64", attrs="", shape=lambda c: (STATE_SIZE,), static="alg", traits=STATEFUL,
)  # fmt: skip
def rng_read_and_skip_(xp: Any, resource: Any, alg: Any, delta: Array) -> Array:
    """The state as it was before its counter is moved on."""
    state = checked_state(xp, resource, alg)
    resource.write(moved_on(xp, state, delta * np.uint64(_PER_NUMBER)))
    return state[:STATE_SIZE]


@op(
    "NonDeterministicInts", inputs="shape: shape_dtype", outputs="output: dtype",
    attrs="dtype: type = int64, shape_dtype: type = int64", shape=s.from_value(0),
    traits=HOST_STATE,
)  # fmt: skip
def non_deterministic_ints_(xp: Any, shape: np.ndarray, *, dtype: DType) -> Any:
    """Integers from the system."""
    dims, kind = dims_of(shape), np.dtype(dtype.as_numpy_dtype)
    size = int(np.prod(dims, dtype=np.int64))
    return np.frombuffer(os.urandom(size * kind.itemsize), kind).reshape(dims).copy()
