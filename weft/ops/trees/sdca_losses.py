"""Losses of linear models, and their duals, as stochastic dual coordinate ascent needs them.

All are functions of one example: `wx` is what the model says of it, `dual` its dual variable.
`curvature` is how much `wx` moves when the dual moves by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from weft.ops.kit.shared import invalid

_STEPS = 10  # of Newton's method, which doubles the digits with each
_LARGEST = 1.7976931348623157e308


def _exp(x: float) -> float:
    """Infinite where it is too large."""
    return math.exp(x) if not x > 709 else math.inf


def _newton(x: float, step: Callable[[float], float]) -> float:
    for _ in range(_STEPS):
        x -= step(x)
    return x


class Loss:
    """`smoothness`: the derivative changes no faster than one over it."""

    smoothness = 1.0

    def label(self, label: float) -> float:
        """A label as the formulas want it."""
        return label

    def new_dual(self, label: float, dual: float, wx: float, curvature: float) -> float:
        """The dual variable that is best while those of other examples stay."""
        raise NotImplementedError

    def dual_loss(self, dual: float, label: float) -> float:
        raise NotImplementedError

    def primal_loss(self, wx: float, label: float) -> float:
        raise NotImplementedError

    def derivative(self, wx: float, label: float) -> float:
        raise NotImplementedError


class _OfTwoClasses(Loss):
    """Labels 0 and 1 stand for -1 and 1."""

    def label(self, label: float) -> float:
        if label not in (0.0, 1.0):
            raise invalid(
                "Only labels of 0.0 or 1.0 are supported right now. Found example with label:"
                f" {label:g}"
            )
        return 2 * label - 1


class Logistic(_OfTwoClasses):
    smoothness = 4.0

    def new_dual(self, label: float, dual: float, wx: float, curvature: float) -> float:
        def step(x: float) -> float:
            t = math.tanh(x)
            value = -2 * label * x - wx - curvature * (0.5 * (1 + t) / label - dual)
            slope = -2 * label - curvature * (1 - t * t) * 0.5 / label
            return value / slope

        return 0.5 * (1 + math.tanh(_newton(0.0, step))) / label

    def dual_loss(self, dual: float, label: float) -> float:
        p = dual * label
        logs = [math.log(q) if q > 0 else 0.0 for q in (p, 1 - p)]
        return p * logs[0] + (1 - p) * logs[1]

    def primal_loss(self, wx: float, label: float) -> float:
        margin = label * wx
        return math.log1p(math.exp(-abs(margin))) + max(0.0, -margin)

    def derivative(self, wx: float, label: float) -> float:
        margin = label * wx
        small = math.exp(-abs(margin))
        return -label * (small if margin > 0 else 1.0) / (1 + small)


class Squared(Loss):
    def new_dual(self, label: float, dual: float, wx: float, curvature: float) -> float:
        return dual + (label - dual - wx) / (1 + curvature)

    def dual_loss(self, dual: float, label: float) -> float:
        return dual * (0.5 * dual - label)

    def primal_loss(self, wx: float, label: float) -> float:
        return 0.5 * (wx - label) ** 2

    def derivative(self, wx: float, label: float) -> float:
        return wx - label


class Hinge(_OfTwoClasses):
    """`smoothness` rounds the corner off, quadratically."""

    def __init__(self, smoothness: float) -> None:
        self.smoothness = smoothness

    def new_dual(self, label: float, dual: float, wx: float, curvature: float) -> float:
        missing = label - wx - self.smoothness * dual
        # An example of zeros moves nothing: any dual variable is as good as the best.
        room = curvature + self.smoothness
        best = dual + missing / room if room else math.copysign(math.inf, missing)
        return label * min(max(label * best, 0.0), 1.0)

    def dual_loss(self, dual: float, label: float) -> float:
        p = dual * label
        if not 0 <= p <= 1:
            return _LARGEST
        return -p + 0.5 * self.smoothness * dual * dual

    def primal_loss(self, wx: float, label: float) -> float:
        short = max(0.0, 1 - label * wx)
        if short >= self.smoothness:
            return short - self.smoothness / 2
        return short * short * 0.5 / self.smoothness

    def derivative(self, wx: float, label: float) -> float:
        short = 1 - label * wx
        if short <= 0:
            return 0.0
        return -label if short >= self.smoothness else (wx - label) / self.smoothness


class Poisson(Loss):
    def label(self, label: float) -> float:
        if label < 0:
            raise invalid(
                "Only non-negative labels can be used with the Poisson log loss. Found example with"
                f" label: {label:g}"
            )
        return label

    def new_dual(self, label: float, dual: float, wx: float, curvature: float) -> float:
        def step(x: float) -> float:
            e = _exp(x)
            return (x - wx - curvature * (label - dual - e)) / (1 + curvature * e)

        rest = label - dual
        return label - _exp(_newton(math.log(rest) if rest > 0 else 0.0, step))

    def dual_loss(self, dual: float, label: float) -> float:
        rest = label - dual
        if rest == 0:
            return 0.0
        return _LARGEST if rest < 0 else rest * (math.log(rest) - 1)

    def primal_loss(self, wx: float, label: float) -> float:
        return _exp(wx) - wx * label

    def derivative(self, wx: float, label: float) -> float:
        return _exp(wx) - label


LOSSES: dict[str, Loss] = {
    "logistic_loss": Logistic(),
    "squared_loss": Squared(),
    "hinge_loss": Hinge(0.0),
    "smooth_hinge_loss": Hinge(1.0),
    "poisson_loss": Poisson(),
}
