"""Random ops. A seeded op draws here what it draws in TensorFlow on a CPU (see philox.py).

Exact: uniform floats and integers, shuffles, crops. Equal up to the rounding of log, sin and cos:
normal, truncated and bounded normal, gamma. The same but for ties decided by such a rounding:
Poisson, multinomial. (TensorFlow cuts the last and the bounded normal into pieces by its number of
threads when outputs are large; here, as with one thread, they are drawn in one piece.)
"""

from __future__ import annotations

import math as _math
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import FailedPreconditionError
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import op, raw
from weft.graph.traits import (
    DEPRECATED,
    HOST,
    HOST_STATE,
    NO_GRADIENT,
    PLAIN,
    REDRAWS,
    XLA,
    Traits,
    draws,
)
from weft.ops.array import array
from weft.ops.kit import philox
from weft.ops.kit.philox import Array
from weft.ops.kit.shared import check_rank, invalid
from weft.ops.kit.value_checks import require
from weft.ops.math import math
from weft.ops.math.large_gamma import bounded, sample_gradient
from weft.ops.random import blockwise, rejection

Shape = tuple[int, ...]


# ---- shapes and checks ---------------------------------------------------------------------------


def given_shape(c: s.ShapeContext) -> s.Dims:
    s.with_rank(c.dims(0), 1)
    return c.shape_from(0)


def _given_shape_then(c: s.ShapeContext) -> s.Dims:
    return s.concat(given_shape(c), c.dims(1))


def dims_of(shape: np.ndarray) -> Shape:
    if shape.ndim != 1:
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {s.show(shape.shape)}")
    check_rank(shape)
    for dim in shape.tolist():
        if dim < 0:
            raise invalid(f"Dimension {dim} must be >= 0")
    return tuple(shape.tolist())


def _check_scalar(name: str, value: Array, wording: str) -> None:
    if np.ndim(value) != 0:
        raise invalid(f"{name} {wording}, got shape {s.show(np.shape(value))}")


def check_bounds(xp: Any, minval: Array, maxval: Array, dims: Shape) -> None:
    _check_scalar("minval", minval, "must be 0-D")
    _check_scalar("maxval", maxval, "must be 0-D")
    if 0 in dims:
        return
    wrong = "Need minval < maxval, got {} >= {}".format
    require(xp, minval < maxval, lambda: invalid(wrong(minval, maxval)))


def _per_output(dims: Shape, attrs: dict[str, Any]) -> int:
    return philox.RESERVED * _math.prod(dims)


# ---- uniform and normal --------------------------------------------------------------------------

_FLOAT = "seed: int = 0, seed2: int = 0, dtype: {half, bfloat16, float, double}, T: indextype"


def _float_op(name: str, draw: Callable[..., Array], traits: Traits = PLAIN) -> Any:
    """Declares an op that fills a shape with floats of one distribution."""

    def kernel(xp: Any, rng: Array, shape: np.ndarray, *, dtype: DType) -> Array:
        return draw(xp, rng, dims_of(shape), dtype.as_numpy_dtype)

    declare = op(
        name,
        inputs="shape: T",
        outputs="output: dtype",
        attrs=_FLOAT,
        shape=given_shape,
        static="shape",
        traits=draws(_per_output) | NO_GRADIENT | traits,
    )
    return declare(kernel)


random_uniform_ = _float_op("RandomUniform", philox.uniform)
random_standard_normal_ = _float_op("RandomStandardNormal", philox.normal)
truncated_normal_ = _float_op("TruncatedNormal", philox.truncated_normal, REDRAWS)


def integers_shape(c: s.ShapeContext) -> s.Dims:
    for bound in (c.num_inputs - 2, c.num_inputs - 1):
        s.with_rank(c.dims(bound), 0)
    return given_shape(c)


@op(
    "RandomUniformInt",
    inputs="shape: T, minval: Tout, maxval: Tout",
    outputs="output: Tout",
    attrs="seed: int = 0, seed2: int = 0, Tout: indextype, T: indextype",
    shape=integers_shape,
    static="shape",
    traits=draws(_per_output),
)
def random_uniform_int_(
    xp: Any, rng: Array, shape: np.ndarray, minval: Array, maxval: Array, *, Tout: DType
) -> Array:
    dims = dims_of(shape)
    check_bounds(xp, minval, maxval, dims)
    return philox.uniform_int(xp, rng, dims, minval, maxval, Tout.as_numpy_dtype)


