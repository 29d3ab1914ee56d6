"""Initializers: functions of (shape, dtype, partition_info) that give a variable its start."""

from __future__ import annotations

import math as _math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.ops.array import array, diag
from weft.ops.math import indexing, math
from weft.ops.random import random


class Initializer:
    """An object that makes initial values; `get_config` and `from_config` rebuild it."""

    dtype: Any
    # The attributes that `get_config` gives beside the type.
    _settings: tuple[str, ...] | None = None

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        if self._settings is None:
            return {}
        return {name: getattr(self, name) for name in self._settings} | {"dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


class Zeros(Initializer):
    """Initial values that are all 0.

    Args:
        dtype: the type, where none is asked for.

    Example:
        >>> session.run(tf.zeros_initializer()([2]))
        array([0., 0.], dtype=float32)
    """

    _settings = ()

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array.zeros(shape, self.dtype if dtype is None else dtype)


class Ones(Initializer):
    """Initial values that are all 1.

    Args:
        dtype: the type, where none is asked for.

    Example:
        >>> session.run(tf.ones_initializer()([2]))
        array([1., 1.], dtype=float32)
    """

    _settings = ()

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array.ones(shape, self.dtype if dtype is None else dtype)


class Constant(Initializer):
    """A given value or array; too short a list is filled up with its last element.

    Args:
        value: a number, list or array.
        dtype: the type, where none is asked for.
        verify_shape: whether a value of another shape is an error.

    Raises:
        TypeError: the value is no number, list or array.

    Example:
        >>> session.run(tf.constant_initializer([1, 2, 3])([2, 2]))
        array([[1., 2.],
               [3., 3.]], dtype=float32)
    """

    _settings = ("value",)  # kept as it was given: configurations are not only for JSON

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        if not (isinstance(value, list | tuple | np.ndarray) or np.isscalar(value)):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or "
                "tuple of values, or numpy.ndarray)."
            )
        self.value, self._verify_shape, self.dtype = value, verify_shape, dtypes.as_dtype(dtype)

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: Any = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        return constant(
            self.value,
            dtype=self.dtype if dtype is None else dtype,
            shape=shape,
            verify_shape=self._verify_shape if verify_shape is None else verify_shape,
        )


class RandomUniform(Initializer):
    """Draws from all numbers between `minval` and `maxval` alike.

    Args:
        minval: the smallest.
        maxval: above the largest; None: 1, for floating-point numbers.
        seed: makes the draw repeatable.
        dtype: the type, where none is asked for.

    Example:
        >>> drawn = session.run(tf.random_uniform_initializer(-1, 1)([1000]))
        >>> bool(abs(drawn).max() <= 1)
        True
    """

    _settings = ("minval", "maxval", "seed")

    def __init__(
        self,
        minval: Any = 0,
        maxval: Any = None,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random.random_uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)


class _Normal(Initializer):
    _settings = ("mean", "stddev", "seed")

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = _float_dtype(dtype)


class RandomNormal(_Normal):
    """Draws from a normal distribution around `mean`.

    Args:
        mean: of the distribution.
        stddev: its standard deviation.
        seed: makes the draw repeatable.
        dtype: the type, where none is asked for.

    Raises:
        ValueError: the type is not floating point.

    Example:
        >>> session.run(tf.random_normal_initializer(mean=1.0, stddev=0.0)([2]))
        array([1., 1.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random.random_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class TruncatedNormal(_Normal):
    """Draws from a normal distribution around `mean`, again if beyond two standard deviations.

    Args:
        mean: of the distribution.
        stddev: its standard deviation, before the ends are cut off.
        seed: makes the draw repeatable.
        dtype: the type, where none is asked for.

    Raises:
        ValueError: the type is not floating point.

    Example:
        >>> drawn = session.run(tf.truncated_normal_initializer(stddev=0.5)([1000]))
        >>> bool(abs(drawn).max() <= 1)
        True
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random.truncated_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class UniformUnitScaling(Initializer):
    """Uniform, scaled so that a layer keeps the variance of its input."""

    _settings = ("factor", "seed")

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        self.factor, self.seed, self.dtype = factor, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = shape if partition_info is None else partition_info.full_shape
        inputs = max(_math.prod(float(d) for d in whole[:-1]), 1.0)
        limit = _math.sqrt(3 / inputs) * self.factor
        dtype = self.dtype if dtype is None else dtype
        return random.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


_CHOICES = {
    "mode": ("fan_in", "fan_out", "fan_avg"),
    "distribution": ("normal", "uniform", "truncated_normal", "untruncated_normal"),
}
# A standard normal cut off at two standard deviations has this standard deviation.
_TRUNCATED_STDDEV = 0.87962566103423978


