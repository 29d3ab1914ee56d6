"""Statistics of samples, averages that move, posteriors of normal means, and streams of seeds."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, control_dependencies, name_scope
from weft.graph.keys import GraphKeys
from weft.lib.distributions.checks import checked
from weft.lib.distributions.normal import Normal
from weft.lib.distributions.sample_shapes import static_rank
from weft.lib.signal.fourier import fft, ifft
from weft.ops.array import array
from weft.ops.control.check import assert_greater_equal, assert_less_equal
from weft.ops.control.check_shapes import assert_rank
from weft.ops.control.check_types import assert_integer
from weft.ops.math import math
from weft.ops.math.clip import clip_by_value
from weft.ops.nn.activations import top_k
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.updates import assign_add, assign_sub
from weft.ops.state.variable_scope import get_variable, variable_scope

# ---- of samples ----------------------------------------------------------------------------------


def _axis_last(x: Tensor, axis: Any, rank: Any) -> tuple[Tensor, Any]:
    """`x` with its axes turned so that one is the last, and the way back."""
    there, back = (
        array.concat([math.range(at, rank), math.range(0, at)], 0)
        for at in (axis + 1, rank - 1 - axis)
    )
    return array.transpose(x, there), back


def auto_correlation(
    x: Any, axis: int = -1, max_lags: Any = None, center: bool = True, normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:  # fmt: skip
    """How like itself a series is, shifted by 0, 1, ... `max_lags`."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not (x.dtype.is_floating or x.dtype.is_complex):
            raise TypeError(f"Argument x must have either float or complex dtype found: {x.dtype}")
        rank = static_rank(x)
        turned, back = _axis_last(x, rank + axis if axis < 0 else axis, rank)
        if center:
            turned -= math.reduce_mean(turned, axis=-1, keepdims=True)
        length = array.shape(turned)[-1]
        zeros = array.zeros_like(turned)  # twice the length: a shift must not come around again
        padded = array.concat([turned, zeros], axis=-1)
        if not x.dtype.is_complex:
            padded = math.complex(padded, array.zeros_like(padded))
        spectrum = fft(padded)
        products = ifft(spectrum * math.conj(spectrum))
        products = products if x.dtype.is_complex else math.real(products)
        lags = length - 1 if max_lags is None else math.minimum(length - 1, max_lags)
        counts = math.cast(length - math.range(lags + 1), x.dtype)
        means = products[..., : lags + 1] / counts
        if normalize:
            means /= means[..., :1]
        found = array.transpose(means, back)
        return _with_known_lags(found, x, axis, max_lags)


def _with_known_lags(found: Tensor, x: Tensor, axis: int, max_lags: Any) -> Tensor:
    if x.dims is not None:
        dims = list(x.dims)
        asked = None if max_lags is None else constant_value(convert_to_tensor(max_lags))
        size = dims[axis]
        if max_lags is not None:
            dims[axis] = None if asked is None or size is None else min(size, int(asked) + 1)
        found.set_shape(dims)
    return found


_ROUNDING = {"lower": math.ceil, "higher": math.floor, "nearest": math.round}


