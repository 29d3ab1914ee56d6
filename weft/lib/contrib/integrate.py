"""tf.contrib.integrate: ordinary differential equations, by steps of fixed or of adapted size."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.control.control import Assert
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts, math, reduce, unary

__all__ = ["odeint", "odeint_fixed"]

Derivative = Callable[[Tensor, Tensor], Tensor]

# Dormand and Prince's method: when each stage is, what it is made of, and what is made of them.
_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_LAST = (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_STAGES: tuple[tuple[float, ...], ...] = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    _LAST,
)
_FOURTH_ORDER = (1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300)
_ERROR = (*(a - b for a, b in zip(_FOURTH_ORDER, _LAST, strict=True)), 1 / 60)
_MIDDLE = tuple(
    weight / 2
    for weight in (
        6025192743 / 30085553152,
        0,
        51252292925 / 65400821598,
        -2691868925 / 45128329728,
        187940372067 / 1594534317056,
        -1776094331 / 19743644256,
        11237099 / 235043384,
    )
)


class _State(NamedTuple):
    """The end of the last step, and the polynomial that runs through it from `before` to `now`."""

    value: Any
    slope: Any
    before: Any
    now: Any
    step: Any
    polynomial: Any


def _weighted(weights: Iterable[Any], values: Iterable[Tensor]) -> Tensor:
    parts = [w * v for w, v in zip(weights, values, strict=False) if not _is_zero(w)]
    return math.add_n(parts)


def _is_zero(weight: Any) -> bool:
    return isinstance(weight, int | float) and weight == 0


def _scaled(step: Tensor, weights: Iterable[float]) -> list[Any]:
    return [0 if weight == 0 else step * weight for weight in weights]


def _stages(func: Derivative, state: _State) -> tuple[Tensor, list[Tensor]]:
    """(the value after a step, the slopes at its stages)."""
    slopes, value = [state.slope], state.value
    step = casts.cast(state.step, value.dtype)
    for time, weights in zip(_TIMES, _STAGES, strict=True):
        value = state.value + _weighted(_scaled(step, weights), slopes)
        slopes.append(func(value, state.now + time * state.step))
    return value, slopes


def _polynomial(state: _State, end: Tensor, slopes: list[Tensor]) -> list[Tensor]:
    """Coefficients of the fourth degree through both ends, their slopes and the middle."""
    step = casts.cast(state.step, end.dtype)
    middle = state.value + _weighted(_scaled(step, _MIDDLE), slopes)
    known = [slopes[0], slopes[-1], state.value, end, middle]
    rows = ([-2, 2, -8, -8, 16], [5, -3, 18, 14, -32], [-4, 1, -11, -5, 16])
    higher = [_weighted([row[0] * step, row[1] * step, *row[2:]], known) for row in rows]
    return [*higher, step * slopes[0], state.value]


def _at(state: _State, time: Tensor) -> Tensor:
    """The value at a time within the last step."""
    inside = (state.before <= time) & (time <= state.now)
    said = ["invalid interpolation, fails `t0 <= t <= t1`:", state.before, time, state.now]
    with control_dependencies([Assert(inside, said)]):
        part = (time - state.before) / (state.now - state.before)
    part = casts.cast(part, state.polynomial[0].dtype)
    value = state.polynomial[0]
    for coefficient in state.polynomial[1:]:
        value = value * part + coefficient
    return value


class _Adaptive:
    """Steps whose size follows from the error of the last."""

    def __init__(self, func: Derivative, tolerances: tuple[Tensor, Tensor], **options: Any) -> None:
        self._func, (self._relative, self._absolute) = func, tolerances
        kind = options["dtype"]
        names = ("safety", "ifactor", "dfactor")
        self._safety, self._grow, self._shrink = (
            convert_to_tensor(options[name], dtype=kind, name=name) for name in names
        )
        self._most = convert_to_tensor(
            options["max_num_steps"], dtype=dtypes.int32, name="max_num_steps"
        )

    def _checks(self, state: _State, count: Tensor) -> list[Any]:
        finite = reduce.reduce_all(unary.is_finite(abs(state.value)))
        return [
            Assert(state.now + state.step > state.now, ["underflow in dt", state.step]),
            Assert(count < self._most, ["max_num_steps exceeded"]),
            Assert(finite, ["non-finite values in state `y`", state.value]),
        ]

    def _error(self, state: _State, end: Tensor, slopes: list[Tensor]) -> Tensor:
        """The error of a step over the one that is allowed."""
        step = casts.cast(state.step, end.dtype)
        error = abs(_weighted(_scaled(step, _ERROR), slopes))
        size = math.maximum(abs(state.value), abs(end))
        allowed = self._absolute + self._relative * size
        squares = unary.square(error) / unary.square(allowed)
        return unary.sqrt(reduce.reduce_mean(squares))

    def _next_size(self, step: Tensor, error: Tensor) -> Tensor:
        root = casts.cast(error, step.dtype) ** casts.cast(1 / 5, step.dtype)
        factor = math.minimum(root / self._safety, 1 / self._shrink)
        return step / math.maximum(1 / self._grow, factor)

    def step(self, state: _State, ends: Any, errors: Any, count: Tensor) -> tuple[Any, ...]:
        """One step, taken or tried in vain."""
        with control_dependencies(self._checks(state, count)):
            end, slopes = _stages(self._func, state)
        error = self._error(state, end, slopes)
        is_taken = error <= 1
        time = state.now + state.step
        taken = lambda new, old: cond(is_taken, lambda: new, lambda: old)  # noqa: E731
        polynomial = cond(
            is_taken, lambda: _polynomial(state, end, slopes), lambda: list(state.polynomial)
        )
        new = _State(
            taken(end, state.value),
            taken(slopes[-1], state.slope),
            state.now,
            taken(time, state.now),
            self._next_size(state.step, error),
            polynomial,
        )
        return new, ends.write(ends.size(), time), errors.write(errors.size(), error), count + 1


def _increasing(t: Tensor) -> Any:
    said = ["`t` must be monotonic increasing"]
    return control_dependencies([Assert(reduce.reduce_all(t[1:] > t[:-1]), said)])


def _check_types(y0: Tensor, t: Tensor, dt: Tensor | None = None) -> None:
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    for name, value in (("t", t), ("dt", dt)):
        if value is not None and not value.dtype.is_floating:
            raise TypeError(f"`{name}` must have a floating point dtype")


def odeint(
    func: Derivative,
    y0: Any,
    t: Any,
    rtol: float = 1e-6,
    atol: float = 1e-12,
    method: str | None = None,
    options: dict[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """The values at the times `t` of what starts as `y0` and changes by `func(y, t)`."""
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]):
        y0 = convert_to_tensor(y0, name="y0")
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        _check_types(y0, t)
        kind = abs(y0).dtype
        tolerances = (
            convert_to_tensor(rtol, dtype=kind, name="rtol"),
            convert_to_tensor(atol, dtype=kind, name="atol"),
        )
        return _solve(func, y0, t, tolerances, full_output, **(options or {}))


def _solve(
    func: Derivative,
    y0: Tensor,
    t: Tensor,
    tolerances: tuple[Tensor, Tensor],
    full_output: bool,
    first_step: Any = None,
    safety: Any = 0.9,
    ifactor: Any = 10.0,
    dfactor: Any = 0.2,
    max_num_steps: Any = 1000,
) -> Any:
    method = _Adaptive(func, tolerances, safety=safety, ifactor=ifactor, dfactor=dfactor,
                       max_num_steps=max_num_steps, dtype=t.dtype)  # fmt: skip
    first = convert_to_tensor(1.0 if first_step is None else first_step, dtype=t.dtype)
    state = _State(y0, func(y0, t[0]), t[0], t[0], first, [y0] * 5)
    with _increasing(t):
        count = array.size(t)
    found = TensorArray(y0.dtype, size=count).write(0, y0)
    ends = TensorArray(t.dtype, size=0, dynamic_size=True)
    errors = TensorArray(tolerances[0].dtype, size=0, dynamic_size=True)

    def to_next(found: Any, state: _State, ends: Any, errors: Any, i: Tensor) -> tuple[Any, ...]:
        is_before = lambda state, *_: t[i] > state.now  # noqa: E731
        state, ends, errors, _ = while_loop(is_before, method.step, (state, ends, errors, 0))
        return found.write(i, _at(state, t[i])), state, ends, errors, i + 1

    found, _, ends, errors, _ = while_loop(
        lambda *args: args[-1] < count, to_next, (found, state, ends, errors, 1)
    )
    y = found.stack()
    y.set_shape(t.shape.concatenate(y0.shape))
    if not full_output:
        return y
    points = ends.stack()
    calls = 6 * array.size(points) + 1
    info = {
        "num_func_evals": calls, "integrate_points": points, "error_ratio": errors.stack()
    }  # fmt: skip
    return y, info


# ---- steps of fixed size -------------------------------------------------------------------------


def _midpoint(func: Derivative, y: Tensor, t: Tensor, dt: Tensor) -> Tensor:
    step = casts.cast(dt, y.dtype)
    return step * func(y + func(y, t) * step / 2, t + dt / 2)


def _rk4(func: Derivative, y: Tensor, t: Tensor, dt: Tensor) -> Tensor:
    step, middle = casts.cast(dt, y.dtype), t + dt / 2
    first = func(y, t)
    second = func(y + step * first / 2, middle)
    third = func(y + step * second / 2, middle)
    fourth = func(y + step * third, t + dt)
    return math.add_n([first, 2 * second, 2 * third, fourth]) * (step / 6)


_FIXED = {"midpoint": _midpoint, "rk4": _rk4}


def odeint_fixed(
    func: Derivative, y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: str | None = None
) -> Tensor:
    """The values at the times `t`, by steps of `dt`, or of less so that they end at these times."""
    as_time = functools.partial(convert_to_tensor, preferred_dtype=dtypes.float64)
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        t, y0 = as_time(t, name="t"), convert_to_tensor(y0, name="y0")
        gaps = t[1:] - t[:-1]
        dt = as_time(gaps if dt is None else dt, name="dt")
        steps = unary.ceil(gaps / dt)
        dt = gaps / steps
        _check_types(y0, t, dt)
        _check_sizes(t, dt)
        with _increasing(t), name_scope(method):
            if method not in _FIXED:
                raise ValueError(f"method not supported: {method}")
            return _walk(func, _FIXED[method], y0, t, dt, casts.cast(steps, dtypes.int32))


def _check_sizes(t: Tensor, dt: Tensor) -> None:
    if any((each.shape.ndims or 0) > 1 for each in (t, dt)):
        raise ValueError("t must be a 1D tensor")
    if t.shape[0] != dt.shape[0] + 1:
        raise ValueError("t and dt have incompatible lengths, must be N and N-1")


def _walk(
    func: Derivative, change: Any, y0: Tensor, t: Tensor, dt: Tensor, steps: Tensor
) -> Tensor:
    count = array.size(t)
    found = TensorArray(y0.dtype, count).write(0, y0)

    def interval(found: Any, y: Tensor, time: Tensor, i: Tensor) -> tuple[Any, ...]:
        size = dt[i - 1]

        def step(y: Tensor, time: Tensor, j: Tensor) -> tuple[Any, ...]:
            new = casts.cast(change(func, y, time, size), y.dtype)
            return y + new, time + size, j + 1

        y, time, _ = while_loop(lambda *args: args[-1] < steps[i - 1], step, (y, time, 0))
        return found.write(i, y), y, time, i + 1

    found, *_ = while_loop(lambda *args: args[-1] < count, interval, (found, y0, t[0], 1))
    y = found.stack()
    y.set_shape(t.shape.concatenate(y0.shape))
    return y