class VarianceScaling(Initializer):
    """Random with a variance of `scale` over the number of inputs, outputs, or their mean.

    Args:
        scale: a positive factor.
        mode: what to divide by: "fan_in", "fan_out" or "fan_avg".
        distribution: "truncated_normal", "untruncated_normal" or "uniform".
        seed: makes the draw repeatable.
        dtype: the type, where none is asked for.

    Raises:
        ValueError: an argument is not one of these.

    Example:
        >>> drawn = session.run(tf.variance_scaling_initializer(distribution="uniform")([300, 10]))
        >>> bool(abs(drawn).max() <= 0.1)
        True
    """

    _settings: tuple[str, ...] | None = ("scale", "mode", "distribution", "seed")

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        self.scale, self.mode, self.distribution = scale, mode, distribution.lower()
        for name, known in _CHOICES.items():
            if (chosen := getattr(self, name)) not in known:
                raise ValueError(f"Invalid `{name}` argument:", chosen)
        self.seed, self.dtype = seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        fan_in, fan_out = _fans(shape if partition_info is None else partition_info.full_shape)
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}
        scale = self.scale / max(1.0, fans[self.mode])
        stddev, limit = _math.sqrt(scale), _math.sqrt(3.0 * scale)
        draw, first, second = {
            "uniform": (random.random_uniform, -limit, limit),
            "untruncated_normal": (random.random_normal, 0.0, stddev),
        }.get(self.distribution, (random.truncated_normal, 0.0, stddev / _TRUNCATED_STDDEV))
        return draw(shape, first, second, dtype, seed=self.seed)


class GlorotUniform(VarianceScaling):
    """Uniform with variance 2 / (inputs + outputs): what `get_variable` uses by default.

    As in TensorFlow 1.15, `dtype` has no effect: it is float32 unless the call asks for another.
    """

    _settings = ("seed",)

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(mode="fan_avg", distribution="uniform", seed=seed)


class GlorotNormal(VarianceScaling):
    """Truncated normal with variance 2 / (inputs + outputs); `dtype` has no effect, as above."""

    _settings = ("seed",)

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(mode="fan_avg", distribution="truncated_normal", seed=seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Normal with a variance of 1 over the number of inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed=seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform with a variance of 1 over the number of inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed=seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Normal with a variance of 2 over the number of inputs, for layers with `relu`."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed=seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform with a variance of 2 over the number of inputs, for layers with `relu`."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed=seed)


class _Orthogonal(Initializer):
    _settings = ("gain", "seed")

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        self.gain, self.seed, self.dtype = gain, seed, _float_dtype(dtype)


class Orthogonal(_Orthogonal):
    """A random orthogonal matrix; shapes of higher rank are flattened to (all but last, last)."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = _math.prod(int(d) for d in shape[:-1]), int(shape[-1])
        dtype = self.dtype if dtype is None else dtype
        q = _orthonormal(max(rows, columns), min(rows, columns), dtype, self.seed)
        if rows < columns:
            q = array.matrix_transpose(q)
        return self.gain * array.reshape(q, shape)


class ConvolutionDeltaOrthogonal(_Orthogonal):
    """An orthogonal matrix at the centre of a convolution kernel that is zero elsewhere."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        if not 3 <= len(shape) <= 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at most "
                "five-dimensional"
            )
        if shape[-2] > shape[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        dtype = self.dtype if dtype is None else dtype
        q = _orthonormal(shape[-1], shape[-1], dtype, self.seed)
        q = q[: shape[-2], :] * math.cast(self.gain, dtype)
        centre = [[(size - 1) // 2 for size in shape[:-2]]]
        return indexing.scatter_nd(centre, array.expand_dims(q, 0), shape)


class Identity(Initializer):
    """The identity matrix, times `gain`."""

    _settings = ("gain",)

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        self.gain, self.dtype = gain, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = shape if partition_info is None else partition_info.full_shape
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        if isinstance(whole, TensorShape):
            whole = whole.as_list()
        from weft.ops.linalg import linalg

        value = linalg.eye(whole[0], whole[1], dtype=self.dtype if dtype is None else dtype)
        if partition_info is not None:
            value = indexing.slice(value, partition_info.var_offset, shape)
        return self.gain * value


def _orthonormal(rows: int, columns: int, dtype: Any, seed: int | None) -> Tensor:
    """Random orthonormal columns. The signs are those that make the distribution uniform."""
    q, r = raw.Qr(
        random.random_normal((rows, columns), dtype=dtype, seed=seed), full_matrices=False
    )
    return q * math.sign(diag.diag_part(r))


def _fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs each unit of a weight of this shape has."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return int(shape[0]), int(shape[0])
    window = _math.prod(int(d) for d in shape[:-2])
    return int(shape[-2]) * window, int(shape[-1]) * window


def _float_dtype(dtype: Any) -> dtypes.DType:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
identity_initializer = Identity
convolutional_delta_orthogonal = ConvolutionDeltaOrthogonal
