"""tf.random: values drawn from distributions. The ops that draw them are in random_nodes.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import Dimension
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.graph.random_seed import seed_attrs
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.kit.describe import with_example
from weft.ops.kit.operands import operands, tensors_of
from weft.ops.math import math

_UNIFORM_DTYPES = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64,
)  # fmt: skip


def _plain_size(size: Any) -> Any:
    # `labels.max() + 1` of small integers was an int64 before NumPy 2, and is a uint8 now.
    if isinstance(size, np.integer) and size.dtype.itemsize < 4:
        return int(size)
    return size.value if isinstance(size, Dimension) else size


def _shape_tensor(shape: Any) -> Tensor:
    """A shape given in any form as a vector named "shape"."""
    sizes = isinstance(shape, tuple | list)
    dims = tuple(map(_plain_size, shape)) if sizes else shape
    return convert_to_tensor(dims, dtypes.int32 if sizes and not dims else None, "shape")


def _scaled(values: Tensor, scale: Tensor, offset: Tensor, name: str) -> Tensor:
    return raw.Add(raw.Mul(values, scale, name="mul"), offset, name=name)


def _check_uniform(dtype: Any, maxval: Any) -> tuple[DType, Any]:
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM_DTYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    return dtype, maxval


def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Uniform values in [minval, maxval); integers need a `maxval`, floats have 1.

    Args:
        shape: of the result, as a list or tensor.
        minval: the smallest number.
        maxval: above the largest; None: 1, for floating-point numbers.
        dtype: a floating-point type, int32 or int64.
        seed: makes the draw repeatable.
        name: of the operation.

    Returns:
        A tensor of `shape`, other numbers in every step.

    Raises:
        ValueError: the type is another one, or integers have no `maxval`.

    Example:
        >>> drawn = session.run(tf.random_uniform([1000], 2, 5, tf.int32))
        >>> sorted(set(drawn.tolist()))
        [2, 3, 4]
    """
    dtype, maxval = _check_uniform(dtype, maxval)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        dims, (low, high) = _shape_tensor(shape), tensors_of(dtype, min=minval, max=maxval)
        seeds = seed_attrs(seed)
        if dtype.is_integer:
            return raw.RandomUniformInt(dims, low, high, **seeds, name=scope)
        return _between(raw.RandomUniform(dims, dtype, **seeds), low, high, scope)


def _between(values: Tensor, low: Tensor, high: Tensor, name: str) -> Tensor:
    """Values from 0 to 1 moved to lie from `low` to `high`."""
    return _scaled(values, raw.Sub(high, low, name="sub"), low, name)


def _around(
    default: str, draw: Callable[[Tensor], Tensor], shape: Any, seed: Any, mean: Any, stddev: Any,
    dtype: Any, name: str | None,
) -> Tensor:  # fmt: skip
    """The result of `draw` for a shape, with this mean and standard deviation."""
    with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
        dims, (centre, spread) = _shape_tensor(shape), tensors_of(dtype, mean=mean, stddev=stddev)
        return _scaled(draw(dims), spread, centre, scope)


_NORMAL_ARGUMENTS = """\
Args:
    shape: of the result, as a list or tensor.
    mean, stddev: scalars, or tensors that broadcast to `shape`.
    dtype: a floating-point type.
    seed: makes the draw repeatable.
    name: of the operation.

Returns:
    A tensor of `shape`, other numbers in every step.

Raises:
    TypeError: `dtype` is no floating-point type."""


def _seeded_normal(function: str, op_name: str, doc: str) -> Callable[..., Tensor]:
    def drawn(
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        seed: int | None = None,
        name: str | None = None,
    ) -> Tensor:
        def draw(shape: Tensor) -> Tensor:
            return getattr(raw, op_name)(shape, dtype, **seed_attrs(seed))

        return _around(function, draw, shape, seed, mean, stddev, dtype, name)

    drawn.__name__ = drawn.__qualname__ = function
    drawn.__doc__ = with_example(f"{doc}\n\n{_NORMAL_ARGUMENTS}", function)
    return drawn


random_normal = _seeded_normal(
    "random_normal",
    "RandomStandardNormal",
    "Normal values of the given mean and standard deviation.",
)
truncated_normal = _seeded_normal(
    "truncated_normal",
    "TruncatedNormal",
    "Normal values within two standard deviations of the mean.",
)


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal values between bounds; parameters are scalars, or vectors with one entry per row."""
    given = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    with name_scope(name, "parameterized_truncated_normal", [shape, *given.values()]):
        arguments = _shape_tensor(shape), *tensors_of(dtype, **given)
        return raw.ParameterizedTruncatedNormal(*arguments, **seed_attrs(seed))


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """`value` with its rows (slices along the first dimension) in random order.

    Args:
        value: a tensor.
        seed: makes the order repeatable.
        name: of the operation.

    Returns:
        A tensor of the same type and shape.

    Example:
        >>> sorted(session.run(tf.random_shuffle([1, 2, 3])).tolist())
        [1, 2, 3]
    """
    return raw.RandomShuffle(value, **seed_attrs(seed), name=name)


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of `value` of shape `size`, at a random place.

    Args:
        value: a tensor.
        size: the shape of the part.
        seed: makes the place repeatable.
        name: of the operations.

    Returns:
        A tensor of shape `size`.

    Raises:
        tf.errors.InvalidArgumentError: from the step: `size` is larger than `value`.

    Example:
        >>> session.run(tf.random_crop(tf.ones([5, 5]), [2, 3])).shape
        (2, 3)
    """
    with operands(name, "random_crop", size, value=value) as (scope, value):
        wanted = convert_to_tensor(size, dtypes.int32, "size")
        whole = array.shape(value)
        message = ["Need value.shape >= size, got ", whole, wanted]
        fits = control.Assert(math.reduce_all(whole >= wanted), message, summarize=1000)
        whole = control.with_dependencies([fits], whole)
        limit = whole - wanted + 1
        drawn = random_uniform(array.shape(whole), 0, dtypes.int32.max, dtypes.int32, seed)
        return raw.Slice(value, drawn % limit, wanted, name=scope)


