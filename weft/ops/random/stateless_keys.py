"""Stateless random ops of later versions, which take a generator's key and counter for a seed.

They draw what the earlier ones do; graphs of newer clients have them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import NO_GRADIENT
from weft.ops.kit import philox
from weft.ops.kit.philox import Array
from weft.ops.kit.shared import invalid
from weft.ops.random.random_nodes import check_bounds, dims_of, given_shape
from weft.ops.random.stateless import _check_seed_dims, _stateless_rng

_PHILOX, _CHOSEN_BY_DEVICE = 1, 3
_GENERATOR = "shape: Tshape, key: uint64, counter: uint64, alg: int32"
_FLOATS = "dtype: {half, bfloat16, float, double} = float, Tshape: indextype = int32"
_SETTINGS: dict[str, Any] = {"outputs": "output: dtype", "traits": NO_GRADIENT}


def _key_shapes(c: s.ShapeContext) -> list[s.Dims]:
    _check_seed_dims(c.dims(0))
    return [(1,), (2,)]


def _key_and_counter(xp: Any, seed: Array) -> tuple[Array, Array]:
    words = _stateless_rng(xp, seed).astype(np.uint64)
    pairs = words[0::2] | (words[1::2] << np.uint64(32))
    return pairs[:1], pairs[1:]


@op(
    "StatelessRandomGetKeyCounter",
    inputs="seed: Tseed",
    outputs="key: uint64, counter: uint64",
    attrs="Tseed: indextype = int64",
    shape=_key_shapes,
    traits=NO_GRADIENT,
)
def stateless_random_get_key_counter_(xp: Any, seed: Array) -> tuple[Array, Array]:
    return _key_and_counter(xp, seed)


@op("StatelessRandomGetAlg", outputs="alg: int32", shape=s.scalar, traits=NO_GRADIENT)
def stateless_random_get_alg_(xp: Any) -> Array:
    return np.array(_PHILOX, np.int32)


@op(
    "StatelessRandomGetKeyCounterAlg",
    inputs="seed: Tseed",
    outputs="key: uint64, counter: uint64, alg: int32",
    attrs="Tseed: indextype = int64",
    shape=lambda c: [*_key_shapes(c), ()],
    traits=NO_GRADIENT,
)
def stateless_random_get_key_counter_alg_(xp: Any, seed: Array) -> tuple[Array, Array, Array]:
    return (*_key_and_counter(xp, seed), np.array(_PHILOX, np.int32))


def _generator(xp: Any, key: Array, counter: Array, alg: Any) -> Array:
    if int(alg) not in (_PHILOX, _CHOSEN_BY_DEVICE):
        raise invalid(f"Unsupported algorithm id: {int(alg)}")
    for what, value, length in (("key", key, 1), ("counter", counter, 2)):
        if np.shape(value) != (length,):
            raise invalid(f"{what} must have shape [{length}], not {s.show(np.shape(value))}")
    pairs = xp.concatenate([key, counter])
    halves = xp.stack([pairs & np.uint64(0xFFFFFFFF), pairs >> np.uint64(32)], axis=1)
    return xp.reshape(halves, (6,)).astype(np.uint32)


def _drawn_shape(c: s.ShapeContext) -> s.Dims:
    for i, (what, length) in enumerate((("key", 1), ("counter", 2)), 1):
        dims = c.dims(i)
        if dims is not None and (len(dims) != 1 or dims[0] not in (None, length)):
            raise ValueError(f"{what} must have shape [{length}], not {s.show(dims)}.")
    return given_shape(c)


def _drawing(name: str, draw: Callable[..., Array], attrs: str) -> Any:
    def kernel(
        xp: Any, shape: np.ndarray, key: Array, counter: Array, alg: Any, *, dtype: DType
    ) -> Array:
        rng = _generator(xp, key, counter, alg)
        return draw(xp, rng, dims_of(shape), dtype.as_numpy_dtype)

    declare = op(
        name, inputs=_GENERATOR, attrs=attrs, shape=_drawn_shape, static="shape, alg", **_SETTINGS
    )
    return declare(kernel)


def _bits(xp: Any, rng: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Integers of all values that the type has."""
    count = math.prod(shape)
    wide = np.dtype(dtype).itemsize == 8
    words = philox.blocks(xp, rng, -(-count // (2 if wide else 4)))
    if wide:
        words = tuple(philox.join(words[i], words[i + 1]) for i in (0, 2))
    drawn = xp.reshape(xp.stack(words, axis=1), (-1,))[:count]
    return xp.reshape(drawn, shape).astype(dtype)


_drawing("StatelessRandomUniformV2", philox.uniform, _FLOATS)
_drawing("StatelessRandomNormalV2", philox.normal, _FLOATS)
_drawing("StatelessTruncatedNormalV2", philox.truncated_normal, _FLOATS)
_INTEGERS = "dtype: {int32, int64, uint32, uint64} = uint64, Tshape: indextype = int32"
_drawing("StatelessRandomUniformFullIntV2", _bits, _INTEGERS)


@op(
    "StatelessRandomUniformIntV2",
    inputs=f"{_GENERATOR}, minval: dtype, maxval: dtype",
    attrs="dtype: {int32, int64, uint32, uint64}, Tshape: indextype = int32",
    shape=_drawn_shape,
    static="shape, alg",
    **_SETTINGS,
)
def stateless_random_uniform_int_v2_(
    xp: Any, shape: np.ndarray, key: Array, counter: Array, alg: Any, minval: Array,
    maxval: Array, *, dtype: DType,
) -> Array:  # fmt: skip
    rng, dims = _generator(xp, key, counter, alg), dims_of(shape)
    check_bounds(xp, minval, maxval, dims)
    return philox.uniform_int(xp, rng, dims, minval, maxval, dtype.as_numpy_dtype)
