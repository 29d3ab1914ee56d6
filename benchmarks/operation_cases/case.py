"""One operation of the table: its values, and what is computed of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A row. `compute(tf, *tensors)` gives one tensor or several, for weft and TensorFlow alike."""

    name: str
    values: Callable[[Random], list[Any]]
    compute: Callable[..., Any]
    # Strings are fed with every step; numbers lie in variables.
    fed: bool = False

    def arrays(self) -> list[Any]:
        """The same values for every implementation."""
        return self.values(np.random.default_rng(0))


def floats(*shapes: tuple[int, ...]) -> Callable[[Random], list[Any]]:
    """Values of these shapes, drawn from the normal distribution."""
    return lambda random: [random.standard_normal(shape, np.float32) for shape in shapes]


def of(*made: Any) -> Callable[[Random], list[Any]]:
    """Values given by functions of a generator, and shapes of floats."""

    def draw(random: Random) -> list[Any]:
        return [m(random) if callable(m) else random.standard_normal(m, np.float32) for m in made]

    return draw


def below(limit: int, *shape: int, dtype: Any = np.int32) -> Callable[[Random], Any]:
    """Integers from 0 up to a limit."""
    return lambda random: random.integers(0, limit, shape).astype(dtype)
