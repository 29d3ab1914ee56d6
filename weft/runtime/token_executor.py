"""Runs graphs with loops and branches that have no structure, by tokens.

Values carry tags (frame, iteration). An output that was decided against is dead, and deadness
spreads to whatever needs it until a Merge takes a live input.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.errors import InvalidArgumentError
from weft.passes.client_graph import Node
from weft.runtime.executor import Executor, Stop, read
from weft.runtime.frames import DEAD, Frame, Iteration
from weft.runtime.tasks import Task

# Tasks that take no time follow from one another up to this depth before they wait for their turn.
_DEPTH = 40


class TokenExecutor(Executor):
    """A run with frames, iterations and dead values."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.frames: dict[Any, Frame] = {}
        self.root = Frame("", None, None, 0, 0, 1)
        self.root.iterations[0], self.root.last = self.first, 0
        self.depth = 0

    def begin(self, at: Stop | None = None) -> None:
        for merge, position in self.graph.settled_merges:
            if self.first.alive.setdefault(merge.index, position) == position:
                self._merge_ready(merge, self.root, self.first)
        super().begin(at)

    def push(self, task: Task, frame: Frame, iteration: Iteration, dead: bool = False) -> None:
        """Runs quick tasks now and lists the others; a dead task only tells its users."""
        if dead:
            if task.kind == "exit":
                # An exit is dead in every iteration but the last; the frame's end decides.
                frame.dead_exits.add(task.index)
                return
            # A trigger only gathers control edges, whichever branch they come from.
            dead = task.kind != "trigger"
        iteration.outstanding += 1
        if (dead or task.is_quick) and self.depth < _DEPTH:
            self.depth += 1
            self.start(task, frame, iteration, dead)
            self.depth -= 1
        else:
            self.ready.append((task, frame, iteration, dead))

    def start(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        if task.kind in _COMPUTED and not (dead and task.kind != "send"):
            super().start(task, frame, iteration, dead)
            return
        if not dead:
            _STEER.get(task.kind, _pass_on)(task, iteration)
            if self.observe is not None:
                self._show_steered(task, iteration)
        self.finish(task, frame, iteration, dead)

    def _show_steered(self, task: Task, iteration: Iteration) -> None:
        """Shows what goes through a node of control flow; of its outputs, those that live."""
        assert self.observe is not None and task.node is not None
        now, values = time.perf_counter(), iteration.values
        inputs = [values[i] for i in task.in_slots]
        outputs = [None if values[i] is DEAD else values[i] for i in task.out_slots]
        self.observe(task.node, inputs, outputs, now, now)

    def finish(self, task: Task, frame: Frame, iteration: Iteration, dead: bool = False) -> None:
        """A task is done, its outputs are in their slots: passes them on."""
        kind = task.kind
        if kind == "enter":
            self._enter(task, frame, iteration, dead)
        elif kind == "exit":
            self._exit(task, frame, iteration, dead)
        elif kind == "next_iteration":
            if not dead:
                self._next(task, frame, iteration)
        else:
            self._activate(task, frame, iteration, dead)
        iteration.outstanding -= 1
        if not iteration.outstanding:
            self._tidy(frame, iteration)

    # ---- within an iteration ----

    def _activate(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        """Tells the users of `task` in `iteration` that its outputs are there."""
        pending, values, doomed = iteration.pending, iteration.values, iteration.dead
        if dead:
            for slot in task.out_slots:
                values[slot] = DEAD
        for slot, users, merges in task.users:
            gone = values[slot] is DEAD
            for user in users:
                index = user.index
                if gone:
                    doomed[index] = 1
                pending[index] -= 1
                if not pending[index]:
                    self.push(user, frame, iteration, index in doomed)
            for merge, position in merges:
                self._merge_input(merge, position, task, frame, iteration, gone)
        if task.control_outs:
            self._activate_controlled(task, frame, iteration, dead)

    def _activate_controlled(
        self, task: Task, frame: Frame, iteration: Iteration, dead: bool
    ) -> None:
        pending, doomed = iteration.pending, iteration.dead
        for user in task.control_outs:
            index = user.index
            pending[index] -= 1
            if user.kind == "merge":
                self._merge_ready(user, frame, iteration)
                continue
            if dead:
                doomed[index] = 1
            if not pending[index]:
                self.push(user, frame, iteration, index in doomed)

    def _merge_input(
        self, merge: Task, position: int, source: Task, frame: Frame, iteration: Iteration,
        dead: bool,
    ) -> None:  # fmt: skip
        if not dead:
            if merge.index not in iteration.alive:
                iteration.alive[merge.index] = position
                self._merge_ready(merge, frame, iteration)
            return
        count = iteration.dead.get(merge.index, 0) + 1
        # A loop on an untaken branch never gets a next iteration: a dead Enter settles its merge.
        iteration.dead[merge.index] = merge.data_inputs if source.kind == "enter" else count
        self._merge_ready(merge, frame, iteration)

    def _merge_ready(self, merge: Task, frame: Frame, iteration: Iteration) -> None:
        """Pushes a merge that has its controls and either a live input or only dead ones."""
        if iteration.pending[merge.index]:
            return
        alive = merge.index in iteration.alive
        if alive or iteration.dead.get(merge.index, 0) >= merge.data_inputs:
            iteration.pending[merge.index] = -1  # it fires once
            self.push(merge, frame, iteration, not alive)

    # ---- from one iteration or frame to another ----

    def _deliver(self, task: Task, frame: Frame, iteration: Iteration, value: Any) -> None:
        iteration.values[task.out_slots[0]] = value
        self._activate(task, frame, iteration, value is DEAD)

    def _enter(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        assert task.node is not None
        child = self._frame_of(task, frame, iteration)
        value = DEAD if dead else iteration.values[task.in_slots[0]]
        child.waiting_enters -= 1
        reached = [child.iterations[0]]
        if task.node.attrs.get("is_constant"):
            child.invariants.append((task.index, value))
            reached = list(child.iterations.values())
        for inner in reached:
            inner.outstanding += 1  # it is not over before this is delivered
            self._deliver(task, child, inner, value)
            inner.outstanding -= 1
        self._tidy(child, child.iterations.get(0))

    def _frame_of(self, task: Task, frame: Frame, iteration: Iteration) -> Frame:
        """The frame that an Enter leads to, made by the first that comes."""
        assert task.node is not None
        attrs = task.node.attrs
        name = attrs["frame_name"]
        key = frame.key, iteration.index, name
        child = self.frames.get(key)
        if child is None:
            limit = attrs.get("parallel_iterations", 10)
            child = Frame(name, key, frame, iteration.index, self.graph.enters[name], limit)
            self.frames[key] = child
            iteration.child_frames += 1
            self._new_iteration(child)
        return child

    def _new_iteration(self, frame: Frame) -> Iteration:
        frame.last += 1
        pending, values = self.graph.pending.copy(), self.graph.template.copy()
        iteration = Iteration(frame.number, frame.last, pending, values)
        frame.iterations[frame.last] = iteration
        return iteration

    def _exit(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        if dead:
            frame.dead_exits.add(task.index)
            return
        if frame.parent is None:
            raise InvalidArgumentError(
                None, None, "Invalid Exit op: Cannot find a corresponding Enter op."
            )
        outer = frame.parent.iterations[frame.parent_iteration]
        frame.live_exits.add(task.index)
        self._deliver(task, frame.parent, outer, iteration.values[task.in_slots[0]])

    def _next(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        value = iteration.values[task.in_slots[0]]
        following = frame.iterations.get(iteration.index + 1)
        if following is None:
            if len(frame.iterations) >= frame.limit:
                frame.held.append((task.index, value))
                return
            following = self._advance(frame)
        self._deliver(task, frame, following, value)

    def _advance(self, frame: Frame) -> Iteration:
        iteration = self._new_iteration(frame)
        iteration.outstanding += 1  # it is not over before all of this is delivered
        held, frame.held = frame.held, []
        for index, value in [*frame.invariants, *held]:
            self._deliver(self.graph.tasks[index], frame, iteration, value)
        iteration.outstanding -= 1
        return iteration

    def _tidy(self, frame: Frame, iteration: Iteration | None) -> None:
        """Drops iterations that are over, and the frame with the last of them."""
        if frame is self.root:
            return
        while iteration is not None and frame.iteration_is_done(iteration):
            del frame.iterations[iteration.index]
            following = iteration.index + 1
            if frame.held:
                self._advance(frame)
            iteration = frame.iterations.get(following)
        if frame.is_done() and frame.key in self.frames:
            self._end(frame)

    def _end(self, frame: Frame) -> None:
        assert frame.parent is not None
        del self.frames[frame.key]
        outer = frame.parent.iterations[frame.parent_iteration]
        for index in sorted(frame.dead_exits - frame.live_exits):
            self._deliver(self.graph.tasks[index], frame.parent, outer, DEAD)
        outer.child_frames -= 1
        self._tidy(frame.parent, outer)


# ---- control flow --------------------------------------------------------------------------------

_COMPUTED = ("plain", "send", "recv")


def _switch(task: Task, iteration: Iteration) -> None:
    values = iteration.values
    data, pred = task.in_slots
    taken = 1 if read(values[pred]) else 0
    values[task.out_slots[taken]] = values[data]
    values[task.out_slots[1 - taken]] = DEAD


def _merge(task: Task, iteration: Iteration) -> None:
    values = iteration.values
    position = iteration.alive[task.index]
    values[task.out_slots[0]] = _merged(task.node, values[task.in_slots[position]])
    values[task.out_slots[1]] = np.array(position, np.int32)


def _pass_on(task: Task, iteration: Iteration) -> None:
    if task.out_slots:
        iteration.values[task.out_slots[0]] = iteration.values[task.in_slots[0]]


_STEER = {"switch": _switch, "merge": _merge}


def _merged(node: Node | None, value: Any) -> Any:
    """The value that a merge passes on: of a reference where values are wanted, its value."""
    assert node is not None
    dtype = node.dtypes[0]
    return value if dtype._is_ref_dtype or dtype is dtypes.resource else read(value)
