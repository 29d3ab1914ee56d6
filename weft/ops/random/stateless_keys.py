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
from weft.graph.graph import control_dependencies
from weft.graph.op_def import op, raw
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit import philox
from weft.ops.kit.philox import Array
from weft.ops.kit.shared import invalid
from weft.ops.random import binomial, rejection
from weft.ops.random.random_nodes import check_bounds, dims_of, given_shape
from weft.ops.random.stateless import _check_seed_dims, _stateless_rng, _stateless_shape

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


# ---- of one rate or shape each -------------------------------------------------------------------


@op(
    "StatelessRandomUniformFullInt",
    inputs="shape: T, seed: Tseed",
    attrs="dtype: {int32, int64, uint32, uint64} = uint64, T: indextype = int32,"
    " Tseed: {int32, int64, uint32, uint64} = int64",
    shape=_stateless_shape,
    static="shape",
    **_SETTINGS,
)
def stateless_random_uniform_full_int_(
    xp: Any, shape: np.ndarray, seed: Array, *, dtype: DType
) -> Array:
    return _bits(xp, _stateless_rng(xp, seed), dims_of(shape), dtype.as_numpy_dtype)


def _per_parameter(
    shape: np.ndarray, parameter: Array, draw: Callable[[Array, int], Array]
) -> Array:
    """Draws for each number of `parameter`, whose shape ends the shape of the result."""
    dims, inner = dims_of(shape), np.shape(parameter)
    if dims[len(dims) - len(inner) :] != inner:
        raise invalid("Shape passed in must end with broadcasted shape.")
    samples = math.prod(dims[: len(dims) - len(inner)])
    return draw(np.reshape(parameter, -1), samples).reshape(dims)


@op(
    "StatelessRandomGammaV2",
    inputs="shape: T, seed: Tseed, alpha: dtype",
    attrs="dtype: {half, float, double}, T: indextype, Tseed: indextype = int64",
    outputs="output: dtype",
    shape=_stateless_shape,
    traits=HOST,
)
def stateless_random_gamma_v2_(xp: Any, shape: np.ndarray, seed: Array, alpha: Array) -> Array:
    rng = np.asarray(_stateless_rng(np, seed))
    return _per_parameter(shape, alpha, lambda a, n: rejection.gamma(rng, a, n)).astype(alpha.dtype)


@op(
    "StatelessRandomGammaV3",
    inputs=f"{_GENERATOR.replace('Tshape', 'shape_dtype')}, alpha: dtype",
    attrs="dtype: {half, float, double}, shape_dtype: indextype = int32",
    outputs="output: dtype",
    shape=_drawn_shape,
    traits=HOST,
)
def stateless_random_gamma_v3_(
    xp: Any, shape: np.ndarray, key: Array, counter: Array, alg: Any, alpha: Array
) -> Array:
    rng = np.asarray(_generator(np, key, counter, alg))
    return _per_parameter(shape, alpha, lambda a, n: rejection.gamma(rng, a, n)).astype(alpha.dtype)


def _gamma_gradient(op: Any, grad: Any) -> list[Any]:
    """By the last input, over whose copies along the leading axes the gradient is summed."""
    *others, alpha = op.inputs
    with control_dependencies([grad]):
        partial = raw.RandomGammaGrad(alpha, op.outputs[0])
        leading = raw.Sub(raw.Rank(grad), raw.Rank(alpha))
        summed = raw.Sum(grad * partial, raw.Range(0, leading, 1))
        return [*[None] * len(others), summed]


stateless_random_gamma_v2_.gradient(_gamma_gradient)
stateless_random_gamma_v3_.gradient(_gamma_gradient)


@op(
    "StatelessRandomPoisson",
    inputs="shape: T, seed: Tseed, lam: Rtype",
    attrs="Rtype: {half, float, double, int32, int64}, dtype: {half, float, double, int32, int64},"
    " T: indextype, Tseed: indextype = int64",
    shape=_stateless_shape,
    outputs="output: dtype",
    traits=HOST | NO_GRADIENT,
)
def stateless_random_poisson_(
    xp: Any, shape: np.ndarray, seed: Array, lam: Array, *, dtype: DType
) -> Array:
    rng, kind = np.asarray(_stateless_rng(np, seed)), np.dtype(dtype.as_numpy_dtype)
    most = float((np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)).max)
    drawn = _per_parameter(shape, lam, lambda rate, n: rejection.poisson(rng, rate, n, most))
    return drawn.astype(kind)


@op(
    "StatelessRandomBinomial",
    inputs="shape: S, seed: Tseed, counts: T, probs: T",
    attrs="S: indextype, Tseed: indextype = int64, T: {half, float, double, int32, int64} = double,"
    " dtype: {half, float, double, int32, int64} = int64",
    shape=_stateless_shape,
    outputs="output: dtype",
    traits=HOST | NO_GRADIENT,
)
def stateless_random_binomial_(
    xp: Any, shape: np.ndarray, seed: Array, counts: Array, probs: Array, *, dtype: DType
) -> Array:
    rng, dims = np.asarray(_stateless_rng(np, seed)), dims_of(shape)
    try:
        count, prob = (np.broadcast_to(v, dims).astype(np.float64) for v in (counts, probs))
    except ValueError:
        raise invalid("Shape passed in must end with broadcasted shape.") from None
    with np.errstate(invalid="ignore"):
        drawn = binomial.binomial(rng, count.reshape(-1), prob.reshape(-1))
        return drawn.astype(dtype.as_numpy_dtype).reshape(dims)