def percentile(
    x: Any, q: Any, axis: Any = None, interpolation: str | None = None, keep_dims: bool = False,
    validate_args: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The element that `q` percent of the others are below, over some axes or all."""
    interpolation = interpolation or "nearest"
    if interpolation not in _ROUNDING:
        raise ValueError(
            f"Argument 'interpolation' must be in {set(_ROUNDING)}.  Found {interpolation}"
        )
    with name_scope(name or "percentile", values=[x, q]):
        x = convert_to_tensor(x, name="x")
        q = math.cast(q, dtypes.float64, name="q")
        if q.shape.ndims not in (None, 0):
            raise ValueError(f"Expected argument 'q' to have 0 ndims.  Found: {q}")
        q = checked(
            validate_args, q,
            lambda: [
                assert_rank(q, 0),
                assert_greater_equal(q, math.cast(0.0, dtypes.float64)),
                assert_less_equal(q, math.cast(100.0, dtypes.float64)),
            ],
        )  # fmt: skip
        axes = None if axis is None else _static_axes(axis, x)
        rows = array.reshape(x, [-1]) if axes is None else _flattened(x, axes)
        found = _element(rows, q, interpolation)
        if not keep_dims:
            return found
        if axes is None:
            return array.reshape(found, array.ones([array.rank(x)], dtypes.int32))
        for each in sorted(axes):
            found = array.expand_dims(found, each)
        return found


def _static_axes(axis: Any, x: Tensor) -> list[int]:
    axis = convert_to_tensor(axis, name="axis")
    assert_integer(axis)
    known = constant_value(axis)
    if known is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    if x.shape.ndims is None:
        raise ValueError(f"Expected static ndims.  Found: {x}")
    return [int(each) % x.shape.ndims for each in np.ravel(known)]


def _flattened(x: Tensor, axes: list[int]) -> Tensor:
    """`x` with `axes` as one, the last."""
    rank = len(x.shape)
    kept = [axis for axis in range(rank) if axis not in axes]
    moved = array.transpose(x, kept + axes)
    shape = array.concat([array.shape(moved)[: len(kept)], [-1]], 0)
    return array.reshape(moved, shape)


def _element(rows: Tensor, q: Tensor, interpolation: str) -> Tensor:
    count = array.shape(rows)[-1]
    place = math.cast(count - 1, dtypes.float64) * (1.0 - q / 100.0)
    index = math.cast(_ROUNDING[interpolation](place), dtypes.int32)
    largest_first = top_k(rows, k=count, sorted=True)[0]
    found = largest_first[..., clip_by_value(index, 0, count - 1)]
    found.set_shape(rows.shape[:-1])
    return found


# ---- averages that move --------------------------------------------------------------------------


def _float_kind(variable: Any, name: str) -> Any:
    """The type of what is averaged."""
    kind = variable.dtype.base_dtype
    if not kind.is_floating:
        raise TypeError(f"{name}.base_dtype({kind.name}) does not have float type `dtype`.")
    return kind


def _tensors(kind: Any, **given: Any) -> list[Tensor]:
    return [convert_to_tensor(value, dtype=kind, name=name) for name, value in given.items()]


def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None
) -> Any:
    """Moves a mean and a variance towards `value`, by 1 - decay of the way."""
    values = [variance_var, mean_var, value, decay]
    with name_scope(name, "assign_moving_mean_variance", values):
        with colocate_with(variance_var), colocate_with(mean_var):
            kind, other = _float_kind(mean_var, "mean_var"), variance_var.dtype.base_dtype
            if kind != other:
                raise TypeError(
                    f"mean_var.base_dtype({kind.name}) != variance_var.base_dtype({other.name})"
                )
            value, decay = _tensors(kind, value=value, decay=decay)
            delta = value - mean_var
            with control_dependencies([delta]):
                mean = assign_add(mean_var, (1.0 - decay) * delta)
                less = variance_var - decay * math.square(delta)
                return mean, assign_sub(variance_var, (1.0 - decay) * less)


def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None
) -> Any:
    """Moves the logarithm of a mean towards that of a value, by 1 - decay of the way."""
    values = [log_mean_exp_var, log_value, decay]
    with name_scope(name, "assign_log_moving_mean_exp", values), colocate_with(log_mean_exp_var):
        kind = _float_kind(log_mean_exp_var, "log_mean_exp_var")
        given, decay = _tensors(kind, log_value=log_value, decay=decay)
        ahead = given - log_mean_exp_var
        old = math.log(decay) * array.ones_like(ahead)
        shares = array.stack([old, ahead + math.log1p(-decay)])
        return log_mean_exp_var.assign_add(math.reduce_logsumexp(shares, axis=0))


def moving_mean_variance(
    value: Any, decay: Any, collections: Any = None, name: str | None = None
) -> Any:
    """A mean and a variance of `value` that move with it, in variables of their own."""
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        (decay,) = _tensors(_float_kind(value, "value"), decay=decay)
        options = {
            "shape": value.shape, "dtype": value.dtype, "initializer": zeros_initializer(),
            "trainable": False,
            "collections": [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections,
        }  # fmt: skip
        variance = get_variable("moving_variance", **options)
        mean = get_variable("moving_mean", **options)
        return assign_moving_mean_variance(mean, variance, value, decay)


# ---- posteriors ----------------------------------------------------------------------------------


def _posterior(prior: Any, scale: Any, s: Tensor, n: Any) -> tuple[Tensor, Tensor]:
    """(mean, variance) of a mean after `n` observations that sum to `s`."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        kinds = f"{s.dtype} vs. {prior.dtype}"
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {kinds}")
    before, each = (math.square(width) for width in (prior.scale, scale))
    precision = 1 / before + math.cast(n, prior.dtype) / each
    variance = 1.0 / precision
    return (prior.loc / before + s / each) * variance, variance


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The posterior of a mean after `n` observations of known scale that sum to `s`."""
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=math.sqrt(variance))


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the next observation after `n` that sum to `s`."""
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=math.sqrt(variance + math.square(scale)))


# ---- seeds ---------------------------------------------------------------------------------------


class SeedStream:
    """Calls give one seed after the other, all of them following from the first and a salt."""

    def __init__(self, seed: Any, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt))
        return int.from_bytes(hashlib.sha512(text.encode()).digest(), "big")

    @property
    def original_seed(self) -> Any:
        """The seed it was made with."""
        return self._seed

    @property
    def salt(self) -> str:
        """The text that tells this stream from others of the same seed."""
        return self._salt
