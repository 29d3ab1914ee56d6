"""Learning rates that fall as the global step grows."""

from __future__ import annotations

import math as _math
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_n_to_tensor, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops import math, random
from weft.ops.case import case
from weft.ops.cond import cond


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`."""
    if global_step is None:
        raise ValueError("global_step is required for exponential_decay.")
    with name_scope(name or "ExponentialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps, factor = math.cast(decay_steps, rate.dtype), math.cast(decay_rate, rate.dtype)
        progress = math.cast(global_step, rate.dtype) / steps
        if staircase:
            progress = math.floor(progress)
        return math.multiply(rate, math.pow(factor, progress), name=scope)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`."""
    factor = math.exp(math.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`."""
    if global_step is None:
        raise ValueError("global_step is required for inverse_time_decay.")
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps, factor = math.cast(decay_steps, rate.dtype), math.cast(decay_rate, rate.dtype)
        progress = math.cast(global_step, rate.dtype) / steps
        if staircase:
            progress = math.floor(progress)
        one = math.cast(constant(1), rate.dtype)
        return math.divide(rate, math.add(one, math.multiply(factor, progress)), name=scope)


def piecewise_constant(x: Any, boundaries: Any, values: Any, name: str | None = None) -> Tensor:
    """`values[i]` while `x` is above boundary i - 1 and not above boundary i."""
    x_tensor = convert_to_tensor(x)
    boundaries = convert_n_to_tensor(boundaries)
    values = convert_n_to_tensor(values)
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
        x_tensor = convert_to_tensor(x)
        branches = [
            (x_tensor <= boundaries[0], _always(values[0])),
            (x_tensor > boundaries[-1], _always(values[-1])),
        ]
        between = zip(boundaries[:-1], boundaries[1:], values[1:-1], strict=True)
        for low, high, value in between:
            branches.append(((x_tensor > low) & (x_tensor <= high), _always(value)))
        return case(branches, default=_always(values[0]), exclusive=True)


piecewise_constant_decay = piecewise_constant


def _always(value: Tensor) -> Any:
    return lambda: value


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
    """
    if global_step is None:
        raise ValueError("global_step is required for polynomial_decay.")
    with name_scope(name or "PolynomialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = rate.dtype
        end, exponent = math.cast(end_learning_rate, dtype), math.cast(power, dtype)
        step, steps = math.cast(global_step, dtype), math.cast(decay_steps, dtype)
        if cycle:
            periods = cond(math.equal(step, 0), lambda: 1.0, lambda: math.ceil(step / decay_steps))
            steps = math.multiply(steps, periods)
        else:
            step = math.minimum(step, decay_steps)
        left = math.pow(1 - math.divide(step, steps), exponent)
        return math.add(math.multiply(rate - end, left), end, name=scope)


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a cosine wave from `learning_rate` down to `alpha` times it."""
    if global_step is None:
        raise ValueError("cosine decay requires global_step")
    with name_scope(name or "CosineDecay"):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = math.cast(decay_steps, rate.dtype)
        done = math.minimum(math.cast(global_step, rate.dtype), steps) / steps
        wave = 0.5 * (1.0 + math.cos(constant(_math.pi) * done))
        return math.multiply(rate, (1 - alpha) * wave + alpha)


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
    if global_step is None:
        raise ValueError("cosine decay restarts requires global_step")
    with name_scope(name or "SGDRDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = rate.dtype
        first, alpha = math.cast(first_decay_steps, dtype), math.cast(alpha, dtype)
        t_mul, m_mul = math.cast(t_mul, dtype), math.cast(m_mul, dtype)
        done = math.cast(global_step, dtype) / first

        def equal_waves() -> tuple[Tensor, Tensor]:
            wave = math.floor(done)
            return wave, done - wave

        def growing_waves() -> tuple[Tensor, Tensor]:
            wave = math.floor(math.log(1.0 - done * (1.0 - t_mul)) / math.log(t_mul))
            before = (1.0 - t_mul**wave) / (1.0 - t_mul)
            return wave, (done - before) / t_mul**wave

        wave, done_of_wave = cond(math.equal(t_mul, 1.0), equal_waves, growing_waves)
        height = 0.5 * m_mul**wave * (1.0 + math.cos(constant(_math.pi) * done_of_wave))
        return math.multiply(rate, (1 - alpha) * height + alpha, name=scope)


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
    if global_step is None:
        raise ValueError("global_step is required for linear_cosine_decay.")
    with name_scope(name or "LinearCosineDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = rate.dtype
        steps, periods = math.cast(decay_steps, dtype), math.cast(num_periods, dtype)
        alpha, beta = math.cast(alpha, dtype), math.cast(beta, dtype)
        step = math.minimum(math.cast(global_step, dtype), steps)
        linear = (steps - step) / steps
        wave = _periodic_cosine(step / steps, periods)
        return math.multiply(rate, (alpha + linear) * wave + beta, name=scope)


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
    if global_step is None:
        raise ValueError("global_step is required for noisy_linear_cosine_decay.")
    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = rate.dtype
        steps, first_variance = math.cast(decay_steps, dtype), math.cast(initial_variance, dtype)
        fall, periods = math.cast(variance_decay, dtype), math.cast(num_periods, dtype)
        alpha, beta = math.cast(alpha, dtype), math.cast(beta, dtype)
        step = math.minimum(math.cast(global_step, dtype), steps)
        linear = (steps - step) / steps
        stddev = math.sqrt(first_variance / math.pow(1.0 + step, fall))
        noisy = linear + random.random_normal(linear.shape, stddev=stddev)
        wave = _periodic_cosine(step / steps, periods)
        return math.multiply(rate, (alpha + noisy) * wave + beta, name=scope)


def _periodic_cosine(done: Tensor, periods: Tensor) -> Tensor:
    return 0.5 * (1.0 + math.cos(constant(_math.pi) * (2.0 * periods * done)))
