"""Running `_While` and `_If` nodes: plans for their subgraphs, and a Python loop around them.

Bodies are plans like any other, so what is hot in them gets compiled; a loop or conditional that is
compiled whole never comes here.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.core import errors, flags
from weft.passes.client_graph import Branches, ClientGraph, Loop, Node
from weft.runtime.host.codegen_loop import StraightLoop, straight_loop
from weft.runtime.limits import limits
from weft.runtime.loop_run import WaitingLoop
from weft.runtime.resources import ResourceStore
from weft.runtime.waiting_branch import WaitingBranch
from weft.runtime.xla.loop_program import LoopProgram, loop_program

if TYPE_CHECKING:
    from weft.runtime.plan import Plan
    from weft.runtime.prepared import Prepared

Call = Callable[[Any, Sequence[Any]], Sequence[Any]]
# Iterations after which a loop knows whether its body is too small to be worth compiling.
_TRIAL = 4
# Seconds of driving after which a program of its own is thought of, and those that one run must
# take for the call of a program to be better.
_LONG, _WORTH = 0.05, 4e-4


def runner(node: Node, store: ResourceStore) -> Call:
    """`call(np, inputs) -> outputs` of a structured node."""
    if node.loop is not None:
        loop = _While(node, node.loop, store)
        return WaitingLoop(loop) if node.definition.blocking else loop
    assert node.branches is not None
    conditional = _If(node, node.branches, store)
    return WaitingBranch(conditional) if node.definition.blocking else conditional


def _plan(graph: ClientGraph, store: ResourceStore, may_wait: bool = False) -> Plan:
    from weft.runtime.plan import Plan

    return Plan(graph, store, nested=True, may_wait=may_wait)


def _observed(plan: Plan, values: Sequence[Any]) -> list[Any]:
    """Runs a plan; if the step around it is observed, so is this."""
    if limits.observe is None:
        return plan.run(values)
    return plan.run_observed(values, limits.observe)


class _While:
    """Runs the condition, then the body, until the condition is false."""

    def __init__(self, node: Node, loop: Loop, store: ResourceStore) -> None:
        self.node, self.loop, self.store = node, loop, store
        self.variables = loop.variables
        self.tiny: StraightLoop | None = None
        self.parts: tuple[Prepared, Prepared] | None = None  # what it was made of
        self.program: LoopProgram | None = None
        self.has_program = True  # as far as is known
        self.runs, self.spent = 0, 0.0  # seconds of driving

    @functools.cached_property
    def condition(self) -> Plan:
        return _plan(self.loop.condition, self.store)

    @functools.cached_property
    def body(self) -> Plan:
        return _plan(self.loop.body, self.store, self.node.definition.blocking)

    def __call__(self, xp: Any, inputs: Sequence[Any]) -> Sequence[Any]:
        if self.has_program and self._is_worth_a_program() and limits.observe is None:
            program = self._program()
            if program is not None:
                return program.call(inputs)
        return self.drive(inputs)

    def _is_worth_a_program(self) -> bool:
        way = flags.CONTROL_FLOW.value
        takes_long = self.spent > _LONG and self.spent > _WORTH * self.runs
        return flags.XLA.value and (way == "loops" or (way == "whole" and takes_long))

    def _program(self) -> LoopProgram | None:
        if self.program is None or self.program.generation != self.store.generation:
            self.program = loop_program(self.node, self.store, self.drive)
            self.has_program = self.program is not None
        return self.program

    def drive(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Runs the condition and the body in turn."""
        start = time.perf_counter()
        state = list(inputs[: self.variables])
        fixed = list(inputs[self.variables :])
        count = [0]
        try:
            if limits.observe is not None:
                state = self._run_observed(state, fixed, count)
            elif self.tiny is None or self.parts != self._parts():
                state = self._run(state, fixed, count)
            else:
                state = self._run_tiny(state, fixed, count)
        except errors.OpError as error:
            error._message += f" (iteration {count[0]} of loop '{self.node.name}')"
            raise
        # When the loop is compiled, this is what its length is guessed from.
        self.loop.longest = max(self.loop.longest, count[0])
        self.runs, self.spent = self.runs + 1, self.spent + time.perf_counter() - start
        return state

    def _run(self, state: list[Any], fixed: list[Any], count: list[int]) -> list[Any]:
        condition, body = self.condition, self.body
        while condition.run(state + fixed)[0]:
            state = body.run(state + fixed)
            count[0] += 1
            limits.check()
            if count[0] == _TRIAL and condition.is_tiny() and body.is_tiny():
                self.parts = self._parts()
                self.tiny = straight_loop(*self.parts, self.variables)
                return self._run_tiny(state, fixed, count)
        return state

    def _run_observed(self, state: list[Any], fixed: list[Any], count: list[int]) -> list[Any]:
        while _observed(self.condition, state + fixed)[0]:
            state = _observed(self.body, state + fixed)
            count[0] += 1
            limits.check()
        return state

    def _parts(self) -> tuple[Prepared, Prepared]:
        return self.condition.ready(), self.body.ready()

    def _run_tiny(self, state: list[Any], fixed: list[Any], count: list[int]) -> list[Any]:
        assert self.tiny is not None
        final: list[Any] = self.tiny(state, fixed, count)
        return final


class _If:
    """Runs one of two branches. What only the other branch makes comes out as None."""

    def __init__(self, node: Node, held: Branches, store: ResourceStore) -> None:
        self.node, self.graphs, self.store = node, held.graphs, store
        self.joined, self.sides = held.joined, held.sides

    @functools.cached_property
    def branches(self) -> tuple[Plan, Plan]:
        otherwise, then = self.graphs
        return _plan(otherwise, self.store), _plan(then, self.store)

    @functools.cached_property
    def reads(self) -> list[list[int]]:
        """Per branch, the results that are references where the conditional gives values."""
        return [self._references(graph) for graph in self.graphs]

    def _references(self, graph: ClientGraph) -> list[int]:
        # What is handed on to later conditionals is always a value.
        wants = [d._is_ref_dtype for d in self.node.dtypes[: self.joined]]
        wants += [False] * (len(graph.fetches) - self.joined)
        return [
            i
            for i, ((source, output), wanted) in enumerate(zip(graph.fetches, wants, strict=True))
            if source.dtypes[output]._is_ref_dtype and not wanted
        ]

    def __call__(self, xp: Any, inputs: Sequence[Any]) -> Sequence[Any]:
        side = int(bool(np.asarray(inputs[0])))
        results: list[Any] = _observed(self.branches[side], inputs[1:])
        return self.outputs(side, results, lambda reference: reference.read())

    def outputs(self, side: int, results: list[Any], read: Callable[[Any], Any]) -> list[Any]:
        """The outputs of the conditional, given the results of the branch `side`."""
        for i in self.reads[side]:
            results[i] = read(results[i])
        exported = iter(results[self.joined :])
        return results[: self.joined] + [
            next(exported) if side == own else None for own in self.sides
        ]
