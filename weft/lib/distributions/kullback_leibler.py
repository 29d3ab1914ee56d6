"""KL divergences, by the classes of two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.control.control import Assert
from weft.ops.math import math

_DIVERGENCES: dict[tuple[type, type], Callable[..., Tensor]] = {}


def _registered(a: type, b: type) -> Callable[..., Tensor] | None:
    """The function for the closest pair of bases; the first class's counts first in a tie."""
    found = [
        (i + j, i, _DIVERGENCES[x, y])
        for i, x in enumerate(a.__mro__)
        for j, y in enumerate(b.__mro__)
        if (x, y) in _DIVERGENCES
    ]
    return min(found, key=lambda each: each[:2])[2] if found else None


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """KL[a || b], which is NaN where undefined, or an error if that is not allowed."""
    kinds = type(distribution_a), type(distribution_b)
    function = _registered(*kinds)
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type"
            f" {kinds[0].__name__} and distribution_b type {kinds[1].__name__}"
        )
    with name_scope("KullbackLeibler"):
        found = function(distribution_a, distribution_b, name=name)
        names = f"{distribution_a.name} and {distribution_b.name}"
        return found if allow_nan_stats else _without_nan(found, names)


def _without_nan(divergence: Tensor, names: str) -> Tensor:
    divergence = array.identity(divergence, name="kl")
    message = (
        f"KL calculation between {names} returned NaN values (and was called with"
        " allow_nan_stats=False). Values:"
    )
    fine = math.logical_not(math.reduce_any(math.is_nan(divergence)))
    with control_dependencies([Assert(fine, [message, divergence])]):
        return array.identity(divergence, name="checked_kl")


def cross_entropy(
    ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """The expectation of -log_prob of `other` under `ref`."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


class RegisterKL:
    """A decorator: the function computes KL[a || b] for these classes and those derived of them."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Any) -> Any:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to:"
                f" {_DIVERGENCES[self._key]}"
            )
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn
