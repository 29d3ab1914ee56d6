"""Learning rates as functions of the step, in objects that can be written down."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_n_to_tensor, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.keras.utils.generic import deserialize_keras_object, serialize_keras_object
from weft.lib.train.optimizers import learning_rate_decay as decay
from weft.ops.math import casts


class LearningRateSchedule:
    """Base of all schedules: a subclass has `__call__(step)` and `get_config()`."""

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


class _Decay(LearningRateSchedule):
    """A function of `tf.train` with all of its arguments but the step, which comes later.

    A subclass names the function, and takes its arguments.
    """

    _function: Callable[..., Tensor]

    def __init_subclass__(cls, function: Callable[..., Tensor] | None = None) -> None:
        if function is None:  # of a program's own, which takes after its base
            return
        cls._function = staticmethod(function)
        rate, _, *rest = inspect.signature(function).parameters.values()
        own = [rate.replace(name="initial_learning_rate"), *rest]
        cls.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = inspect.signature(type(self)).bind(*args, **kwargs)
        given.apply_defaults()
        self._arguments = dict(given.arguments)
        vars(self).update(self._arguments)

    def __call__(self, step: Any) -> Tensor:
        rate, *rest = self._arguments.values()
        return decay.rate_now(self._function, rate, step, *rest)

    def get_config(self) -> dict[str, Any]:
        return dict(self._arguments)


class ExponentialDecay(_Decay, function=decay.exponential_decay):
    """A factor of `decay_rate` every `decay_steps`."""


class InverseTimeDecay(_Decay, function=decay.inverse_time_decay):
    """Over one and `decay_rate` more every `decay_steps`."""


class PolynomialDecay(_Decay, function=decay.polynomial_decay):
    """Down to `end_learning_rate` in `decay_steps`, as a power of what is left."""


class CosineDecay(_Decay, function=decay.cosine_decay):
    """Half a cosine wave down to `alpha` times the rate."""


class CosineDecayRestarts(_Decay, function=decay.cosine_decay_restarts):
    """Cosine waves one after the other, each `t_mul` as long and `m_mul` as high."""


class LinearCosineDecay(_Decay, function=decay.linear_cosine_decay):
    """A falling line times a cosine."""


class NoisyLinearCosineDecay(_Decay, function=decay.noisy_linear_cosine_decay):
    """`LinearCosineDecay` with normal noise of falling variance on its line."""


class PiecewiseConstantDecay(LearningRateSchedule):
    """`values[i]` between boundaries i - 1 and i."""

    def __init__(self, boundaries: Any, values: Any, name: str | None = None) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Tensor:
        with name_scope(self.name or "PiecewiseConstant"):
            step = convert_to_tensor(step)
            boundaries = convert_n_to_tensor(self.boundaries)
            values = convert_n_to_tensor(self.values)
            boundaries = [casts.cast(each, step.dtype.base_dtype) for each in boundaries]
            return decay.piece_at(step, boundaries, values)

    def get_config(self) -> dict[str, Any]:
        return {"boundaries": self.boundaries, "values": self.values, "name": self.name}


def serialize(learning_rate_schedule: Any) -> Any:
    """The record from which `deserialize` makes the schedule again."""
    return serialize_keras_object(learning_rate_schedule)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The learning rate schedule that a configuration describes."""
    return deserialize_keras_object(config, globals(), custom_objects, "decay")
