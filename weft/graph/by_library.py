"""Functions of `xp` that are written twice: for NumPy, and for a trace by XLA.

    @by_library
    def take(xp, x, index):
        return xp.take(x, index, mode="clip")

    @take.numpy
    def _(xp, x, index):
        return x.take(index)

A kernel has the same: `@kernel.numpy` below `@op(...)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


class ByLibrary(Generic[P, R]):
    """A function with a form of its own for NumPy, which may fall back to the `general` one."""

    def __init__(self, general: Callable[P, R], on_numpy: Callable[P, R] | None = None) -> None:
        self.general = self.__wrapped__ = general
        self.on_numpy: Callable[P, R] = general if on_numpy is None else on_numpy
        self.__doc__, self.__module__ = general.__doc__, general.__module__
        self.__name__: str = getattr(general, "__name__", "")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return (self.on_numpy if args[0] is np else self.general)(*args, **kwargs)

    def numpy(self, form: Callable[P, R]) -> Callable[P, R]:
        """Decorator: the form for NumPy, with the same parameters."""
        self.on_numpy = form
        return form


def by_library(function: Callable[P, R]) -> ByLibrary[P, R]:
    """Decorator of a function whose first parameter is `xp` and that has a form for NumPy."""
    return ByLibrary(function)


def form_for_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that `function(np, ...)` runs."""
    return function.on_numpy if isinstance(function, ByLibrary) else function
