"""Learning rates that fall as the global step grows.

In eager execution they are functions without arguments, which give the rate of the step that is.
"""

from __future__ import annotations

import functools
import math as _math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.convert import constant, convert_n_to_tensor, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.control.case import case
from weft.ops.control.cond import cond
from weft.ops.kit.eager import executing_eagerly
from weft.ops.math import math
from weft.ops.random import random


@dataclass
class _Schedule:
    """The scope of a schedule and the rate it begins with."""

    scope: str
    rate: Tensor

    def cast(self, x: Any) -> Tensor:
        """As a number of the rate's type."""
        return math.cast(x, self.rate.dtype)

    def progress(
        self, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool
    ) -> tuple[Tensor, Tensor]:
        """(`decay_rate`, how often `decay_steps` have passed)"""
        steps, factor = self.cast(decay_steps), self.cast(decay_rate)
        passed = self.cast(global_step) / steps
        return factor, math.floor(passed) if staircase else passed


@contextmanager
def _schedule(name: str, learning_rate: Any) -> Iterator[_Schedule]:
    with name_scope(name) as scope:
        yield _Schedule(scope, convert_to_tensor(learning_rate, name="initial_learning_rate"))


_Decay = TypeVar("_Decay", bound=Callable[..., Any])


def _by_the_step(function: _Decay) -> _Decay:
    """Decorator: in eager execution the rate is computed whenever it is asked for."""

    @functools.wraps(function)
    def decay(*args: Any, **kwargs: Any) -> Any:
        later = functools.partial(function, *args, **kwargs)
        return later if executing_eagerly() else later()

    return cast(_Decay, decay)


def rate_now(decay: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
    """The rate that a decay gives for the step as it is now."""
    rate = decay(*args, **kwargs)
    return cast(Tensor, rate() if executing_eagerly() else rate)


def _require(global_step: Any, message: str) -> None:
    if global_step is None:
        raise ValueError(message)


@_by_the_step
def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`.

    Args:
        learning_rate: the rate at step 0.
        global_step: a step counter.
        decay_steps: after so many steps the rate has been multiplied by `decay_rate` once.
        decay_rate: a factor.
        staircase: whether it changes only every `decay_steps`.
        name: of the operations.

    Returns:
        A scalar tensor of the type of `learning_rate`.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> float(session.run(tf.train.exponential_decay(1.0, 25, 10, 0.5, staircase=True)))
        0.25
    """
    with _schedule(name or "ExponentialDecay", learning_rate) as s:
        factor, passed = s.progress(global_step, decay_steps, decay_rate, staircase)
        return math.multiply(s.rate, math.pow(factor, passed), name=s.scope)


@_by_the_step
@with_parameters_of(exponential_decay)
def natural_exp_decay(decay_rate: Any, **arguments: Any) -> Tensor:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`."""
    factor = math.exp(math.negative(decay_rate))
    return rate_now(exponential_decay, decay_rate=factor, **arguments)


@_by_the_step
@with_parameters_of(exponential_decay)
def inverse_time_decay(learning_rate: Any, name: str | None, **arguments: Any) -> Tensor:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`."""
    with _schedule(name or "InverseTimeDecay", learning_rate) as s:
        factor, passed = s.progress(**arguments)
        one = s.cast(constant(1))
        return math.divide(s.rate, math.add(one, math.multiply(factor, passed)), name=s.scope)


@_by_the_step
def piecewise_constant(x: Any, boundaries: Any, values: Any, name: str | None = None) -> Tensor:
    """`values[i]` while `x` is above boundary i - 1 and not above boundary i."""
    boundaries = convert_n_to_tensor(boundaries)
    values = convert_n_to_tensor(values)
    x_tensor = convert_to_tensor(x)
    dtype = x_tensor.dtype.base_dtype
    for i, boundary in enumerate(boundaries):
        found = boundary.dtype.base_dtype
        if found != dtype:
            if not (found == dtypes.int32 and dtype == dtypes.int64):
                raise ValueError(f"Boundaries ({found}) must have the same dtype as x ({dtype}).")
            boundaries[i] = math.cast(boundary, dtype)
    for value in values[1:]:
        if value.dtype.base_dtype != values[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({values[0].dtype.base_dtype} vs {value.dtype.base_dtype})."
            )
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name or "PiecewiseConstant"):
        return piece_at(convert_to_tensor(x), boundaries, values)


def piece_at(x: Tensor, boundaries: list[Tensor], values: list[Tensor]) -> Tensor:
    """The value between the boundaries that are around `x`."""
    branches = [
        (x <= boundaries[0], _always(values[0])),
        (x > boundaries[-1], _always(values[-1])),
    ]
    between = zip(boundaries[:-1], boundaries[1:], values[1:-1], strict=True)
    for low, high, value in between:
        branches.append(((x > low) & (x <= high), _always(value)))
    return case(branches, default=_always(values[0]), exclusive=True)


