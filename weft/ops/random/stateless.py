"""Random ops whose draws depend on nothing but a seed that is an input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit import philox
from weft.ops.kit.philox import Array
from weft.ops.kit.shared import invalid
from weft.ops.random.random_nodes import (
    categories,
    category_of_seeds,
    check_bounds,
    dims_of,
    given_shape,
    integers_shape,
    multinomial_shape,
)

_STATELESS = (
    "dtype: {half, bfloat16, float, double} = float, T: indextype = int32, Tseed: indextype = int64"
)


def _check_seed_dims(dims: s.Dims) -> None:
    length = s.with_rank(dims, 1)[0]
    if length not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {length}")


def _stateless_shape(c: s.ShapeContext) -> s.Dims:
    _check_seed_dims(c.dims(1))
    return given_shape(c)


def _stateless_rng(xp: Any, seed: Array) -> Array:
    if np.shape(seed) != (2,):
        raise invalid(f"seed must have shape [2], not {s.show(np.shape(seed))}")
    return philox.stateless_state(xp, seed)


def _stateless_op(name: str, draw: Callable[..., Array]) -> Any:
    def kernel(xp: Any, shape: np.ndarray, seed: Array, *, dtype: DType) -> Array:
        return draw(xp, _stateless_rng(xp, seed), dims_of(shape), dtype.as_numpy_dtype)

    declare = op(
        name,
        inputs="shape: T, seed: Tseed",
        outputs="output: dtype",
        attrs=_STATELESS,
        shape=_stateless_shape,
        static="shape",
        traits=NO_GRADIENT,
    )
    return declare(kernel)


stateless_random_uniform_ = _stateless_op("StatelessRandomUniform", philox.uniform)
stateless_random_normal_ = _stateless_op("StatelessRandomNormal", philox.normal)
stateless_truncated_normal_ = _stateless_op("StatelessTruncatedNormal", philox.truncated_normal)


def _stateless_integers_shape(c: s.ShapeContext) -> s.Dims:
    _check_seed_dims(c.dims(1))
    return integers_shape(c)


@op(
    "StatelessRandomUniformInt",
    inputs="shape: T, seed: Tseed, minval: dtype, maxval: dtype",
    outputs="output: dtype",
    attrs="dtype: indextype, T: indextype, Tseed: indextype = int64",
    shape=_stateless_integers_shape,
    static="shape",
    traits=NO_GRADIENT,
)
def stateless_random_uniform_int_(
    xp: Any, shape: np.ndarray, seed: Array, minval: Array, maxval: Array, *, dtype: DType
) -> Array:
    rng, dims = _stateless_rng(xp, seed), dims_of(shape)
    check_bounds(xp, minval, maxval, dims)
    return philox.uniform_int(xp, rng, dims, minval, maxval, dtype.as_numpy_dtype)


def _stateless_multinomial_shape(c: s.ShapeContext) -> s.Dims:
    _check_seed_dims(c.dims(2))
    return multinomial_shape(c)


@op(
    "StatelessMultinomial",
    inputs="logits: T, num_samples: int32, seed: Tseed",
    outputs="output: output_dtype",
    attrs="T: realnumbertype, Tseed: indextype = int64, output_dtype: indextype = int64",
    shape=_stateless_multinomial_shape,
    static="num_samples",
    traits=NO_GRADIENT,
)
def stateless_multinomial_(
    xp: Any, logits: Array, num_samples: Array, seed: Array, *, output_dtype: DType
) -> Array:
    rng = _stateless_rng(xp, seed)
    return categories(xp, rng, logits, num_samples, output_dtype=output_dtype)


@op(
    "_StatelessCategories",
    inputs="logits: T, seeds: Tseed",
    outputs="output: output_dtype",
    attrs="T: realnumbertype, Tseed: indextype = int64, output_dtype: indextype = int64",
    shape=lambda c: (s.with_rank(c.dims(1), 2)[0], 1, 1),
    traits=HOST,
)
def stateless_categories_(xp: Any, logits: Array, seeds: Array, *, output_dtype: DType) -> Array:
    """`StatelessMultinomial` of one draw of one row, with many seeds: what datasets choose by."""
    found = category_of_seeds(np.asarray(logits)[0], np.asarray(seeds))
    return found.astype(output_dtype.as_numpy_dtype).reshape(-1, 1, 1)
