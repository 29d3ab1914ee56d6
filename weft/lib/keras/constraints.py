"""Constraints: functions that weights are replaced by after each update."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.keras import backend as K
from weft.lib.keras.utils.generic import deserialize_keras_object, interpret, serialize_keras_object
from weft.ops.array import array
from weft.ops.math import casts, math, reduce, unary


class Constraint:
    """The base of all constraints, which constrains nothing."""

    def __call__(self, w: Any) -> Any:
        return w

    def get_config(self) -> dict[str, Any]:
        return {}


class MaxNorm(Constraint):
    """Vectors along `axis` are at most `max_value` long."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Tensor:
        norms = _norms(w, self.axis)
        return w * (K.clip(norms, 0, self.max_value) / (K.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """No weight is negative."""

    def __call__(self, w: Any) -> Tensor:
        return w * casts.cast(math.greater_equal(w, 0.0), K.floatx())


class UnitNorm(Constraint):
    """Vectors along `axis` have length 1."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Tensor:
        return w / (K.epsilon() + _norms(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Vectors along `axis` get closer, by `rate`, to lengths between the two values."""

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Tensor:
        norms = _norms(w, self.axis)
        within = K.clip(norms, self.min_value, self.max_value)
        desired = self.rate * within + (1 - self.rate) * norms
        return w * (desired / (K.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {
            "min_value": self.min_value,
            "max_value": self.max_value,
            "rate": self.rate,
            "axis": self.axis,
        }


class RadialConstraint(Constraint):
    """Kernels of a convolution depend only on the distance from their centre."""

    def __call__(self, w: Any) -> Tensor:
        if w.shape.ndims != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        height, width, channels, kernels = w.shape.as_list()
        planes = array.unstack(array.reshape(w, (height, width, channels * kernels)), axis=-1)
        constrained = array.stack([_radial(plane) for plane in planes], axis=-1)
        return array.reshape(constrained, (height, width, channels, kernels))


def _radial(kernel: Any) -> Tensor:
    """Squares around the centre, each of the value where it meets the diagonal."""
    size = int(kernel.shape[0])
    start = size // 2
    centre = kernel[start - 1 : start, start - 1 : start]
    result = centre if size % 2 else array.tile(centre, [2, 2])
    for ring in range(0 if size % 2 else 1, start):
        value = kernel[start + ring, start + ring]
        result = array.pad(result, [[1, 1], [1, 1]], constant_values=value)
    return result


def _norms(w: Any, axis: Any) -> Tensor:
    return K.sqrt(reduce.reduce_sum(unary.square(w), axis=axis, keepdims=True))


max_norm = maxnorm = MaxNorm
non_neg = nonneg = NonNeg
unit_norm = unitnorm = UnitNorm
min_max_norm = MinMaxNorm
radial_constraint = RadialConstraint


def serialize(constraint: Any) -> Any:
    """The record from which `get` makes `constraint` again."""
    return serialize_keras_object(constraint)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The constraint that a configuration describes, of Keras or among `custom_objects`."""
    return deserialize_keras_object(config, globals(), custom_objects, "constraint")


def get(identifier: Any) -> Any:
    """The constraint meant by a name, a record {class_name, config}, or itself."""
    if isinstance(identifier, str):
        identifier = {"class_name": identifier, "config": {}}
    return interpret(identifier, "constraint", deserialize)