piecewise_constant_decay = piecewise_constant


def _always(value: Tensor) -> Any:
    return lambda: value


@_by_the_step
def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From `learning_rate` to `end_learning_rate` in `decay_steps`, as a power of what is left.

    `cycle` stretches `decay_steps` to the next multiple when they have passed.

    Args:
        learning_rate: the rate at step 0.
        global_step: a step counter.
        decay_steps: when the end is reached.
        end_learning_rate: the rate at the end.
        power: 1 is a straight line.
        cycle: see above.
        name: of the operations.

    Returns:
        A scalar tensor of the type of `learning_rate`.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> float(session.run(tf.train.polynomial_decay(1.0, 50, 100, end_learning_rate=0.0)))
        0.5
    """
    with _schedule(name or "PolynomialDecay", learning_rate) as s:
        end, exponent = s.cast(end_learning_rate), s.cast(power)
        step, steps = s.cast(global_step), s.cast(decay_steps)
        if cycle:
            periods = cond(math.equal(step, 0), lambda: 1.0, lambda: math.ceil(step / decay_steps))
            steps = math.multiply(steps, periods)
        else:
            step = math.minimum(step, decay_steps)
        done, whole = math.divide(step, steps), s.rate - end
        left = math.pow(1 - done, exponent)
        return math.add(math.multiply(whole, left), end, name=s.scope)


@_by_the_step
def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a cosine wave from `learning_rate` down to `alpha` times it."""
    with _schedule(name or "CosineDecay", learning_rate) as s:
        steps = s.cast(decay_steps)
        done = math.minimum(s.cast(global_step), steps) / steps
        wave = 0.5 * (1.0 + math.cos(constant(_math.pi) * done))
        return math.multiply(s.rate, (1 - alpha) * wave + alpha)


@_by_the_step
def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine waves one after the other, each `t_mul` as long and `m_mul` as high as the last."""
    _require(global_step, "cosine decay restarts requires global_step")
    with _schedule(name or "SGDRDecay", learning_rate) as s:
        first, alpha = s.cast(first_decay_steps), s.cast(alpha)
        t_mul, m_mul = s.cast(t_mul), s.cast(m_mul)
        done = s.cast(global_step) / first

        def equal_waves() -> tuple[Tensor, Tensor]:
            wave = math.floor(done)
            return wave, done - wave

        def growing_waves() -> tuple[Tensor, Tensor]:
            wave = math.floor(_waves_passed(done, t_mul))
            before = (1.0 - t_mul**wave) / (1.0 - t_mul)
            return wave, (done - before) / t_mul**wave

        wave, done_of_wave = cond(math.equal(t_mul, 1.0), equal_waves, growing_waves)
        height = 0.5 * m_mul**wave * (1.0 + math.cos(constant(_math.pi) * done_of_wave))
        return math.multiply(s.rate, (1 - alpha) * height + alpha, name=s.scope)


def _waves_passed(done: Tensor, growth: Tensor) -> Tensor:
    """How many waves, each `growth` as long as the last, are as long as `done` first ones."""
    return math.log(1.0 - done * (1.0 - growth)) / math.log(growth)


@_by_the_step
def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """`(alpha + linear) * cosine + beta` times `learning_rate`, with `num_periods` waves."""
    _require(global_step, "global_step is required for linear_cosine_decay.")
    with _schedule(name or "LinearCosineDecay", learning_rate) as s:
        steps, periods = s.cast(decay_steps), s.cast(num_periods)
        alpha, beta = s.cast(alpha), s.cast(beta)
        step = math.minimum(s.cast(global_step), steps)
        linear = (steps - step) / steps
        wave = _periodic_cosine(step / steps, periods)
        return math.multiply(s.rate, (alpha + linear) * wave + beta, name=s.scope)


@_by_the_step
def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """`linear_cosine_decay` with normal noise of falling variance on its linear part."""
    _require(global_step, "global_step is required for noisy_linear_cosine_decay.")
    with _schedule(name or "NoisyLinearCosineDecay", learning_rate) as s:
        steps, first_variance = s.cast(decay_steps), s.cast(initial_variance)
        fall, periods = s.cast(variance_decay), s.cast(num_periods)
        alpha, beta = s.cast(alpha), s.cast(beta)
        step = math.minimum(s.cast(global_step), steps)
        linear = (steps - step) / steps
        stddev = math.sqrt(first_variance / math.pow(1.0 + step, fall))
        noisy = linear + random.random_normal(linear.shape, stddev=stddev)
        wave = _periodic_cosine(step / steps, periods)
        return math.multiply(s.rate, (alpha + noisy) * wave + beta, name=s.scope)


def _periodic_cosine(done: Tensor, periods: Tensor) -> Tensor:
    turns = 2.0 * periods * done
    return 0.5 * (1.0 + math.cos(constant(_math.pi) * turns))
