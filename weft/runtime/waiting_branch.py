"""A conditional whose branches may have to wait, without a thread that waits.

Only what is in the branch that was taken starts. While it waits, it is a `Deferred` for the step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.deferred import Deferred

Outputs = list[Any] | Deferred


class WaitingBranch:
    """Runs one of two branches of a conditional."""

    def __init__(self, conditional: Any) -> None:
        self.conditional = conditional

    @property
    def branches(self) -> tuple[Any, Any]:
        branches: tuple[Any, Any] = self.conditional.branches
        return branches

    def outputs(self, side: int, results: list[Any], read: Callable[[Any], Any]) -> list[Any]:
        found: list[Any] = self.conditional.outputs(side, results, read)
        return found

    def __call__(self, xp: Any, inputs: Sequence[Any]) -> Any:
        return self.run_side(int(bool(np.asarray(inputs[0]))), inputs[1:])

    def run_side(self, side: int, inputs: Sequence[Any]) -> Outputs:
        """The outputs when this branch is taken, or a promise of them."""
        finish = functools.partial(self._outputs, side)
        outputs: Outputs = self.branches[side].start(inputs, finish)
        return outputs

    def promise_at(
        self, side: int, prepared: Any, unit: int, promise: Deferred | None, values: list[Any]
    ) -> Deferred:
        """The outputs of a branch that has to wait, or had to, at one of its units."""
        finish = functools.partial(self._outputs, side)
        found = self.branches[side].start_at(prepared, values, unit, promise, finish)
        if isinstance(found, Deferred):
            return found
        at_once = Deferred()
        at_once.complete(found)
        return at_once

    def _outputs(self, side: int, results: list[Any]) -> list[Any]:
        return self.outputs(side, results, lambda reference: reference.read())