def _bounded_shape(c: s.ShapeContext) -> s.Dims:
    for i in range(1, 5):
        s.with_rank_at_most(c.dims(i), 1)
    return given_shape(c)


@op(
    "ParameterizedTruncatedNormal",
    inputs="shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype",
    outputs="output: dtype",
    attrs=_FLOAT,
    shape=_bounded_shape,
    traits=HOST_STATE | NO_GRADIENT,
)
def parameterized_truncated_normal_(
    xp: Any,
    ctx: Any,
    shape: np.ndarray,
    means: Array,
    stdevs: Array,
    minvals: Array,
    maxvals: Array,
) -> Array:
    if shape.ndim != 1:
        raise invalid(f"Input shape should be a vector, got shape: {s.show(shape.shape)}")
    dims = dims_of(shape)
    rows, row_size = dims[0] if dims else 1, _math.prod(dims[1:])
    given = {"means": means, "stddevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    for name, value in given.items():
        _check_parameter(name, value, rows)
    one_set = means.size == stdevs.size == 1 and minvals.ndim == maxvals.ndim == 0
    batches, batch_size = rejection.bounded_batches(rows, row_size, one_set)
    rng = reserve(ctx, rejection.bounded_blocks(batches, batch_size))
    parameters = [np.reshape(value, -1) for value in given.values()]
    drawn = rejection.bounded_normal(rng, rows * row_size, batches, batch_size, parameters)
    return drawn.reshape(dims)


def _check_parameter(name: str, value: np.ndarray, rows: int) -> None:
    got = s.show(value.shape)
    if value.ndim > 1:
        raise invalid(f"Input {name} should be a scalar or vector, got shape: {got}")
    if value.ndim == 1 and value.size not in (1, rows):
        raise invalid(f"Input {name} should have length 1 or shape[0], got shape: {got}")


def reserve(ctx: Any, blocks: int) -> np.ndarray:
    """The generator of the node being run, which is moved on by `blocks`.

    For kernels whose use of the stream depends on more than the shape of their output.
    """
    store, node = ctx.resources, ctx.node
    with store.lock:
        state = store.rng.get(node.name)
        if state is None:
            state = philox.initial_state(node.attrs["seed"], node.attrs["seed2"])
        store.rng[node.name] = philox.advance(state, blocks)
    return state


# ---- gamma and Poisson ---------------------------------------------------------------------------


@op(
    "RandomGamma",
    inputs="shape: S, alpha: T",
    outputs="output: T",
    attrs="seed: int = 0, seed2: int = 0, S: indextype, T: {half, float, double}",
    shape=_given_shape_then,
    traits=HOST | draws(_per_output),
)
def random_gamma_(xp: Any, rng: Array, shape: np.ndarray, alpha: Array) -> Array:
    dims = dims_of(shape)
    drawn = rejection.gamma(rng, np.reshape(alpha, -1), _math.prod(dims))
    return drawn.astype(alpha.dtype).reshape(dims + alpha.shape)


@random_gamma_.gradient
def _(op: Any, grad: Tensor) -> tuple[None, Tensor]:
    shape, alpha = op.inputs
    with control_dependencies([grad]):
        sample_dims = array.shape(shape)[0]
        leading = array.ones([sample_dims], dtype=dtypes.int32)
        lifted = array.reshape(alpha, array.concat([leading, array.shape(alpha)], axis=0))
        partial = raw.RandomGammaGrad(lifted, op.outputs[0])
        return None, math.reduce_sum(grad * partial, axis=math.range(sample_dims))


@op(
    "RandomGammaGrad",
    inputs="alpha: T, sample: T",
    outputs="output: T",
    attrs="T: {float, double}",
    shape=s.broadcast,
    traits=XLA,
)
def random_gamma_grad_(xp: Any, alpha: Array, sample: Array) -> Array:
    from jax import lax

    return bounded(xp, lax.random_gamma_grad, sample_gradient)(alpha, sample)


def _poisson(xp: Any, rng: Array, shape: np.ndarray, rate: Array, *, dtype: DType) -> Array:
    dims, kind = dims_of(shape), np.dtype(dtype.as_numpy_dtype)
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    drawn = rejection.poisson(rng, np.reshape(rate, -1), _math.prod(dims), float(limits.max))
    return drawn.astype(kind).reshape(dims + rate.shape)


random_poisson_ = op(
    "RandomPoisson",
    inputs="shape: S, rate: dtype",
    outputs="output: dtype",
    attrs="seed: int = 0, seed2: int = 0, S: indextype, dtype: {half, float, double}",
    shape=_given_shape_then,
    traits=HOST | draws(_per_output) | DEPRECATED,
)(_poisson)

random_poisson_v2_ = op(
    "RandomPoissonV2",
    inputs="shape: S, rate: R",
    outputs="output: dtype",
    attrs="seed: int = 0, seed2: int = 0, S: indextype, R: {half, float, double, int32, int64} ="
    " double, dtype: {half, float, double, int32, int64} = int64",
    shape=_given_shape_then,
    traits=HOST | draws(_per_output),
)(_poisson)


# ---- multinomial ---------------------------------------------------------------------------------


def multinomial_shape(c: s.ShapeContext) -> s.Dims:
    batch = s.with_rank(c.dims(0), 2)[0]
    s.with_rank(c.dims(1), 0)
    count = c.value(1)
    if count is not None and count < 0:
        what = "Dimension size, given by scalar input 1, must be non-negative"
        raise ValueError(f"{what} but is {int(count)}")
    return batch, None if count is None else int(count)


def _multinomial_blocks(dims: Shape, attrs: dict[str, Any]) -> int:
    batch, samples = dims
    return philox.RESERVED * batch * ((samples + 3) // 4 * 8)


def categories(
    xp: Any, rng: Array, logits: Array, num_samples: Array, *, output_dtype: DType
) -> Array:
    """A class per draw: where a uniform value falls in the cumulative weights of its row."""
    if np.ndim(logits) != 2:
        raise invalid(f"logits should be a matrix, got shape {s.show(np.shape(logits))}")
    _check_scalar("num_samples", num_samples, "should be a scalar")
    classes, samples = np.shape(logits)[1], int(num_samples)
    if samples < 0:
        raise invalid(f"num_samples should be nonnegative, got {samples}")
    if classes <= 0:
        raise invalid(f"num_classes should be positive, got {classes}")
    logits = logits.astype(np.float64)
    return _draw_categories(xp, rng, logits, samples).astype(output_dtype.as_numpy_dtype)


@by_library
def _draw_categories(xp: Any, rng: Array, logits: Array, samples: int) -> Array:
    weights, uniform = _drawn_in_rows(xp, rng, logits, samples)
    if blockwise.pays(logits.shape[1], samples):
        return blockwise.find(xp, weights, uniform)
    return _find_in_rows(xp, weights, uniform)


@_draw_categories.numpy
def _(xp: Any, rng: Array, logits: Array, samples: int) -> Array:
    if len(logits) == samples == 1:
        return np.array([[_category(rng, logits[0])]])
    return _find_in_rows(xp, *_drawn_in_rows(xp, rng, logits, samples))


def _drawn_in_rows(xp: Any, rng: Array, logits: Array, samples: int) -> tuple[Array, Array]:
    """The weights of the classes, and a uniform number for each draw."""
    finite = xp.isfinite(logits)
    top = xp.max(xp.where(finite, logits, np.finfo(np.float64).min), axis=1, keepdims=True)
    weights = xp.where(finite, xp.exp(logits - top), 0.0)
    return weights, philox.uniform(xp, rng, (len(logits), samples), np.float64)


def _find_in_rows(xp: Any, weights: Array, uniform: Array) -> Array:
    cumulative = xp.cumsum(weights, axis=1)
    return _insertion_points(xp, cumulative, uniform * cumulative[:, -1:])


def _category(rng: np.ndarray, logits: np.ndarray) -> int:
    """One draw of one row: the same numbers, without arrays of one element."""
    cumulative = list(accumulate(_weights(logits).tolist()))
    drawn = philox.uniform(np, rng, (), np.float64)
    return bisect_right(cumulative, float(drawn) * cumulative[-1])


def category_of_seeds(logits: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """As a draw of one row with each of the seeds."""
    cumulative = np.cumsum(_weights(logits.astype(np.float64)))
    drawn = philox.first_of_seeds(seeds.astype(np.int64)) * cumulative[-1]
    return np.searchsorted(cumulative, drawn, side="right")


def _weights(logits: np.ndarray) -> np.ndarray:
    finite = np.isfinite(logits)
    if finite.all():
        return np.exp(logits - logits.max())
    top = np.where(finite, logits, np.finfo(np.float64).min).max()
    return np.where(finite, np.exp(logits - top), 0.0)


@by_library
def _insertion_points(xp: Any, rows: Array, values: Array) -> Array:
    import jax

    return jax.vmap(lambda row, value: xp.searchsorted(row, value, side="right"))(rows, values)


@_insertion_points.numpy
def _(xp: Any, rows: Array, values: Array) -> Array:
    found = np.empty(values.shape, np.int64)
    for row, value, out in zip(rows, values, found, strict=True):
        out[:] = np.searchsorted(row, value, side="right")
    return found


multinomial_ = op(
    "Multinomial",
    inputs="logits: T, num_samples: int32",
    outputs="output: output_dtype",
    attrs="seed: int = 0, seed2: int = 0, T: realnumbertype, output_dtype: indextype = int64",
    shape=multinomial_shape,
    static="num_samples",
    traits=draws(_multinomial_blocks) | NO_GRADIENT,
)(categories)


# ---- shuffling and cropping ----------------------------------------------------------------------


def _shuffle_blocks(dims: Shape, attrs: dict[str, Any]) -> int:
    return 0 if _math.prod(dims) <= 1 or dims[0] <= 1 else (dims[0] + 2) // 4


@op(
    "RandomShuffle",
    inputs="value: T",
    outputs="output: T",
    attrs="seed: int = 0, seed2: int = 0, T: type",
    shape=s.unchanged,
    traits=HOST | draws(_shuffle_blocks),  # each swap depends on those before it
)
def random_shuffle_(xp: Any, rng: Array, value: Array) -> Array:
    if np.size(value) <= 1 or len(value) <= 1:
        return value
    count = len(value)
    words = philox.draw(np, rng, (count - 1,), lambda xp, x: (x,), words=1)
    place = np.arange(count - 1)
    order = list(range(count))
    for i, j in zip(place.tolist(), (place + words % (count - place)).tolist(), strict=True):
        order[i], order[j] = order[j], order[i]
    return value[order]


def _crop_shape(c: s.ShapeContext) -> s.Dims:
    channels = s.with_rank(c.dims(0), 3)[2]
    s.merge_dim(s.with_rank(c.dims(1), 1)[0], 2)
    return (*(c.partial(1) or (None, None)), channels)


@op(
    "RandomCrop",
    inputs="image: T, size: int64",
    outputs="output: T",
    attrs="T: {uint8, int8, int16, int32, int64, float, double}, seed: int = 0, seed2: int = 0",
    shape=_crop_shape,
    static="size",
    traits=draws(lambda dims, attrs: 1) | NO_GRADIENT | DEPRECATED,
)
def random_crop_(xp: Any, rng: Array, image: Array, size: np.ndarray) -> Array:
    height, width, _ = np.shape(image)
    rows, columns = size.tolist()
    for name, have, want in (("width", width, columns), ("height", height, rows)):
        if have < want:
            message = f"{name} must be >= target_{name}: {name} = {have}, target_{name} = {want}"
            raise FailedPreconditionError(None, None, message)
    words = [word[0] for word in philox.blocks(xp, rng, 1)]
    left = words.pop(0) % (width - columns + 1) if width > columns else 0
    top = words.pop(0) % (height - rows + 1) if height > rows else 0
    cropped = xp.take(image, xp.arange(rows) + top, axis=0)
    return xp.take(cropped, xp.arange(columns) + left, axis=1)
