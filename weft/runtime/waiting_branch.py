"""A conditional whose branches may have to wait, without a thread that waits.

Only what is in the branch that was taken starts. While it waits, it is a `Deferred` for the step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.deferred import Deferred
from weft.runtime.branch_flow import BranchFlow

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
        side = int(bool(np.asarray(inputs[0])))
        results = self.run_side(side, inputs[1:])
        return results if isinstance(results, Deferred) else self._outputs(side, results)

    def run_side(self, side: int, inputs: Sequence[Any]) -> Outputs:
        """The results of a branch, or a promise of the outputs of the whole."""
        plan = self.branches[side]
        if plan.in_order:
            results: list[Any] = plan.run(inputs)
            return results
        if plan.generation != plan.store.generation:
            plan._settle()
        values = plan.begin(inputs)
        stop = plan.advance(values)
        if stop is None:
            return plan.results(values)  # type: ignore[no-any-return]
        unit, promise = stop
        return self.promise_at(side, unit, promise, values)

    def promise_at(
        self, side: int, unit: int, promise: Deferred | None, values: list[Any]
    ) -> Deferred:
        """The outputs of a branch that has to wait, or had to, at one of its units."""
        finish = functools.partial(self._outputs, side)
        found = BranchFlow(self.branches[side], values, unit, promise, finish).advance()
        if isinstance(found, Deferred):
            return found
        at_once = Deferred()
        at_once.complete(found)
        return at_once

    def _outputs(self, side: int, results: list[Any]) -> list[Any]:
        return self.outputs(side, results, lambda reference: reference.read())
