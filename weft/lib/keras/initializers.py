"""Initializers by name, with Keras's narrower defaults where they are random."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.lib.keras.utils.generic import deserialize_keras_object, interpret, serialize_keras_object
from weft.ops.state import initializers as ops
from weft.ops.state.initializers import (  # noqa: F401
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    VarianceScaling,
    Zeros,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)


class RandomUniform(ops.RandomUniform):
    """Uniform between `minval` and `maxval`."""

    def __init__(
        self,
        minval: Any = -0.05,
        maxval: Any = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(minval=minval, maxval=maxval, seed=seed, dtype=dtype)


class _NarrowNormal(ops._Normal):
    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)


class RandomNormal(_NarrowNormal, ops.RandomNormal):
    """Normal around `mean`."""


class TruncatedNormal(_NarrowNormal, ops.TruncatedNormal):
    """Normal around `mean`, redrawn beyond two standard deviations."""


zero = zeros = Zeros
one = ones = Ones
constant = Constant
uniform = random_uniform = RandomUniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
identity = Identity
orthogonal = Orthogonal
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform

# Names of functions that make an initializer.
_MAKERS = ("he_normal", "he_uniform", "lecun_normal", "lecun_uniform")


def serialize(initializer: Any) -> Any:
    """The record from which `get` makes `initializer` again."""
    return serialize_keras_object(initializer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The initializer that a configuration describes, of Keras or among `custom_objects`."""
    return deserialize_keras_object(config, globals(), custom_objects, "initializer")


def get(identifier: Any) -> Any:
    """The initializer meant by a name, a record {class_name, config}, a class, or itself."""
    if isinstance(identifier, type):
        return identifier()
    return interpret(identifier, "initializer", deserialize, _MAKERS)