def multinomial(
    logits: Any,
    num_samples: Any,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """Classes drawn with unnormalised log-probabilities `logits`, `num_samples` per row.

    Args:
        logits: [batch, classes].
        num_samples: how many to draw for each row.
        seed: makes the draw repeatable.
        name: of the operation.
        output_dtype: `tf.int64` or `tf.int32`; None: int64.

    Returns:
        A matrix [batch, num_samples] of class numbers.

    Raises:
        ValueError: `logits` is no matrix.

    Example:
        >>> session.run(tf.multinomial([[0.0, -1000.0]], 3))
        array([[0, 0, 0]])
    """
    with name_scope(name, "multinomial", [logits]):
        return _multinomial(logits, num_samples, output_dtype, seed)


def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Classes drawn with unnormalised log-probabilities `logits`, `num_samples` per row."""
    with name_scope(name, "categorical", [logits]):
        return _multinomial(logits, num_samples, dtype, seed)


def _multinomial(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    seeds = seed_attrs(seed)
    return raw.Multinomial(logits, num_samples, **seeds, output_dtype=dtype or dtypes.int64)


def random_gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`shape` gamma values for each pair of (broadcast) `alpha` and inverse scale `beta`.

    Differentiable with respect to both.
    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        dims = convert_to_tensor(shape, dtypes.int32, "shape")
        alpha, beta = tensors_of(dtype, alpha=alpha, beta=1 if beta is None else beta)
        each = alpha + array.zeros_like(beta)
        drawn = raw.RandomGamma(dims, each, **seed_attrs(seed)) / beta
        # Tiny values round to zero, which is not a gamma value.
        return raw.Maximum(np.finfo(each.dtype.as_numpy_dtype).tiny, drawn)


def random_poisson(
    lam: Any,
    shape: Any,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`shape` Poisson values for each rate in `lam`."""
    return random_poisson_v2(shape, lam, dtype, seed, name)


def random_poisson_v2(
    shape: Any,
    lam: Any,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`random_poisson` with its arguments in the later order."""
    with name_scope(name, "random_poisson", [lam, shape]):
        dims = convert_to_tensor(shape, dtypes.int32, "shape")
        return raw.RandomPoissonV2(dims, lam, dtype=dtype, **seed_attrs(seed))


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Uniform values in [minval, maxval) that depend on nothing but `seed`, two integers."""
    dtype, maxval = _check_uniform(dtype, maxval)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        dims, (low, high) = _shape_tensor(shape), tensors_of(dtype, min=minval, max=maxval)
        if dtype.is_integer:
            return raw.StatelessRandomUniformInt(dims, seed, low, high, name=scope)
        return _between(raw.StatelessRandomUniform(dims, seed, dtype), low, high, scope)


def _stateless_normal(function: str, op_name: str, scope: str, doc: str) -> Callable[..., Tensor]:
    def drawn(
        shape: Any,
        seed: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        def draw(shape: Tensor) -> Tensor:
            return getattr(raw, op_name)(shape, seed, dtype)

        return _around(scope, draw, shape, seed, mean, stddev, dtype, name)

    drawn.__name__ = drawn.__qualname__ = function
    drawn.__doc__ = doc
    return drawn


stateless_normal = _stateless_normal(
    "stateless_normal",
    "StatelessRandomNormal",
    "stateless_random_normal",
    "Normal values that depend on nothing but `seed`, two integers.",
)
stateless_truncated_normal = _stateless_normal(
    "stateless_truncated_normal",
    "StatelessTruncatedNormal",
    "stateless_truncated_normal",
    "`truncated_normal` values that depend on nothing but `seed`, two integers.",
)


def stateless_multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any,
    output_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """`multinomial` with draws that depend on nothing but `seed`, two integers."""
    with operands(name, "stateless_multinomial", seed, logits=logits) as (_, logits):
        return raw.StatelessMultinomial(logits, num_samples, seed, output_dtype=output_dtype)


def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """`categorical` with draws that depend on nothing but `seed`, two integers."""
    with operands(name, "stateless_categorical", seed, logits=logits) as (_, logits):
        return raw.StatelessMultinomial(logits, num_samples, seed, output_dtype=dtype)
